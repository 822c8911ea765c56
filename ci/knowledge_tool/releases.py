"""One release as it is in knowledge/releases/NAME.yaml, and its place in that file."""
import email.parser
import fnmatch
import json
import os
import re
import textwrap

import yaml
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from index import Unreadable

WIDTH = 120
EXTRA_LINES_MAX = 60  # requirements of extras that are listed; of more, only those on packages of harvest.yaml
MANYLINUX = {"linux": 0, "manylinux1": 5, "manylinux2010": 12, "manylinux2014": 17}
VERSION_LINE = re.compile(r'^  "?([^ "#:]+)"?:(?: \{.*)?$')


# --- wheels ---

def platform_of(text):
    """Returns (machine, N of glibc 2.N) of a platform tag; machine "" for any, None for one that is left out."""
    if text == "any":
        return "", 0
    m = re.fullmatch(r"(?:(linux|manylinux1|manylinux2010|manylinux2014)|manylinux_2_(\d+))_(x86_64|aarch64)", text)
    return (m[3], MANYLINUX[m[1]] if m[1] else int(m[2])) if m else (None, 0)


def is_python_3(tag):
    if tag.interpreter.startswith("py3"):
        return True
    m = re.fullmatch(r"cp3(\d+)", tag.interpreter)
    return bool(m) and int(m[1]) >= (2 if tag.abi == "abi3" else 7)


def wheel_tags(name):
    """Returns the tags of a wheel for CPython on Linux with glibc; of several platforms, that with the lowest glibc."""
    lowest = {}
    for tag in parse_wheel_filename(name)[3]:
        machine, glibc = platform_of(tag.platform)
        if machine is not None and is_python_3(tag):
            key = (tag.interpreter, tag.abi, machine)
            lowest[key] = min(glibc, lowest.get(key, glibc))
    return [f"{python}-{abi}-" + ("any" if not machine else f"manylinux_2_{glibc}_{machine}" if glibc else f"linux_{machine}")
            for (python, abi, machine), glibc in lowest.items()]


# --- METADATA ---

def requirement_text(q):
    """Returns a requirement in the form of these files: NAME[extras]SPECIFIERS; MARKER, without blanks in specifiers."""
    extras = f"[{','.join(sorted(q.extras))}]" if q.extras else ""
    specifiers = ",".join(sorted(str(s) for s in q.specifier))
    return f"{q.name}{extras}{specifiers}" + (f"; {q.marker}" if q.marker else "")


def requirements(lines, name, tracked):
    """Returns the requirements of METADATA: all of the package; of extras, all or those on tracked packages."""
    own, optional = [], []
    for line in lines:
        try:
            q = Requirement(line)
        except InvalidRequirement as e:
            if re.search(r"extra\s*==", line):
                continue  # pip ignores it unless the recipe names the extra
            raise Unreadable(f"METADATA has an invalid requirement: {line}") from e
        of_extra = q.marker is not None and "extra ==" in str(q.marker)
        if q.url and not of_extra:
            raise Unreadable(f"METADATA requires a URL: {q.name}")
        if q.url or canonicalize_name(q.name) == name:
            continue
        (optional if of_extra else own).append(q)
    if len(optional) > EXTRA_LINES_MAX:
        optional = [q for q in optional if tracked.match(canonicalize_name(q.name))]
    return list(dict.fromkeys(requirement_text(q) for q in own + optional))


def read_metadata(reader, name, version, tracked):
    text = reader.metadata(name, version)
    fields = email.parser.HeaderParser().parsestr(text)
    if canonicalize_name(fields["Name"] or "") != name or Version(fields["Version"] or "0") != version:
        raise Unreadable("METADATA is of another release")
    lines = fields.get_all("Requires-Dist", [])
    wheels = any(f["filename"].endswith(".whl") for f in reader.files(name, version))
    static = Version(fields["Metadata-Version"]) >= Version("2.2") and "requires-dist" not in [
        d.lower() for d in fields.get_all("Dynamic", [])]
    if not lines and not wheels and not static:
        raise Unreadable("only its setup.py states its requirements")
    return requirements(lines, name, tracked)


def python_text(files):
    """Returns Requires-Python of the page; that of a wheel comes first, as for pip."""
    for f in sorted(files, key=lambda f: not f["filename"].endswith(".whl")):
        try:
            if f.get("requires-python"):
                return ",".join(sorted(str(s) for s in SpecifierSet(f["requires-python"])))
        except InvalidSpecifier:
            continue
    return None


def tracked(knowledge):
    """Returns a pattern for the packages on which requirements of extras are kept."""
    with open(os.path.join(knowledge, "harvest.yaml"), encoding="utf-8") as f:
        harvest = yaml.safe_load(f)
    return re.compile("|".join(fnmatch.translate(t) for t in [*harvest["packages"], *harvest["track"]]))


def describe(reader, name, version, knowledge, day):
    """Returns the facts of a release; raises Unreadable."""
    requires = read_metadata(reader, name, version, tracked(knowledge))
    return {**page_facts(reader.files(name, version)), "read": day, "requires": requires}


def page_facts(files):
    """Returns the facts that the index page has about the files of a release."""
    wheels = [f["filename"] for f in files if f["filename"].endswith(".whl")]
    yanked = [f["yanked"] for f in files]
    return {
        "date": min(f["upload-time"] for f in files)[:10],
        "requires_python": python_text(files),
        "wheels": sorted({t for w in wheels for t in wheel_tags(w)}) if wheels else None,
        "sdist": len(wheels) < len(files),
        "yanked": next((y for y in yanked if isinstance(y, str)), "true") if all(yanked) else None,
    }


# --- the file ---

def wrapped_list(key, values):
    text = f"{key}: [{', '.join(values)}]"
    return textwrap.fill(text, WIDTH, initial_indent="    ", subsequent_indent="      ",
                         break_long_words=False, break_on_hyphens=False)


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def others_text(versions):
    """Returns `others:` of the head; "" without versions."""
    if not versions:
        return ""
    value = f'"{versions[0]}"' if len(versions) == 1 else " ".join(versions)
    return textwrap.fill("others: " + value, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"


def release_text(version, r):
    key = f'"{version}"' if re.fullmatch(r"\d+(\.\d+)?", str(version)) else str(version)
    out = [f"  {key}:", f"    date: {r['date']}"]
    if r["requires_python"]:
        out.append(f"    requires_python: {json.dumps(r['requires_python'])}")
    if r["wheels"] is not None:
        out.append(wrapped_list("wheels", r["wheels"]))
    if r["sdist"]:
        out.append("    sdist: true")
    if r["yanked"]:
        out.append(f"    yanked: {json.dumps(r['yanked'])}")
    if r.get("read"):
        out.append(f"    read: {r['read']}")
    if r["requires"] is not None:
        out.append("    requires:" if r["requires"] else "    requires: []")
        out += [f"      - {json.dumps(q)}" for q in r["requires"]]
    if r.get("requires_source"):
        out.append(f"    requires_source: {r['requires_source']}")
    extras = sorted({e for q in r["requires"] or [] for e in re.findall(r'extra == "([^"]+)"', q)})
    if extras:
        out.append(wrapped_list("extras", extras))
    return "\n".join(out) + "\n"


def new_file(name, day):
    return (f"# Releases of {name}.  `stackbuild facts refresh {name}` keeps requirements that have a `requires_source`.\n"
            f"package: {name}\nread: {day}\n"
            f'source: "PyPI: index page of {name}, METADATA of its wheels, read {day}"\nsample: true\nreleases:\n')


def split(text):
    """Splits a file into its head, and [version, text] of each release in order."""
    head, _, body = (text.rstrip("\n") + "\n").partition("\nreleases:\n")
    blocks = []
    for line in body.splitlines(True):
        m = VERSION_LINE.match(line.rstrip("\n"))
        if m:
            blocks.append([Version(m[1]), ""])
        blocks[-1][1] += line
    return head + "\nreleases:\n", blocks


def without_others(head, versions):
    """Removes versions from `others:` of the head, and sources that no release names."""
    m = re.search(r"^others: (.*(?:\n  .*)*)\n", head, re.M)
    if not m:
        return head
    kept = [v for v in m[1].strip('"').split() if Version(v) not in versions]
    return head[:m.start()] + others_text(kept) + head[m.end():]


def without_unused_sources(head, blocks):
    used = {m for _, text in blocks for m in re.findall(r'source: "?([^\s"}]+)', text)}
    lines, kept = head.splitlines(True), []
    inside = False
    for line in lines:
        inside = line == "sources:\n" or inside and line.startswith("  ")
        m = re.match(r'  "?([^\s"]+)"?: ', line)
        if not (inside and m and m[1] not in used):
            kept.append(line)
    text = "".join(kept)
    return re.sub(r"^sources:\n(?!  )", "", text, flags=re.M)


def merge(knowledge, name, found, day):
    """Writes releases to the file of their package; the others of the file stay as they are."""
    path = os.path.join(knowledge, "releases", name + ".yaml")
    text = new_file(name, day)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            text = f.read()
    head, blocks = split(text)
    blocks = [b for b in blocks if b[0] not in found]
    blocks += [[version, release_text(version, r)] for version, r in found.items()]
    blocks.sort(key=lambda b: b[0])
    head = without_unused_sources(without_others(head, set(found)), blocks)
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(head + "".join(b[1] for b in blocks))
    os.replace(path + ".new", path)
