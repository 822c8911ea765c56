"""tests/python/vectors/*.jsonl: a heading, then one row a question, as short as it goes.

    version   [text, normalised]
    match     [specifiers, version, prereleases, matches]
    req       [text, [name, extras, specifiers, url, marker]]
    marker    [text, what its environment has other than `env` in the heading, value]
    tags      [file, [name, version, build, tags]]
    order     versions, lowest first

The answer is false (for a marker null) where packaging refuses.
"""
import glob
import json
import os

import answers

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors")
REQ = ("name", "extras", "spec", "url", "marker")
TAGS = ("name", "version", "build", "tags")


def to_row(op, line, want, env):
    """A question and its answer as a row."""
    ok = want.get("ok", True)
    if op == "version":
        return [line["s"], ok and want["norm"]]
    if op == "match":
        return [line["spec"], line["v"], line["pre"], ok and want["match"] if ok else None]
    if op == "req":
        return [line["s"], ok and [want[k] for k in REQ]]
    if op == "marker":
        return [line["s"], {k: v for k, v in line["env"].items() if env.get(k) != v}, want["value"] if ok else None]
    return [line["file"], ok and [want[k] for k in TAGS]]


def from_row(op, row, env):
    """The question and the answer that a row stands for."""
    want = row[-1]
    if op == "version":
        return {"op": op, "s": row[0]}, {"ok": True, "norm": want} if want else answers.NO
    if op == "match":
        line = {"op": op, "spec": row[0], "v": row[1], "pre": row[2]}
        return line, answers.NO if want is None else {"match": want}
    if op == "req":
        return {"op": op, "s": row[0]}, {"ok": True, **dict(zip(REQ, want))} if want else answers.NO
    if op == "marker":
        line = {"op": op, "s": row[0], "env": {**env, **row[1]}}
        return line, answers.NO if want is None else {"ok": True, "value": want}
    return {"op": op, "file": row[0]}, {"ok": True, **dict(zip(TAGS, want))} if want else answers.NO


def pairs_in_order(versions):
    for i, a in enumerate(versions):
        for j, b in enumerate(versions):
            yield {"op": "cmp", "a": a, "b": b}, {"cmp": (i > j) - (i < j)}


def load():
    """Every question with its answer, by the name of its file."""
    found = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.jsonl"))):
        with open(path, encoding="utf-8") as f:
            head, *rows = map(json.loads, f)
        op = os.path.basename(path)[:-len(".jsonl")]
        if op == "order":
            found[op] = list(pairs_in_order(rows))
        else:
            found[op] = [from_row(op, row, head.get("env")) for row in rows]
    return found
