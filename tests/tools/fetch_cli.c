/*
 * Calls the fetch layer, for tests/suites/http and tests/suites/oci:
 *
 *     fetch_cli http METHOD URL [header=H | body=TEXT | body-file=F | to=F | sha256=HEX | max=N |
 *                                timeout=S | stall=S | once=1]...
 *     fetch_cli name TEXT
 *     fetch_cli login REF                the logged-in user
 *     fetch_cli manifest REF REFERENCE
 *     fetch_cli tags REF
 *     fetch_cli push REF FILE            a blob
 *     fetch_cli pull REF DIGEST FILE|- MAX
 *     fetch_cli artifact REF TYPE SUBJECT|- TAG|- FILE...
 *
 * prints a JSON object; diagnostics go to standard error.  Exit status 1 if there was an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/json.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "fetch/oci_internal.h"

struct tool {
	struct arena *a;
	struct diags ds;
	struct json j;
	struct oci_registry *r;
	struct oci_name name;
	int n;
	char **argv;
};

static void
option(struct tool *t, struct http_request *q, const char *text)
{
	const char *eq = strchr(text, '='), *value = eq ? eq + 1 : "";

	if (starts_with(text, "header="))
		list_push(t->a, &q->headers, value);
	else if (starts_with(text, "body="))
		q->body = value, q->body_size = strlen(value);
	else if (starts_with(text, "body-file="))
		q->body_path = value;
	else if (starts_with(text, "to="))
		q->to_path = value;
	else if (starts_with(text, "sha256="))
		q->sha256 = value;
	else if (starts_with(text, "max="))
		q->max = strtoul(value, NULL, 10);
	else if (starts_with(text, "timeout="))
		q->timeout_s = strtod(value, NULL);
	else if (starts_with(text, "stall="))
		q->stall_s = (unsigned)strtoul(value, NULL, 10);
	else if (starts_with(text, "once="))
		q->once = true;
}

static void
http(struct tool *t)
{
	struct http_request q = { .method = t->argv[0], .url = t->argv[1] };
	struct http_answer answer;
	struct rusage usage;

	for (int i = 2; i < t->n; i++)
		option(t, &q, t->argv[i]);
	json_bool(&t->j, "answered", http_do(t->a, &q, &answer));
	json_int(&t->j, "status", answer.status);
	json_text(&t->j, "why", answer.why);
	json_bool(&t->j, "refused", answer.refused);
	json_number(&t->j, "limit_s", http_limit_s(&q));
	json_names(&t->j, "headers", &answer.headers);
	json_int(&t->j, "size", (long long)answer.body_size);
	json_text(&t->j, "body", answer.body_size < 4096 ? answer.body : NULL);
	getrusage(RUSAGE_SELF, &usage);
	json_int(&t->j, "peak_kib", usage.ru_maxrss);
}

static void
name(struct tool *t)
{
	json_text(&t->j, "registry", t->name.registry);
	json_text(&t->j, "repository", t->name.repository);
	json_text(&t->j, "tag", t->name.tag);
	json_text(&t->j, "digest", t->name.digest);
	json_text(&t->j, "text", oci_name_text(t->a, &t->name));
}

static void
login(struct tool *t)
{
	struct names troubles = { 0 };
	const struct oci_login l = oci_login_find(t->a, &t->name, &troubles);

	json_text(&t->j, "user", l.user);
	json_text(&t->j, "secret", l.secret);
	json_text(&t->j, "identity", l.identity);
	json_names(&t->j, "troubles", &troubles);
}

static void
manifest(struct tool *t)
{
	struct oci_manifest m = { 0 };
	bool missing;

	json_bool(&t->j, "ok", oci_manifest(t->r, t->a, &t->ds, t->argv[1], &m, &missing));
	json_bool(&t->j, "missing", missing);
	json_text(&t->j, "digest", m.digest);
	json_text(&t->j, "media_type", m.media_type);
	json_text(&t->j, "text", m.text);
}

static void
tags(struct tool *t)
{
	const struct names all = oci_tags(t->r, t->a, &t->ds);

	json_names(&t->j, "tags", &all);
}

/* Returns a file as a blob, with its digest and size. */
static struct oci_blob
blob_of(struct tool *t, const char *path)
{
	struct oci_blob b = { .path = path };
	struct sha256 *sum = sha256_new(t->a);
	FILE *f = fopen(path, "rb");
	char chunk[64 * 1024];

	for (size_t n; f && (n = fread(chunk, 1, sizeof(chunk), f)) > 0; b.size += n)
		sha256_add(sum, chunk, n);
	if (f)
		fclose(f);
	b.digest = arena_printf(t->a, "sha256:%s", sha256_end(t->a, sum));
	return b;
}

static void
push(struct tool *t)
{
	struct oci_blob b = blob_of(t, t->argv[1]);

	json_bool(&t->j, "ok", oci_push_blob(t->r, t->a, &t->ds, &b));
	json_text(&t->j, "digest", b.digest);
	json_int(&t->j, "size", (long long)b.size);
}

static void
pull(struct tool *t)
{
	const char *to = strcmp(t->argv[2], "-") != 0 ? t->argv[2] : NULL;
	struct oci_blob b = { .digest = t->argv[1] };

	json_bool(&t->j, "ok",
		  oci_pull_blob(t->r, t->a, &t->ds, &b, to, strtoul(t->argv[3], NULL, 10)));
	json_text(&t->j, "bytes", b.bytes);
	json_int(&t->j, "size", (long long)b.size);
}

static void
artifact(struct tool *t)
{
	struct oci_artifact art = { .type = t->argv[1] };

	art.subject = strcmp(t->argv[2], "-") != 0 ? t->argv[2] : NULL;
	art.tag = strcmp(t->argv[3], "-") != 0 ? t->argv[3] : NULL;
	list_push(t->a, &art.annotations, "org.example.kind=test");
	for (int i = 4; i < t->n; i++) {
		struct oci_blob b = blob_of(t, t->argv[i]);

		b.media_type = "application/octet-stream";
		b.title = t->argv[i];
		list_push(t->a, &art.layers, b);
	}
	json_text(&t->j, "digest", oci_push_artifact(t->r, t->a, &t->ds, &art));
}

static const struct {
	const char *name;
	int args; /* at least */
	void (*run)(struct tool *t);
} verbs[] = {
	{ "http", 2, http },         { "name", 1, name },         { "login", 1, login },
	{ "manifest", 2, manifest }, { "tags", 1, tags },         { "push", 2, push },
	{ "pull", 4, pull },         { "artifact", 4, artifact },

};

int
main(int argc, char **argv)
{
	struct tool t = { .a = arena_new(), .n = argc - 2, .argv = argv + 2 };
	struct buf b = BUF(t.a);
	int status = 2;

	proc_signals();
	t.ds = DIAGS(t.ds, t.a);
	t.j = json_flat_to(&b);
	json_map(&t.j, NULL);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (argc < 2 || strcmp(argv[1], verbs[i].name) != 0 || t.n < verbs[i].args)
			continue;
		status = 0;
		if (verbs[i].run != http &&
		    !oci_name_parse(t.a, &t.ds, t.argv[0], (struct span){ 0 }, &t.name))
			break;
		if (verbs[i].run != http)
			t.r = oci_open(t.a, &t.name, 0);
		verbs[i].run(&t);
	}
	json_end(&t.j);
	puts(buf_text(&b));
	diags_print(&t.ds, stderr, false);
	if (t.ds.errors)
		status = 1;
	arena_free(t.a);
	return status;
}
