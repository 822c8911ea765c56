"""Compares `check` as a cold process with a resolver and a table."""

import os
import shutil
import subprocess
import sys
import tempfile

from measure import alternate, line, run, seconds

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STACKBUILD = os.environ["STACKBUILD"]
UV = os.path.join(os.path.dirname(os.environ["PYTHON"]), "uv")
FLAGSHIP = os.path.join(ROOT, "recipes", "torch222-cu121.yaml")
SIXTY = os.path.join(HERE, "sixty.yaml")
WORST = os.path.join(HERE, "worst.yaml")
PLATFORM = ["--python-version", "3.11", "--python-platform", "x86_64-manylinux_2_28", "--only-binary", ":all:"]

# The part of the two stacks that uv can check: the packages with wheels on PyPI. The extensions are sdists
# there, and a build with torch makes their metadata; CUDA, GPUs and drivers are not packages.
STACK = ["torch==2.2.2", "torchvision==0.17.2", "numpy<2", "einops", "transformers<5", "triton"]
CONFLICT = ["torch==2.2.2", "torchvision==0.17.2", "numpy<2", "einops", "transformers>=4.38", "triton>=3.5.0",
            "tilelang==0.1.8", "apache-tvm-ffi<=0.1.9", "quack-kernels>=0.3.4"]  # fmt: skip


def limit(name, argv, goal_s, goal_mib=None, statuses=(0,)):
    spent = alternate(41, lambda: run(argv, statuses=statuses)[0])[0]
    rss = max(run(argv, statuses=statuses)[1] for _ in range(5))
    line(name, seconds(spent), "", "", f"<= {seconds(goal_s)}", spent <= goal_s)
    if goal_mib:
        line(name + ", peak memory", f"{rss:.1f} MiB", "", "", f"<= {goal_mib} MiB", rss <= goal_mib)


class Offline:
    """Runs uv without network, with a cache that the same request has filled."""

    def __init__(self, work):
        self.work, self.why = work, ""
        self.base = [UV, "--quiet", "--cache-dir", os.path.join(work, "cache"), "pip", "compile", *PLATFORM]
        self.base += ["--no-header", "-o", os.path.join(work, "out.txt"), "--no-config"]

    def ask(self, name, requirements, status):
        """Returns the command after a first run; None, with the reason in self.why, if it cannot run."""
        path = os.path.join(self.work, name + ".in")
        with open(path, "w") as f:
            f.write("\n".join(requirements) + "\n")
        if not os.path.exists(UV):
            self.why = "uv is not installed"
            return None
        warm = subprocess.run([*self.base, path], capture_output=True, text=True)
        if warm.returncode != status:
            self.why = "its cache could not be warmed: " + (warm.stderr.strip().splitlines() or ["no answer"])[-1][:80]
            return None
        return [*self.base, "--offline", path]


def beside(name, ours, theirs, why):
    """Runs both as cold processes, alternately; prints why a peer is skipped."""
    if not theirs:
        line(name, "", f"skipped: {why}", "", "", None)
        return
    a, b = alternate(15, lambda: run(ours[0], statuses=ours[1])[0], lambda: run(theirs[0], statuses=theirs[1])[0])
    line(name, seconds(a), f"uv pip compile --offline, packages alone, {seconds(b)}", f"{b / a:.1f}x", "", None)


def main():
    work = tempfile.mkdtemp(prefix="stackbuild-bench-")
    try:
        check = [STACKBUILD, "check", FLAGSHIP]
        worst = [STACKBUILD, "check", WORST]
        limit("check, the flagship, a cold process", check, 0.003, 16)
        limit("check, a recipe with 60 packages", [STACKBUILD, "check", SIXTY], 0.010, 32)
        limit("check, the worst conflict", worst, 0.100, None, (1,))
        uv = Offline(work)
        good = uv.ask("stack", STACK, 0)
        beside("check beside a resolver, a stack that works", (check, (0,)), good and (good, (0,)), uv.why)
        bad = uv.ask("conflict", CONFLICT, 1)
        beside("check beside a resolver, a conflict", (worst, (1,)), bad and (bad, (1,)), uv.why)
        line("check beside Cog's table", "",
             "skipped: it is in Cog's Go program, and PyPI's cog 0.23.1 is the Python side alone", "", "",
             None)  # fmt: skip
    finally:
        shutil.rmtree(work, ignore_errors=True)


sys.exit(main())
