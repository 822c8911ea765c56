#ifndef FOLD_H
#define FOLD_H

#include "buf.h"

/*
 * fold -- breaks the lines of a printed text between words, for a terminal that is narrower than the
 * 100 columns of the printers; the terminal itself would break them within words.
 *
 *   in      text: may have colours; width: columns of the terminal
 *   out     a broken line continues below its last cell, or is indented. Lines of a recipe beside their
 *           numbers, and words longer than a line, stay as they are
 */
void fold(const char *text, size_t width, struct buf *out);

#endif
