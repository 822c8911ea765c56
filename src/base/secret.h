#ifndef SECRET_H
#define SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "str.h"

/*
 * Recognises secrets by their form and by the names beside them: tokens of known services, private
 * keys, credentials in URLs and connection strings, `password=...`, random words. mask_credentials()
 * (diag.h) and mask_text() (mask.h) hide them. The time is linear in the text.
 */

/* How likely the value of a name is a secret: "PATH", "key", "DB_PASSWORD". */
enum secret_name { NAME_PLAIN, NAME_MAY_HOLD, NAME_HOLDS };

/* Returns that for the name of a variable, an option or a key of a file. */
enum secret_name secret_name(struct str name);

/*
 * secrets_mark -- finds the secrets in a text.
 *
 *   in   hide: n bytes of zero
 *   out  hide[i] is 1 for each byte of a secret; false if there is none
 */
bool secrets_mark(const char *p, size_t n, char *hide);

/* --- for the files of base/secret_*.c --- */

/* Marks bytes from `from` to `to`. */
void secret_hide(char *hide, size_t from, size_t to);

/* Marks values beside the names of secrets. */
void secrets_mark_pairs(struct str s, char *hide);

#endif
