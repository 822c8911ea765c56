"""All releases of a package: those that its file lists, and those whose METADATA is read."""
import glob
import os
import re

import yaml
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

import releases
from index import Unreachable, Unreadable, file_version

OLDEST = "2020-01-01"       # older releases do not matter for stacks with torch 1.13 (2022) and newer
OLDEST_READ = "2022-01-01"  # oldest release whose METADATA is read
HEADS_MAX, RECENT_MAX, RECENT_YEARS = 200, 60, 2


def load(path, words=("",)):
    """Returns the content of a file; empty without a file, and if the file has none of the words."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        text = f.read()
    return any(w in text for w in words) and yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}


# --- the versions that other packages pin ---

def pin(specifiers):
    """Returns the version that specifiers pin, or None."""
    try:
        exact = [s.version for s in SpecifierSet(specifiers) if s.operator == "==" and not s.version.endswith(".*")]
        return Version(exact[0]) if exact else None
    except (InvalidSpecifier, InvalidVersion):
        return None


def pins(knowledge, wanted):
    """Returns {package: versions} that pairings, and releases of extensions and harvested packages pin."""
    found = {name: set() for name in wanted}
    names = set(load(os.path.join(knowledge, "harvest.yaml"))["packages"])
    for path in glob.glob(os.path.join(knowledge, "extensions", "*.yaml")) + glob.glob(os.path.join(knowledge, "packages", "*.yaml")):
        if os.sep + "extensions" + os.sep in path:
            names.add(os.path.basename(path)[:-len(".yaml")])
        for pairing in load(path, wanted).get("pairings") or []:
            if pairing["other"] in found:
                found[pairing["other"]].add(pin(pairing["needs"]))
    for name in names:
        path = os.path.join(knowledge, "releases", name + ".yaml")
        for release in (load(path, wanted).get("releases") or {}).values():
            for text in release.get("requires") or []:
                try:
                    q = Requirement(text)
                except InvalidRequirement:
                    continue
                if canonicalize_name(q.name) in found:
                    found[canonicalize_name(q.name)].add(pin(str(q.specifier)))
    return {name: versions - {None} for name, versions in found.items()}


# --- selection ---

class Release:
    def __init__(self, version, files):
        self.version, self.files = version, files
        self.kept = any(not f["yanked"] for f in files)  # a file that is not yanked
        self.final = bool(files) and not version.is_prerelease
        self.date = min((f["upload-time"][:10] for f in files), default="")
        self.listed = self.pinned = self.read = False
        self.facts = None  # with METADATA, or the own requirements of the old file

    def series(self):
        """Returns X.Y; for 0.0.Z, each release is a separate series."""
        parts = (*self.version.release, 0, 0)[:3]
        return parts if parts[:2] == (0, 0) else parts[:2]


def on_page(page):
    """Returns the releases of a page, oldest first."""
    files = {}
    for f in page["files"]:
        files.setdefault(file_version(f["filename"]), []).append(f)
    files.pop(None, None)
    for text in page.get("versions", []):
        try:
            files.setdefault(Version(text), [])
        except InvalidVersion:
            continue
    return [Release(v, files[v]) for v in sorted(files)]


def select(found, pinned, every):
    """Marks the releases to list, and those whose METADATA can be read."""
    newest = max((r.date for r in found), default="")
    recent = f"{int(newest[:4]) - RECENT_YEARS:04}{newest[4:]}" if newest else "9999"
    heads = {}
    for r in found:
        r.pinned = r.version in pinned
        if r.final and (r.kept or not (heads.get(r.series()) and heads[r.series()].kept)):
            heads[r.series()] = r
    count = 0
    for turn, most, oldest in (("pinned", None, ""), ("head", HEADS_MAX, OLDEST), ("recent", RECENT_MAX, recent)):
        for r in reversed(found):
            if r.listed or not r.final or (turn == "pinned" and not r.pinned) or (turn != "pinned" and (heads[r.series()] is r) != (turn == "head")):
                continue
            if (most is None or count < most) and r.date >= oldest:
                r.listed = True
                count += 1
    begun = False
    for r in found:
        begun |= r.listed
        r.listed |= r.final and (every or begun and not r.kept)  # pip installs a yanked release only if it is pinned
        r.read = r.listed and (every or r.pinned or r.date >= OLDEST_READ)


def agree(x, y):
    own = [{q for q in r.facts["requires"] if "extra == " not in q} for r in (x, y)]
    return own[0] == own[1]


def following(found):
    """Returns the release whose METADATA adds most: a pinned one, the newest, the oldest, then the middle of the longest
    run between two different ones; None: no other release adds facts."""
    readable = [r for r in found if r.read]
    known = [i for i, r in enumerate(found) if r.facts]
    pinned = [r for r in readable if r.pinned]
    if not readable or pinned:
        return pinned[-1] if pinned else None
    if not known or readable[-1].version > found[known[-1]].version:
        return readable[-1]
    if readable[0].version < found[known[0]].version:
        return readable[0]
    gaps = [[r for r in found[a:b] if r.read] for a, b in zip(known, known[1:]) if not agree(found[a], found[b])]
    longest = max(gaps, key=len, default=[])
    return longest[len(longest) // 2] if longest else None


# --- the file ---

def keep_own(found, old):
    """Takes requirements with their own source or day from the old file."""
    own = {Version(str(v)): r for v, r in (old.get("releases") or {}).items() if r and "requires" in r and {"requires_source", "read"} & set(r)}
    for r in found:
        if r.version in own:
            known = own[r.version]
            r.facts = {"requires": known["requires"], "requires_source": known.get("requires_source"), "read": known.get("read")}
            r.listed, r.read = True, False


def file_text(name, found, old, day):
    by_wheel = [any(f["filename"].endswith(".whl") for f in r.files) for r in found if r.facts and "read" not in r.facts]
    source = f"PyPI: index page of {name}" + ", METADATA of its wheels" * any(by_wheel) + ", PKG-INFO of its sdists" * (not all(by_wheel))
    sources = {r.facts["requires_source"] for r in found if r.facts and r.facts.get("requires_source")}
    out = [f"# Releases of {name}.  Written by `ci/knowledge refresh {name}`, which keeps requirements that have a `requires_source`.\n",
           f"package: {name}\nread: {day}\nsource: {releases.quoted(f'{source}, read {day}')}\n", "sources:\n" if sources else ""]
    out += [f"  {s}: {releases.quoted(text)}\n" for s, text in (old.get("sources") or {}).items() if s in sources]
    out.append(releases.others_text([str(r.version) for r in found if not r.listed]))
    out.append("releases:\n")
    out += [releases.release_text(r.version, {**releases.page_facts(r.files), **(r.facts or {"requires": None})}) for r in found if r.listed]
    return "".join(out)


def refresh(reader, name, knowledge, pinned, limit, every, day):
    """Writes the file of a package; returns (releases, METADATA read). Raises Unreadable if the package cannot be read."""
    path = os.path.join(knowledge, "releases", name + ".yaml")
    old = load(path)
    found = on_page(reader.page(name, fresh=True))
    select(found, pinned, every)
    keep_own(found, old)
    if not any(r.listed for r in found):
        raise Unreadable("its page has no final release")
    tracked = releases.tracked(knowledge)
    tries = read = 0
    while (every or tries < limit) and (r := following(found) if not every else next((r for r in found if r.read), None)):
        r.read = False
        tries += 1
        try:
            r.facts = {"requires": releases.read_metadata(reader, name, r.version, tracked)}
            read += 1
        except Unreachable:
            raise
        except Unreadable:
            continue  # it stays without a list: an incomplete one would look complete
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(file_text(name, found, old, day))
    os.replace(path + ".new", path)
    return len(found), read


def is_name(text):
    return re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", text) is not None
