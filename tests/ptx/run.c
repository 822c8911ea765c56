#include "ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs one block of a kernel: its warps in turn, each up to a barrier. */

enum { WARPS = PTX_LANES / PTX_WARP, SHARED_MAX = 48 * 1024 };

struct warp {
	uint32_t ended, waiting; /* lanes: a bit each */
	bool together;           /* all running lanes are at `at`, and pc is outdated */
	uint32_t at;
	uint32_t pc[PTX_WARP];
};

struct block {
	const struct ptx_kernel *k;
	const unsigned *at, *grid, *size;
	void **args;
	uint64_t lanes[PTX_REGISTERS][PTX_LANES];
	_Alignas(16) unsigned char shared[SHARED_MAX];
	struct warp warps[WARPS];
};

/* --- faults --- */

bool
ptx_fault_is(const char *name)
{
	const char *wanted = getenv("PTX_FAULT");

	return wanted && !strcmp(wanted, name);
}

/* --- registers --- */

static uint64_t
get(const struct block *b, const struct ptx_operand *o, unsigned lane)
{
	unsigned x = b->size[0], y = b->size[1];

	switch (o->kind) {
	case REGISTER: return b->lanes[o->reg][lane];
	case NUMBER: return o->number;
	case PAIR: return ptx_unknown("a pair outside of mov", b->k->name), 0;
	case SPECIAL:
		if (o->special == 't')
			return o->axis == 0 ? lane % x : o->axis == 1 ? lane / x % y : lane / x / y;
		return o->special == 'n' ? b->size[(int)o->axis] :
		       o->special == 'c' ? b->at[(int)o->axis] :
					   b->grid[(int)o->axis];
	default: return 0;
	}
}

static void
set(struct block *b, const struct ptx_code *c, unsigned lane, uint64_t v)
{
	b->lanes[c->a[0].reg][lane] = v;
}

/* --- memory --- */

static unsigned char *
place(struct block *b, const struct ptx_code *c, const struct ptx_operand *o, unsigned lane)
{
	uint64_t at = o->kind == REGISTER ? b->lanes[o->reg][lane] + o->number : o->number;

	if (!c->shared)
		return (unsigned char *)(uintptr_t)at;
	if (at + ptx_size(c->type) > b->k->shared)
		ptx_unknown("an address outside of the shared memory of", b->k->name);
	return b->shared + at;
}

static void
load(struct block *b, const struct ptx_code *c, unsigned lane)
{
	unsigned from = lane;
	uint64_t v = 0;

	if (c->param) {
		memcpy(&v, b->args[c->a[1].number], ptx_size(c->type));
	} else {
		if (ptx_fault("load-neighbour") && !c->shared && lane % PTX_WARP == 31)
			from--;
		memcpy(&v, place(b, c, &c->a[1], from), ptx_size(c->type));
		if (ptx_fault("shared-stale") && c->shared && c->type == T_F32 && lane == 0)
			v = 0;
	}
	set(b, c, lane, v);
}

static void
store(struct block *b, const struct ptx_code *c, unsigned lane)
{
	uint64_t v = get(b, &c->a[1], lane);

	if ((ptx_fault("store-lost") && !c->shared && lane == 77) ||
	    (ptx_fault("shared-store-lost") && c->shared && lane == 77))
		return;
	if (ptx_fault("shared-bit") && c->shared && lane == 5)
		v ^= 4;
	memcpy(place(b, c, &c->a[0], lane), &v, ptx_size(c->type));
}

/* Runs an atomic addition of one lane; the lanes add one after the other. */
static void
atom(struct block *b, const struct ptx_code *c, unsigned lane, uint32_t mask)
{
	unsigned char *at = place(b, c, &c->a[1], lane);
	uint64_t old = 0, sum, added = get(b, &c->a[2], lane);
	bool shared = c->shared;

	if (!ptx_has(c, ".add"))
		ptx_unknown("an atomic operation", c->how);
	memcpy(&old, at, ptx_size(c->type));
	/* A sum is lost if the next lane of the warp adds to the same place. */
	if (ptx_fault("atom-shared-lost") && shared && lane % PTX_WARP + 1 < PTX_WARP &&
	    mask >> (lane % PTX_WARP + 1) & 1 && place(b, c, &c->a[1], lane + 1) == at)
		added = 0;
	if (ptx_fault("atom-global-lost") && !shared && b->at[0] == 9)
		added = 0;
	if (ptx_fault("atom-global-bit") && !shared && b->at[0] == 3)
		added ^= 1;
	if (ptx_fault("atom-shared-bit") && shared && lane == 40)
		added ^= 2;
	sum = old + added;
	if (ptx_fault("atom64-as-32") && ptx_size(c->type) == 8)
		sum &= 0xffffffff;
	memcpy(at, &sum, ptx_size(c->type));
	set(b, c, lane, old);
}

/* shfl.sync.down.b32 d, a, delta, clamp */
static void
shuffle(struct block *b, const struct ptx_code *c, unsigned first, uint32_t mask)
{
	static unsigned calls; /* of 64 bits, the low word is shuffled first */
	bool high = calls++ & 1;
	uint64_t from[PTX_WARP];

	if (!ptx_has(c, ".sync.down") || c->type != T_B32)
		ptx_unknown("a shuffle", c->how);
	for (unsigned i = 0; i < PTX_WARP; i++)
		from[i] = get(b, &c->a[1], first + i);
	for (unsigned i = 0; i < PTX_WARP; i++) {
		unsigned j = i + (unsigned)get(b, &c->a[2], first + i);

		if (!(mask >> i & 1))
			continue;
		if (ptx_fault("shuffle-too-far"))
			j++;
		if (j >= PTX_WARP || (ptx_fault("shuffle-lane-lost") && i == 3) ||
		    (ptx_fault("shuffle-high-lost") && high))
			j = i;
		set(b, c, first + i, ptx_fault("shuffle-half-word") ? from[j] & 0xffff : from[j]);
	}
}

/* --- arithmetic --- */

static void
arithmetic(struct block *b, const struct ptx_code *c, unsigned lane)
{
	uint64_t x = get(b, &c->a[1], lane), y = get(b, &c->a[2], lane);

	set(b, c, lane, ptx_compute(c, x, y, get(b, &c->a[3], lane)));
}

static void
move(struct block *b, const struct ptx_code *c, unsigned lane)
{
	unsigned half = ptx_size(c->type) * 4;

	if (c->a[0].kind == PAIR) {
		uint64_t v = get(b, &c->a[1], lane);

		b->lanes[c->a[0].reg][lane] = v & ((1ull << half) - 1);
		b->lanes[c->a[0].high][lane] = v >> half;
	} else if (c->a[1].kind == PAIR) {
		uint64_t low = c->a[1].zero ? 0 : b->lanes[c->a[1].reg][lane];

		set(b, c, lane, low | b->lanes[c->a[1].high][lane] << half);
	} else {
		set(b, c, lane, ptx_cut(get(b, &c->a[1], lane), c->type));
	}
}

/* --- control --- */

static void
step(struct block *b, const struct ptx_code *c, unsigned lane, uint32_t mask)
{
	switch (c->op) {
	case OP_ATOM: atom(b, c, lane, mask); break;
	case OP_CVT: set(b, c, lane, ptx_convert(c, get(b, &c->a[1], lane))); break;
	case OP_CVTA: set(b, c, lane, get(b, &c->a[1], lane)); break;
	case OP_LD: load(b, c, lane); break;
	case OP_ST: store(b, c, lane); break;
	case OP_MOV: move(b, c, lane); break;
	case OP_SETP:
		set(b, c, lane, ptx_holds(c, get(b, &c->a[1], lane), get(b, &c->a[2], lane)));
		break;
	case OP_SELP: set(b, c, lane, get(b, &c->a[get(b, &c->a[3], lane) ? 1 : 2], lane)); break;
	default: arithmetic(b, c, lane); break;
	}
}

/* Returns the lanes of a mask for which the guard of an instruction is true. */
static uint32_t
guarded(const struct block *b, const struct ptx_code *c, unsigned first, uint32_t mask)
{
	uint32_t holds = 0;

	if (!c->guard || ptx_fault("guard-ignored"))
		return mask;
	for (unsigned i = 0; i < PTX_WARP; i++)
		if (mask >> i & 1 && (b->lanes[c->guard - 1][first + i] != 0) != c->unless)
			holds |= 1u << i;
	return holds;
}

static uint32_t
running(const struct warp *w)
{
	return ~(w->ended | w->waiting);
}

/* Returns the running lanes at the lowest address, which is *pc. */
static uint32_t
lowest(const struct warp *w, uint32_t *pc)
{
	uint32_t mask = 0;

	*pc = w->together ? w->at : UINT32_MAX;
	if (w->together)
		return running(w);
	for (unsigned i = 0; i < PTX_WARP; i++)
		if (running(w) >> i & 1 && w->pc[i] < *pc)
			*pc = w->pc[i];
	for (unsigned i = 0; i < PTX_WARP; i++)
		if (running(w) >> i & 1 && w->pc[i] == *pc)
			mask |= 1u << i;
	return mask;
}

static void
part(struct warp *w)
{
	for (unsigned i = 0; i < PTX_WARP && w->together; i++)
		if (running(w) >> i & 1)
			w->pc[i] = w->at;
	w->together = false;
}

static void
join(struct warp *w)
{
	uint32_t pc, mask = lowest(w, &pc);

	w->together = mask == running(w);
	w->at = pc;
}

/* Moves the lanes of a mask on; those of `jump` go to the target. */
static void
advance(struct warp *w, const struct ptx_code *c, uint32_t pc, uint32_t mask, uint32_t jump)
{
	if (w->together && (!jump || jump == mask)) {
		w->at = jump ? (uint32_t)c->target : pc + 1;
		return;
	}
	part(w);
	for (unsigned i = 0; i < PTX_WARP; i++)
		if (mask >> i & 1)
			w->pc[i] = jump >> i & 1 ? (uint32_t)c->target : pc + 1;
	join(w);
}

/* Ends lanes, or lets them wait at a barrier. */
static void
stop(struct warp *w, uint32_t *which, uint32_t mask)
{
	part(w);
	*which |= mask;
	join(w);
}

/* Runs one instruction, for the lanes of a warp at the lowest address. */
static void
step_warp(struct block *b, struct warp *w, unsigned first)
{
	uint32_t pc, mask = lowest(w, &pc), active;
	const struct ptx_code *c;

	if (pc >= b->k->n)
		ptx_unknown("the kernel has no end", b->k->name);
	c = &b->k->code[pc];
	active = guarded(b, c, first, mask);
	advance(w, c, pc, mask, c->op == OP_BRA ? active : 0);
	if (c->op == OP_RET)
		stop(w, &w->ended, active);
	else if (c->op == OP_BAR && !ptx_fault("barrier-missing"))
		stop(w, &w->waiting, active);
	else if (c->op == OP_SHFL)
		shuffle(b, c, first, active);
	else if (c->op != OP_BRA && c->op != OP_BAR)
		for (unsigned i = 0; i < PTX_WARP; i++)
			if (active >> i & 1)
				step(b, c, first + i, active);
}

void
ptx_run(const struct ptx_kernel *k, const unsigned at[3], const unsigned grid[3],
	const unsigned block[3], void **args)
{
	static struct block b;
	unsigned lanes = block[0] * block[1] * block[2], warps = (lanes + PTX_WARP - 1) / PTX_WARP;
	bool any = true;

	if (lanes > PTX_LANES || lanes % PTX_WARP || k->shared > SHARED_MAX)
		ptx_unknown("a block of another size", k->name);
	b.k = k;
	b.at = at;
	b.grid = grid;
	b.size = block;
	b.args = args;
	for (unsigned i = 0; i < warps; i++)
		b.warps[i] = (struct warp){ .together = true };
	while (any) {
		any = false;
		for (unsigned i = 0; i < warps; i++)
			while (running(&b.warps[i]))
				step_warp(&b, &b.warps[i], i * PTX_WARP);
		for (unsigned i = 0; i < warps; i++) {
			any |= b.warps[i].ended != UINT32_MAX;
			part(&b.warps[i]);
			b.warps[i].waiting = 0;
			join(&b.warps[i]);
		}
	}
}
