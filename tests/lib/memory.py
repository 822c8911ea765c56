"""A ceiling for the memory of a program: no server may make it grow."""

import shutil

DATA_MAX = 64 << 20  # bytes of private writable memory, stacks of threads among them


def bounded(program):
    """The words that run a program below the ceiling; a sanitizer needs more, and gets it."""
    with open(program, "rb") as f:
        if b"__asan_init" in f.read() or not shutil.which("prlimit"):
            return [program]
    return ["prlimit", f"--data={DATA_MAX}", program]
