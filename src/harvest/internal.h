#ifndef HARVEST_INTERNAL_H
#define HARVEST_INTERNAL_H

#include "fetch/fetch.h"
#include "harvest.h"
#include "python/python.h"

/* Shared by the files of harvest/. */

struct harvest_release {
	const struct index_release *on_page;
	bool listed;       /* the file contains it: it is final, and has a file */
	bool has_metadata; /* requires and extras are known */
	/* The known release from whose own source they come; NULL: from METADATA. */
	const struct package_release *own;
	struct names requires, extras;
};
struct harvest_releases LIST(struct harvest_release);

/* The state for one package. */
struct work {
	const struct facts *f;
	const struct harvest_how *how;
	const struct names *packages; /* of the run */
	struct index_client *index;   /* its `why` has the reason of a failure */
	struct arena *a;
	const char *package;
};

/* Returns the releases of a page, oldest first. */
struct harvest_releases harvest_releases(struct work *w, const struct index_page *page);

/* Fills requires and extras of a release from METADATA; false: w->index->why. */
bool metadata_take(struct work *w, const char *text, struct harvest_release *r);
/* Fills the extras that the requirements of a release name. */
void extras_take(struct work *w, struct harvest_release *r);

/* Writes the file as text. */
void releases_write(struct work *w, const struct harvest_releases *all, struct buf *out);

#endif
