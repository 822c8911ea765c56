#include "internal.h"

#include "base/secret.h"

/*
 * Selects the variables whose values a help bundle shows. All others may be secrets, because anybody
 * names variables: the bundle has their names only.
 */

/* Prefixes end in `*`. docs/doctor.md describes this list. */
static const char shown[] =
	/* GPUs, libraries, torch and its compilers */
	"CUDA* CUDNN* CUBLAS* NCCL_* NVIDIA_* NVCC_* NVTE_* TORCH* PYTORCH* TRITON_* XLA_* "
	"XFORMERS_* "
	"FLASH_ATTENTION_* FLASH_ATTN_* CAUSAL_CONV1D_* MAMBA_* DS_BUILD_* BNB_* APEX_* "
	"TCNN_CUDA_ARCHITECTURES FORCE_CUDA OMP_* MKL_* OPENBLAS_* KMP_* GOMP_* NUMEXPR_* "
	/* the loader, compilers and builds */
	"LD_* PATH LIBRARY_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH PKG_CONFIG_PATH CC CXX AR "
	"LD "
	"CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CMAKE_* MAX_JOBS MAKEFLAGS NINJA_STATUS CUDAHOSTCXX "
	"SOURCE_DATE_EPOCH "
	/* Python and its packages */
	"PYTHON* PIP_* UV_* VIRTUAL_ENV CONDA_* SETUPTOOLS_* HF_HOME HF_HUB_OFFLINE HF_HUB_CACHE "
	"TRANSFORMERS_OFFLINE TRANSFORMERS_CACHE "
	/* containers, clusters, WSL, CI, Modal */
	"DOCKER_HOST DOCKER_BUILDKIT DOCKER_CONTEXT BUILDKIT_HOST CONTAINER_HOST container "
	"APPTAINER_* SINGULARITY_* KUBERNETES_SERVICE_HOST SLURM_* WSL_* WSLENV MODAL_ENVIRONMENT "
	"MODAL_IS_REMOTE MODAL_REGION CI GITHUB_ACTIONS GITLAB_CI STACKBUILD_* "
	/* the shell, the network */
	"HOME PWD USER SHELL LANG LANGUAGE LC_* TERM TMPDIR TMP TEMP TZ HTTP_PROXY HTTPS_PROXY "
	"ALL_PROXY FTP_PROXY NO_PROXY http_proxy https_proxy all_proxy ftp_proxy no_proxy "
	"SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE";

static bool
is_shown(struct arena *a, const char *name)
{
	const struct names all = names_split(a, shown, ' ');

	for (size_t i = 0; i < all.n; i++) {
		size_t n = strlen(all.at[i]);

		if (all.at[i][n - 1] == '*' ? !strncmp(name, all.at[i], n - 1) :
					      !strcmp(name, all.at[i]))
			return true;
	}
	return false;
}

/*
 * Masks the parts of a URL's path that may be a token: 12 bytes or more with a digit and a letter.
 * Some indexes have it there: https://pypi.example/TOKEN/simple.
 */
static const char *
mask_paths(struct arena *a, const char *text)
{
	enum { LEAST = 12 };
	static const char ends[] = "/ \t\n'\"?#,";
	struct buf b = BUF(a);
	bool within = false; /* the path of a URL */

	while (*text) {
		size_t n = strcspn(text, ends);
		const char *part = arena_copy(a, text, n);

		buf_puts(&b, within && n >= LEAST && str_matches(part, "[0-9]") &&
					     str_matches(part, "[A-Za-z]") ?
				     "***" :
				     part);
		text += n;
		if (starts_with(text, "//") && n && text[-1] == ':') {
			n = 2 + strcspn(text + 2, ends); /* the host */
			buf_add(&b, text, n);
			text += n;
			within = true;
		} else if (*text) {
			within &= *text == '/';
			buf_putc(&b, *text++);
		}
	}
	return buf_text(&b);
}

bool
holds_secret(const struct names *hidden, const char *name)
{
	return names_have(hidden, name) || secret_name(str_of(name)) != NAME_PLAIN;
}

const char *
environment_text(struct look *l, const struct names *hidden)
{
	struct names all = { 0 };

	for (size_t i = 0; i < l->env.n; i++) {
		size_t n = strcspn(l->env.at[i], "=");
		const char *name = arena_copy(l->a, l->env.at[i], n), *value = l->env.at[i] + n;
		struct buf line = BUF(l->a);

		if (!*value || !str_matches(name, "^[A-Za-z_][A-Za-z0-9_]*$"))
			continue;
		value = mask_paths(l->a, value + 1);
		buf_printf(&line, "%s=", name);
		if (*value && (holds_secret(hidden, name) || !is_shown(l->a, name)))
			value = "***";
		for (; *value; value++)
			if (*value == '\n')
				buf_puts(&line, "\\n");
			else
				buf_putc(&line, *value);
		list_push(l->a, &all, buf_text(&line));
	}
	names_sort(&all);
	return names_join(l->a, &all, "\n");
}

/* The configuration of pip and uv: the index decides which torch is installed. */
const char *
package_settings(struct look *l)
{
	const char *const files[] = {
		"/etc/pip.conf",
		"/etc/xdg/pip/pip.conf",
		fs_join(l->a, l->home, ".pip/pip.conf"),
		fs_join(l->a, l->home, ".config/pip/pip.conf"),
		look_env(l, "VIRTUAL_ENV") ? fs_join(l->a, look_env(l, "VIRTUAL_ENV"), "pip.conf") :
					     NULL,
		look_env(l, "PIP_CONFIG_FILE"),
		"/etc/uv/uv.toml",
		fs_join(l->a, l->home, ".config/uv/uv.toml"),
		look_env(l, "UV_CONFIG_FILE"),
		fs_join(l->a, l->cwd, "uv.toml")
	};
	struct buf b = BUF(l->a);

	for (size_t i = 0; i < COUNT(files); i++) {
		const char *text = files[i] ? look_text(l, files[i]) : "";

		if (*text)
			buf_printf(&b, "==> %s <==\n%s\n", files[i], mask_paths(l->a, text));
	}
	return buf_text(&b);
}

/* Returns the kind of container in which doctor runs, and its sign; NULL: none was found. */
static const char *
container(struct look *l)
{
	static const struct {
		const char *file, *in_text, *kind;
	} files[] = {
		{ "/run/.containerenv", NULL, "podman" },
		{ "/.singularity.d", NULL, "Apptainer" },
		{ "/.dockerenv", NULL, "docker" },
		{ "/run/systemd/container", NULL, "a container of systemd" },
		{ "/proc/1/cgroup", "kubepods", "Kubernetes" },
		{ "/proc/1/cgroup", "docker", "docker" },
		{ "/proc/1/cgroup", "libpod", "podman" },
		{ "/proc/1/cgroup", "containerd", "containerd" },
		{ "/proc/1/cgroup", "lxc", "LXC" },
		{ "/proc/1/environ", "container=", "a container" },
		{ "/proc/version", "gVisor", "gVisor" },
		{ "/proc/self/mountinfo", " / / rw,relatime - overlay ", "a container" },
	};
	static const char *const variables[][2] = { { "MODAL_TASK_ID", "Modal" },
						    { "KUBERNETES_SERVICE_HOST", "Kubernetes" },
						    { "APPTAINER_CONTAINER", "Apptainer" },
						    { "SINGULARITY_CONTAINER", "Apptainer" },
						    { "container", "a container" } };

	for (size_t i = 0; i < COUNT(variables); i++)
		if (look_env(l, variables[i][0]))
			return arena_printf(l->a, "%s: the variable %s is set", variables[i][1],
					    variables[i][0]);
	for (size_t i = 0; i < COUNT(files); i++) {
		const char *path = look_path(l, files[i].file);
		const struct source *s;

		if (!files[i].in_text && fs_exists(path))
			return arena_printf(l->a, "%s: %s exists", files[i].kind, files[i].file);
		s = files[i].in_text ? fs_read_quiet(l->a, path, FS_READ_MAX) : NULL;
		if (s && memmem(s->text, s->size, files[i].in_text, strlen(files[i].in_text)))
			return arena_printf(l->a, "%s: %s has \"%s\"", files[i].kind, files[i].file,
					    files[i].in_text);
	}
	return NULL;
}

void
check_whether_container(struct look *l)
{
	const char *kind = container(l);

	if (kind)
		fine(l, "runs in a container (%s)", kind);
	else
		fine(l, "runs on the host: no sign of a container");
}
