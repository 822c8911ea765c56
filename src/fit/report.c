#include "work.h"

/*
 * A conflict as a diagnostic: what cannot be, the chain of facts, the places.
 *
 *   r.yaml:9:16: error[SB0243]: the recipe asks for mamba-ssm 2.3.2.post1, and that cannot be
 *     because mamba-ssm 2.3.2.post1 needs triton >=3.5.0
 *         and torch 2.2.2 needs triton 2.2.0
 *     note: r.yaml:4:12: torch is asked for here
 */

/* The pin that the conflict is shown at: the lightest to change; of equals the last. */
static const struct fit_pin *
shown_at(const struct fit *fit, const struct solve_conflict *c)
{
	unsigned best = c->pins.at[0];

	for (size_t i = 1; i < c->pins.n; i++)
		if (fit->pins[c->pins.at[i]].at.line &&
		    fit->solve_pins[c->pins.at[i]].weight <= fit->solve_pins[best].weight)
			best = c->pins.at[i];
	return &fit->pins[best];
}

static void
tell(struct diags *ds, const struct fit *fit, const struct fit_conflict *one)
{
	const struct solve_conflict *c = one->found;
	const struct fit_pin *at = shown_at(fit, c);
	struct diag *d = diag_at(ds, one->code, at->at, "%s, and that cannot be", at->sentence);

	for (size_t i = 0; i < c->facts.n; i++)
		diag_why(d, "%s", ((const struct fit_fact *)c->facts.at[i].why)->sentence);
	for (size_t i = 0; i < c->pins.n; i++) {
		const struct fit_pin *p = &fit->pins[c->pins.at[i]];

		if (p != at && p->at.line)
			diag_note(d, p->at, "%s", p->note);
	}
	for (size_t i = 0; i < c->facts.n; i++)
		diag_source(d, ((const struct fit_fact *)c->facts.at[i].why)->source);
}

void
fit_report(struct arena *a, struct diags *ds, const struct fit *fit, bool verbose)
{
	(void)a;
	(void)verbose;
	for (size_t i = 0; i < fit->errors.n; i++)
		tell(ds, fit, &fit->errors.at[i]);
	for (size_t i = 0; i < fit->warnings.n; i++)
		tell(ds, fit, &fit->warnings.at[i]);
}
