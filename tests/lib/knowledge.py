"""The knowledge base, read for tests without the program: releases, requirements, pairings and torch, with `packaging`."""

import functools
import os

import yaml
from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT = os.environ.get("ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMPANIONS = ("torchvision", "torchaudio")


@functools.lru_cache(None)
def read(path):
    """Returns a file of knowledge/ with every scalar as text; {}: there is none."""
    path = os.path.join(ROOT, "knowledge", path)
    if not os.path.exists(path):
        return {}
    with open(path, "rb") as f:
        return yaml.load(f, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)) or {}


@functools.lru_cache(None)
def version(text):
    try:
        return Version(text)
    except InvalidVersion:
        return None


@functools.lru_cache(None)
def specifiers(text):
    try:
        return SpecifierSet(text)
    except InvalidSpecifier:
        return None


@functools.lru_cache(None)
def requirement(text):
    try:
        return Requirement(text)
    except InvalidRequirement:
        return None


@functools.lru_cache(None)
def holds(spec, text):
    """Returns whether a specifier allows a version; pre-releases count, and a text without a version is allowed."""
    spec, v = specifiers(spec), version(text)
    return spec is None or v is None or spec.contains(v, prereleases=True)


@functools.lru_cache(None)
def environment(python, machine):
    env = default_environment()
    env.update(python_version=python, python_full_version=python + ".99", platform_machine=machine, sys_platform="linux",
               platform_system="Linux", os_name="posix", implementation_name="cpython", platform_python_implementation="CPython")  # fmt: skip
    return env


@functools.lru_cache(None)
def applies(text, python, machine, extras=()):
    """Returns whether the marker of a requirement is true, without an extra or with one of them."""
    req = requirement(text)
    return not req.marker or any(req.marker.evaluate({**environment(python, machine), "extra": e}) for e in ("", *extras))


# --- packages ---


@functools.lru_cache(None)
def releases(name):
    """Returns (version text, entry) of the listed releases, oldest first."""
    listed = read(f"releases/{name}.yaml").get("releases") or {}
    return tuple(sorted(((v, e or {}) for v, e in listed.items() if version(v)), key=lambda x: version(x[0])))


@functools.lru_cache(None)
def every_version(name):
    """Returns every version of a package, also those without facts; (): its file has only some of them."""
    file = read(f"releases/{name}.yaml")
    if "partial" in file or "sample" in file:
        return ()
    return tuple(v for v in list(file.get("releases") or {}) + (file.get("others") or "").split() if version(v))


@functools.lru_cache(None)
def requires(name, text):
    """Returns the requirements of a release; of one that is not listed, those that the releases next to it share."""
    v, before, after = version(text), None, None
    for other, entry in releases(name) if v else ():
        if "requires" not in entry:
            continue
        if version(other) == v:
            return tuple(entry["requires"])
        if version(other) < v:
            before = entry["requires"]
        elif after is None:
            after = entry["requires"]
    return tuple(r for r in before if r in after) if before is not None and after is not None else ()


@functools.lru_cache(None)
def pairings(name):
    """Returns the pairings that were read, and not inferred: dicts with versions, other, needs."""
    rows = [p for folder in ("packages", "extensions") for p in read(f"{folder}/{name}.yaml").get("pairings") or ()]
    return tuple(p for p in rows if p.get("inferred") != "true")


def pairings_of(name, text):
    return [p for p in pairings(name) if version(text) and holds(p["versions"], text)]


# --- extensions ---


def is_extension(name):
    return bool(read(f"extensions/{name}.yaml"))


@functools.lru_cache(None)
def release_at(name, ref):
    """Returns the release of an extension at a tag or commit, or None."""
    for text, entry in (read(f"extensions/{name}.yaml").get("releases") or {}).items():
        if ref and ref in [entry.get("tag"), *(entry.get("more_tags") or ())]:
            return text
    return None


@functools.lru_cache(None)
def run_requires(name, text, ref=None):
    """Returns the run-time requirements of a release of an extension; of ranges that hold for it, the last one counts."""
    file, text = read(f"extensions/{name}.yaml"), release_at(name, ref) or text
    found = file.get("run_requires", ())
    for r in file.get("ranges") or ():
        if "run_requires" in r and text and version(text) and holds(r["versions"], text):
            found = r["run_requires"]
    found = (file.get("releases") or {}).get(text, {}).get("run_requires", found)
    return (found,) if isinstance(found, str) else tuple(found)


# --- torch ---


@functools.lru_cache(None)
def torch(text):
    """Returns the entry of a release of torch; {}: it is not listed."""
    wanted = version(text)
    for v, entry in read("torch.yaml")["releases"].items():
        if wanted and version(v) == version(wanted.public):
            return entry
    return {}


def torch_index(tag):
    return read("torch.yaml")["index"]["url"].replace("{tag}", tag)


def name_of(text):
    req = requirement(text)
    return canonicalize_name(req.name) if req else None
