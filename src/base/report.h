#ifndef REPORT_H
#define REPORT_H

#include "buf.h"
#include "diag.h"

/*
 * Diagnostics for machines.  All take the diagnostics as they were found and add
 * text to out; at most DIAG_BYTES_MAX bytes, and what was left out is counted.
 */

/* Drop later ones that say the same of the same place (the cells of a matrix do). */
void diags_fold(struct diags *ds);

/*
 * {"diagnostics": [{"code", "severity", "message", "place": {"file", "line", "column",
 * "width"}, "notes": [{"kind", "text", "place", "cost"}], "fixes": [{"text", "cost", "first",
 * "edits": [{"place", "replacement"}]}]}], "errors", "warnings", "left_out"}
 *
 * fixes: the helps that can be applied; all edits of one belong together, a width of 0
 * inserts.  first: it is the one that `check --fix` takes.
 */
void report_json(const struct diags *ds, struct buf *out);

/* SARIF 2.1.0 (OASIS), one run; columns are Unicode code points. */
void report_sarif(const struct diags *ds, const char *version, struct buf *out);

/* Workflow commands of GitHub Actions: ::error file=,line=,col=,title=::message */
void report_github(const struct diags *ds, struct buf *out);

#endif
