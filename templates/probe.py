"""probe.py: compares the installed packages with the plan, and imports the modules.

    python probe.py plan.json                 both
    python probe.py plan.json --installed     only the versions, without importing anything
    python probe.py plan.json --imports       only the imports, each in its own child process
    python probe.py plan.json --json          the same as JSON

Exit status: 0 everything matches the plan; 1 something differs or does not import; 2 usage, or an
unreadable plan.  An import that needs a GPU counts as not run on a machine without one.
Standard library only, Python 3.8 and later.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
from importlib import metadata

VERSION = re.compile(
    r"\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|rc|c)[-_.]?(?P<pre_n>\d*))?"
    r"(?P<post>-(?P<post_1>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_2>\d*))?"
    r"(?P<dev>[-_.]?dev[-_.]?(?P<dev_n>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*$",
    re.IGNORECASE,
)
KINDS = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}


class Version:
    """Returns the sort key of a version (PEP 440), and whether it is a pre-release."""

    def __init__(self, text):
        m = VERSION.match(text)
        if not m:
            raise ValueError("not a version: " + text)
        numbers = [int(n) for n in m["release"].split(".")]
        self.release = numbers[:]
        while len(numbers) > 1 and not numbers[-1]:
            numbers.pop()
        self.numbers = numbers
        self.epoch = int(m["epoch"] or 0)
        pre = m["pre"] and m["pre"].lower()
        self.pre = pre and (KINDS.get(pre, pre), int(m["pre_n"] or 0))
        self.post = int(m["post_1"] or m["post_2"] or 0) if m["post"] else None
        self.dev = int(m["dev_n"] or 0) if m["dev"] else None
        local = re.split("[-_.]", m["local"].lower()) if m["local"] else []
        self.local = [(1, int(p), "") if p.isdigit() else (0, 0, p) for p in local]
        # A dev release comes before every pre-release, a final release after them.
        stage = self.pre or (("", 0) if m["dev"] and self.post is None else ("z", 0))
        self.public = (self.epoch, numbers, stage, -1 if self.post is None else self.post,
                       float("inf") if self.dev is None else self.dev)
        self.key = (self.public, self.local)


def holds(clause, text):
    """Tells whether a version satisfies one clause, such as "<2" or "==1.26.*"."""
    operator, wanted = re.match(r"\s*(===|==|!=|<=|>=|~=|<|>)\s*(\S+)", clause).groups()
    if operator == "===":
        return text.strip().lower() == wanted.lower()
    have = Version(text)
    if wanted.endswith(".*"):
        prefix = Version(wanted[:-2])
        n = len(prefix.release)
        release = have.release + [0] * n
        same = have.epoch == prefix.epoch and release[:n] == prefix.release
        return same == (operator == "==")
    want = Version(wanted)
    equal = have.key == want.key if want.local else have.public == want.public
    if operator in ("==", "!="):
        return equal == (operator == "==")
    if operator == "~=":
        prefix = ".".join(str(n) for n in want.release[:-1])
        prefix = "%d!%s" % (want.epoch, prefix)
        return have.public >= want.public and holds("==%s.*" % prefix, text)
    if operator == "<=":
        return have.public <= want.public
    if operator == ">=":
        return have.public >= want.public
    if operator == "<":
        # 2.0rc1 and 2.0.dev1 are not "<2.0".
        final = not want.pre and want.dev is None
        return have.public < (Version(wanted + ".dev0") if final else want).public
    # 2.0.post1 is not ">2.0", and neither is 2.0+local.
    own_post = have.post is not None and want.post is None and want.dev is None
    if own_post and (have.epoch, have.pre, have.numbers) == (want.epoch, want.pre, want.numbers):
        return False
    return have.public > want.public


def normal(name):
    return re.sub("[-_.]+", "-", name).lower()


def each_distribution():
    """Yields (normal name, version, distribution) of each installed package.

    pip renames what it removes to `~...`: a removal that was cut off leaves that behind, and neither pip nor
    an import takes it for a package. Metadata that cannot be read belongs to nothing that can be named.
    """
    for dist in metadata.distributions():
        path = getattr(dist, "_path", None)
        if path is not None and os.path.basename(str(path)).startswith("~"):
            continue
        try:
            name, version = dist.metadata["Name"], dist.metadata["Version"]
        except (OSError, ValueError, TypeError):
            continue
        if name:
            yield normal(name), version, dist


def check_installed(plan):
    """Returns one row for each pin: the planned and the installed version."""
    found = {}
    for name, version, _ in each_distribution():
        found.setdefault(name, version)
    python = "%d.%d" % sys.version_info[:2]
    rows = []
    if plan.get("python"):
        rows.append({"name": "python", "planned": plan["python"], "found": python,
                     "ok": plan["python"] == python})
    for pin in plan["pins"]:
        version = found.get(normal(pin["name"]))
        clauses = [c for c in pin["specifier"].split(",") if c.strip()]
        known = bool(version and VERSION.match(version))
        rows.append({"name": pin["name"], "planned": pin["specifier"] or "any", "found": version,
                     "ok": known and all(holds(c, version) for c in clauses)})
    return rows


def last_library(pid):
    """Returns the shared library that a process mapped last: mappings grow downwards."""
    try:
        with open("/proc/%d/maps" % pid) as maps:
            for line in maps:
                path = line.split(maxsplit=5)[5:]
                if path and ".so" in path[0]:
                    return path[0].strip()
    except OSError:
        pass
    return None


# Errors of modules that initialise the GPU at import, on a machine without one.
NEEDS_GPU = re.compile(
    r"0 active drivers|libcuda\.so\.1: cannot open|Found no NVIDIA driver|no NVIDIA GPU"
    r"|No CUDA GPUs are available|no CUDA-capable device"
)


def check_import(module, before, timeout_s):
    start = time.monotonic()
    code = "".join("import %s\n" % m for m in before + [module])
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    row = {"name": module, "ok": True}
    try:
        text = child.communicate(timeout=timeout_s)[1].decode(errors="replace").strip()
        if child.returncode:
            row["ok"] = None if NEEDS_GPU.search(text) else False
            row["why"] = text.splitlines()[-1] if text else "exit status %d" % child.returncode
    except subprocess.TimeoutExpired:
        library = last_library(child.pid)
        row["ok"] = False
        row["why"] = "still not imported after %g s" % timeout_s
        if library:
            row["why"] += "; mapped last: " + library
        child.kill()
        child.communicate()
    row["seconds"] = round(time.monotonic() - start, 1)
    return row


def check_imports(plan, timeout_s):
    # An extension needs the libraries that torch has loaded before it.
    torch = ["torch"] if any(normal(p["name"]) == "torch" for p in plan["pins"]) else []
    modules = torch + [m for m in plan.get("modules", []) if m not in torch]
    return [check_import(m, torch if m not in torch else [], timeout_s) for m in modules]


WORDS = {True: "ok", False: "WRONG", None: "not run"}


def show(installed, imports):
    width = max([len(r["name"]) for r in installed + imports] + [8])
    for r in installed:
        print("  %-*s  %-18s %-24s %s" % (width, r["name"], r["found"] or "not installed",
                                          r["planned"], WORDS[r["ok"]]))
    for r in imports:
        what = "imports in %g s" % r["seconds"] if r["ok"] else r["why"]
        print("  %-*s  %-43s %s" % (width, r["name"], what, WORDS[r["ok"]]))
    wrong = sum(r["ok"] is False for r in installed + imports)
    print("as planned" if not wrong else "%d of %d not as planned" % (
        wrong, len(installed + imports)))


def main():
    p = argparse.ArgumentParser(description="Compare what is installed with the plan.")
    p.add_argument("plan")
    p.add_argument("--installed", action="store_true", help="only the versions")
    p.add_argument("--imports", action="store_true", help="only the imports")
    p.add_argument("--timeout", type=float, metavar="SECONDS", help="for each import")
    p.add_argument("--json", action="store_true")
    args = p.parse_args()
    both = args.installed == args.imports
    try:
        with open(args.plan, encoding="utf-8") as f:
            plan = json.load(f)
        installed = check_installed(plan) if both or args.installed else []
        timeout_s = args.timeout or plan.get("import_timeout_s") or 60
        imports = check_imports(plan, timeout_s) if both or args.imports else []
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as err:
        print("probe: %s: %s: %s" % (args.plan, type(err).__name__, err), file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps({"installed": installed, "imports": imports}, indent=2))
    else:
        show(installed, imports)
    return 1 if any(r["ok"] is False for r in installed + imports) else 0


if __name__ == "__main__":
    sys.exit(main())
