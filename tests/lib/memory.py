"""Limits the memory of a program, so that a test detects a server that makes it grow."""

import shutil

DATA_MAX = 64 << 20  # bytes of private writable memory, including the stacks of threads


def bounded(program):
    """Returns a command that runs a program with limited memory; with a sanitizer, the limit is higher."""
    with open(program, "rb") as f:
        if b"__asan_init" in f.read() or not shutil.which("prlimit"):
            return [program]
    return ["prlimit", f"--data={DATA_MAX}", program]
