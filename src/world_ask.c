/* Asks the sources of a stack whether they have its parts; world_ask_one.c sends the requests. */
#include "world_ask.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/edit.h"
#include "base/fs.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "world_ask_one.h"

enum { LOOK_MS = 100, SAID_MAX = 256 * 1024 };

/* A host, and the process that asks its questions. */
struct asked_host {
	const char *host;
	struct proc_helper helper;
	struct buf said;
	const struct asking *of;
};

struct asking {
	struct run *r;
	struct questions *all;
	struct ask_how how;
	unsigned limit_s;
	struct asked_hosts LIST(struct asked_host) hosts;
};

/* --- the process of a host --- */

/* Prints "2 no WHY" and "2 near NAME" for the third question. */
static void
say(int fd, struct arena *a, size_t i, const char *what, const char *text)
{
	const char *line =
		arena_printf(a, "%zu %s %s\n", i, what, diag_one_line(a, text ? text : ""));

	fs_write_all(fd, line, strlen(line));
}

static void
ask_host(int fd, const void *ctx)
{
	static const char *const words[] = { "none", "yes", "no" };
	const struct asked_host *h = ctx;
	const struct asking *x = h->of;
	struct arena *a = x->r->a;
	struct ask_how how = x->how;

	signal(SIGALRM, SIG_DFL); /* ends this process, and with it all questions to the host */
	http_never_again();
	how.netrc = http_logins(a, how.secrets);
	for (size_t i = 0; i < x->all->n; i++) {
		struct question q = x->all->at[i];

		if (q.answer || strcmp(q.host, h->host) != 0)
			continue;
		alarm(x->limit_s);
		ask_one(a, &how, &q);
		say(fd, a, i, words[q.answer], q.why);
		if (q.answer == ANSWER_NO)
			ask_near(a, &how, &q);
		list_each (name, &q.near)
			say(fd, a, i, "near", *name);
		if (!q.answer)
			break;
	}
}

/* --- the answers --- */

/* Reads the lines of a process. A forged line is impossible: every text is on one line. */
static void
take_lines(struct asking *x, struct asked_host *h)
{
	const struct names lines = names_split(x->r->a, buf_text(&h->said), '\n');

	list_each (line, &lines) {
		const struct names words = names_split(x->r->a, *line, ' ');
		unsigned long i = words.n > 1 ? strtoul(words.at[0], NULL, 10) : x->all->n;
		struct question *q = i < x->all->n ? &x->all->at[i] : NULL;
		const char *text;

		if (!q)
			continue;
		text = *line + strlen(words.at[0]) + strlen(words.at[1]) + 2;
		if (!strcmp(words.at[1], "near"))
			list_push(x->r->a, &q->near, text);
		else
			q->why = *text ? text : NULL;
		if (!strcmp(words.at[1], "yes"))
			q->answer = ANSWER_YES;
		if (!strcmp(words.at[1], "no"))
			q->answer = ANSWER_NO;
	}
}

/* Gives the questions without an answer a reason: that of the one that the host did not answer. */
static void
explain_silence(struct asking *x, const struct asked_host *h)
{
	const char *why = NULL;

	for (size_t i = 0; i < x->all->n && !why; i++)
		if (!x->all->at[i].answer && !strcmp(x->all->at[i].host, h->host))
			why = x->all->at[i].why;
	if (!why)
		why = proc_interrupted() ?
			      "interrupted" :
			      arena_printf(x->r->a, "it did not answer within %u s", x->limit_s);
	for (size_t i = 0; i < x->all->n; i++)
		if (!x->all->at[i].answer && !strcmp(x->all->at[i].host, h->host))
			x->all->at[i].why = why;
}

/* Waits for the output of all processes. */
static void
collect(struct asking *x)
{
	struct pollfd *fds = arena_array_of(x->r->a, struct pollfd, x->hosts.n + 1);
	size_t open = x->hosts.n;

	for (size_t i = 0; i < x->hosts.n; i++)
		fds[i] = (struct pollfd){ .fd = x->hosts.at[i].helper.fd, .events = POLLIN };
	while (open && !proc_interrupted()) {
		poll(fds, x->hosts.n, LOOK_MS);
		open = 0;
		for (size_t i = 0; i < x->hosts.n; i++) {
			char block[4096];
			ssize_t n = fds[i].fd < 0 ? 0 : read(fds[i].fd, block, sizeof(block));

			if (n > 0)
				buf_add(&x->hosts.at[i].said, block, (size_t)n);
			if (n > 0 ||
			    (n < 0 && fds[i].fd >= 0 && (errno == EAGAIN || errno == EINTR)))
				open++;
			else
				fds[i].fd = -1;
		}
	}
	for (size_t i = 0; i < x->hosts.n; i++) {
		take_lines(x, &x->hosts.at[i]);
		explain_silence(x, &x->hosts.at[i]);
		proc_helper_end(&x->hosts.at[i].helper);
	}
}

/* --- errors --- */

/* Returns the sentence and the reason of an answer "no". */
static const char *
denial(struct arena *a, const struct question *q)
{
	const char *url = mask_credentials(a, q->url);

	switch (q->kind) {
	case QUESTION_REF:
		return q->name ? arena_printf(a, "`%s` has no tag `%s`", url, q->name) :
				 arena_printf(a, "`%s` does not exist", url);
	case QUESTION_IMAGE: return arena_printf(a, "%s has no image `%s`", q->host, url);
	case QUESTION_BUILD:
		return arena_printf(a, "`%s` does not list torch %s%s", url, q->name,
				    q->tag ? arena_printf(a, " (%s)", q->tag) : "");
	default: return arena_printf(a, "`%s` does not exist", url);
	}
}

static void
report(struct asking *x, const struct question *q)
{
	static const char *const helps[QUESTION_KINDS] = {
		[QUESTION_REF] = "check the address of the repository and the name of the tag",
		[QUESTION_IMAGE] = "name an image that the registry has",
		[QUESTION_BUILD] = "name a version and a build that the index lists",
		[QUESTION_FILE] = "check the URL; the server may have the file of another version",
	};
	struct arena *a = x->r->a;
	struct diag *d =
		diag_at(&x->r->ds, E_SOURCE_LACKS,
			q->at.line ? q->at : (struct span){ .src = x->how.stack->recipe->src },
			"%s", denial(a, q));

	if (strcmp(q->of, "torch") != 0)
		diag_why(d, "the stack needs it for %s", q->of);
	if (q->why)
		diag_why(d, "%s", q->why);
	list_each (name, &q->near) {
		/* The name of an image is the part after the colon, and the place has all of it. */
		const char *text =
			q->kind != QUESTION_IMAGE ?
				*name :
				arena_printf(a, "%.*s%s", (int)(strlen(q->url) - strlen(q->name)),
					     q->url, *name);

		if (q->exact)
			diag_fix(d, q->at, edit_scalar(a, q->at, text), "did you mean `%s`?", text);
		else
			diag_help(d, "did you mean `%s`?", text);
	}
	if (!q->near.n)
		diag_help(d, "%s", helps[q->kind]);
}

/* --- the questions of a stack --- */

/* Returns the question that this run has asked before; or that its host did not answer. */
static const struct question *
asked_before(const struct asking *x, const struct question *q)
{
	const struct questions *all = &x->r->answered;
	const struct question *found =
		list_find(o, all,
			  o->kind == q->kind && !strcmp(o->url, q->url) &&
				  str_same(o->name, q->name) && str_same(o->tag, q->tag));

	return found ? found : list_find(o, all, !o->answer && !strcmp(o->host, q->host));
}

static void
copy_answer(struct question *q, const struct question *from)
{
	q->answer = from->answer;
	q->why = from->why;
	q->near = from->near;
	q->age_s = from->age_s;
}

static void
start(struct asking *x, const char *host)
{
	struct asked_host h = { .host = host, .said = { .a = x->r->a, .max = SAID_MAX }, .of = x };

	list_push(x->r->a, &x->hosts, h);
	proc_helper_start(&x->hosts.at[x->hosts.n - 1].helper, ask_host,
			  &x->hosts.at[x->hosts.n - 1]);
}

struct asking *
ask_begin(struct run *r, const struct stack *s, struct questions *all, const struct names *secrets,
	  double limit_s)
{
	struct asking *x = arena_new_of(r->a, struct asking);
	struct names hosts = { 0 };

	*x = (struct asking){ .r = r,
			      .all = all,
			      .how = { .stack = s, .secrets = secrets },
			      .limit_s = limit_s < 1     ? 1 :
					 limit_s < ASK_S ? (unsigned)limit_s :
							   ASK_S };
	for (size_t i = 0; i < all->n; i++) {
		const struct question *before = asked_before(x, &all->at[i]);

		if (before)
			copy_answer(&all->at[i], before);
		else if (!ask_cached(r->a, s, &all->at[i]))
			names_once(r->a, &hosts, all->at[i].host);
	}
	list_each (host, &hosts)
		start(x, *host);
	return x;
}

void
ask_end(struct asking *x)
{
	collect(x);
	list_each (q, x->all) {
		if (asked_before(x, q))
			continue;
		list_push(x->r->a, &x->r->answered, *q);
		if (q->answer == ANSWER_YES && !q->age_s)
			ask_keep(x->r->a, x->how.stack, q);
	}
	list_each (q, x->all)
		if (q->answer == ANSWER_NO)
			report(x, q);
}

bool
ask_denied(const struct questions *all, enum question_kind kind, bool package)
{
	return list_any(q, all, q->answer == ANSWER_NO && (package ? q->package : q->kind == kind));
}
