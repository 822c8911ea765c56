"""What packaging answers to the lines that build/python_cli reads."""
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import parse_wheel_filename
from packaging.version import Version

NO = {"ok": False}


def version(line):
    return {"ok": True, "norm": str(Version(line["s"]))}


def cmp(line):
    a, b = Version(line["a"]), Version(line["b"])
    return {"cmp": (a > b) - (a < b)}


def match(line):
    return {"match": SpecifierSet(line["spec"]).contains(line["v"], prereleases=line["pre"])}


def req(line):
    r = Requirement(line["s"])
    return {"ok": True, "name": r.name, "extras": sorted(r.extras), "spec": str(r.specifier) or None,
            "url": r.url, "marker": None if r.marker is None else str(r.marker)}


def variables(markers):
    """The names that packaging looks up: what is on the right, if the left is a literal."""
    for m in markers:
        if isinstance(m, list):
            yield from variables(m)
        elif isinstance(m, tuple):
            yield m[0].value if type(m[0]).__name__ == "Variable" else m[2].value


def marker(line):
    m = Marker(line["s"])
    env = {k: v for k, v in line["env"].items() if not isinstance(v, list)}
    # evaluate() fills what env lacks from the running Python; the contract does not.
    if not set(variables(m._markers)) <= set(env):
        return NO
    return {"ok": True, "value": m.evaluate(env, context="requirement")}


def tags(line):
    name, v, build, found = parse_wheel_filename(line["file"])
    return {"ok": True, "name": name, "version": str(v),
            "build": "".join(map(str, build)) or None, "tags": sorted(map(str, found))}


OPS = {f.__name__: f for f in (version, cmp, match, req, marker, tags)}


def answer(line):
    """The answer; what packaging refuses, or fails on, is not ok."""
    try:
        return OPS[line["op"]](line)
    except (ValueError, KeyError, AssertionError, RecursionError, AttributeError):
        return NO
