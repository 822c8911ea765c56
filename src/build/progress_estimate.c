#include "screen.h"

/*
 * What is left: of the steps that are not done, what their estimates say beyond what they have
 * taken, at the pace of those that are done; lanes side by side, the rest one after another.
 */
enum { PACE_PRIOR_S = 30 /* as if that much had gone as estimated */ };

double
progress_pace(const struct progress *p)
{
	double took = PACE_PRIOR_S, said = PACE_PRIOR_S, pace;

	for (size_t i = 0; i < p->nsteps; i++)
		/* What took next to nothing was there already, and tells nothing. */
		if (p->steps[i].state == STEP_DONE && p->steps[i].estimate_s > 0 &&
		    p->steps[i].seconds > p->steps[i].estimate_s / 10) {
			took += p->steps[i].seconds;
			said += p->steps[i].estimate_s;
		}
	pace = took / said;
	return pace < 0.25 ? 0.25 : pace > 4 ? 4 : pace;
}

static double
remaining_of(const struct progress *p, size_t i, double pace)
{
	const struct progress_step *s = &p->steps[i];
	double spent = progress_spent(p, i), left = s->estimate_s * pace - spent;

	if (s->state != STEP_WAITING && s->state != STEP_RUNNING)
		return 0;
	if (s->estimate_s <= 0)
		return 0;
	/* Over its estimate: nobody knows; a tenth of what it took stands for "not long". */
	return left > spent / 10 ? left : spent / 10;
}

double
progress_remaining(const struct progress *p)
{
	double pace = progress_pace(p), alone = 0, longest = 0;
	bool known = false;

	for (size_t i = 0; i < p->nsteps; i++) {
		const struct progress_step *s = &p->steps[i];
		double lane = 0;

		known |=
			(s->state == STEP_WAITING || s->state == STEP_RUNNING) && s->estimate_s > 0;
		if (!s->lane) {
			alone += remaining_of(p, i, pace);
			continue;
		}
		for (size_t k = 0; k < p->nsteps; k++)
			if (p->steps[k].lane && !strcmp(p->steps[k].lane, s->lane))
				lane += remaining_of(p, k, pace);
		longest = lane > longest ? lane : longest;
	}
	return known ? alone + longest : -1;
}
