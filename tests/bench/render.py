"""Compares rendering with HPCCM, the fastest peer that renders offline; growth, start-up, memory."""

import os
import shutil
import sys
import tempfile

from measure import alternate, faster, line, run, seconds

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STACKBUILD = os.environ["STACKBUILD"]
HPCCM = os.path.join(os.path.dirname(os.environ["PYTHON"]), "hpccm")
RECIPE = os.path.join(ROOT, "recipes", "torch222-cu121.yaml")
PEER = [HPCCM, "--recipe", os.path.join(ROOT, "tests", "bench", "stack.hpccm.py"), "--format", "docker"]
LIBRARY = """
import sys, hpccm
for n in range(int(sys.argv[2])):
    str(hpccm.recipe(sys.argv[1], ctype=hpccm.container_type.DOCKER, userarg={"cell": str(n)}))
"""
CELLS = 500
PEER_CALLS = 25


def matrix(work, cells):
    """Returns the flagship recipe with a matrix of that many cells."""
    path = os.path.join(work, f"cells{cells}.yaml")
    with open(RECIPE) as f, open(path, "w") as out:
        out.write(f.read() + "\nmatrix:\n  env.CELL: [" + ", ".join(f'"{n}"' for n in range(cells)) + "]\n")
    return path


def main():
    work = tempfile.mkdtemp(prefix="stackbuild-bench-")
    try:
        one = [STACKBUILD, "render", RECIPE, "-t", "dockerfile", "-o", "-"]
        ours, peer = alternate(41, lambda: run(one)[0], lambda: run(PEER)[0])
        faster("render, a Dockerfile", ours, peer, "hpccm", 25)

        count = iter(range(10**9))

        # Directories are removed only at the end: ext4 does not reuse an inode within five seconds of
        # its removal, and the next run would spend most of its time on the search for a free one.
        def fresh(path, *more):
            return run([STACKBUILD, "render", path, *more, "-o", os.path.join(work, str(next(count)))])[0]

        both, peer = alternate(41, lambda: fresh(RECIPE), lambda: run(PEER)[0])
        # No goal: the peer makes no Modal app, and writes its Dockerfile to standard output.
        line("render, Dockerfile, Modal app and helpers, to disk", seconds(both), f"hpccm, a Dockerfile {seconds(peer)}",
             f"{peer / both:.1f}x", "", None)

        many = matrix(work, CELLS)

        def loop():
            return sum(run(PEER + ["--userarg", f"cell={n}"])[0] for n in range(PEER_CALLS)) * (CELLS / PEER_CALLS)

        ours, peer = alternate(5, lambda: fresh(many, "-t", "dockerfile"), loop)
        faster(f"render, {CELLS} Dockerfiles in one call", ours, peer, f"hpccm, {PEER_CALLS} timed,", 100)

        # The fastest way to use the peer: as a library, without its start-up; no goal, for fairness.
        library = [os.environ["PYTHON"], "-c", LIBRARY, PEER[2], str(CELLS)]
        peer = alternate(3, lambda: run(library)[0])[0]
        line("", seconds(ours), f"hpccm in one process {seconds(peer)}", f"{peer / ours:.1f}x", "", None)

        ten = matrix(work, 10 * CELLS)
        small, large = alternate(
            5, lambda: fresh(many, "-t", "dockerfile"), lambda: fresh(ten, "-t", "dockerfile")
        )
        line(f"render, {CELLS} to {10 * CELLS} cells", seconds(large), seconds(small), f"{large / small:.1f}x",
             "<= 12x", large / small <= 12)  # fmt: skip

        start, python = alternate(
            41, lambda: run([STACKBUILD, "--version"])[0], lambda: run([sys.executable, "-S", "-c", ""])[0]
        )
        faster("start (--version)", start, python, "python -S", 1)
        rss, peer_rss = run(one)[1], run(PEER)[1]
        line("peak memory, a Dockerfile", f"{rss:.1f} MiB", f"hpccm {peer_rss:.1f} MiB", f"{peer_rss / rss:.1f}x",
             "<= 64 MiB", rss <= 64)  # fmt: skip
        to = os.path.join(work, "ten")
        rss = run([STACKBUILD, "render", ten, "-t", "dockerfile", "-o", to])[1]
        line(f"peak memory, {10 * CELLS} cells", f"{rss:.0f} MiB", "", f"{rss * 1024 / CELLS / 10:.0f} KiB a cell", "", None)
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
