"""Fake clients of container engines: they answer from a table, and record their calls.

    c = Clients(folder)
    c.add("docker", [["info", {"out": "{}"}], ["buildx version", {"rc": 1}]])
    ... run something with PATH=c.path ...
    c.calls()       [{"name", "argv", "env"}] in their order

A client gives the answer of the first row whose words begin the arguments; "if": a variable that must
also be set.  Without such a row, it prints that the call was not expected, and exits with 99.
"""
import json
import os
import sys

CLIENT = """#!{python} -SE
import json, os, sys, time
here = os.path.dirname(os.path.abspath(__file__))
name = os.path.basename(__file__)
with open(os.path.join({log!r}), "a") as f:
    f.write(json.dumps({{"name": name, "folder": here, "argv": sys.argv[1:], "env": dict(os.environ)}}) + "\\n")
with open(os.path.join(here, "." + name + ".json")) as f:
    rows = json.load(f)
words = " ".join(sys.argv[1:]) + " "
for start, answer in rows:
    var, _, value = answer.get("if", "").partition("=")
    if words.startswith((start + " ").lstrip()) and (not var or os.environ.get(var) == value):
        time.sleep(answer.get("sleep", 0))
        sys.stdout.write(answer.get("out", "") * answer.get("times", 1))
        sys.stderr.write(answer.get("err", ""))
        sys.stdout.flush()
        sys.exit(answer.get("rc", 0))
sys.stderr.write(name + ": not expected: " + words)
sys.exit(99)
"""


class Clients:
    def __init__(self, folder):
        self.folder, self.log = folder, os.path.join(folder, "calls")
        self.folders = [os.path.join(folder, "bin")]
        os.makedirs(self.folders[0])

    @property
    def path(self):
        return ":".join(self.folders)

    def add(self, name, rows, folder="bin"):
        where = os.path.join(self.folder, folder)
        os.makedirs(where, exist_ok=True)
        if where not in self.folders:
            self.folders.append(where)
        with open(os.path.join(where, "." + name + ".json"), "w") as f:
            json.dump(rows, f)
        with open(os.path.join(where, name), "w") as f:
            f.write(CLIENT.format(python=sys.executable, log=self.log))
        os.chmod(os.path.join(where, name), 0o755)
        return os.path.join(where, name)

    def calls(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log) as f:
            return [json.loads(line) for line in f]
