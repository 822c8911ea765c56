"""Runs verify in a stand-in environment: lab = Lab(folder); e = lab.new(); s = lab.verify(e, "--require", "import"); s.rc, s.err,
s.proof, s.checks.  tell() prints TAP.
"""

import json
import os
import shutil
import subprocess
import sys

import environment
from environment import RECIPE

ROOT = os.environ.get("ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STACKBUILD = os.path.abspath(os.environ.get("STACKBUILD", os.path.join(ROOT, "stackbuild")))
count = 0


def tell(good, what, why="", skip=None):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {what}" + (f" # SKIP {skip}" if skip else ""), flush=True)
    if not good:
        print("\n".join("# " + x[:220] for x in str(why).split("\n")[-40:]), flush=True)


class Seen:
    def __init__(self, p, folder):
        self.rc, self.out, self.err = p.returncode, p.stdout, p.stderr
        path = os.path.join(folder, "o", "proof.json")
        self.proof = None
        if os.path.exists(path):
            with open(path) as f:
                self.proof = json.load(f)
        self.checks = {c["id"]: c for c in self.proof["checks"]} if self.proof else {}

    def failed(self):
        return [i for i, c in self.checks.items() if c["result"] == "failed"]

    def why(self):
        return f"exit {self.rc}\n{self.out}\n{self.err}"


class Lab:
    def __init__(self, folder):
        self.folder, self.n = folder, 0
        self.base = environment.Environment(os.path.join(folder, "base"))

    def new(self):
        """Makes a copy of the environment without faults."""
        self.n += 1
        e = environment.Environment.__new__(environment.Environment)
        e.root = os.path.join(self.folder, "e%d" % self.n)
        shutil.copytree(self.base.root, e.root, symlinks=True)
        e.site = self.base.site.replace(self.base.root, e.root)
        e.object = self.base.object
        return e

    def verify(self, e, *args, recipe=RECIPE, env=None, name="r.yaml", limit=60, relative=False,
               own="import torch\ntorch.zeros(1).cuda()\n"):
        folder = os.path.join(self.folder, "w%d" % self.n)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        with open(os.path.join(folder, name), "w") as f:
            f.write(recipe)
        with open(os.path.join(folder, "own.py"), "w") as f:
            f.write(own)
        full = {k: v for k, v in os.environ.items() if k in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")}
        full.update(HOME=folder, LC_ALL="C", **(env or {}))
        where = ["--venv", os.path.relpath(e.root, folder) if relative else e.root] if e else []
        p = subprocess.Popen([STACKBUILD, "verify", *where, "-o", "o", *args, name], cwd=folder, env=full, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace")
        try:
            p.stdout, p.stderr = p.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            p.terminate()  # it ends its children, which kill -9 would leave
            p.stdout, p.stderr = p.communicate(timeout=limit)
            p.returncode, p.stderr = None, p.stderr + f"the test ended it after {limit} s\n"
        return Seen(p, folder)


def count_of():
    return count
