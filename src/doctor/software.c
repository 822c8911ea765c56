#include "internal.h"

#include <stdlib.h>
#include <time.h>

/* Checks compilers, the loader's path, Python, network and clock. */

/* Compares gcc with the limit of a toolkit. */
static void
check_gcc(struct look *l, const char *where, const char *version, const char *gcc)
{
	const struct cuda_toolkit *t = facts_cuda(l->o->facts, version);
	unsigned major = (unsigned)strtoul(gcc, NULL, 10);

	if (t && t->gcc_max && major > t->gcc_max)
		found(l, FINDING_ERROR, "gcc-too-new", "nvcc stops: unsupported GNU version",
		      arena_printf(l->a, "install g++-%u, and set CC=gcc-%u CXX=g++-%u", t->gcc_max,
				   t->gcc_max, t->gcc_max),
		      "gcc %s is installed, but CUDA %s (%s) supports gcc up to %u", gcc, version,
		      where, t->gcc_max);
	else if (t && t->gcc_max)
		fine(l, "gcc %s is compatible with CUDA %s (%s)", gcc, version, where);
}

void
check_compilers(struct look *l)
{
	const char *gcc = look_version(l, ask(l, "gcc", "-dumpfullversion", "-dumpversion"), "");
	const char *home = look_env(l, "CUDA_HOME"), *nvcc = ask(l, "nvcc", "--version");
	struct names found_in = { 0 };

	nvcc = look_version(l, nvcc,
			    "release "); /* the series: V12.1.66 is not the toolkit's version */
	if (!gcc || !ask(l, "g++", "--version"))
		found(l, FINDING_WARNING, "compiler-missing",
		      "extensions cannot be compiled on this host; images can",
		      "sudo apt-get install build-essential", "%s is not in PATH",
		      gcc ? "g++" : "gcc");
	if (gcc && nvcc)
		check_gcc(l, "nvcc in PATH", nvcc, gcc);
	list_each (t, &l->toolkits) {
		names_once(l->a, &found_in, t->dir);
		if (gcc && !nvcc)
			check_gcc(l, t->dir, t->version, gcc);
	}
	if (home && *home && !look_exists(l, arena_printf(l->a, "%s/bin/nvcc", home)))
		found(l, FINDING_ERROR, "cuda-home-wrong", "extensions of torch cannot be compiled",
		      "set CUDA_HOME to a toolkit, or unset it",
		      "CUDA_HOME is %s, which has no bin/nvcc", home);
	if (found_in.n > 1 && !home)
		found(l, FINDING_WARNING, "toolkits-several",
		      "a build uses the first nvcc in PATH, which may belong to another CUDA than "
		      "torch's",
		      "set CUDA_HOME to the toolkit with torch's CUDA", "%zu toolkits: %s",
		      found_in.n, names_join(l->a, &found_in, ", "));
}

/* Returns true if a directory has a file whose name has this prefix. */
static bool
has_library(struct look *l, const char *dir, const char *name)
{
	const struct names all = look_list(l, dir);

	for (size_t i = 0; i < all.n; i++)
		if (starts_with(all.at[i], name))
			return true;
	return false;
}

void
check_loader(struct look *l)
{
	const char *text = look_env(l, "LD_LIBRARY_PATH");
	const struct names dirs = names_split(l->a, text ? text : "", ':');
	size_t before = l->out->all.n;

	if (dirs.n && (*text == ':' || ends_with(text, ":") || strstr(text, "::")))
		found(l, FINDING_WARNING, "ld-path-empty",
		      "the loader takes libraries from the current directory",
		      "remove the empty entry (a leading, trailing or double colon)",
		      "LD_LIBRARY_PATH=%s", text);
	for (size_t i = 0; i < dirs.n; i++) {
		const char *dir = dirs.at[i];

		if (ends_with(dir, "/stubs") || ends_with(dir, "/stubs/"))
			found(l, FINDING_ERROR, "ld-path-stubs",
			      "programs load a libcuda.so without functions: CUDA reports no "
			      "device",
			      "remove it from LD_LIBRARY_PATH; only linkers use stubs",
			      "LD_LIBRARY_PATH has %s", dir);
		else if (ends_with(dir, "/compat") && has_library(l, dir, "libcuda.so"))
			found(l, FINDING_WARNING, "ld-path-compat",
			      "it replaces the driver's libcuda.so, which fails on GeForce cards "
			      "and "
			      "with newer drivers",
			      "remove it from LD_LIBRARY_PATH unless the driver is too old",
			      "LD_LIBRARY_PATH has %s", dir);
		else if (has_library(l, dir, "libcublas.so") || has_library(l, dir, "libcudnn.so"))
			found(l, FINDING_WARNING, "ld-path-cuda",
			      "torch may load these libraries instead of those that it was built "
			      "with",
			      "remove it from LD_LIBRARY_PATH: torch finds its own",
			      "LD_LIBRARY_PATH has %s, which has CUDA libraries", dir);
	}
	if (dirs.n && l->out->all.n == before)
		fine(l, "LD_LIBRARY_PATH has no known problem");
}

void
check_python(struct look *l)
{
	const char *venv = l->o->venv ? l->o->venv : look_env(l, "VIRTUAL_ENV");
	const char *path = look_env(l, "PYTHONPATH"), *conda = look_env(l, "CONDA_PREFIX");
	const char *version = look_version(l, ask(l, "python3", "--version"), "Python ");

	if (!version)
		found(l, FINDING_WARNING, "python-missing",
		      "virtual environments cannot be created on this host; images can",
		      "sudo apt-get install python3 python3-venv", "python3 is not in PATH");
	else
		fine(l, "Python %s", version);
	if (venv && *venv) {
		const char *home = look_text(l, fs_join(l->a, venv, "pyvenv.cfg"));
		const char *at = strstr(home, "home = ");

		at = at ? arena_copy(l->a, at + 7, strcspn(at + 7, "\r\n")) : NULL;
		if (!at || !look_exists(l, at))
			found(l, FINDING_ERROR, "venv-broken", "its Python does not start",
			      "create it again: python3 -m venv DIR",
			      at ? "the venv %s uses the Python in %s, which does not exist" :
				   "the venv %s has no pyvenv.cfg with a `home`",
			      venv, at);
		if (conda)
			found(l, FINDING_WARNING, "venv-and-conda",
			      "libraries of both environments are mixed",
			      "run `conda deactivate` before the venv is activated",
			      "VIRTUAL_ENV is %s, and CONDA_PREFIX is %s", venv, conda);
	}
	if (path && *path)
		found(l, FINDING_WARNING, "pythonpath-set",
		      "its packages replace those of every environment", "unset PYTHONPATH",
		      "PYTHONPATH is %s", path);
}

void
check_network(struct look *l)
{
	static const char *const proxies[] = { "HTTPS_PROXY", "https_proxy", "HTTP_PROXY",
					       "http_proxy" };
	static const char *const bundles[] = { "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE",
					       "CURL_CA_BUNDLE", "PIP_CERT" };
	static const char *const usual[] = { "/etc/ssl/certs/ca-certificates.crt",
					     "/etc/pki/tls/certs/ca-bundle.crt",
					     "/etc/ssl/cert.pem" };
	const char *upper = look_env(l, "HTTPS_PROXY"), *lower = look_env(l, "https_proxy");
	bool any = false;

	for (size_t i = 0; i < 4; i++) {
		const char *proxy = look_env(l, proxies[i]);
		const char *bundle = look_env(l, bundles[i]);

		if (proxy && *proxy && !strstr(proxy, "://"))
			found(l, FINDING_WARNING, "proxy-without-scheme",
			      "pip and git may reject it, or connect directly",
			      "write it as http://HOST:PORT", "%s is %s", proxies[i], proxy);
		if (bundle && *bundle && !look_exists(l, bundle))
			found(l, FINDING_ERROR, "ca-missing", "every HTTPS download fails",
			      "name a file that exists, or unset the variable",
			      "%s names %s, which does not exist", bundles[i], bundle);
	}
	if (upper && lower && strcmp(upper, lower))
		found(l, FINDING_WARNING, "proxy-differs",
		      "programs choose different proxies: curl reads the one in small letters",
		      "set both to the same value", "HTTPS_PROXY is %s, https_proxy is %s",
		      mask_credentials(l->a, upper), mask_credentials(l->a, lower));
	for (size_t i = 0; i < 3; i++)
		any = any || look_exists(l, usual[i]);
	if (!any && !look_env(l, bundles[0]))
		found(l, FINDING_ERROR, "ca-none", "every HTTPS download fails",
		      "sudo apt-get install ca-certificates",
		      "there is no bundle of CA certificates");
}

void
check_clock(struct look *l)
{
	const char *known = facts_date(l->o->facts), *p;
	char today[16] = "";
	time_t now = time(NULL);
	struct tm tm;

	if (*l->o->root) {
		p = strstr(look_text(l, "/proc/driver/rtc"), "rtc_date");
		p = p ? p + strcspn(p, "0123456789") : "";
		memcpy(today, p, strnlen(p, 10));
	} else if (gmtime_r(&now, &tm)) {
		strftime(today, sizeof(today), "%Y-%m-%d", &tm);
	}
	if (*today && strcmp(today, known) < 0)
		found(l, FINDING_ERROR, "clock-wrong",
		      "certificates and signatures are \"not yet valid\": downloads and apt fail",
		      "set the clock; in WSL2 run `wsl --shutdown` in Windows",
		      "the clock shows %s, before the date of the knowledge base, %s", today,
		      known);
}
