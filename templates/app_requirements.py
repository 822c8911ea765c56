"""app_requirements.py: installs the application's requirements without changing the stack.

    python app_requirements.py -r requirements.txt [OPTION OF pip install ...]

Every version that is installed when it starts is a constraint for pip, except those that an earlier run added and the
plan does not pin.  If a requirement excludes one of them, pip installs nothing: the last lines name the requirement, the
package that requires it, and the version in the stack.
Exit status: 0, or pip's; 1 if a version of the stack changed in spite of the constraint.
Standard library and pip only, Python 3.8 and later.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib import metadata

try:  # Read requirements as pip itself does.
    from pip._vendor.packaging.specifiers import SpecifierSet
    from pip._vendor.packaging.version import Version
except ImportError:  # a distribution that ships pip's libraries separately
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

HERE = os.path.dirname(os.path.abspath(__file__))
ADDED = os.path.join(HERE, "app_added.json")  # what earlier runs in this environment installed

# Lines in which pip names a requirement that it cannot satisfy, and the package that requires it.
SAID = re.compile(
    r"(?P<who>\S+ \S+) depends on (?P<a>.+)|requested (?P<b>[^(].*)|Cannot install (?P<c>.+) because"
    r"|satisfies the requirement (?P<d>[^(]+)(?:\(from (?!versions)(?P<from>[^()]+)\))?|distribution found for (?P<e>.+)"
)
ONE = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*\(?((?:(?:[<>=!~]=?|===)\s*[\w.*+!-]+(?:,\s*| and )?)+)")


def normal(name):
    return re.sub("[-_.]+", "-", name).lower()


def installed():
    """Returns name -> version of each installed package, without versions that do not follow PEP 440."""
    found = {}
    for dist in metadata.distributions():
        try:
            found.setdefault(normal(dist.metadata["Name"]), (dist.version, Version(dist.version))[0])
        except (TypeError, ValueError):
            pass
    return found


def read(path, default):
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return default


def conflicts(line, stack):
    """Returns the conflicts with the stack in a line of pip's output, as sentences."""
    said = SAID.search(line)
    if not said or "(constraint)" in line:
        return
    who = said["who"] or said["from"]
    for name, clauses in ONE.findall(next(t for t in said.group("a", "b", "c", "d", "e") if t)):
        clauses = re.sub(r" and |,\s*", ",", clauses).strip(", ")
        version = stack.get(normal(name))
        if version and not SpecifierSet(clauses).contains(version, prereleases=True):
            yield "%s requires %s%s, but the stack has %s %s" % (
                who.split(" (")[0] if who else "the application", name, clauses, name, version)


def pip_install(arguments, stack):
    """Runs pip under the constraint; returns its exit status, and the conflicts with the stack."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stack.txt")
        with open(path, "w", encoding="utf-8") as f:
            f.writelines("%s==%s\n" % pair for pair in sorted(stack.items()))
        command = [sys.executable, "-m", "pip", "install", "-c", path, *arguments]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        found = []
        for line in child.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            found += [c for c in conflicts(line, stack) if c not in found]
        return child.wait(), found


def main():
    for name, value in (("PIP_NO_INPUT", "1"), ("PIP_RETRIES", "8"), ("PIP_RESUME_RETRIES", "8")):
        os.environ.setdefault(name, value)
    before = installed()
    pins = {normal(pin["name"]) for pin in read(os.path.join(HERE, "plan.json"), {}).get("pins", [])}
    added = set(read(ADDED, [])) - pins
    stack = {name: version for name, version in before.items() if name not in added}
    status, found = pip_install(sys.argv[1:], stack)
    now = installed()
    if not status:
        found = ["the application changed %s, which the stack has in version %s, to %s" % (
            name, version, now.get(name, "nothing")) for name, version in stack.items() if now.get(name) != version]
        status = 1 if found else 0
        with open(ADDED, "w", encoding="utf-8") as f:
            json.dump(sorted(set(now) - set(stack)), f)
    for sentence in found if status else []:
        print("app_requirements: error: " + sentence, file=sys.stderr)
    if found and status:
        print("app_requirements: help: change that requirement of the application, or the version in the recipe", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
