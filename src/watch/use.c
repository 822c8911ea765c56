#include <stdlib.h>
#include <time.h>

#include "base/diag.h"
#include "base/str.h"
#include "internal.h"

/*
 * Records which process used which GPU, and how much. The processes of the command are those below
 * this one, and those whose PID was there before. If PIDs are useless (a container, WSL), the use
 * of a GPU that was idle before counts as the command's.
 */

enum { PROCESSES_MAX = 4096 };

/* Waits so long for the driver, before the command starts and after its end. */
#define ANSWER_S 3.0

/* The sampler takes at most 0.5 % of a processor, and of the run. */
#define COST_MAX 0.005
#define FIRST_S 0.1
#define EVERY_S 0.5
#define EVERY_MAX_S 60.0
/* NVML's utilisation of a GPU covers at most the last second (nvmlUtilization_t). */
#define PERIOD_S 1.0
/* A CUDA context alone: NVML reports 1 % for its process for as long as it exists (measured on an
 * H200, driver 580.159). */
#define IDLE_BUSY 1
/* In a run as short as this, a few kernels do not raise it above that (smoke.cu on an H200). */
#define BRIEF_S 2.0

/* The activity of a GPU, from which its verdict follows. */
struct seen {
	bool base_busy; /* it worked before the command started */
	bool others_busy;
	bool by_process, listed, blind; /* blind: an unidentified process used the GPU */
	int blind_peak, device_peak, own_peak;
	double busy_sum, busy_s; /* in per cent x seconds; in seconds */
	double mem_sum, mem_s;
	size_t base_mem_mib, mem_peak_mib;
	double point_s; /* width of a point in the plot */
};

struct known {
	int pid;
	enum whose whose;
};

struct watch {
	struct arena *a;
	struct sampler *sampler;
	const struct host_gpus *gpus;
	struct use *use;
	struct seen *seen; /* NULL before the first sample */
	struct known_list LIST(struct known) known;
	struct evidence evidence;
	bool foreign, ended, brief;
	bool late;                     /* the first sample arrived after the start of the command */
	double last_s, asked_s, due_s; /* times of the last sample, question and the next one */
	double begun_s;                /* processor time of this process at the start */
	double own_s,
		spent_s; /* processor time: of the ticks; of both processes, at the last question */
	unsigned samples, looks;
};

static double
cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Returns the owner of a process; keeps the result for after its end. */
static enum whose
whose(struct watch *w, int pid)
{
	enum whose is;

	for (size_t i = w->known.n; i-- > 0;)
		if (w->known.at[i].pid == pid)
			return w->known.at[i].whose;
	is = process_whose(pid, w->sampler->helper.pid);
	if (is != GONE && w->known.n < PROCESSES_MAX)
		list_push(w->a, &w->known, (struct known){ pid, is });
	return is;
}

static void
add_process(struct watch *w, struct use_gpu *g, const struct gpu_use *u)
{
	struct use_process *p = NULL;

	for (size_t i = 0; i < g->processes.n; i++)
		if (g->processes.at[i].pid == u->pid)
			p = &g->processes.at[i];
	if (!p) {
		if (g->processes.n == PROCESSES_MAX)
			return;
		list_push(w->a, &g->processes,
			  (struct use_process){ .pid = u->pid,
						.name = process_name(w->a, u->pid),
						.busy_peak = -1 });
		p = &g->processes.at[g->processes.n - 1];
	}
	p->busy_peak = u->busy > p->busy_peak ? u->busy : p->busy_peak;
	p->mem_peak_mib = u->mem_mib > p->mem_peak_mib ? u->mem_mib : p->mem_peak_mib;
}

static void
add_other(struct watch *w, struct use_gpu *g, int pid)
{
	enum { OTHERS_MAX = 16 };

	if (g->others.n < OTHERS_MAX)
		names_once(w->a, &g->others,
			   arena_printf(w->a, "%s (PID %d)", process_name(w->a, pid), pid));
}

/* Adds a sample of a GPU: the command's part and that of others. */
static void
add_sample(struct watch *w, size_t i, const struct gpu_sample *now, double now_s)
{
	struct use_gpu *g = &w->use->gpus.at[i];
	struct seen *s = &w->seen[i];
	double seconds = now_s - w->last_s, busy = 0;
	size_t mem = 0;
	bool own = false, theirs = false;

	s->by_process |= now->by_process;
	/* The first samples still contain the work of a process that ended before the command. */
	if (!s->base_busy || now_s >= PERIOD_S || w->ended)
		s->device_peak = now->busy > s->device_peak ? now->busy : s->device_peak;
	list_each (u, &now->uses) {
		enum whose is = whose(w, u->pid);

		if (is == OURS) {
			add_process(w, g, u);
			own = true;
			s->listed |= u->listed;
			s->own_peak = u->busy > s->own_peak ? u->busy : s->own_peak;
			busy += u->busy_mean > 0 ? u->busy_mean : 0;
			mem += u->mem_mib;
		} else if (is == GONE && (u->listed || u->busy > 0)) {
			s->blind = true;
			s->blind_peak = u->busy > s->blind_peak ? u->busy : s->blind_peak;
		} else if (is == OTHERS && (u->busy > 0 || (!now->by_process && now->busy > 0))) {
			s->others_busy = theirs = true;
			add_other(w, g, u->pid);
		}
	}
	/* If the driver reports no process, the GPU's total counts. */
	if (!now->by_process || (!own && !theirs))
		busy = now->busy;
	if (!mem && now->mem_mib > s->base_mem_mib && !g->others.n)
		mem = now->mem_mib - s->base_mem_mib;
	busy = busy > 100 ? 100 : busy;
	s->mem_peak_mib = mem > s->mem_peak_mib ? mem : s->mem_peak_mib;
	s->mem_sum += (double)mem * seconds;
	s->mem_s += seconds;
	s->busy_sum += busy > 0 ? busy * seconds : 0;
	s->busy_s += busy >= 0 ? seconds : 0;
	use_add_point(w->a, g, &s->point_s,
		      (struct use_point){ w->last_s, now_s, busy, (double)mem });
}

/* Records the processes on a GPU before the command starts, and whether they use it. */
static void
add_base(struct watch *w, size_t i, const struct gpu_sample *now)
{
	struct seen *s = &w->seen[i];

	/* After the start, the state before it is unknown. */
	s->base_busy = now->busy > 0 || w->late;
	s->base_mem_mib = now->mem_mib;
	for (size_t k = 0; !w->late && k < now->uses.n; k++) {
		const struct gpu_use *u = &now->uses.at[k];

		/* The driver's buffer contains past samples: only those of living processes count. */
		s->base_busy |= u->listed && u->busy > 0;
		list_push(w->a, &w->known, (struct known){ u->pid, OTHERS });
		if (u->listed)
			list_printf(w->a, &w->use->gpus.at[i].present, "%s (PID %d), %zu MiB",
				    process_name(w->a, u->pid), u->pid, u->mem_mib);
	}
}

/* Begins with the first answer. */
static void
open_gpus(struct watch *w, double now_s)
{
	w->gpus = w->sampler->gpus;
	w->use->source = w->sampler->source;
	w->late = now_s > 0;
	w->seen = arena_array_of(w->a, struct seen, w->gpus->list.n + 1);
	for (size_t i = 0; i < w->gpus->list.n; i++) {
		list_push(w->a, &w->use->gpus,
			  (struct use_gpu){ .gpu = &w->gpus->list.at[i], .busy_peak = -1 });
		w->seen[i].device_peak = w->seen[i].own_peak = w->seen[i].blind_peak = -1;
	}
}

/* Takes the sample of now_s; false: it did not arrive within the time. */
static bool
take(struct watch *w, double now_s, double within_s)
{
	struct arena *scratch = arena_new();
	const struct gpu_sample *now = sampler_answer(w->sampler, scratch, within_s);
	bool first = now && !w->seen;

	if (first)
		open_gpus(w, now_s);
	for (size_t i = 0; now && i < w->gpus->list.n; i++) {
		if (first)
			add_base(w, i, &now[i]);
		if (!first || w->late)
			add_sample(w, i, &now[i], now_s);
	}
	if (now) {
		w->samples++;
		w->last_s = now_s;
	}
	arena_free(scratch);
	return now;
}

static const char late_words[] =
	"the driver answered only after the command had started, so its state "
	"before that is unknown";

/* Returns why there are no samples of a part of the run; NULL: there are. */
static const char *
unsampled(const struct watch *w)
{
	const char *why = sampler_silence(w->sampler, w->a, EVERY_MAX_S);
	bool by_process = !w->foreign;

	/* The driver's record of each process also covers the time before. */
	for (size_t i = 0; w->late && i < w->gpus->list.n; i++)
		by_process &= w->seen[i].by_process;
	return why ? why : w->late && !by_process ? late_words : NULL;
}

struct watch *
watch_new(struct arena *a)
{
	struct watch *w = arena_new_of(a, struct watch);
	struct host_gpus *none = arena_new_of(a, struct host_gpus);

	w->a = a;
	w->use = arena_new_of(a, struct use);
	w->foreign = pids_foreign(a);
	w->gpus = none;
	w->sampler = sampler_start(a, NULL);
	if (!take(w, 0, ANSWER_S))
		none->why_none = unsampled(w);
	w->begun_s = cpu_now();
	return w;
}

const struct proc_helper *
watch_helper(const struct watch *w)
{
	return &w->sampler->helper;
}

void
watch_block(const struct watch *w, struct buf *out)
{
	const struct host *h = host_read(w->a, "");

	buf_printf(out, "  %-24s%s, %s%s\n", "system:", h->os, h->kernel,
		   h->wsl2 ? " (WSL 2)" : "");
	buf_printf(out, "  %-24s%zu of %zu MiB free\n", "host memory:", h->mem_free_mib,
		   h->mem_total_mib);
	buf_printf(out, "  %-24s%s\n",
		   "driver:", w->gpus->driver ? w->gpus->driver : w->gpus->why_none);
	if (w->gpus->cuda)
		buf_printf(out, "  %-24s%s\n", "driver's CUDA:", w->gpus->cuda);
	for (size_t i = 0; i < w->use->gpus.n; i++) {
		const struct use_gpu *g = &w->use->gpus.at[i];

		buf_printf(out, "  GPU %-20zu%s, %u.%u, %zu of %zu MiB used\n", i, g->gpu->name,
			   g->gpu->major, g->gpu->minor, w->seen[i].base_mem_mib, g->gpu->mem_mib);
		for (size_t k = 0; k < g->present.n; k++)
			buf_printf(out, "  %-24s%s\n", "", g->present.at[k]);
	}
}

double
watch_tick(struct watch *w, double now_s)
{
	double before = cpu_now(), cost, wait;

	take(w, now_s, 0);
	if (now_s < w->due_s) {
		w->own_s += cpu_now() - before;
		return w->due_s - now_s;
	}
	if (!(w->sampler->asked_s > 0))
		w->asked_s = now_s;
	sampler_ask(w->sampler);
	w->looks++;
	/* Examines all processes less and less often, because that takes longer than a sample. */
	if (!(w->looks & (w->looks - 1)))
		evidence_take(w->a, &w->evidence, w->use->gpus.n, w->sampler->helper.pid);
	w->own_s += cpu_now() - before;
	cost = (w->own_s + w->sampler->cpu_s - w->spent_s) / COST_MAX;
	w->spent_s = w->own_s + w->sampler->cpu_s;
	wait = now_s < 4 * FIRST_S ? FIRST_S : EVERY_S;
	wait = cost > wait && now_s > 4 * FIRST_S ? cost : wait;
	wait = wait < EVERY_MAX_S ? wait : EVERY_MAX_S;
	w->due_s = now_s + wait;
	return wait;
}

/* --- the verdict --- */

static void
judge_gpu(struct watch *w, size_t i)
{
	const struct seen *s = &w->seen[i];
	struct use_gpu *g = &w->use->gpus.at[i];
	bool alone = !s->base_busy && !s->others_busy;
	bool unnamed = s->device_peak > 0 && !s->others_busy && (!s->listed || !s->by_process);

	g->busy_mean = s->busy_s > 0 ? s->busy_sum / s->busy_s : -1;
	g->busy_peak = s->own_peak >= 0 && s->by_process ? s->own_peak : s->device_peak;
	if (s->blind_peak > g->busy_peak)
		g->busy_peak = s->blind_peak;
	g->mem_mean_mib = s->mem_s > 0 ? s->mem_sum / s->mem_s : 0;
	g->mem_peak_mib = s->mem_peak_mib;
	g->verdict = VERDICT_UNUSED;
	if (s->own_peak > IDLE_BUSY) {
		g->verdict = VERDICT_USED;
	} else if (unnamed || s->blind_peak > 0 || (s->blind && s->device_peak > 0)) {
		g->verdict = alone ? VERDICT_USED : VERDICT_UNKNOWN;
		g->by_time = alone;
	} else if (s->listed && !s->by_process && s->device_peak != 0) {
		g->verdict = VERDICT_UNKNOWN; /* other processes also used it, or MIG hides both */
	} else if (s->others_busy && w->foreign && !s->listed) {
		g->verdict = VERDICT_UNKNOWN;
	} else if (s->own_peak > 0 && w->use->end.seconds < BRIEF_S) {
		g->verdict = VERDICT_UNKNOWN;
		w->brief = true;
	}
}

static const struct use_process *
idle_process(const struct use *u, const struct use_gpu **on)
{
	for (size_t i = 0; i < u->gpus.n; i++)
		if (u->gpus.at[i].processes.n) {
			*on = &u->gpus.at[i];
			return &(*on)->processes.at[0];
		}
	return NULL;
}

/* Returns the first reason in the evidence for an unused GPU. */
static const char *
why_unused(struct watch *w)
{
	struct evidence *e = &w->evidence;
	struct arena *a = w->a;
	const struct use_gpu *on = NULL;
	const struct use_process *p = idle_process(w->use, &on);
	const char *own = getenv("CUDA_VISIBLE_DEVICES");

	if (w->gpus->why_none)
		return w->gpus->why_none;
	if (p)
		return arena_printf(
			a,
			"%s (PID %d) has a CUDA context on %s with %zu MiB, but launched no "
			"kernel, or kernels too short to be seen",
			p->name, p->pid, on->gpu->name, p->mem_peak_mib);
	if (!e->hidden && own && hides_gpus(own, w->gpus->list.n))
		e->hidden = own;
	if (e->hidden)
		return arena_printf(
			a,
			"CUDA_VISIBLE_DEVICES=\"%s\" hides every GPU%s; unset the variable, or "
			"set it to 0",
			e->hidden,
			e->hidden_pid ? arena_printf(a, " from PID %d", e->hidden_pid) : "");
	if (e->cpu_torch)
		return arena_printf(
			a,
			"torch%s%s in %s is a CPU build: it has no libtorch_cuda.so; install a "
			"CUDA build",
			e->version ? " " : "", e->version ? e->version : "", e->cpu_torch);
	if (e->cuda_torch)
		return arena_printf(
			a,
			"torch in %s is a CUDA build, but no process created a CUDA context: the "
			"program selected the CPU. Look for a device that a module selects "
			"when it is imported, and print tensor.device",
			e->cuda_torch);
	return e->cuda ? "a process loaded the CUDA driver's library, but none created a CUDA "
			 "context" :
			 "no process of the command loaded a CUDA library";
}

static void
judge(struct watch *w)
{
	struct use *u = w->use;
	const char *missing = unsampled(w);

	u->verdict = VERDICT_UNUSED;
	for (size_t i = 0; i < u->gpus.n; i++) {
		judge_gpu(w, i);
		if (missing && u->gpus.at[i].verdict == VERDICT_UNUSED)
			u->gpus.at[i].verdict = VERDICT_UNKNOWN;
		if (u->gpus.at[i].verdict == VERDICT_USED)
			u->verdict = VERDICT_USED;
		else if (u->gpus.at[i].verdict == VERDICT_UNKNOWN && u->verdict != VERDICT_USED)
			u->verdict = VERDICT_UNKNOWN;
	}
	/* Without the driver's library, it is also unknown whether there is a GPU. */
	if (!w->seen) {
		u->verdict = VERDICT_UNKNOWN;
		u->why = missing;
	} else if (!u->source) {
		u->verdict = VERDICT_UNKNOWN;
		u->why = arena_printf(w->a, "neither NVML nor nvidia-smi is available here: %s",
				      w->gpus->why_none);
	} else if (missing && u->verdict == VERDICT_USED) {
		list_printf(w->a, &u->notes, "%s: the figures are incomplete", missing);
	} else if (missing && !w->gpus->why_none) {
		u->verdict = VERDICT_UNKNOWN;
		u->why = missing;
	} else if (u->verdict == VERDICT_UNKNOWN && w->late) {
		u->why = late_words;
	} else if (u->verdict == VERDICT_UNKNOWN && w->brief) {
		u->why = "the run was too short for the driver's figures; run it for longer, or "
			 "use --trace";
	} else if (u->verdict == VERDICT_UNKNOWN) {
		u->why = "other processes worked on the GPU too, and the process IDs that the "
			 "driver "
			 "lists are not those that are visible here (a container, WSL 2 or MIG)";
	} else if (u->verdict == VERDICT_UNUSED && u->end.left && !w->gpus->why_none) {
		u->verdict = VERDICT_UNKNOWN;
		u->why = arena_printf(
			w->a,
			"the command ended, but %u of its processes continue; keep the "
			"command in the foreground until they end",
			u->end.left);
	} else if (u->verdict == VERDICT_UNUSED) {
		u->why = why_unused(w);
	}
}

const struct use *
watch_end(struct watch *w, const struct job_end *end, const char *const *argv)
{
	struct use *u = w->use;
	struct sampler *s = w->sampler;
	struct names words = { 0 };

	for (size_t i = 0; argv[i]; i++)
		list_push(w->a, &words, argv[i]);
	u->command = mask_credentials(w->a, names_join(w->a, &words, " "));
	u->end = *end;
	/* The command's PID counts as its own even after its end. */
	list_push(w->a, &w->known, (struct known){ end->pid, OURS });
	if (s->asked_s > 0)
		take(w, w->seen ? w->asked_s : end->seconds,
		     ANSWER_S - (proc_clock_s() - s->asked_s));
	w->ended = true;
	if (!(s->asked_s > 0)) {
		sampler_ask(s);
		take(w, end->seconds, ANSWER_S);
	}
	judge(w);
	u->sampler_cpu_s = cpu_now() - w->begun_s + s->cpu_s;
	u->samples = w->samples;
	sampler_end(s);
	return u;
}
