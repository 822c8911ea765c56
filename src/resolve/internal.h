#ifndef RESOLVE_INTERNAL_H
#define RESOLVE_INTERNAL_H

#include "base/edit.h"
#include "base/map.h"
#include "base/str.h"
#include "resolve.h"

/* A variable with the constraints that it gave to the solver. */
struct domain {
	unsigned number;
	struct solver_variable t;
	size_t cap; /* capacity of t.c */
	struct given {
		struct solve_facts facts;
		bool made;
	} * given; /* facts of each candidate, read on demand; the last: those of the variable */
	unsigned epoch;                       /* the epoch in which the last constraint was given */
	const void *entry;                    /* struct extension, gpu; or NULL */
	unsigned source;                      /* VARIABLE_EXTENSION: 1 plus that variable; or 0 */
	const struct recipe_extension *asked; /* VARIABLE_EXTENSION, VARIABLE_SOURCE */
	const solve_word *read;               /* releases that the solver tries first; or NULL */
	const char *wheel; /* the address of a wheel that packages: names for it; or NULL */
};
struct domains LIST(struct domain *);

/* The repair of all errors together. */
struct joint_repair {
	bool found;
	struct solve_indexes pins;
	struct solve_result best;
};

/* An unknown requirement, and the Pythons for which its marker is true. */
struct unchecked {
	const char *what, *why;
	const struct solve_term *when; /* NULL: all */
	const struct source *file;     /* requirements file of the application; NULL: the recipe */
	enum checked_by by;
};

/* A pairing with a package that has no variable yet, or no release for it. */
struct waiting_pair {
	const struct pairing *pairing;
	unsigned own; /* the variable of the package on the left */
};
struct waiting_pairs LIST(struct waiting_pair);

/* One run of resolve(). */
struct workspace {
	struct solve_budget budget; /* for one call of the solver */
	struct arena *a;
	const struct facts *f;
	const struct recipe *r;
	struct domains variables;
	struct solver_variables LIST(const struct solver_variable *) all; /* of `variables` */
	struct map by_key;                                                /* key -> struct domain */
	unsigned of_kind
		[VARIABLE_KINDS]; /* 1 plus the number of the only variable of a kind; or 0 */
	struct map listed;        /* the names in s->parts */
	struct map bounded;       /* requirements that the recipe's packages have in any release */
	struct requests LIST(struct request) requests;
	struct solver_pins LIST(struct solve_pin) solver_pins;
	struct unchecked_items LIST(struct unchecked) unchecked;
	const struct solve_term *when; /* marker of the requirement being read */
	struct image_name image;       /* parts of `base:`; or empty */
	bool compiles;                 /* an extension is compiled in this stack */
	struct text index;             /* torch.index, or the part of torch's version after the + */
	const char *index_tag;         /* its build: "cu121"; NULL: unknown */
	const char *gcc;    /* version of CC, CXX or CUDAHOSTCXX: "12"; NULL: the system's gcc */
	unsigned epoch;     /* number of the solver call; each call gets a constraint once */
	enum strength upto; /* the solver gets no weaker constraints */
	bool warned;        /* the last solve_best() violated a STRENGTH_WARNING */
	unsigned made;      /* number of constraints so far */
	struct given_up LIST(struct constraint *) given_up; /* dropped for a stronger one */
	struct joint_repair joint;
	struct waiting_pairs waiting, unlisted;
	struct map environments;           /* "3.11[extra]" -> struct marker_env */
	struct map pythons_in;             /* specifier, or marker ("; ...") -> Pythons */
	struct map needs;                  /* text of a requirement -> struct need */
	struct constraint_kind *rule_rows; /* one for each rule; NULL: not made yet */

	/* The stack that the solution becomes. */
	struct diags *ds;
	struct stack *s;
	const struct solution *solution;
	const struct candidate *python; /* the Python that markers are evaluated for */
	unsigned errors;                /* errors of earlier stages and cells */
	bool forced;                    /* conflicts do not stop the plan */
};

/* --- variables.c: variables and candidates --- */

/* Returns the number of a variable. The first call with its key makes the variable, with the
 * candidates of the knowledge base. The preferred candidate is the first. Keys: enum
 * variable_kind. */
unsigned variable_get(struct workspace *w, enum variable_kind kind, const char *key);
/* Returns the only variable of a kind, such as VARIABLE_PYTHON. */
unsigned the_variable(struct workspace *w, enum variable_kind kind);
/* Returns the same for a name alone: "torch", "cuda", a package, an extension. */
unsigned variable_named(struct workspace *w, const char *name);
/* Returns the variable of that name if it exists, else -1. */
int variable_find(const struct workspace *w, const char *key);
struct solver_variable *variable_at(struct workspace *w, unsigned variable);
/* Returns the candidate of a text, compared by version; adds a missing one, marked unknown. */
size_t variable_candidate(struct workspace *w, unsigned variable, const char *text);

/* Adds a candidate without a version: a tag or commit of which nothing is known. */
void variable_commit(struct workspace *w, unsigned variable, const char *ref);

/* --- sets, for rows --- */

solve_word *set_none(struct workspace *w, unsigned variable);
solve_word *set_not(struct workspace *w, unsigned variable, const solve_word *set);
bool set_is_empty(struct workspace *w, unsigned variable, const solve_word *set);
solve_word *set_all(struct workspace *w, unsigned variable);
solve_word *set_one(struct workspace *w, unsigned variable, size_t candidate);
/* Returns the candidates that a PEP 440 specifier allows, and those without a version. */
solve_word *set_in(struct workspace *w, unsigned variable, const char *spec);
const struct version *python_version(const struct workspace *w, const char *text);
solve_word *set_matching(struct workspace *w, unsigned variable, const struct specifiers *spec);
/* Returns the same for a request: adds an unknown release if there is none. */
solve_word *set_allowed(struct workspace *w, unsigned variable, const struct specifiers *spec);
solve_word *set_text(struct workspace *w, unsigned variable, const char *text);
/* Returns the candidates with a lower version; those without a version are not in the set. */
solve_word *set_below(struct workspace *w, unsigned variable, const char *version);
/* Returns the candidates whose text is one of the names, and optionally the unknown ones. */
solve_word *set_named(struct workspace *w, unsigned variable, const struct names *names,
		      bool unknown);

/* Returns the known candidates in the series of a missing version: 2.6.0 for torch 2.6.1. */
solve_word *set_same_series(struct workspace *w, unsigned variable);

/* --- constraints: each with its sentence and source --- */

/* The arguments of a row's function, which adds constraints to `out`. */
struct query {
	struct workspace *w;
	const struct constraint_kind *kind;
	unsigned variable;
	size_t candidate; /* index of the candidate, in a CONSTRAINT_EACH row */
	struct solve_facts *out;
};

/* Adds a fact: not all terms can be true, as in add_conflict(q, TERMS(THIS(q), IN(os, old)), ...).
 * Adds nothing, and returns NULL, if one of them can never be true. */
struct constraint *add_conflict(struct query *q, const struct solve_term *terms, size_t n,
				const char *source, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* If the candidate is selected, the stack must have `then`, one of `those`: source, fmt, ... */
#define add_requires(q, then, those, ...) \
	add_conflict(q, TERMS(THIS(q), NOT_IN(then, those)), __VA_ARGS__)
/* If the candidate is selected and the stack has `then`, it must be one of `those`. */
#define add_allows(q, ...) \
	add_allows_if(q, set_one((q)->w, (q)->variable, (q)->candidate), __VA_ARGS__)
/* Adds the constraints of a set of candidates (CONSTRAINT_ONCE rows). */
#define add_allows_if(q, these, then, those, ...) \
	add_conflict(q, TERMS(IN((q)->variable, these), IN(then, set_not((q)->w, then, those))), \
		     __VA_ARGS__)
#define TERMS(...) \
	(const struct solve_term[]){ __VA_ARGS__ }, \
		sizeof((const struct solve_term[]){ __VA_ARGS__ }) / sizeof(struct solve_term)
/* The variable exists and is in the set; it is absent, or not in the set. */
#define IN(variable, set) ((struct solve_term){ (variable), false, (set) })
#define NOT_IN(variable, set) ((struct solve_term){ (variable), true, (set) })
/* The variable exists and is not in the set. */
#define OUT(w, variable, set) IN((variable), set_not((w), (variable), (set)))
/* The same for the variable of a kind: IS(w, VARIABLE_OS, set_text, "debian12"). */
#define IS(w, kind, set, ...) \
	IN(the_variable((w), (kind)), set((w), the_variable((w), (kind)), __VA_ARGS__))
#define LACKS(w, kind, set, ...) \
	NOT_IN(the_variable((w), (kind)), set((w), the_variable((w), (kind)), __VA_ARGS__))
#define IS_NOT(w, kind, set, ...) \
	OUT((w), the_variable((w), (kind)), set((w), the_variable((w), (kind)), __VA_ARGS__))
/* The variable exists, with any candidate. */
#define THERE(w, variable) IN((variable), set_all((w), (variable)))
/* True if the current candidate is selected. */
#define THIS(q) IN((q)->variable, set_one((q)->w, (q)->variable, (q)->candidate))
/* Returns the current candidate, with its entry in the knowledge base. */
const struct candidate *candidate_of(const struct query *q);
#define ENTRY(q) (candidate_of(q)->entry)
/* Returns the candidates `c` of a variable for which the condition is true, as a new set. */
#define SET_WHERE(w, variable, c, condition) \
	__extension__({ \
		const struct solver_variable *of_ = variable_at((w), (variable)); \
		solve_word *set_ = set_none((w), (variable)); \
		for (const struct candidate *c = of_->c; c && c < of_->c + of_->n; c++) \
			if (condition) \
				solve_set_add(set_, (size_t)(c - of_->c)); \
		set_; \
	})

/* --- shared by the rows of extensions --- */

/* The current candidate, and its entry in the knowledge base. */
struct release {
	const struct extension *e;         /* or NULL */
	const struct extension_release *r; /* or NULL: an unknown release, or a commit */
	const char *name;                  /* "mamba-ssm 2.2.2", for sentences */
};
struct release release_of(struct query *q);

/* Returns the one candidate of a set that a pin of the recipe leaves of a variable, or -1. */
int requested_in(const struct workspace *w, unsigned variable, const solve_word *set);
/* Candidates of a variable that share one text, in their order. */
struct group {
	const char *why;    /* the shared text */
	const char *source; /* source of the first candidate */
	const char *newest, *oldest;
	solve_word *these;
};
struct groups LIST(struct group);
void group_add(struct workspace *w, struct groups *all, unsigned variable, size_t candidate,
	       const char *why, const char *source);
/* Returns "2.2.2" if the recipe requires that release, otherwise the range: "1.1.1 to 2.2.2". */
const char *group_label(struct workspace *w, unsigned variable, const struct group *g);
/* Finds the next variable that is a GPU from *i on, and advances *i; false: there is none. */
bool next_gpu(struct workspace *w, size_t *i, unsigned *variable);

/* Returns the variable for the source of an extension, or -1 for one in `packages`. */
int source_variable(const struct workspace *w, const char *extension);

/* Returns true if a source, "sdist", matches a word: the name of a source, or "compiled", which
 * means sdist, git or an archive by URL. */
bool source_is(const struct workspace *w, unsigned source, const char *text, const char *word);
/* Returns the term "its code comes from this source"; for "compiled", "this stack compiles it". The
 * term is never true for `packages`, where pip decides. */
struct solve_term comes_from(struct query *q, const char *word);
#define compiled(q) comes_from((q), "compiled")

/* Returns the series of the toolkits in a set: "12.8 and newer", "11.8 to 12.9", "12.1"; or "". */
const char *cuda_label(struct workspace *w, const solve_word *set);

/* Returns every row of rows.def. */
const struct constraint_kind *constraint_kinds(size_t *n);

/* --- solution.c: gives the rows to the solver and runs it --- */

/* Returns the provider of all constraints that have at least that strength. */
struct solve_provider constraint_provider(struct workspace *w, enum strength upto);
/* Returns the preferred stack for these pins. */
struct solve_result solve_best(struct workspace *w, const struct solve_pin *pins, size_t n);
/* Restores the dropped constraints of that strength and weaker. */
void constraints_restore(struct workspace *w, enum strength from);
/* Makes a pin that requires nothing. */
void pin_lift(struct workspace *w, struct solve_pin *p);
/* Returns the constraint that belongs to a fact; NULL: none. */
static inline struct constraint *
constraint_of(const struct solve_fact *fact)
{
	return fact ? (struct constraint *)(uintptr_t)fact->why : NULL;
}

/* Returns true if the solver's selection satisfies the term. */
bool term_holds(const struct solution *solution, const struct solve_term *t);
/* Returns true if an error names the request; does not look at `but`. */
bool request_in_error(const struct solution *solution, unsigned pin, const struct conflict *but);
/* Returns the selected candidate of a variable (-1: none), or NULL. */
const struct candidate *candidate_in(const struct workspace *w, const int *chosen, size_t n,
				     int variable);

/* Returns the most useful constraint of the first conflict, or NULL. */
const struct constraint *conflict_reason(const struct solve_conflicts *found);

/* --- repair.c: the closest stack that works --- */

/* A change that a repair makes to a request. */
struct change {
	const char *now;  /* text in the sentence: "torch 2.6.0" */
	const char *text; /* text at its place in the recipe; NULL: the user must edit it */
	struct span at;
};
struct changes LIST(struct change);
struct repair {
	struct solve_indexes pins;
	struct solve_result best;
	struct changes changes;
	bool by_hand;     /* a change needs an edit by hand */
	bool left_out;    /* it removes a fact about the machine: a GPU, the driver */
	const char *cost; /* "1 layer rebuilds, about 10 min" */
};
struct repairs LIST(struct repair);

/*
 * Returns at most two repairs: the closest, and the closest one without the changes of the first.
 */
struct repairs find_repairs(const struct solution *solution, const struct conflict *c);
/* Returns how long a build after this repair takes: "3 layers rebuild, about 20 min". */
const char *repair_cost(const struct solution *solution, const struct repair *r);
/* Fills r->changes with the changes of r->pins, and sets by_hand and left_out. */
void repair_changes(const struct solution *solution, struct repair *r);
/* Returns how a sentence names a request: "torch 2.2.2", "numpy>=2", "`rtx5090`". */
const char *request_name(const struct solution *solution, const struct request *p);

/* --- rules.c: rules of the knowledge --- */

/* Adds the clauses of every error rule whose first condition is on the current variable. */
void add_rules(struct query *q);
/* Returns true if a rule about a package of the solved stack rejects that compute capability. */
bool rules_reject_gpu(struct workspace *w, const char *cc);
/* Evaluates the rules on the chosen stack: solution->findings, solution->rules_open. */
void check_rules(struct workspace *w, struct solution *solution);

/* --- requests.c --- */

/* The cost of changing a request: a repair changes the cheapest. */
enum {
	SOURCE = 1,  /* where the code of a version comes from; the version stays */
	LIGHT = 2,   /* an extension or a package: one layer is built again */
	PLACE = 6,   /* Python, CUDA, the base: all layers are built again */
	TORCH = 10,  /* the same, and all other versions depend on it */
	HEAVY = 1000 /* a fact about the machine, which a repair cannot change */
};

/* Reads the whole recipe: fills w->requests and w->solver_pins. */
void read_requests(struct workspace *w);
/* Returns the name in the knowledge base that is one letter off an unknown one, or NULL. */
const char *name_meant(struct workspace *w, const char *key);
/* Returns the version in the name of a wheel or an sdist, without +local; or NULL. */
const char *version_of_url(struct workspace *w, const char *url);

/* --- the rows: one function each --- */

#define CONSTRAINT_EACH(name, ...) void constraint_##name(struct query *q, struct workspace *w);
#define CONSTRAINT_ONCE(name, ...) void constraint_##name(struct query *q, struct workspace *w);
#include "rows.def"
#undef CONSTRAINT_EACH
#undef CONSTRAINT_ONCE

/* --- what rows share --- */

/* Returns the candidates of "python" for which a marker is true on the recipe's machine. */
solve_word *set_pythons_where(struct workspace *w, const struct marker *m);
/* Returns the same for a marker on `extra`, which is one of the extras or empty. */
solve_word *set_pythons_with(struct workspace *w, const struct marker *m,
			     const struct names *extras);
/* Returns true if `packages` or `extensions` of the recipe has it. */
bool recipe_has(const struct workspace *w, const char *key);
/* Returns the extra index that serves a package, or NULL; resolve_coverage() lists it. */
const struct recipe_index *extra_index(const struct workspace *w, const char *key);
/* Returns true if an extension is a wheel of an extra index: `from: wheel` without a url. */
bool is_index_wheel(const struct workspace *w, const struct recipe_extension *e);
/* Returns true if pip selects a file of PyPI: nothing is compiled, and no other place is named. */
bool is_from_pypi(const struct workspace *w, const char *key);
/* Returns true if the knowledge base has releases or pairings of a package. */
bool is_tracked(const struct workspace *w, const char *key);
/* Returns the one candidate that a pin of the recipe leaves of a variable, or -1. */
int requested(const struct workspace *w, unsigned variable);
/* Returns true if the extension is compiled, and not installed from a wheel. */
bool is_compiled(const struct recipe_extension *e);
/* Returns true if the knowledge base, or any release of the recipe's packages, can bound a package. */
bool bounds_count(struct workspace *w, const char *key);
/* Returns the releases that were read, for the provider; NULL: it prefers none. */
const solve_word *releases_wanted(void *workspace, unsigned variable);
/* Returns true for torchvision and torchaudio, each release of which belongs to one torch. */
bool is_companion(const char *key);
/* Returns the release that was built for that torch; NULL: none, or no companion. */
const char *torch_companion(const struct torch_release *t, const char *key);
/* Returns the compute capabilities that a build has code for on the recipe's platform; empty: not
 * known. */
const struct names *build_archs(const struct workspace *w, const struct torch_variant *v);
/* Returns true if the recipe limits that variable instead of only requiring that it exists. */
bool is_requested(const struct workspace *w, unsigned variable);
/* Returns the first setting of a name, or NULL. */
const struct setting *setting_named(const struct settings *env, const char *name);
/* Returns a variable of the recipe's env:, or NULL. */
const char *env_value(const struct workspace *w, const char *name);
/* Returns true if a variable of the recipe's env: has one of the words, which blanks separate. */
bool env_is(const struct workspace *w, const char *name, const char *words);
/* Returns the length of a URL without slashes at its end; *last: where its last part begins. */
size_t url_end(const char *url, size_t *last);
/* Returns true if torch is not a build of PyTorch, so that its contents are unknown: the torch of the
 * base image, or one from an index other than PyTorch's. */
bool has_own_build(const struct workspace *w);
/* Returns the version of the base's torch, if the recipe uses that one: "2.4.0a0"; else NULL. */
const char *torch_of_base(const struct workspace *w);
/* Returns whether torch never had that release; `nearest` gets the releases before and after it. */
bool torch_never(struct workspace *w, const char *version, const char *nearest[2]);
/* Returns the release whose facts apply to a version: "2.4.0" for "2.4.0a0". */
const char *torch_checked_as(const struct workspace *w, const char *version);
/* Returns the release or series of CUDA that cuda: or the base image names, or NULL. */
const char *requested_cuda(const struct workspace *w);
/* Returns true if stackbuild builds in an image of NVIDIA that it selects itself. */
bool selects_image(const struct workspace *w);
/* Returns <0, 0 or >0 for the order of two versions. */
int text_version_order(struct workspace *w, const char *x, const char *y);
/*
 * Returns how the recipe shows that it needs a GPU ("names GPUs"); NULL: nothing shows it, or the
 * recipe requires a CPU build of torch.
 */
const char *gpu_evidence(struct workspace *w);
/* Returns the candidates of CUDA for a version: "12.4" is the whole series, "12.4.1" one. */
solve_word *set_cuda(struct workspace *w, unsigned cuda, const char *version);

/* Returns the name of a GPU for messages: "`rtx5090` (compute capability 12.0)". */
const char *gpu_label(struct workspace *w, unsigned gpu);

/* Returns ">=3.5.0" as "3.5.0 or newer"; a text without a short form stays unchanged. */
const char *spec_label(struct arena *a, const char *spec);

/* --- the parts of the stack: each function decides one; they run in this order --- */

void resolve_image(struct workspace *w);       /* the base's name; the requested CUDA */
void resolve_torch(struct workspace *w);       /* version, build, index, pairs, numpy */
void resolve_base(struct workspace *w);        /* CUDA, the image, where the toolkit comes from */
void resolve_python(struct workspace *w);      /* series and origin */
void resolve_archs(struct workspace *w);       /* target GPUs of the kernels */
void resolve_extensions(struct workspace *w);  /* versions, sources, environment, order */
void resolve_packages(struct workspace *w);    /* build requirements, ordinary ones */
void resolve_constraints(struct workspace *w); /* the versions that pip must keep */
void resolve_apt(struct workspace *w);         /* the operating system's packages, both stages */

void resolve_check(struct workspace *w);    /* runs the checks of checks.def */
void resolve_coverage(struct workspace *w); /* lists the parts of the stack with their coverage */

/* Returns true for a build of torch for GPUs of AMD or Intel: "rocm6.2", "xpu". */
bool is_other_vendor(const char *build);

/* --- decisions --- */
struct choice choice_given(struct text t, const char *reason);
struct choice choice_made(const char *value, const char *reason, const char *source);
struct stack_package package_given(const struct recipe_requirement *q, const char *reason);
/* Returns the run-time requirements of a release (NULL: unknown), and of the extras in the recipe. */
struct names extension_requires(struct workspace *w, const struct extension_release *r,
				const struct recipe_extension *asked);
/* Extensions that pip installs as wheels: returns the recipe with them as packages; warns of them. */
const struct recipe *recipe_without_wheels(struct arena *a, const struct facts *f,
					   const struct recipe *r);
void check_wheel_extensions(struct workspace *w, const struct recipe *written);
/* Adds a fix that replaces the scalar at a place by a value. */
#define fix_scalar(w, d, at, value, ...) \
	diag_fix((d), (at), edit_scalar((w)->a, (at), (value)), __VA_ARGS__)
/* Adds a help; it is a fix if its text is "write `from: auto`" and the recipe has `from`. */
void help_from(struct workspace *w, struct diag *d, struct span from, const char *help);

/*
 * Returns the pinned candidate of a variable, or the selected one, or NULL.
 * They differ only if a conflict is ignored (--force).
 */
const struct candidate *decided(const struct workspace *w, const char *key);
/* Returns true if there is no marker, or if it is true for the stack's Python. */
bool marker_holds(struct workspace *w, const struct marker *m);
/* Returns true if the stack keeps an extension of the recipe. */
bool extension_stays(struct workspace *w, const struct recipe_extension *e);

/*
 * resolve_image_near -- returns an existing image that replaces a missing one: it has the same
 * release, flavour and cuDNN, and the same system if possible.
 *
 *   in   cudnn: with cuDNN
 *   out  its name; NULL: none is known
 */
const char *resolve_image_near(const struct workspace *w, const struct image_name *n, bool cudnn);

/* Returns true if it is an image of NVIDIA's that the knowledge base does not list. */
bool image_is_doubtful(const struct workspace *w, const struct image_name *n);

/* Returns the devel image next to the base: one with the same toolkit or the same tag; or NULL. */
const char *resolve_image_devel(const struct workspace *w);

/* Returns the image of the second stage when the recipe names none. */
struct choice resolve_runtime_base(const struct workspace *w);

/*
 * Warns (SB0231) that an extension has no version, and which release the solver selected; r NULL:
 * the recipe allows no known release.
 */
void report_unpinned_extension(struct workspace *w, const struct recipe_extension *e,
			       const struct extension *known, const struct extension_release *r);
/* Reports (SB0117) a repository without a tag or commit, with the tag to write as a fix. */
void report_not_pinned(struct workspace *w, const struct recipe_extension *e,
		       const struct extension *known);

/* --- checks of the finished stack --- */

/* The check table: see checks.def. */
#define CHECK(name, rules) void check_##name(struct workspace *w);
#include "checks.def"
#undef CHECK

/*
 * Finds the settings of a variable: env of the recipe, then env of each extension.
 *
 *   in      at: 0 for the first, then the value of the last call
 *   out  the setting, and the extension that it is for (NULL: all); NULL: no more
 */
const struct setting *check_setting(const struct workspace *w, const char *name, size_t *at,
				    const struct stack_extension **extension);

#endif
