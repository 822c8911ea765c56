#include <string.h>

#include "base/diag.h"
#include "internal.h"

/* Writes a picture of the run: the utilisation of each GPU as a line, and its memory as an area. */

enum { WIDTH = 800, LEFT = 60, RIGHT = 20, TOP = 70, PLOT = 120, GAP = 60 };

void
use_add_point(struct arena *a, struct use_gpu *g, double *width_s, struct use_point p)
{
	struct use_point *last = g->points.n ? &g->points.at[g->points.n - 1] : NULL;

	if (last && p.to_s - last->from_s <= *width_s) {
		double before = last->to_s - last->from_s, more = p.to_s - p.from_s;
		double all = before + more > 0 ? before + more : 1;

		last->busy = p.busy < 0 ? last->busy : (last->busy * before + p.busy * more) / all;
		last->mem_mib = (last->mem_mib * before + p.mem_mib * more) / all;
		last->to_s = p.to_s;
		return;
	}
	if (g->points.n == POINTS_MAX) {
		for (size_t i = 0; i < POINTS_MAX / 2; i++) {
			const struct use_point one = g->points.at[2 * i],
					       two = g->points.at[2 * i + 1];

			g->points.at[i] =
				(struct use_point){ one.from_s, two.to_s, (one.busy + two.busy) / 2,
						    (one.mem_mib + two.mem_mib) / 2 };
		}
		g->points.n = POINTS_MAX / 2;
		*width_s = 2 * (g->points.at[0].to_s - g->points.at[0].from_s);
	}
	list_push(a, &g->points, p);
}

static void
xml(struct arena *a, const char *s, struct buf *out)
{
	struct buf safe = BUF(a);

	diag_inert(s, &safe);
	for (s = buf_text(&safe); *s; s++)
		if (*s == '&')
			buf_puts(out, "&amp;");
		else if (*s == '<')
			buf_puts(out, "&lt;");
		else if (*s == '>')
			buf_puts(out, "&gt;");
		else
			buf_putc(out, *s);
}

/* Writes one point of a polyline; value: 0 to 1. */
static void
point(const struct use *u, double at_s, double value, struct use_box box, struct buf *out)
{
	double all = u->end.seconds > 0 ? u->end.seconds : 1;

	buf_printf(out, "%.1f,%.1f ", box.left + box.width * (at_s < all ? at_s / all : 1),
		   box.top + box.height * (1 - (value < 0 ? 0 :
						value > 1 ? 1 :
							    value)));
}

/* Returns the memory at the top of the plot, in MiB. */
static double
most_mib(const struct use_gpu *g)
{
	return (double)(g->gpu->mem_mib ? g->gpu->mem_mib : g->mem_peak_mib ? g->mem_peak_mib : 1);
}

void
use_plot(const struct use *u, const struct use_gpu *g, struct use_box box, struct buf *out)
{
	const struct use_point *p = g->points.at;
	double most = most_mib(g);

	if (!g->points.n)
		return;
	buf_puts(out, "<polygon class=\"memory\" points=\"");
	point(u, p[0].from_s, 0, box, out);
	for (size_t k = 0; k < g->points.n; k++) {
		point(u, p[k].from_s, p[k].mem_mib / most, box, out);
		point(u, p[k].to_s, p[k].mem_mib / most, box, out);
	}
	point(u, p[g->points.n - 1].to_s, 0, box, out);
	buf_puts(out, "\"/>\n<polyline class=\"busy\" points=\"");
	for (size_t k = 0; k < g->points.n; k++) {
		point(u, p[k].from_s, p[k].busy / 100, box, out);
		point(u, p[k].to_s, p[k].busy / 100, box, out);
	}
	buf_puts(out, "\"/>\n");
}

static void
gpu_plot(struct arena *a, const struct use *u, const struct use_gpu *g, size_t i, int top,
	 struct buf *out)
{
	buf_printf(out, "<text x=\"%d\" y=\"%d\">GPU %zu: ", LEFT, top - 10, i);
	xml(a, g->gpu->name, out);
	buf_printf(out, ", memory peak %.1f of %.1f GiB</text>\n", (double)g->mem_peak_mib / 1024,
		   most_mib(g) / 1024);
	buf_printf(out, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
		   LEFT, top, WIDTH - LEFT - RIGHT, PLOT);
	buf_printf(out,
		   "<text class=\"axis\" x=\"%d\" y=\"%d\">100 %%</text>"
		   "<text class=\"axis\" x=\"%d\" y=\"%d\">0</text>\n",
		   LEFT - 6, top + 10, LEFT - 6, top + PLOT);
	use_plot(u, g, (struct use_box){ LEFT, top, WIDTH - LEFT - RIGHT, PLOT }, out);
}

void
use_svg(struct arena *a, const struct use *u, struct buf *out)
{
	struct buf json = BUF(a), text = BUF(a);
	int height = TOP + (int)u->gpus.n * (PLOT + GAP) + 10;
	const char *head;

	use_text(a, u, false, &text);
	head = buf_text(&text);
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
		   "<title>",
		   WIDTH, height);
	xml(a, arena_copy(a, head, strcspn(head, "\n")), out);
	buf_puts(out, "</title>\n" USE_METADATA);
	use_json(u, &json);
	for (const char *p = buf_text(&json); *p; p++)
		/* In a JSON text, JSON escapes can replace these characters. */
		if (*p == '<' || *p == '&' || *p == '>')
			buf_printf(out, "\\u%04x", (unsigned)*p);
		else
			buf_putc(out, *p);
	buf_puts(out,
		 "</metadata>\n<style>\n"
		 "svg { font: 14px sans-serif; background: #fff; fill: #222 }\n"
		 ".frame { fill: none; stroke: #999 } .axis { font-size: 11px; text-anchor: end }\n"
		 ".memory { fill: #9ecae1; fill-opacity: .5 }\n"
		 ".busy { fill: none; stroke: #d95f02; stroke-width: 1.5 }\n"
		 "@media (prefers-color-scheme: dark) {\n"
		 "svg { background: #1b1b1b; fill: #ddd } .memory { fill: #3182bd } }\n"
		 "</style>\n");
	buf_printf(out, "<text x=\"%d\" y=\"24\">", LEFT);
	xml(a, arena_copy(a, head, strcspn(head, "\n")), out);
	buf_printf(
		out,
		"</text>\n<text class=\"axis\" x=\"%d\" y=\"44\">line: utilisation, area: memory, "
		"%.0f s</text>\n",
		WIDTH - RIGHT, u->end.seconds);
	for (size_t i = 0; i < u->gpus.n; i++)
		gpu_plot(a, u, &u->gpus.at[i], i, TOP + 20 + (int)i * (PLOT + GAP), out);
	buf_puts(out, "</svg>\n");
}
