#ifndef REPORT_INTERNAL_H
#define REPORT_INTERNAL_H

#include "base/mask.h"
#include "report.h"

/* The state of the page while its values are set. */
struct page {
	struct arena *a;
	const struct report *r;
	struct mask *mask;
	struct scope *top;
};

extern const struct shape report_shape[];
/* The class of a state in the page's style: "open", "good", "bad". */
extern const char *const report_classes[];

/* Sets a name to a text without control characters and without credentials; NULL: nothing. */
void page_text(struct page *p, struct scope *s, const char *name, const char *text);
void page_class(struct page *p, struct scope *s, enum report_state state);
/* Does the same, and writes text between backticks as <code>. */
void page_prose(struct page *p, struct scope *s, const char *name, const char *text);
/* Adds a text to a list of plain texts. */
void page_line(struct page *p, struct scope *s, const char *list, const char *text);
/* Sets the left edge and the width of a bar, relative to `all`. */
void page_bar(struct page *p, struct scope *s, double from, double n, double all);

/* Returns "0.8 s", "45 s", "14 min 32 s", "2 h 05 min"; for an estimate "about 15 min". */
const char *report_time(struct arena *a, double seconds);
const char *report_estimate(struct arena *a, double seconds);

/* Fills in the sections, in the order of the shape in src/report/report.c. */
void page_plan(struct page *p);
void page_sizes(struct page *p);
void page_proof(struct page *p);
void page_matrix(struct page *p);
void page_failure(struct page *p);
void page_use(struct page *p);

#endif
