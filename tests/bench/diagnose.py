"""Compares diagnose on a log of 1 GB with grep -F -f and the literal texts of its signatures."""

import os
import re
import shutil
import subprocess
import tempfile

from measure import alternate, faster, line, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STACKBUILD = os.environ["STACKBUILD"]
SIZE = 1 << 30


def literals():
    """Returns the literals of knowledge/signatures.yaml: a list on one line, or one item per line."""
    found = []
    with open(os.path.join(ROOT, "knowledge", "signatures.yaml")) as f:
        text = f.read()
    for block in re.findall(r"^    literal:(.*\n(?:      - .*\n)*)", text, re.M):
        found += re.findall(r'"((?:[^"\\]|\\.)*)"', block)
    return sorted({x.replace('\\"', '"').replace("\\\\", "\\") for x in found})


def piece():
    """Returns a megabyte of the output of successful builds: apt, pip, CMake, ninja and nvcc."""
    lines = []
    for n in range(1400):
        lines += [
            f"#12 {n}.125 Get:{n} http://mirror.example/debian bookworm/main amd64 libfoo{n} amd64 1.{n}-2 [{n} kB]",
            f"#14 {n}.500   Using cached nvidia_cublas_cu12-12.1.{n}-py3-none-manylinux1_x86_64.whl (410.6 MB)",
            f"#15 {n}.750 [{n}/1400] /usr/local/cuda/bin/nvcc --generate-dependencies-with-compile "
            f"--dependency-output /tmp/pip-req-build/build/temp.linux-x86_64-cpython-311/csrc/scan_{n}.o.d "
            "-I/opt/venv/lib/python3.11/site-packages/torch/include -I/usr/local/cuda/include "
            f"-c -c /tmp/pip-req-build/csrc/scan_{n}.cu -o scan_{n}.o -D__CUDA_NO_HALF_OPERATORS__ "
            "-gencode arch=compute_80,code=sm_80 -O3 -std=c++17 --use_fast_math",
            f"#15 {n}.900 ptxas info    : Used {n % 255} registers, {n} bytes smem, 432 bytes cmem[0]",
            f"#15 {n}.910 /tmp/csrc/scan_{n}.cu({n}): warning #177-D: variable \"tid\" was declared but never referenced",
        ]
    return ("\n".join(lines) + "\n").encode()


def main():
    work = tempfile.mkdtemp(prefix="stackbuild-bench-")
    try:
        log, patterns = os.path.join(work, "build.log"), os.path.join(work, "literals")
        with open(patterns, "w") as f:
            f.write("\n".join(literals()) + "\n")
        good = piece()
        with open(log, "wb") as f:
            while f.tell() < SIZE:
                f.write(good)
            f.write(b"ModuleNotFoundError: No module named 'torch'\n")
        diagnose = [STACKBUILD, "diagnose", log]
        # grep stops at its first match if its output is /dev/null.
        grep = ["sh", "-c", f"LC_ALL=C grep -F -f {patterns} {log} | wc -l"]
        # With a log that is not in the page cache, the bench would measure the disk.
        subprocess.run(["wc", "-c", log], stdout=subprocess.DEVNULL, check=True)
        ours, theirs = alternate(3, lambda: run(diagnose, statuses=(1,))[0], lambda: run(grep)[0])
        faster(f"diagnose, a log of 1 GB, {len(literals())} literals", ours, theirs, "grep -F -f", 0.5)
        mib = run(diagnose, statuses=(1,))[1]
        line("diagnose, a log of 1 GB, peak memory", f"{mib:.1f} MiB", "", "", "<= 64 MiB", mib <= 64)
        with open(log, "wb") as f:
            for _ in range(SIZE // (1 << 20)):
                f.write(b"nvcc: error 0\0" * ((1 << 20) // 14))
        spent, mib = run([STACKBUILD, "diagnose", log], statuses=(0, 1))
        line("diagnose, one line of 1 GB with NULs", f"{spent:.2f} s, {mib:.1f} MiB", "", "", "<= 64 MiB", mib <= 64)
    finally:
        shutil.rmtree(work)


main()
