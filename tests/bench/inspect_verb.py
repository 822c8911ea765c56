"""Compares inspect with readelf and nm: the same facts of a large shared object, and of many small ones."""

import glob
import os

from measure import alternate, faster, run

STACKBUILD = os.environ["STACKBUILD"]


def objects():
    """Returns shared objects of this system, by their real paths."""
    found = {os.path.realpath(p) for p in glob.glob("/usr/lib/*-linux-gnu/lib*.so.*") + glob.glob("/usr/lib/llvm-*/lib/lib*.so*")}
    return sorted((p for p in found if os.path.isfile(p) and open(p, "rb").read(4) == b"\x7fELF"), key=os.path.getsize)


def main():
    all_ = objects()
    big = all_[-1]
    readelf = ["sh", "-c", f"readelf -dVnSW --dyn-syms {big} >/dev/null && nm -DC {big} >/dev/null"]
    ours, theirs = alternate(5, lambda: run([STACKBUILD, "inspect", big])[0], lambda: run(readelf)[0])
    size = os.path.getsize(big) >> 20
    faster(f"inspect, {os.path.basename(big)} of {size} MiB", ours, theirs, "readelf + nm -C", 1)
    ours, theirs = alternate(3, lambda: run([STACKBUILD, "inspect", big, "--json"])[0], lambda: run(readelf)[0])
    faster(f"inspect --json, {os.path.basename(big)}", ours, theirs, "readelf + nm -C", 1)
    few = all_[len(all_) // 2:][:20]
    ours, theirs = alternate(3, lambda: sum(run([STACKBUILD, "inspect", p])[0] for p in few),
                             lambda: sum(run(["sh", "-c", f"readelf -dVnSW --dyn-syms {p} >/dev/null && nm -DC {p} >/dev/null"])[0] for p in few))  # fmt: skip
    faster("inspect, 20 objects one by one", ours, theirs, "readelf + nm -C", 1)


main()
