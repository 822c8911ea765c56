#ifndef STORE_FOLDER_H
#define STORE_FOLDER_H

#include "internal.h"

/* The folder store from inside, for gc. */
const char *folder_of(struct arena *a, const struct store *s, const char *key);
bool folder_keys(struct arena *a, struct diags *ds, struct store *s, struct names *keys);

/* The store's lock; how: as of flock(2).  -1: errno says why */
int folder_lock(struct arena *a, const struct store *s, int how);
/* By rename into tmp/, then bit by bit.  False: errno says why */
bool folder_throw_out(struct arena *a, const struct store *s, const char *key);
/* What writers left that are gone; the caller has the lock alone. */
void folder_clear_temp(struct arena *a, const struct store *s);

/* save of struct store_kind */
bool folder_save(struct arena *a, struct diags *ds, struct store *s, const struct entry *e,
		 const char *path);

#endif
