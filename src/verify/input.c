#include <string.h>

#include "base/embed.h"
#include "base/fs.h"
#include "base/json.h"

#include "probe.h"

/* The standard input of the interpreter under test. */

static const char *const files[] = {
	"probe.py",
	"verify/base.py",
	"verify/elf.py",
	"verify/fatbin.py",
	"verify/installed.py",
	"verify/loads.py",
	"verify/torch_here.py",
	"verify/imports.py",
	"verify/compile.py",
	"verify/gpu.py",
	"verify/run.py",
	"verify/references.py",
	"verify/numbers.py",
	"verify/evidence.py",
	"verify/main.py",
};

/*
 * The first line of the input has the expected values, and the rest is the program. It removes the
 * empty entry of sys.path, because the working directory is not part of the environment. Child
 * processes get the compiled program.
 */
#define BOOT_PATH \
	"import sys,marshal;sys.path[:]=[p for p in sys.path if p];b=sys.stdin.buffer;" \
	"t=b.readline().decode();"
#define BOOT_RUN "g={'__name__':'stackbuild','EXPECT':t,'CODE':c};exec(c,g);"
const char probe_boot[] =
	BOOT_PATH "c=compile(b.read(),'stackbuild-verify','exec');" BOOT_RUN "g['verify']()";
static const char boot_child[] =
	BOOT_PATH "c=marshal.loads(b.read());" BOOT_RUN "g['%s']();g['tell'](end=True)";

/* Adds the recipe's own probes: files next to it. */
static bool
own_probes(struct json *j, struct arena *a, struct diags *ds, const struct recipe *r)
{
	bool good = true;

	json_list(j, "probes");
	list_each (t, &r->verify.probes) {
		const struct source *s =
			fs_read(a, ds, fs_join(a, fs_dir(a, r->path), t->s), FS_READ_MAX, t->at);

		if (!s) {
			good = false;
			continue;
		}
		json_put(j, "('name': %s, 'text': %s)", t->s, s->text);
	}
	json_end(j);
	return good;
}

const char *
probe_input(struct arena *a, struct diags *ds, const struct plan *p, const struct verify_options *o,
	    const char *token, size_t *size)
{
	struct buf b = BUF(a);
	struct json j = json_flat_to(&b);
	bool good = true;

	json_put(&j, "{'token': %s, 'boot': %s, 'share': %s, 'smoke_cu': %s", token, boot_child,
		 o->venv ? fs_join(a, fs_real(a, o->venv), "share/stackbuild") : "/opt/stackbuild",
		 embedded_template("smoke.cu")->text);
	if (p) {
		const struct recipe *r = p->stack->recipe;

		json_put(&j, "'plan_text': %s, 'forbid_fallback': %b", p->json,
			 !r->verify.forbid_fallback.s || *r->verify.forbid_fallback.s == 't');
		good = own_probes(&j, a, ds, r);
	} else {
		json_text(&j, "plan", "/opt/stackbuild/plan.json");
	}
	json_end(&j);
	buf_putc(&b, '\n');
	for (size_t i = 0; i < COUNT(files); i++) {
		const struct source *s = embedded_template(files[i]);

		if (!s)
			BUG("there is no template %s", files[i]);
		buf_add(&b, s->text, s->size);
		buf_putc(&b, '\n');
	}
	*size = b.n;
	return good ? buf_text(&b) : NULL;
}
