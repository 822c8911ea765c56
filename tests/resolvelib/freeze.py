#!/usr/bin/env python3
"""Makes the cases of this folder from those of resolvelib's own tests, made small.

usage: freeze.py FOLDER     its tests/functional/python/inputs

Left out of an index: packages that nothing requested can reach, and requirements that count
for an extra that nobody can ask for.  Releases that require the same stand together:
{"package": [[["1.1", "1.0"], ["needs>=1", ...]], ...]}; the suite takes them apart again.
"""
import json
import os
import sys

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name


def parsed(text):
    try:
        return Requirement(text)
    except InvalidRequirement:
        return None


def counts(r, extras):
    """Could it, in some environment?  A marker counts for extras only (see solve_cli.c)."""
    marker = str(r.marker or "")
    return not marker or any(e in marker or "extra" not in marker for e in extras)


def reachable(index, requested):
    """Packages, with the extras that somebody can ask for."""
    todo, seen = [Requirement(r) for r in requested], {}
    while todo:
        r = todo.pop()
        name, known = canonicalize_name(r.name), seen.get(canonicalize_name(r.name))
        if name not in index or (known is not None and r.extras <= known):
            continue
        seen[name] = (known or set()) | r.extras
        for release in index[name].values():
            needs = [parsed(text) for text in release["dependencies"]]
            todo += [n for n in needs if n and counts(n, seen[name])]
    return seen


def together(releases, extras):
    groups = {}
    for version, release in releases.items():
        needs = [t for t in release["dependencies"] if not parsed(t) or counts(parsed(t), extras)]
        groups.setdefault(tuple(needs), []).append(version)
    return [[versions, list(needs)] for needs, versions in groups.items()]


def main():
    folder, here = sys.argv[1], os.path.dirname(os.path.abspath(__file__))
    for name in sorted(os.listdir(os.path.join(folder, "case"))):
        with open(os.path.join(folder, "case", name), encoding="utf-8") as f:
            case = json.load(f)
        with open(os.path.join(folder, "index", case["index"] + ".json"), encoding="utf-8") as f:
            index = json.load(f)
        seen = reachable(index, case["requested"])
        frozen = {k: v for k, v in case.items() if k != "#"}
        lines = [f' {json.dumps(k)}: {json.dumps(v)}' for k, v in frozen.items()]
        lines.append(' "releases": {\n' + ",\n".join(
            f"  {json.dumps(n)}: {json.dumps(together(index[n], seen[n]))}" for n in sorted(seen)) + "\n }")
        with open(os.path.join(here, name), "w", encoding="utf-8") as f:
            f.write("{\n" + ",\n".join(lines) + "\n}\n")


main()
