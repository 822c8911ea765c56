#include "internal.h"

#include "base/json.h"

void
look_found(struct look *l, enum finding_level level, const char *id, const char *consequence,
	   const char *fix, const char *evidence)
{
	const struct host_finding f = { level, id, evidence, consequence, fix };

	list_push(l->a, &l->out->all, f);
	l->out->errors += level == FINDING_ERROR;
}

/* Returns "Debian GNU/Linux 12 (bookworm), kernel 6.1.0, NVIDIA H100 80GB, driver 550.54.15 (CUDA
 * 12.4)" */
static const char *
headline(struct look *l)
{
	struct buf b = BUF(l->a);

	buf_printf(&b, "%s%s, kernel %s", l->host->wsl2 ? "WSL2, " : "", l->host->os,
		   *l->host->kernel ? l->host->kernel : "unknown");
	if (l->gpus.list.n > 1)
		buf_printf(&b, ", %zu GPUs, the first %s", l->gpus.list.n, l->gpus.list.at[0].name);
	else
		buf_printf(&b, ", %s", l->gpus.list.n ? l->gpus.list.at[0].name : "no usable GPU");
	if (l->gpus.driver)
		buf_printf(&b, ", driver %s", l->gpus.driver);
	if (driver_cuda(l))
		buf_printf(&b, " (CUDA %s)", driver_cuda(l));
	return buf_text(&b);
}

static struct host_findings
errors_first(struct arena *a, const struct host_findings *all)
{
	struct host_findings sorted = { 0 };

	for (unsigned level = FINDING_ERROR + 1; level-- > 0;)
		for (size_t i = 0; i < all->n; i++)
			if (all->at[i].level == level)
				list_push(a, &sorted, all->at[i]);
	return sorted;
}

const struct checkup *
doctor_check(struct arena *a, const struct doctor_options *o)
{
	static void (*const checks[])(struct look *) = {
		check_whether_container,
		check_gpus,
		check_containers,
		check_wsl,
		check_files,
		check_memory,
		check_limits,
		check_compilers,
		check_loader,
		check_python,
		check_network,
		check_clock,
		check_recipe_host,
		check_import,
	};
	struct checkup *c = arena_new_of(a, struct checkup);
	struct look l = { .a = a, .o = o, .out = c };

	look_host(&l);
	look_gpus(&l);
	c->head = headline(&l);
	for (size_t i = 0; i < COUNT(checks) && !proc_interrupted(); i++)
		checks[i](&l);
	c->all = errors_first(a, &c->all);
	return c;
}

static const char *const words[] = { "warning", "error" };

/*
 * error     the venv /mnt/c/p/venv is on a Windows drive (drvfs)         venv-on-windows-drive
 *           so: `import torch` can hang
 *           -> move it
 */
void
doctor_text(const struct checkup *c, struct buf *out)
{
	buf_printf(out, "%s\n", c->head);
	list_each (f, &c->all) {
		const char *const parts[] = { f->evidence, f->consequence, f->fix };

		buf_printf(out, "%-9s ", words[f->level]);
		for (size_t k = 0; k < 3; k++) {
			if (k)
				buf_puts(out, k == 1 ? "          so: " : "          -> ");
			buf_wrap(out, parts[k], k == 1 ? 14 : k == 2 ? 13 : 10, 100);
			if (!k)
				buf_printf(out, " [%s]", f->id);
			buf_putc(out, '\n');
		}
	}
	for (size_t i = 0; i < c->fine.n; i++) {
		buf_puts(out, "fine      ");
		buf_wrap(out, c->fine.at[i], 10, 100);
		buf_putc(out, '\n');
	}
	buf_printf(out, "\n%zu error%s, %zu warning%s.\n", c->errors, c->errors == 1 ? "" : "s",
		   c->all.n - c->errors, c->all.n - c->errors == 1 ? "" : "s");
}

void
doctor_json(const struct checkup *c, struct buf *out)
{
	struct json j = json_to(out);

	json_put(&j, "{'host': %s, 'findings': [", c->head);
	list_each (f, &c->all)
		json_put(&j,
			 "{'id': %s, 'level': %s, 'evidence': %s, 'consequence': %s, 'fix': %s}",
			 f->id, words[f->level], f->evidence, f->consequence, f->fix);
	json_put(&j, "], 'fine': %n, 'errors': %d, 'warnings': %d}", &c->fine, (int)c->errors,
		 (int)(c->all.n - c->errors));
}
