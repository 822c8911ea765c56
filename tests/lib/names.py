"""Hostile names in every place of a recipe, rendered to every target and read by the readers of the users.

    for what, why in failures(stackbuild, folder, names): ...

A name is the recipe's file, its directory, a file that it extends, copies or runs, a value that names a cell, or the
output directory. Each rendered file must have the structure of that of a harmless name (TWIN); only texts that contain the
twin's name may differ. PyYAML reads YAML 1.1, pip reads requirements with str.splitlines and PEP 263, and BuildKit's parser (PyPI's
`dockerfile`), Python, sh, bash and python-hcl2 read the others. A target may also refuse a name, with a code.
"""

import ast
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import compare
import shell

TWIN = "sbtwin"
ENDS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
NAMES = [f"a{x}evil: 1" for x in ENDS] + [f"a{x}--index-url=evil" for x in ENDS[-3:]] + [f"{x}RUN evil{x}" for x in ("\n", "\r", "\u2028")] + [
    "coding:utf-7 +AAo-evil", "coding=utf-7 +AAo-evil", "{{x}}", "${{ secrets.A }}", "a; touch evil", "a # b", "a\\", "a: [b", "-rf", "%post", "'\"`evil`", "$(evil)",
    "\u202eb", "\ufeffb", "a\x1b[31m", "a\x9b31m", "\U0001f600", "\t", "*.py", "!!", "&a *a", "-->", "*\\ evil", "EOF", "a,b", "a=b"]  # fmt: skip
FILES = {"dockerfile": "Dockerfile", "modal": "modal_app.py", "script": "setup.sh", "requirements": "requirements.txt", "constraints": "constraints.txt",
         "apptainer": "apptainer.def", "github": "github.yml", "gitlab": "gitlab-ci.yml", "bake": "docker-bake.hcl", "slurm": "slurm.sh",
         "kubernetes": "kubernetes.yaml"}  # fmt: skip
RECIPE = "stack: x\nbase: nvidia/cuda:12.1.1-devel-ubuntu22.04\npython: '3.11'\ntorch: {version: 2.2.2, index: cu121}\npackages: ['numpy<2']\n"


def quoted(text):
    """Returns a text as a scalar of YAML, which has no pairs of surrogates."""
    return json.dumps(text, ensure_ascii=max(map(ord, text)) < 0x10000)


# Place: (files, with their texts; the recipe's path; the output directory).
PLACES = {
    "the recipe's name": lambda n: ({f"{n}.yaml": RECIPE}, f"{n}.yaml", "out"),
    "its directory": lambda n: ({f"{n}/r.yaml": RECIPE}, f"{n}/r.yaml", "out"),
    "extends": lambda n: ({f"{n}.yaml": RECIPE, "r.yaml": f"extends: {quoted(n + '.yaml')}\nstack: x\n"}, "r.yaml", "out"),
    "app.copy": lambda n: ({f"{n}/a.py": "", "r.yaml": RECIPE + f"app: {{copy: [{quoted(n + '/')}]}}\n"}, "r.yaml", "out"),
    "app.requirements": lambda n: ({f"{n}.txt": "six\n", "r.yaml": RECIPE + f"app: {{requirements: {quoted(n + '.txt')}}}\n"}, "r.yaml", "out"),
    "verify.probes": lambda n: ({f"{n}.py": "", "r.yaml": RECIPE + f"verify: {{probes: [{quoted(n + '.py')}]}}\n"}, "r.yaml", "out"),
    "a cell": lambda n: ({"r.yaml": RECIPE + f"matrix: {{env.SB: [{quoted(n)}]}}\n"}, "r.yaml", "out"),
    "the output directory": lambda n: ({"r.yaml": RECIPE}, "r.yaml", n),
}


# --- readers: text to lists, dicts and texts ---


def buildkit():
    """Returns PyPI's `dockerfile`, which has the same name as the reader of tests/lib, or None."""
    kept, path = sys.modules.pop("dockerfile", None), sys.path[:]
    sys.path[:] = [p for p in sys.path if not p.endswith("tests/lib")]
    try:
        import dockerfile

        return dockerfile if hasattr(dockerfile, "parse_string") else None
    except ImportError:
        return None
    finally:
        sys.path[:] = path
        sys.modules.pop("dockerfile", None)
        if kept:
            sys.modules["dockerfile"] = kept


def read_yaml(data):
    import yaml

    return list(yaml.safe_load_all(data))


def read_hcl(data):
    import hcl2

    return hcl2.loads(data.decode())


def read_pip(data):
    from pip._internal.network.session import PipSession
    from pip._internal.req.req_file import get_file_content, preprocess

    with tempfile.NamedTemporaryFile("wb", suffix=".txt") as f:
        f.write(data)
        f.flush()
        return [line for _, line in preprocess(get_file_content(f.name, PipSession())[1])]


def read_shell(data, program):
    p = subprocess.run([program, "-n"], input=data, capture_output=True)
    if p.returncode:
        raise ValueError(f"{program} -n: {p.stderr[:200]}")
    return compare.sh_tree(data.decode())


@functools.lru_cache(1)
def buildkit_once():
    return buildkit()


def read_dockerfile(data):
    parser = buildkit_once()
    steps = [[c.cmd.upper(), list(c.flags), list(c.value)] for c in parser.parse_string(data.decode())] if parser else []
    return [steps, compare.dockerfile_tree(data.decode())]


READERS = {
    "dockerfile": read_dockerfile, "modal": lambda data: compare.node(ast.parse(data), False), "script": lambda data: read_shell(data, "bash"),
    "requirements": read_pip, "constraints": read_pip, "apptainer": lambda data: compare.def_tree(data.decode()), "github": read_yaml, "gitlab": read_yaml,
    "bake": read_hcl, "slurm": lambda data: read_shell(data, "bash"), "kubernetes": read_yaml,
}  # fmt: skip


def differs(a, b, at=""):
    """Returns where two trees differ, except in texts with the twin's name; or None."""
    if isinstance(a, str) and isinstance(b, str):
        plain = [re.sub(r"\b[0-9a-f]{7,64}\b", "<digest>", x) for x in (a, b)]
        return None if TWIN in a.lower() or plain[0] == plain[1] else f"{at}: {a[:200]!r} became {b[:200]!r}"
    if type(a) is not type(b):
        return f"{at}: {str(a)[:200]!r} became {str(b)[:200]!r}"
    if isinstance(a, dict):
        if [k for k in a if TWIN not in str(k)] != [k for k in b if k in a and TWIN not in str(k)] or len(a) != len(b):
            return f"{at}: keys {list(a)} became {list(b)}"
        return next((w for w in (differs(x, y, f"{at}.{k}") for (k, x), y in zip(a.items(), b.values())) if w), None)
    if isinstance(a, (list, tuple)):
        if len(a) != len(b):
            return f"{at}: {len(a)} parts became {len(b)}: {str(b)[:300]}"
        return next((w for w in (differs(x, y, f"{at}/{i}") for i, (x, y) in enumerate(zip(a, b))) if w), None)
    return None if a == b else f"{at}: {a!r} became {b!r}"


def hidden(data):
    """Returns the first comment that ends its line for some reader, hides something, or has an expression; or None."""
    for line in data.decode().split("\n"):
        if line.lstrip().startswith("#") and (len(line.splitlines()) > 1 or re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]|{{", line)):
            return f"a comment: {line!r}"
    return None


def rendered(stackbuild, folder, place, name, target):
    """Returns the bytes of the target's file, or the exit status and the diagnostics."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    files, recipe, out = PLACES[place](name)
    for path, text in files.items():
        path = os.path.join(folder, "./" + path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    p = subprocess.run([stackbuild, "render", "./" + recipe if recipe[0] == "-" else recipe, "-t", target, "-o", "./" + out if out[0] == "-" else out],
                       cwd=folder, capture_output=True)  # fmt: skip
    if p.returncode:
        return None, (p.returncode, p.stderr.decode(errors="replace"))
    found = [os.path.join(at, x) for at, _, all_names in os.walk(os.path.join(folder, out)) for x in all_names if x == FILES[target]]
    with open(found[0], "rb") as f:
        return f.read(), None


def failures(stackbuild, folder, names, places=tuple(PLACES)):
    """Yields (what, why) for each name that a target neither refuses with a code nor writes as it writes the twin."""
    twins = {}
    for place in places:
        for target in FILES:
            data, said = rendered(stackbuild, folder, place, TWIN, target)
            if data is None:
                # A Job of Kubernetes does not have the files of an application.
                if target != "kubernetes" or not place.startswith("app.") or "SB0405" not in said[1]:
                    yield f"{place}, {target}", f"the twin is refused: {said}"
                continue
            twins[place, target] = READERS[target](data)
            for name in names:
                data, said = rendered(stackbuild, folder, place, name, target)
                if data is None:
                    # -o FILE.py is the file of a Modal app: a usage error.
                    a_file = place == "the output directory" and name.endswith(".py") and said[0] == 2
                    if not a_file and (said[0] != 1 or not re.search(r"SB\d{4}", said[1])):
                        yield f"{place}, {target}, {name!r}", f"refused without a code: {said}"
                    continue
                try:
                    why = hidden(data) or differs(twins[place, target], READERS[target](data))
                except Exception as e:  # noqa: BLE001 -- a file that its reader rejects
                    why = f"{type(e).__name__}: {str(e)[:300]}"
                if why:
                    yield f"{place}, {target}, {name!r}", why
