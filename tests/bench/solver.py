#!/usr/bin/env python3
"""The solver on typical and worst universes, and on resolvelib's frozen cases next to resolvelib itself."""
import json
import os
import statistics
import subprocess
import sys
import time

import resolvelib
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import frozen  # noqa: E402
from measure import line, seconds  # noqa: E402

BENCH = os.path.join(os.environ.get("BUILD", "build"), "solve_bench")
HARD, PEER_LIMIT_S, ROUNDS = "pyrex-1.9.8.json", 20, 5


def universes(*args):
    out = subprocess.run([BENCH, *args], text=True, capture_output=True, check=True).stdout
    return {u["name"]: u for u in map(json.loads, out.splitlines())}


class Provider(resolvelib.AbstractProvider):
    """The same index for resolvelib: an identifier is a package, or a package with its extras."""

    def __init__(self, index):
        self.index, self.requirements, self.deadline = index, {}, time.perf_counter() + PEER_LIMIT_S
        self.versions = {p: sorted(((Version(v), v) for v in vs), reverse=True) for p, vs in index.items()}

    def identify(self, requirement_or_candidate):
        x = requirement_or_candidate
        return (canonicalize_name(x.name), frozenset(x.extras)) if isinstance(x, Requirement) else x[:2]

    def get_preference(self, identifier, resolutions, candidates, information, backtrack_causes):
        if time.perf_counter() > self.deadline:
            raise TimeoutError
        return (all(parent is not None for _, parent in information[identifier]), identifier[0], len(identifier[1]))

    def find_matches(self, identifier, requirements, incompatibilities):
        wanted = list(requirements[identifier])
        bad = {c[3] for c in incompatibilities[identifier]}
        found = [(*identifier, v, text) for v, text in self.versions.get(identifier[0], ())
                 if text not in bad and all(r.specifier.contains(v, prereleases=True) for r in wanted)]
        return [c for c in found if not c[2].is_prerelease] or found

    def is_satisfied_by(self, requirement, candidate):
        return requirement.specifier.contains(candidate[2], prereleases=True)

    def get_dependencies(self, candidate):
        name, extras, _, text = candidate
        needs = [Requirement(f"{name}=={text}")] if extras else []
        for t in self.index[name][text]["dependencies"]:
            if t not in self.requirements:
                self.requirements[t] = Requirement(t)
            if frozen.counts(self.requirements[t], extras):
                needs.append(self.requirements[t])
        return needs


def peer(case, index):
    """Returns the seconds of one resolution; None: no answer within the time limit."""
    start = time.perf_counter()
    resolver = resolvelib.Resolver(Provider(index), resolvelib.BaseReporter())
    try:
        resolver.resolve([Requirement(r) for r in case["requested"]], max_rounds=10**9)
    except resolvelib.ResolutionImpossible:
        pass
    except TimeoutError:
        return None
    return time.perf_counter() - start


def ours(case, index):
    return statistics.median(frozen.solve(case, index)["solve_us"] for _ in range(ROUNDS)) / 1e6


def frozen_cases():
    cases = {name: frozen.load(name) for name in frozen.names()}
    hard = cases.pop(HARD)
    mine = sum(ours(*c) for c in cases.values())
    theirs = sum(statistics.median(peer(*c) for _ in range(ROUNDS)) for c in cases.values())
    line(f"solver: {len(cases)} of resolvelib's frozen cases, sum", seconds(mine), f"resolvelib {seconds(theirs)}",
         f"{theirs / mine:.0f}x", ">= 10x", theirs / mine >= 10)
    mine, theirs = ours(*hard), peer(*hard)
    told = seconds(theirs) if theirs else f"no answer in {PEER_LIMIT_S} s"
    line("solver: the other one (pyrax 1.9.8: impossible)", seconds(mine), f"resolvelib {told}", "", "<= 0.1 s", mine <= 0.1)


def main():
    usual, worst = universes("1"), universes("1", "5000")
    t, c = usual["typical"], usual["conflict"]
    line(f"solver: 30 things, {t['facts']} facts, possible", seconds(t["solve_us"] / 1e6), "", "", "<= 1 ms",
         t["solve_us"] <= 1000)
    line("solver: the same with pins that conflict: why, and repairs",
         seconds((c["conflicts_us"] + c["repairs_us"]) / 1e6), "", "", "<= 10 ms", c["conflicts_us"] + c["repairs_us"] <= 1e4)
    spent = max(u["solve_us"] for u in worst.values())
    line("solver: the worst known, 5000 steps", seconds(spent / 1e6), "", "", "<= 100 ms", spent <= 1e5)
    frozen_cases()


main()
