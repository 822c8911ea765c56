#!/usr/bin/env python3
"""Compares stackbuild lock with `uv pip compile` alone, alternately: the same project, options, index and cache.

The packages are those of recipes/torch213-cu130.yaml with the torch of the default index, which is the configured index of pip
or uv.  uv alone gets the project that stackbuild wrote; a script in place of uv keeps a copy.
"""

import os
import shutil
import subprocess
import sys
import tempfile

from measure import alternate, line, run, seconds

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STACKBUILD = os.path.abspath(os.environ.get("STACKBUILD", os.path.join(ROOT, "stackbuild")))
UV = os.path.join(os.path.dirname(sys.executable), "uv")
WARM, COLD = 9, 3
ARGUMENTS = ["--set", "torch.index=pypi", "--unpinned", "base,git"]
COPIES = """#!/bin/sh
[ "$1" = pip ] && [ ! -e "$COPY/arguments" ] && cp pyproject.toml "$COPY" && printf '%s\\n' "$@" > "$COPY/arguments"
exec "$UV_REAL" "$@"
"""


def main():
    with tempfile.TemporaryDirectory(prefix="stackbuild-bench-lock-") as folder:
        ours, alone, script = os.path.join(folder, "ours"), os.path.join(folder, "alone"), os.path.join(folder, "uv")
        recipe = os.path.join(ours, "r.yaml")
        os.makedirs(ours)
        os.makedirs(alone)
        shutil.copy(os.path.join(ROOT, "recipes", "torch213-cu130.yaml"), recipe)
        with open(script, "w", encoding="utf-8") as f:
            f.write(COPIES)
        os.chmod(script, 0o755)
        os.environ["UV_CACHE_DIR"] = os.path.join(folder, "cache")
        p = subprocess.run([STACKBUILD, "lock", recipe, *ARGUMENTS], capture_output=True, text=True, check=False,
                           env=os.environ | {"UV": script, "UV_REAL": UV, "COPY": alone})  # fmt: skip
        if p.returncode:
            why = [x for x in p.stderr.split("\n") if "error[" in x][:1] or [p.stderr]
            line("lock of torch213-cu130", "", "uv pip compile", f"not run: {why[0]}", "", None)
            return
        with open(os.path.join(alone, "arguments"), encoding="utf-8") as f:
            compile_argv = [UV, *f.read().split("\n")[:-1]]
        os.environ["UV"] = UV
        lock = os.path.join(ours, "pylock.torch213-cu130.toml")
        output = os.path.join(alone, "pylock.stack.toml")

        def fresh(cold, path):
            """Returns the argument for both: an empty cache, or only no lock with preferred versions."""
            if os.path.exists(path):
                os.unlink(path)
            if cold:
                shutil.rmtree(os.environ["UV_CACHE_DIR"], ignore_errors=True)

        def lock_once(cold):
            fresh(cold, lock)
            return run([STACKBUILD, "lock", recipe, *ARGUMENTS])[0]

        def compile_once(cold):
            fresh(cold, output)
            return run(compile_argv, cwd=alone)[0]

        for name, rounds, cold, most in (("warm", WARM, False, 1.3), ("cold", COLD, True, 1.2)):
            mine, theirs = alternate(rounds, lambda c=cold: lock_once(c), lambda c=cold: compile_once(c))
            line(f"lock of torch213-cu130, {name} cache", seconds(mine), f"uv pip compile {seconds(theirs)}", f"{mine / theirs:.2f}",
                 f"<= {most}", mine / theirs <= most)  # fmt: skip


main()
