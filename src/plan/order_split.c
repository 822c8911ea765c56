#include "order.h"

#include <float.h>
#include <math.h>
#include <string.h>

/*
 * Let r be the ratio of a set's cost to its change rate.  The closed subset that
 * maximises sum of (cost - r x change rate) holds exactly the parts with a ratio over
 * r: it comes first, the rest after it, and both are split again.  If that subset is
 * empty, no closed subset beats the whole; then closed subsets of equal ratio are what
 * can be told apart: the strongly connected components of the residual graph.
 *
 * Capacities are sums and differences of products of doubles, in long double; what
 * differs from zero by no more than rounding does counts as zero.
 */
static const long double ROUNDING = 64 * DBL_EPSILON;

struct arc {
	size_t to, next; /* next arc of the same node; NONE ends */
	long double left, tiny;
};

#define NONE ((size_t)-1)

struct net {
	const struct job *jobs;
	struct arena *a;
	size_t *local; /* job -> node of the set at hand, or NONE */
	size_t n, source, sink, narcs;
	struct arc *arcs;
	size_t *first, *level, *at, *queue, *path;
};

static void
add_arc(struct net *net, size_t from, size_t to, long double cap, long double tiny)
{
	net->arcs[net->narcs] = (struct arc){ to, net->first[from], cap, tiny };
	net->first[from] = net->narcs++;
	net->arcs[net->narcs] = (struct arc){ from, net->first[to], 0, 0 };
	net->first[to] = net->narcs++;
}

/* The network whose minimum cut is the maximum closure of ids[0..n) at its own ratio. */
static void
net_fill(struct net *net, const size_t *ids, size_t n)
{
	long double cost = 0, rate = 0;
	size_t nneeds = 0;

	for (size_t i = 0; i < n; i++) {
		cost += net->jobs[ids[i]].cost_s;
		rate += net->jobs[ids[i]].change_rate;
		nneeds += net->jobs[ids[i]].nneeds;
		net->local[ids[i]] = i;
	}
	net->n = n;
	net->source = n;
	net->sink = n + 1;
	net->narcs = 0;
	net->arcs = arena_array_of(net->a, struct arc, 2 * (n + nneeds));
	for (size_t i = 0; i < n + 2; i++)
		net->first[i] = NONE;
	for (size_t i = 0; i < n; i++) {
		const struct job *j = &net->jobs[ids[i]];
		long double gain = j->cost_s * rate, loss = cost * j->change_rate;
		long double tiny = (gain > loss ? gain : loss) * ROUNDING;

		for (size_t k = 0; k < j->nneeds; k++)
			if (net->local[j->needs[k]] != NONE)
				add_arc(net, i, net->local[j->needs[k]], HUGE_VALL, 0);
		if (gain - loss > tiny)
			add_arc(net, net->source, i, gain - loss, tiny);
		else if (loss - gain > tiny)
			add_arc(net, i, net->sink, loss - gain, tiny);
	}
	for (size_t i = 0; i < n; i++)
		net->local[ids[i]] = NONE;
}

/* Distances from the source along arcs with room; true if the sink is reached. */
static bool
net_levels(struct net *net)
{
	size_t head = 0, tail = 0;

	for (size_t i = 0; i < net->n + 2; i++) {
		net->level[i] = NONE;
		net->at[i] = net->first[i];
	}
	net->level[net->source] = 0;
	net->queue[tail++] = net->source;
	while (head < tail) {
		size_t v = net->queue[head++];

		for (size_t e = net->first[v]; e != NONE; e = net->arcs[e].next) {
			const struct arc *arc = &net->arcs[e];

			if (arc->left > arc->tiny && net->level[arc->to] == NONE) {
				net->level[arc->to] = net->level[v] + 1;
				net->queue[tail++] = arc->to;
			}
		}
	}
	return net->level[net->sink] != NONE;
}

static void
push(struct net *net, size_t npath)
{
	long double least = HUGE_VALL;

	for (size_t i = 0; i < npath; i++)
		if (net->arcs[net->path[i]].left < least)
			least = net->arcs[net->path[i]].left;
	for (size_t i = 0; i < npath; i++) {
		net->arcs[net->path[i]].left -= least;
		net->arcs[net->path[i] ^ 1].left += least;
	}
}

/* Dinic: paths along rising levels until none is left, then new levels. */
static void
net_flow(struct net *net)
{
	while (net_levels(net)) {
		size_t npath = 0, v = net->source;

		for (;;) {
			size_t e = net->at[v];

			if (v == net->sink) {
				push(net, npath);
				npath = 0;
				v = net->source;
			} else if (e != NONE) {
				const struct arc *arc = &net->arcs[e];

				if (arc->left > arc->tiny &&
				    net->level[arc->to] == net->level[v] + 1) {
					net->path[npath++] = e;
					v = arc->to;
				} else {
					net->at[v] = arc->next;
				}
			} else if (npath) {
				v = net->arcs[net->path[--npath] ^ 1].to;
				net->at[v] = net->arcs[net->at[v]].next;
			} else {
				break;
			}
		}
	}
}

struct components {
	size_t *stack, nstack, *calls, ncalls;
	size_t *number, *low, count;
	size_t *out, nout; /* nodes, component after component */
};

/* All above and including v on the stack is one component; its nodes keep their order. */
static void
component_close(struct components *c, size_t v, size_t *ends, size_t *nends, size_t base)
{
	size_t from = c->nstack, start = c->nout;

	while (c->stack[--from] != v)
		;
	for (size_t i = from; i < c->nstack; i++) {
		size_t node = c->stack[i], at = c->nout++;

		for (; at > start && c->out[at - 1] > node; at--)
			c->out[at] = c->out[at - 1];
		c->out[at] = node;
		c->number[node] = NONE - 1; /* done */
	}
	c->nstack = from;
	ends[(*nends)++] = base + c->nout;
}

static void
component_open(struct components *c, struct net *net, size_t v)
{
	c->number[v] = c->low[v] = c->count++;
	c->stack[c->nstack++] = v;
	c->calls[c->ncalls++] = v;
	net->at[v] = net->first[v];
}

/*
 * Tarjan's components of the residual graph, without recursion.  A component comes out
 * after all that it leads to: what a job needs comes first.
 */
static void
net_components(struct net *net, size_t *ids, size_t base, size_t *ends, size_t *nends)
{
	size_t n = net->n;
	struct components c = {
		.stack = arena_array_of(net->a, size_t, n),
		.calls = arena_array_of(net->a, size_t, n),
		.number = arena_array_of(net->a, size_t, n),
		.low = arena_array_of(net->a, size_t, n),
		.out = arena_array_of(net->a, size_t, n),
		.count = 1,
	};

	for (size_t root = 0; root < n; root++) {
		if (c.number[root])
			continue;
		component_open(&c, net, root);
		while (c.ncalls) {
			size_t v = c.calls[c.ncalls - 1], e = net->at[v];

			if (e != NONE) {
				const struct arc *arc = &net->arcs[e];
				size_t to = arc->to;

				net->at[v] = arc->next;
				if (to >= n || !(arc->left > arc->tiny) || c.number[to] == NONE - 1)
					continue;
				if (!c.number[to])
					component_open(&c, net, to);
				else if (c.number[to] < c.low[v])
					c.low[v] = c.number[to];
				continue;
			}
			c.ncalls--;
			if (c.ncalls && c.low[v] < c.low[c.calls[c.ncalls - 1]])
				c.low[c.calls[c.ncalls - 1]] = c.low[v];
			if (c.low[v] == c.number[v])
				component_close(&c, v, ends, nends, base);
		}
	}
	for (size_t i = 0; i < n; i++)
		c.stack[i] = ids[c.out[i]];
	memcpy(ids, c.stack, n * sizeof(*ids));
}

/* The nodes on the source's side of the cut to the front, both sides in their order. */
static size_t
net_partition(const struct net *net, size_t *ids)
{
	size_t front = 0, back = 0;

	for (size_t i = 0; i < net->n; i++) {
		if (net->level[i] != NONE)
			ids[front++] = ids[i];
		else
			net->path[back++] = ids[i];
	}
	memcpy(ids + front, net->path, back * sizeof(*ids));
	return front;
}

void
order_split(const struct job *jobs, size_t *ids, size_t n, size_t *ends, size_t *nends)
{
	struct arena *a = arena_new();
	struct net net = { .jobs = jobs };
	size_t *todo = arena_array_of(a, size_t, n + 1), ntodo = 0, from = 0;

	net.local = arena_array_of(a, size_t, n);
	net.first = arena_array_of(a, size_t, n + 2);
	net.level = arena_array_of(a, size_t, n + 2);
	net.at = arena_array_of(a, size_t, n + 2);
	net.queue = arena_array_of(a, size_t, n + 2);
	net.path = arena_array_of(a, size_t, n + 2);
	for (size_t i = 0; i < n; i++)
		net.local[i] = NONE;
	*nends = 0;
	if (n)
		todo[ntodo++] = n;
	while (ntodo) {
		size_t to = todo[ntodo - 1], front;

		net.a = arena_new();
		net_fill(&net, ids + from, to - from);
		net_flow(&net);
		front = net_partition(&net, ids + from);
		if (front && front < to - from) {
			todo[ntodo++] = from + front;
		} else {
			net_components(&net, ids + from, from, ends, nends);
			from = to;
			ntodo--;
		}
		arena_free(net.a);
	}
	arena_free(a);
}
