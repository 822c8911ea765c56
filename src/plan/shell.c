#include <stdarg.h>
#include <string.h>

#include "base/str.h"
#include "plan.h"
#include "recipe/recipe.h"

/*
 * Writes operations as shell commands.
 *
 * Every call of pip is `{python} -m pip ...`. OP_FETCH leaves a source in {src}, OP_COMPILE one
 * wheel in {wheels}, and OP_WHEEL installs that by name (--no-index --find-links {wheels}) or by
 * its file name, so that no command needs a glob.
 */

struct writer {
	struct arena *a;
	const struct settings *env;
	struct commands out;
};

static struct command *
last(struct writer *w)
{
	return &w->out.at[w->out.n - 1];
}

static void
word(struct writer *w, const char *s)
{
	last(w)->work |= strstr(s, "{work}") != NULL;
	list_push(w->a, &last(w)->argv, (struct word){ s, false });
}

/* Adds a value of the recipe. */
static void
value(struct writer *w, const char *s)
{
	list_push(w->a, &last(w)->argv, (struct word){ s, true });
}

static void
values(struct writer *w, const struct names *all)
{
	for (size_t i = 0; i < all->n; i++)
		value(w, all->at[i]);
}

/* Adds words with blanks between them. */
static void
words(struct writer *w, const char *text)
{
	struct names all = names_split(w->a, text, ' ');

	for (size_t i = 0; i < all.n; i++)
		word(w, all.at[i]);
}

/* Starts a command with words. An image's PIP_CONSTRAINT, or the recipe's in its place, concerns each
 * call of pip; the target sets the recipe's other variables after the builds. */
__attribute__((format(printf, 3, 4))) static void
run(struct writer *w, const char *comment, const char *fmt, ...)
{
	va_list ap;

	list_push(w->a, &w->out, (struct command){ .comment = comment });
	if (strstr(fmt, " -m pip ") || strstr(fmt, "/app_requirements.py"))
		list_each (x, w->env)
			if (starts_with(x->name.s, "PIP_"))
				list_push(w->a, &last(w)->env,
					  (struct variable){ x->name.s, x->value.s, true });
	va_start(ap, fmt);
	words(w, arena_vprintf(w->a, fmt, ap));
	va_end(ap);
}

static void
set(struct writer *w, const char *name, const char *text)
{
	list_push(w->a, &last(w)->env, (struct variable){ name, text, false });
}

static void
environment(struct writer *w, const struct variables *env)
{
	for (size_t i = 0; i < env->n; i++)
		list_push(w->a, &last(w)->env, env->at[i]);
}

static void
cache(struct writer *w, const char *id, const char *target, bool locked)
{
	list_push(w->a, &last(w)->mounts, (struct mount){ MOUNT_CACHE, id, target, locked });
}

static const char *
secret(struct writer *w, const char *name)
{
	const char *file = arena_printf(w->a, "/run/secrets/%s", name);

	list_push(w->a, &last(w)->mounts, (struct mount){ MOUNT_SECRET, name, file, false });
	return file;
}

/* --- packages of the operating system --- */

/*
 * Makes apt use the distribution's snapshot archive, whose packages are signed as everywhere: its sources
 * get other URLs.  Old releases of apt have no --snapshot, and many images no CA certificates for
 * https.  The second command fails if no source was changed.
 *
 * source: https://snapshot.ubuntu.com; github.com/systemd/mkosi, mkosi/distribution/ubuntu.py: the
 *         same over http; github.com/reproducible-containers/repro-sources-list.sh: Debian
 */
static void
use_snapshot(struct writer *w, const char *time)
{
	run(w, arena_printf(w->a, "the archive as of %s", time), "find /etc/apt -type f -regex");
	word(w, ".*[.]\\(list\\|sources\\)");
	words(w, "-exec sed -i -E -e");
	word(w, arena_printf(w->a,
			     "s#https?://[a-z0-9.-]+[.]ubuntu[.]com/ubuntu(/| |$)#"
			     "http://snapshot.ubuntu.com/ubuntu/%s\\1#g",
			     time));
	word(w, "-e");
	word(w,
	     arena_printf(w->a,
			  "s#https?://[a-z0-9.-]+[.]debian[.]org/(debian|debian-security)(/| |$)#"
			  "http://snapshot.debian.org/archive/\\1/%s\\2#g",
			  time));
	words(w, "{} +");
	run(w, NULL, "grep -rE ^[^#]*http://snapshot[.].*/%s /etc/apt", time);
}

static void
apt_get(struct writer *w, const char *comment, const struct operation *op, bool install)
{
	if (install) {
		run(w, comment, "apt-get install -y --no-install-recommends");
		set(w, "DEBIAN_FRONTEND", "noninteractive");
		values(w, &op->system.packages);
	} else {
		run(w, comment, "apt-get update");
		/* The index of an old snapshot has expired. */
		if (op->system.snapshot)
			words(w, "-o Acquire::Check-Valid-Until=false");
	}
	/*
	 * One lock serialises two runs of apt; older releases of podman release only one of two
	 * locks in a RUN.
	 */
	cache(w, "apt-lists", "/var/lib/apt", false);
	cache(w, "apt", "/var/cache/apt", true);
}

static void
system_packages(struct writer *w, const struct operation *op)
{
	switch (op->system.archive) {
	case ARCHIVE_DISTRIBUTION:
		run(w, "Debian's images empty apt's cache after each call; this one is kept",
		    "rm -f /etc/apt/apt.conf.d/docker-clean");
		break;
	case ARCHIVE_DNF:
		run(w, op->why,
		    "dnf install -y --setopt=install_weak_deps=False --setopt=keepcache=True");
		values(w, &op->system.packages);
		cache(w, "dnf", "/var/cache/dnf", true);
		return;
	case ARCHIVE_NVIDIA:
		run(w, "NVIDIA's package source",
		    "curl -fsSL --retry 3 -o {work}/cuda-keyring.deb %s", op->system.keyring);
		run(w, NULL, "dpkg -i {work}/cuda-keyring.deb");
		break;
	case ARCHIVE_DEADSNAKES: run(w, NULL, "add-apt-repository -y ppa:deadsnakes/ppa");
	}
	if (op->system.archive == ARCHIVE_DISTRIBUTION && op->system.snapshot)
		use_snapshot(w, op->system.snapshot);
	apt_get(w, NULL, op, false);
	apt_get(w, op->why, op, true);
}

/* --- pip --- */

/* Mounts pip's cache for its downloads, but not for wheels that it compiles. */
static void
pip_cache(struct writer *w)
{
	cache(w, "pip", "/root/.cache/pip", false);
}

static void
from_index(struct writer *w, const struct pip_index *index)
{
	if (!index->url)
		return;
	word(w, "--index-url");
	value(w, index->url);
	if (index->secret)
		list_push(w->a, &last(w)->env,
			  (struct variable){ "NETRC", secret(w, index->secret), true });
}

static void
packages(struct writer *w, const struct operation *op)
{
	run(w, op->why, "{python} -m pip install%s",
	    op->packages.constrained ? " -c {share}/constraints.txt" : "");
	pip_cache(w);
	if (op->packages.file) {
		words(w, "--require-hashes --no-deps");
		from_index(w, &op->packages.index);
		words(w, arena_printf(w->a, "-r %s", op->packages.file));
		return;
	}
	if (op->packages.no_deps)
		word(w, "--no-deps");
	from_index(w, &op->packages.index);
	values(w, &op->packages.requirements);
}

static void
requirements(struct writer *w, const struct operation *op)
{
	run(w, op->why, "{python} {share}/app_requirements.py");
	pip_cache(w);
	from_index(w, &op->requirements.index);
	word(w, "-r");
	value(w, op->requirements.files.at[0]);
	if (op->requirements.constrained)
		words(w, "-c {share}/constraints.txt");
	for (size_t i = 0; i < op->requirements.secrets.n; i++)
		secret(w, op->requirements.secrets.at[i]);
	last(w)->cwd = "{app}";
}

/* --- Python --- */

/* Installs a build by URL and digest, below {prefix}. */
static void
python_by_digest(struct writer *w, const struct python_build *b)
{
	run(w, NULL, "curl -fsSL --retry 3 -o {work}/python.tar.gz");
	value(w, b->url);
	run(w, NULL, "sha256sum -c -");
	last(w)->input = arena_printf(w->a, "%s  {work}/python.tar.gz", b->sha256);
	last(w)->work = true;
	run(w, NULL, "mkdir -p {prefix}");
	run(w, NULL, "tar -xzf {work}/python.tar.gz -C {prefix} --strip-components 1");
	run(w, NULL, "{prefix}/bin/python3 -m venv {venv}");
}

/* Installs Python with a pinned uv, which checks its downloads against its own list. */
static void
python_by_uv(struct writer *w, const struct python_build *b)
{
	run(w, "uv, for this step alone", "python3 -m venv {work}/uv");
	run(w, NULL, "{work}/uv/bin/python -m pip install uv==%s", b->uv);
	pip_cache(w);
	run(w, "uv checks the digest of each download",
	    "{work}/uv/bin/uv venv --no-project --allow-existing "
	    "--python-preference only-managed --python %s {venv}",
	    b->version ? b->version : b->series);
	set(w, "UV_PYTHON_INSTALL_DIR", "{prefix}");
	run(w, "the pip that came with this Python", "{python} -m ensurepip");
}

static void
python(struct writer *w, const struct operation *op)
{
	const struct python_build *b = op->python.build;

	if (!b && op->python.system)
		run(w, "the environment sees the image's own packages, torch and pip among them",
		    "%s -m venv --system-site-packages --without-pip {venv}",
		    op->python.interpreter);
	else if (!b)
		run(w, NULL, "%s -m venv {venv}", op->python.interpreter);
	else if (b->sha256)
		python_by_digest(w, b);
	else
		python_by_uv(w, b);
}

/* --- extensions --- */

static void
fetch_git(struct writer *w, const struct stack_extension *e, bool commit, bool locked)
{
	/* With a lock, fetches the commit itself, because the tag may have moved. */
	const char *from = locked ? e->commit : arena_printf(w->a, "refs/tags/%s", e->ref);

	run(w, NULL, "git init -q {src}");
	run(w, NULL, "git -C {src} fetch -q --depth 1%s", locked ? " --no-tags" : "");
	value(w, e->url);
	/* Fetches a tag under its name, so that tools that read versions from git find it. */
	value(w, commit ? e->ref : arena_printf(w->a, "%s:refs/tags/%s", from, e->ref));
	run(w, NULL, "git -C {src} checkout -q --detach %s",
	    e->commit && !commit ? e->commit : "FETCH_HEAD");
	if (e->submodules)
		run(w, NULL, "git -C {src} submodule update -q --init --recursive --depth 1");
}

static void
fetch(struct writer *w, const struct operation *op)
{
	const struct stack_extension *e = op->fetch.extension;
	bool wheel = e->source == SOURCE_WHEEL;

	if (e->source == SOURCE_PATH)
		return; /* targets copy own code to {src} */
	if (e->source == SOURCE_GIT) {
		fetch_git(w, e, op->fetch.commit, op->fetch.locked);
		return;
	}
	run(w, NULL, "{python} -m pip download --no-deps");
	if (!wheel) /* reading an sdist's metadata runs setup.py, which imports torch */
		words(w, "--no-build-isolation --no-binary :all:");
	environment(w, &op->fetch.env);
	if (wheel && !e->url)
		words(w, "--only-binary :all:");
	words(w, wheel ? "-d {wheels}" : "-d {src}");
	from_index(w, &op->fetch.index);
	/* pip compares the digest in the fragment of a URL. */
	value(w, !e->url   ? e->requirement :
		 e->sha256 ? arena_printf(w->a, "%s#sha256=%s", e->url, e->sha256) :
			     e->url);
	pip_cache(w);
}

/* Returns the directory with setup.py or pyproject.toml. */
static const char *
source_dir(struct arena *a, const struct stack_extension *e)
{
	return e->subdirectory ? arena_printf(a, "{src}/%s", e->subdirectory) : "{src}";
}

/* compile.py chooses the number of jobs. For own code, it removes what an earlier build left in the
 * directory, and writes which files outside of it the compilers read. */
static void
launch(struct writer *w, const struct operation *op)
{
	const struct stack_extension *e = op->compile.extension;
	struct words argv = last(w)->argv;
	struct buf b = BUF(w->a);

	buf_printf(&b, "{python} {share}/compile.py %s", e->name);
	if (e->version)
		buf_printf(&b, " --version=%s", e->version);
	buf_printf(&b, " --memory=%u", op->compile.memory_mib);
	if (op->compile.threads > 1)
		buf_printf(&b, " --threads=%u", op->compile.threads);
	if (op->compile.archs > 1)
		buf_printf(&b, " --archs=%zu", op->compile.archs);
	for (size_t i = 0; i < op->compile.beside.n; i++)
		buf_printf(&b, " --beside=%s", op->compile.beside.at[i]);
	if (e->path)
		buf_printf(&b, " --tree={src} --built={wheels}/%s", PLAN_BUILT);
	buf_puts(&b, " --");
	last(w)->argv = (struct words){ 0 };
	words(w, buf_text(&b));
	last(w)->launcher = last(w)->argv;
	last(w)->argv = argv;
}

static void
compile(struct writer *w, const struct operation *op)
{
	const struct stack_extension *e = op->compile.extension;

	run(w, op->why, "{python} -m pip wheel --no-build-isolation --no-deps --no-cache-dir");
	if (!is_tree(e))
		words(w, "--no-index --find-links {src} --no-binary :all:");
	words(w, "-w {wheels}");
	if (!is_tree(e))
		value(w, e->requirement);
	else
		word(w, source_dir(w->a, e));
	environment(w, &op->compile.env);
	if (op->compile.nvcc_archs) {
		set(w, e->nvcc_env, "{share}/nvcc-arch");
		set(w, "STACKBUILD_ARCHS", op->compile.nvcc_archs);
	}
	last(w)->jobs = op->compile.jobs_open;
	cache(w, "stackbuild", "/run/stackbuild", false);
	launch(w, op);
}

/* Installs a wheel by its path, if known. pip would reject a project's wheel by name
 * (--find-links), because the local version in its file name is not in its METADATA. */
static void
install_wheel(struct writer *w, const struct operation *op)
{
	const struct stack_extension *e = op->wheel.extension;

	run(w, op->why, "{python} -m pip install --no-deps --no-index");
	if (e->source == SOURCE_WHEEL && e->url)
		word(w, arena_printf(w->a, "{wheels}/%s", url_file_name(w->a, e->url)));
	else
		words(w, arena_printf(w->a, "--find-links {wheels} %s", e->name));
}

struct commands
operation_commands(struct arena *a, const struct operation *op)
{
	struct writer w = { .a = a, .env = op->env };

	switch (op->kind) {
	case OP_SYSTEM: system_packages(&w, op); break;
	case OP_PYTHON: python(&w, op); break;
	case OP_PACKAGES: packages(&w, op); break;
	case OP_FETCH: fetch(&w, op); break;
	case OP_COMPILE: compile(&w, op); break;
	case OP_WHEEL: install_wheel(&w, op); break;
	case OP_KEEP:
		run(&w, op->why, "{python} {share}/keep_base.py %s", op->keep.torch);
		if (op->keep.constraints)
			word(&w, op->keep.constraints);
		break;
	case OP_LINKS:
		run(&w, op->why, "{python} {share}/cuda_links.py %s", op->links.cuda_home);
		break;
	case OP_SMOKE:
		run(&w, op->why, "%s", op->smoke.nvcc);
		values(&w, &op->smoke.flags);
		words(&w, "-o {share}/smoke {share}/smoke.cu");
		break;
	case OP_PROBE: run(&w, op->why, "{python} {share}/probe.py {share}/plan.json"); break;
	case OP_REQUIREMENTS: requirements(&w, op); break;
	case OP_FILE:
	case OP_APPLICATION:
	case OPERATION_KINDS: break;
	}
	return w.out;
}

void
operation_secrets(struct arena *a, const struct operation *op, struct names *out)
{
	const struct pip_index *index = op->kind == OP_PACKAGES     ? &op->packages.index :
					op->kind == OP_FETCH        ? &op->fetch.index :
					op->kind == OP_REQUIREMENTS ? &op->requirements.index :
								      NULL;

	if (index && index->url && index->secret)
		names_once(a, out, index->secret);
	for (size_t i = 0; op->kind == OP_REQUIREMENTS && i < op->requirements.secrets.n; i++)
		names_once(a, out, op->requirements.secrets.at[i]);
}

struct names
plan_secrets(struct arena *a, const struct plan *p)
{
	struct names out = { 0 };

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->steps[i].operations.n; k++)
			operation_secrets(a, &p->steps[i].operations.at[k], &out);
	return out;
}
