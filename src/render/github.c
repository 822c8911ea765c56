#include "pipeline.h"

/* A workflow of GitHub Actions. */
bool
github_render(struct arena *a, struct diags *ds, const struct pipeline *p,
	      const struct templates *t, struct rendereds *out)
{
	return pipeline_can_name(ds, p) && pipeline_file(a, ds, p, t, "github.yml", LANG_YAML,
							 "cp {path} .github/workflows/", out);
}
