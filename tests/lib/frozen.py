"""The frozen cases of tests/resolvelib, and the solver's answer to one."""
import json
import os
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASES = os.path.join(ROOT, "tests/resolvelib")
CLI = os.path.join(os.environ.get("BUILD", "build"), "solve_cli")
SERIES = "3.11"


def names():
    return sorted(n for n in os.listdir(CASES) if n.endswith(".json"))


def load(name):
    """Returns a case and its index: {package: {version: {"dependencies": [...]}}}, in the form that solve_cli reads."""
    with open(os.path.join(CASES, name), encoding="utf-8") as f:
        case = json.load(f)
    return case, {p: {v: {"dependencies": needs} for versions, needs in groups for v in versions}
                  for p, groups in sorted(case["releases"].items())}


def solve(case, index):
    with tempfile.TemporaryDirectory() as folder:
        for name, what in (("index", index), ("case", case)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                json.dump(what, f)
        done = subprocess.run([CLI, folder + "/index", folder + "/case", SERIES], text=True,
                              capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def counts(r, extras):
    """Returns whether a requirement counts: one with a marker only for extras, as in resolvelib's own provider."""
    return r.marker is None or any(r.marker.evaluate({"python_version": SERIES, "extra": e}) for e in extras)
