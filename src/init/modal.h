#ifndef INIT_MODAL_H
#define INIT_MODAL_H

#include "base/yaml.h"
#include "docker.h"

/* Private to init/: a Modal app. Its calls become a Dockerfile (modal_calls.c); modal.c does the rest. */

struct app {
	struct init *rd;
	const struct source *src;
	const struct names *read; /* paths of other files in this run */
	struct offsets lines;
	struct buf text; /* the image as a Dockerfile */
	struct origins origins;
	struct docker d;
	/* Files that calls install: read after the image, whose Python they need. */
	struct app_files LIST(struct app_file {
		const struct source *src;
		bool project;
	}) files;
};

/* Returns an item of a list, NULL: there is none. */
const struct node *modal_at(const struct node *list, size_t i);
/* Returns the text of a scalar, "" for anything else. */
const char *modal_text(const struct node *n);
/* Returns the place [line, bytes before, bytes] in the app. */
struct span modal_place(const struct app *p, const struct node *n);
/* Opens an item for a node with `what` and `at`. */
struct init_item *modal_item(const struct app *p, const struct node *n);

/* Adds a call of the image to p->text and its other parts as items. */
void modal_add_call(struct app *p, const struct node *call);

#endif
