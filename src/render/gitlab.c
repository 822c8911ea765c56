#include "pipeline.h"

/* A pipeline of GitLab CI. */
bool
gitlab_render(struct arena *a, struct diags *ds, const struct pipeline *p,
	      const struct templates *t, struct rendereds *out)
{
	return pipeline_can_name(ds, p) && pipeline_file(a, ds, p, t, "gitlab-ci.yml", LANG_YAML,
							 "cp {path} .gitlab-ci.yml", out);
}
