#ifndef DOCTOR_INTERNAL_H
#define DOCTOR_INTERNAL_H

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "doctor.h"
#include "host/host.h"

/* Shared by the files of doctor: the host, and the findings. */

struct mounted {
	const char *point, *type, *options; /* "/mnt/c", "9p", "rw,aname=drvfs;path=C:\\" */
};
struct mounted_all LIST(struct mounted);

struct toolkit {
	const char *dir, *version; /* "/usr/local/cuda-12.1", "12.1.1" */
};
struct toolkits LIST(struct toolkit);

struct look {
	struct arena *a;
	const struct doctor_options *o;
	const struct host *host;
	struct host_gpus gpus;
	/* A sample of each GPU, from NVML or nvidia-smi; NULL: only their names are known. */
	const struct gpu_sample *gpu_samples;
	bool gpus_hang;      /* the driver does not answer */
	const char *gpus_by; /* source: "NVML", "nvidia-smi", "/proc"; NULL: none */
	struct names env;    /* "NAME=value" */
	struct mounted_all mounts;
	struct toolkits toolkits;
	const char *cwd, *home;
	struct checkup *out;
};

/* Adds a finding; `what` is the consequence. */
#define found(l, level, id, what, fix, ...) \
	look_found((l), (level), (id), (what), (fix), arena_printf((l)->a, __VA_ARGS__))
void look_found(struct look *l, enum finding_level level, const char *id, const char *consequence,
		const char *fix, const char *evidence);
#define fine(l, ...) list_push((l)->a, &(l)->out->fine, arena_printf((l)->a, __VA_ARGS__))

/* --- read.c: data of the host --- */

/* Returns the path below the root. */
const char *look_path(struct look *l, const char *path);
bool look_exists(struct look *l, const char *path);
/* Returns a file's text, "" if it cannot be read. */
const char *look_text(struct look *l, const char *path);
/* Returns the value of a variable; NULL: it is not set. */
const char *look_env(struct look *l, const char *name);
/* Returns the names in a directory, sorted. */
struct names look_list(struct look *l, const char *dir);
/* Returns the output of a program within 10 s; NULL: it failed, or does not exist. */
const char *look_run(struct look *l, const char *const *argv);
#define ask(l, ...) look_run((l), (const char *const[]){ __VA_ARGS__, NULL })
/* Returns the first version such as "12.4" after `before`, or NULL. */
const char *look_version(struct look *l, const char *text, const char *before);
/* Returns the mount that holds a path; NULL: unknown. */
const struct mounted *look_mount(struct look *l, const char *path);
/* Returns "a Windows drive (drvfs)" or "NFS" for a file system on which imports hang; otherwise
 * NULL. */
const char *mount_slow(const struct mounted *m);
/* Compares two versions number by number. */
int version_order(struct look *l, const char *x, const char *y);
void look_host(struct look *l);

/* --- gpus.c --- */
void look_gpus(struct look *l);
/* Returns the settings of the GPUs, as lines. */
const char *gpu_settings(struct look *l);
/* Returns the newest CUDA that the driver runs, "12.4"; NULL: unknown. */
const char *driver_cuda(struct look *l);

/* --- environment.c: the part of the host's settings that a help bundle shows --- */

/* Returns true for a variable with a secret: the recipe lists it in `hidden`, or its name says so. */
bool holds_secret(const struct names *hidden, const char *name);
/* Returns the variables, sorted; *** for the value of each one that is not on the list. */
const char *environment_text(struct look *l, const struct names *hidden);
/* Returns the configuration files of pip and uv. */
const char *package_settings(struct look *l);

/* --- the checks --- */
void check_whether_container(struct look *l);
void check_gpus(struct look *l);
void check_containers(struct look *l);
void check_wsl(struct look *l);
void check_files(struct look *l);
void check_memory(struct look *l);
void check_limits(struct look *l);
void check_compilers(struct look *l);
void check_loader(struct look *l);
void check_python(struct look *l);
void check_network(struct look *l);
void check_clock(struct look *l);
void check_recipe_host(struct look *l);
void check_import(struct look *l);

/* Reads the free MiB of a path's file system with df; false: unknown. */
bool free_mib(struct look *l, const char *path, size_t *out);

#endif
