#include "pipeline.h"

/* All cells of a recipe as targets of `docker buildx bake`. */
bool
bake_render(struct arena *a, struct diags *ds, const struct pipeline *p, const struct templates *t,
	    struct rendereds *out)
{
	return pipeline_file(a, ds, p, t, "docker-bake.hcl", LANG_HCL,
			     "docker buildx bake -f {path}", out);
}
