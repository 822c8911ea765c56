#include <string.h>

#include "base/diag.h"
#include "base/json.h"
#include "internal.h"

static const char *const verdicts[] = {
	[VERDICT_UNKNOWN] = "it is unknown whether the GPU was used",
	[VERDICT_UNUSED] = "the GPU was not used",
	[VERDICT_USED] = "the GPU was used",
};
const char *const use_verdict_words[] = { "unknown", "unused", "used" };

/* Returns "512 MiB" or "30.1 GiB". */
static const char *
memory(struct arena *a, double mib)
{
	return mib < 1024 ? arena_printf(a, "%.0f MiB", mib) :
			    arena_printf(a, "%.1f GiB", mib / 1024);
}

static const char *
percent(struct arena *a, double p)
{
	return p < 0 ? "unknown" : arena_printf(a, "%.0f %%", p);
}

/* Writes "▁▃▇█": the mean of each column, at most 40 of them. */
static void
bars(const struct use_gpu *g, struct buf *out)
{
	enum { COLUMNS = 40 };
	static const char *const bar[] = { "▁", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	size_t n = g->points.n, columns = n < COLUMNS ? n : COLUMNS;

	for (size_t i = 0; i < columns; i++) {
		size_t from = i * n / columns, to = (i + 1) * n / columns;
		double sum = 0;

		for (size_t k = from; k < to; k++)
			sum += g->points.at[k].busy > 0 ? g->points.at[k].busy : 0;
		sum /= (double)(to - from);
		buf_puts(out, sum > 0 ? bar[1 + (int)(sum * 7.999 / 100)] : " ");
	}
}

static void
gpu_text(struct arena *a, const struct use *u, size_t i, bool plot, struct buf *out)
{
	const struct use_gpu *g = &u->gpus.at[i];

	buf_printf(out, "  GPU %zu  %s: %s\n", i, g->gpu->name, use_verdict_words[g->verdict]);
	if (g->verdict == VERDICT_USED || g->processes.n) {
		buf_printf(out, "    utilisation: mean %s, peak %s\n", percent(a, g->busy_mean),
			   percent(a, g->busy_peak));
		buf_printf(out, "    memory: mean %s, peak %s", memory(a, g->mem_mean_mib),
			   memory(a, (double)g->mem_peak_mib));
		if (g->gpu->mem_mib)
			buf_printf(out, " of %s", memory(a, (double)g->gpu->mem_mib));
		buf_putc(out, '\n');
	}
	if (plot && g->points.n > 1 && g->busy_peak > 0) {
		buf_puts(out, "    ");
		bars(g, out);
		buf_printf(out, " %.0f s\n", u->end.seconds);
	}
	for (size_t k = 0; k < g->processes.n && k < 8; k++) {
		const struct use_process *p = &g->processes.at[k];

		buf_printf(out, "    %s (PID %d): utilisation peak %s, memory peak %s\n", p->name,
			   p->pid, percent(a, p->busy_peak), memory(a, (double)p->mem_peak_mib));
	}
	if (g->processes.n > 8)
		buf_printf(out, "    and %zu more processes\n", g->processes.n - 8);
	if (g->by_time)
		buf_puts(out, "    by time: the GPU worked while the command ran and was idle "
			      "before; the "
			      "driver does not\n    name a process of the command (a container, "
			      "WSL 2, or "
			      "a process that ended at once)\n");
	if (g->others.n)
		buf_printf(out, "    used by other processes: %s\n",
			   names_words(a, &g->others, "and"));
}

void
inert_lines(struct arena *a, const char *text, struct buf *out)
{
	for (const char *p = text, *end; *p; p = *end ? end + 1 : end) {
		end = p + strcspn(p, "\n");
		diag_inert(arena_copy(a, p, (size_t)(end - p)), out);
		buf_putc(out, '\n');
	}
}

/*
 *     stackbuild run: the GPU was used (12.3 s, exit status 0)
 *       GPU 0  NVIDIA A100-SXM4-80GB: used
 *         utilisation: mean 71 %, peak 99 %
 *         memory: mean 30.1 GiB, peak 41.2 GiB of 80.0 GiB
 *         ▁▂▅▇█████▇▇▇▇▂ 12 s
 *         python (PID 4711): utilisation peak 99 %, memory peak 41.0 GiB
 */
void
use_text(struct arena *a, const struct use *u, bool plot, struct buf *out)
{
	struct buf b = BUF(a);

	buf_printf(&b, "stackbuild run: %s (%.1f s, ", verdicts[u->verdict], u->end.seconds);
	if (u->end.signal)
		buf_printf(&b, "ended by signal %d)\n", u->end.signal);
	else
		buf_printf(&b, "exit status %d)\n", u->end.status);
	if (u->why) {
		buf_puts(&b, "  ");
		buf_wrap(&b, u->why, 2, 100);
		buf_putc(&b, '\n');
	}
	for (size_t i = 0; i < u->gpus.n; i++)
		gpu_text(a, u, i, plot, &b);
	for (size_t i = 0; i < u->notes.n; i++) {
		buf_puts(&b, "  ");
		buf_wrap(&b, u->notes.at[i], 2, 100);
		buf_putc(&b, '\n');
	}
	inert_lines(a, buf_text(&b), out);
}

static void
gpu_json(struct json *j, const struct use_gpu *g)
{
	json_put(j, "{'name': %s, 'uuid': %s, 'verdict': %s, 'by_time': %b, ", g->gpu->name,
		 g->gpu->uuid, use_verdict_words[g->verdict], g->by_time);
	json_put(j, "'utilisation': ('mean': %f, 'peak': %d), ", g->busy_mean, g->busy_peak);
	json_put(j, "'memory_mib': ('mean': %f, 'peak': %d, 'total': %d), 'processes': [",
		 g->mem_mean_mib, (int)g->mem_peak_mib, (int)g->gpu->mem_mib);
	for (size_t i = 0; i < g->processes.n; i++)
		json_put(j,
			 "('pid': %d, 'name': %s, 'utilisation_peak': %d, 'memory_peak_mib': %d)",
			 g->processes.at[i].pid, g->processes.at[i].name,
			 g->processes.at[i].busy_peak, (int)g->processes.at[i].mem_peak_mib);
	json_put(j, "], 'others': %n, 'points': [", &g->others);
	for (size_t i = 0; i < g->points.n; i++)
		json_put(j, "('from': %f, 'to': %f, 'utilisation': %f, 'memory_mib': %f)",
			 g->points.at[i].from_s, g->points.at[i].to_s, g->points.at[i].busy,
			 g->points.at[i].mem_mib);
	json_put(j, "]}");
}

void
use_json(const struct use *u, struct buf *out)
{
	struct json j = json_to(out);

	json_put(&j, "{'verdict': %s, 'why': %s, 'source': %s, 'command': %s, 'status': %d, ",
		 use_verdict_words[u->verdict], u->why, u->source, u->command, u->end.status);
	json_put(&j, "'seconds': %f, 'left_running': %d, 'samples': %d, 'sampler_cpu_s': %f, ",
		 u->end.seconds, (int)u->end.left, (int)u->samples, u->sampler_cpu_s);
	json_put(&j, "'notes': %n, 'gpus': [", &u->notes);
	for (size_t i = 0; i < u->gpus.n; i++)
		gpu_json(&j, &u->gpus.at[i]);
	json_put(&j, "]}");
}
