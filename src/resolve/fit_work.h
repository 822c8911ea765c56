#ifndef FIT_WORK_H
#define FIT_WORK_H

#include "base/map.h"
#include "base/str.h"
#include "fit.h"

/* One run of fit_solve(). */

/* A thing and what the solver was told of it. */
struct fit_slot {
	unsigned number;
	struct fit_thing t;
	struct fit_candidates LIST(struct fit_candidate) list; /* t.c and t.n follow it */
	struct fit_given {
		struct solve_facts facts;
		bool made;
	} * given,         /* by candidate: its facts, made when first asked for */
		whole;     /* of the thing, whichever candidate */
	unsigned epoch;    /* when those of the whole were given last */
	const void *entry; /* struct extension, gpu, python_package; or NULL */
	const char *of;    /* FIT_SOURCE: the extension's key */
	const struct recipe_extension *asked; /* FIT_EXTENSION, FIT_SOURCE */
	const char *wheel; /* the address of a wheel that packages: names for it; or NULL */
};
struct fit_slots LIST(struct fit_slot *);

/* What cures all errors together, once it was looked for. */
struct fit_cure {
	bool looked, found;
	struct solve_indexes pins;
	struct solve_result best;
};

/* A requirement that nothing is known of, and the Pythons that its marker holds for. */
struct unjudged {
	const char *name;
	const struct solve_term *when; /* NULL: all */
};

struct fit_work {
	struct solve_budget budget; /* of one call of the solver */
	struct arena *a;
	const struct facts *f;
	const struct recipe *r;
	struct fit_slots slots;
	struct map by_key; /* key -> struct fit_slot */
	struct fit_pins LIST(struct fit_pin) pins;
	struct solve_pins LIST(struct solve_pin) solve_pins;
	struct unjudgeds LIST(struct unjudged) unjudged;
	const struct solve_term *when; /* of the requirement being read: its marker */
	struct image_name image;       /* of base:, or empty */
	bool compiles;                 /* an extension is compiled in this stack */
	unsigned gcc;           /* that CC or CUDAHOSTCXX names: its major; 0: the system's */
	unsigned epoch;         /* one solver call: each fact is given once in it */
	enum fit_strength upto; /* facts weaker than this are held back */
	bool warned;            /* the last fit_best() went against a FIT_WARN */
	unsigned made;          /* facts so far */
	unsigned *error_of;     /* by pin: the error that names it, from 1; 0: none */
	struct fit_cure cure;
};

/* --- things.c: things and candidates --- */

/*
 * The number of a thing; made, with its candidates from the knowledge, when first named.
 * Most wanted first.  `key` as in fit.h.
 */
unsigned fit_slot(struct fit_work *w, enum fit_kind kind, const char *key);
/* The same if it is there already, else -1. */
int fit_find(const struct fit_work *w, const char *key);
struct fit_thing *fit_at(struct fit_work *w, unsigned thing);
/*
 * The candidate of a text: by version for releases, else by the letters.  Added as not known
 * (and least wanted) when it is not there; only while pins are made, never from a row.
 */
size_t fit_candidate(struct fit_work *w, unsigned thing, const char *text);

/* --- sets, for rows --- */

solve_word *fit_none(struct fit_work *w, unsigned thing);
solve_word *fit_all(struct fit_work *w, unsigned thing);
solve_word *fit_one(struct fit_work *w, unsigned thing, size_t candidate);
/* Candidates whose version is in a PEP 440 specifier; those without a version are in it. */
solve_word *fit_in(struct fit_work *w, unsigned thing, const char *spec);
/* Candidates whose text is one of the names; and those that are not known, if asked. */
solve_word *fit_named(struct fit_work *w, unsigned thing, const struct names *names, bool unknown);

/* --- facts, for rows: each with its sentence; printf-like, the source apart --- */

/* A row's function: all facts of this row that hold for a candidate (EACH) or thing (ONCE). */
struct fit_ask {
	struct fit_work *w;
	const struct fit_row *row;
	unsigned thing;
	size_t candidate; /* of an EACH row */
	struct solve_facts *out;
};

/* If the candidate asked about is chosen, `then` must be there and be one of `those`. */
void fit_needs(struct fit_ask *q, unsigned then, const solve_word *those, const char *source,
	       const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* If the candidate asked about is chosen and `then` is there, it must be one of `those`. */
void fit_allows(struct fit_ask *q, unsigned then, const solve_word *those, const char *source,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The same, for a set of the thing asked about (ONCE rows). */
void fit_needs_if(struct fit_ask *q, const solve_word *these, unsigned then,
		  const solve_word *those, const char *source, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
void fit_allows_if(struct fit_ask *q, const solve_word *these, unsigned then,
		   const solve_word *those, const char *source, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* Not all of these at once: any number of terms. */
void fit_clash(struct fit_ask *q, const struct solve_term *terms, size_t n, const char *source,
	       const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The term "the thing is this candidate". */
struct solve_term fit_is(struct fit_work *w, unsigned thing, size_t candidate);

/* --- fit.c: the rows as provider; from then on facts of w->upto and stronger are given --- */

struct solve_provider fit_provider(struct fit_work *w);
/* Facts of that strength and weaker that were switched off count again. */
void fit_wake(struct fit_work *w, enum fit_strength from);
/* Takes the facts of a strength out of the game, all or the last; false if there is none. */
bool fit_switch_off(const struct solve_facts *facts, enum fit_strength strength, bool all);
/* The best stack for these pins: what guides is kept as far as they let it. */
struct solve_result fit_best(struct fit_work *w, const struct solve_pin *pins, size_t n);

/* True if an error names the pin, other than `but`: the others are judged without it. */
bool fit_pin_in_error(const struct fit *fit, unsigned pin, const struct solve_conflict *but);

/* --- repair.c, edits.c: the nearest stack that works --- */

/* A repair with everything chosen again, and each changed pin with what it becomes. */
struct fit_change {
	unsigned pin;
	const char *now;  /* what is named in the sentence: "torch 2.6.0" */
	const char *text; /* the exact text at the pin's place; NULL: by hand */
	struct span at;
};
struct fit_changes LIST(struct fit_change);
struct fit_repair {
	struct solve_indexes pins;
	struct solve_result best;
	struct fit_changes changes;
	bool by_hand;  /* a change cannot be written down mechanically */
	bool left_out; /* it leaves something out that is given: a GPU, the driver */
	unsigned seconds;
	bool everything; /* all layers are made again */
	unsigned layers;
};
struct fit_repairs LIST(struct fit_repair);

/* At most two: the nearest, and the nearest that keeps what the first changes. */
struct fit_repairs fit_ways_out(const struct fit *fit, const struct fit_conflict *c);
/* Fills r->changes from r->pins and r->best. */
void fit_changes_of(const struct fit *fit, struct fit_repair *r);
/* The name of a pinned thing in a sentence: "torch 2.2.2", "numpy>=2", "`rtx5090`". */
const char *fit_pin_name(const struct fit *fit, const struct fit_pin *p);

/*
 * True of a torch among the packages that pip is given beside the one of `torch:`. What no known
 * release is in is left to pip.
 */
bool fit_asks_of_torch(struct fit_work *w, const struct requirement *req);

/* --- pins.c --- */

void fit_pins(struct fit_work *w);

/* --- the rows: one function each --- */

typedef void fit_row_fn(struct fit_ask *q);
#define FIT_EACH(name, ...) void fit_row_##name(struct fit_ask *q);
#define FIT_ONCE(name, ...) void fit_row_##name(struct fit_ask *q);
#include "rows.def"
#undef FIT_EACH
#undef FIT_ONCE

/* --- what rows share --- */

/* Returns the candidates of "python" that a marker holds for, on the recipe's machine. */
solve_word *fit_pythons_of(struct fit_work *w, const struct marker *m);
/* The one candidate that a pin of the recipe leaves of a thing, or -1. */
int fit_asked_for(const struct fit_work *w, unsigned thing);
/* Returns the recipe's platform as Python names it: "x86_64" or "aarch64". */
const char *fit_machine(const struct recipe *r);
/* True if the recipe says anything of that thing, beyond that it must be there. */
bool fit_is_pinned(const struct fit_work *w, unsigned thing);
/* A variable of the recipe's env:, or NULL. */
const char *fit_env(const struct fit_work *w, const char *name);
/* The index is a URL that is none of torch's own: what it has is not known. */
bool fit_own_index(const struct fit_work *w);
/* The release or series of CUDA that cuda: or the base image names, or NULL. */
const char *fit_cuda_asked(const struct fit_work *w);
/* The stack is built in an image of NVIDIA's that is chosen here. */
bool fit_chooses_image(const struct fit_work *w);
/* "gcc-12", "/usr/bin/g++-11": the major that CUDAHOSTCXX, CXX or CC names; else 0. */
unsigned fit_gcc_named(const struct recipe *r);
/* <0, 0, >0, as versions are ordered. */
int fit_version_order(struct fit_work *w, const char *x, const char *y);
/*
 * How the recipe says that it wants to use a GPU ("names GPUs"); NULL: it does not, or it asks
 * for a build of torch that cannot.
 */
const char *fit_gpu_sign(struct fit_work *w);
/* Major versions that torch has builds for. */
enum { FIT_CUDA_FIRST = 10, FIT_CUDA_LAST = 19 };
/* The builds for one of them; and as a sentence begins: "torch's cu121 build", if it is asked for. */
solve_word *fit_builds_of(struct fit_work *w, unsigned build, unsigned long major);
const char *fit_build_words(struct fit_work *w, unsigned build, unsigned long major);
/* Candidates of CUDA that "12.4" (all of the series) or "12.4.1" means. */
solve_word *fit_cuda_named(struct fit_work *w, unsigned cuda, const char *version);

/* --- words.c --- */

/* ">=3.5.0" -> "3.5.0 or newer"; what has no short form stays as it is. */
const char *fit_spec_words(struct arena *a, const char *spec);

#endif
