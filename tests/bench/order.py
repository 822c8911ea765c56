#!/usr/bin/env python3
"""Compares the order of layers with the exact optimum and two simpler rules, and measures its time."""
import json
import os
import random
import resource
import statistics
import subprocess

from measure import line, seconds

BENCH = os.path.join(os.environ.get("BUILD", "build"), "plan_bench")


def graph(rng, n, density):
    """Returns random requirements; change rates from daily to yearly, costs from seconds to minutes."""
    return [{"id": str(i), "needs": [str(k) for k in range(i) if rng.random() < density],
             "change_rate": rng.choice([1, 1 / 7, 1 / 30, 1 / 90, 1 / 365]) * rng.uniform(0.5, 2),
             "cost_s": rng.choice([2, 20, 120, 400]) * rng.uniform(0.5, 2)} for i in range(n)]


def two_layers(rng, tops, bottoms, each):
    jobs = [{"id": str(i), "needs": [], "change_rate": rng.uniform(1, 2), "cost_s": rng.uniform(0, .1)}
            for i in range(tops)]
    return jobs + [{"id": str(tops + i), "needs": [str(k) for k in rng.sample(range(tops), each)],
                    "change_rate": rng.uniform(0, .1), "cost_s": rng.uniform(1, 2)} for i in range(bottoms)]


def ours(jobs):
    out = subprocess.run([BENCH], input=json.dumps(jobs), text=True, capture_output=True, check=True).stdout
    return [int(i) for i in json.loads(out)]


def cost(jobs, order):
    rates = total = 0
    for i in order:
        rates += jobs[i]["change_rate"]
        total += rates * jobs[i]["cost_s"]
    return total


def optimum(jobs):
    """Returns the optimal cost, by dynamic programming over down-sets."""
    needs = [sum(1 << int(k) for k in j["needs"]) for j in jobs]
    layer = {0: (0, 0)}
    for _ in jobs:
        after = {}
        for done, (total, rates) in layer.items():
            for i, j in enumerate(jobs):
                if done >> i & 1 or needs[i] & ~done:
                    continue
                r = rates + j["change_rate"]
                c = total + r * j["cost_s"]
                if after.get(done | 1 << i, (c + 1,))[0] > c:
                    after[done | 1 << i] = (c, r)
        layer = after
    return min(c for c, _ in layer.values())


def greedy(jobs, value):
    order, done = [], set()
    while len(order) < len(jobs):
        open_jobs = [i for i, j in enumerate(jobs) if i not in done and all(int(k) in done for k in j["needs"])]
        best = min(open_jobs, key=lambda i: value(jobs[i]))
        order.append(best)
        done.add(best)
    return order


def quality():
    rng = random.Random(1)
    ratios = {"ours": [], "rate": [], "ratio": []}
    for _ in range(60):
        jobs = graph(rng, rng.randint(8, 13), rng.choice([0.1, 0.2, 0.3]))
        best = optimum(jobs)
        ratios["ours"].append(cost(jobs, ours(jobs)) / best)
        ratios["rate"].append(cost(jobs, greedy(jobs, lambda j: j["change_rate"])) / best)
        ratios["ratio"].append(cost(jobs, greedy(jobs, lambda j: j["change_rate"] / j["cost_s"])) / best)
    mean = {k: sum(v) / len(v) for k, v in ratios.items()}
    worst = max(ratios["ours"])
    line("order: cost over the optimum, 60 graphs", f"{worst:.6f} (worst)",
         f"by change rate {mean['rate']:.3f}, by ratio {mean['ratio']:.3f} (means)", "", "= 1", worst < 1 + 1e-9)


def processor_time(jobs):
    """Returns seconds of processor time, because the goal is about the algorithm and not about other load."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ours(jobs)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def speed():
    rng = random.Random(2)
    for name, jobs in (("20 independent steps", graph(rng, 20, 0)), ("20 steps, random needs", graph(rng, 20, 0.15)),
                       ("20 steps, two layers", two_layers(rng, 10, 10, 3)),
                       ("40 steps, estimated", two_layers(rng, 20, 20, 3))):
        spent = statistics.median(processor_time(jobs) for _ in range(15))
        small = len(jobs) <= 20
        line(f"order: {name}, process and all", seconds(spent), "", "", "<= 1 s" if small else "",
             spent <= 1 if small else None)


quality()
speed()
