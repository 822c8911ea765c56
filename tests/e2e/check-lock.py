"""check-lock LOCK < FREEZE: compares the installed packages of an image with the lock that it was built from.

FREEZE is the output of `pip freeze --all`. The only other distribution, besides the lock's packages and extensions is the pip of
the image's Python, which installs them.
"""
import re
import sys
import tomllib


def key(name):
    return re.sub(r"[-_.]+", "-", name).lower()


with open(sys.argv[1], "rb") as f:
    lock = tomllib.load(f)
expected = {key(p["name"]): p.get("version") for p in lock["packages"]}
extensions = {key(s["name"]): s.get("version") for s in lock["tool"]["stackbuild"].get("sources", [])}
installed = {}
for line in sys.stdin.read().split("\n"):
    if line:
        name, version = re.fullmatch(r"([\w.-]+)(?:==| @ )(\S+)", line).groups()
        installed[key(name)] = version
installed.pop("pip")
wanted = expected | extensions  # the version of a source at a commit may be unknown
missing = sorted(wanted.keys() - installed.keys())
extra = sorted(installed.keys() - wanted.keys())
other = [f"{n} {installed[n]} instead of {v}" for n, v in wanted.items() if v and n in installed and installed[n] != v]
assert not missing and not extra and not other, f"missing: {missing}; not in the lock: {extra}; {other}"
print(f"{len(expected)} packages and {len(extensions)} extensions as in the lock, and nothing else")
