"""A matrix of environments for three tiny extensions: each extension is a wheel that a third of the cells share."""

import os

import standin

NAMES = ("tiny-a", "tiny-b", "tiny-c")
BAD = 'raise SystemExit("%s.c:3: error: no such thing")\n'


def sources(name, good=True):
    """Returns setup.py and the C file of one extension; good=False: it does not compile."""
    module = name.replace("-", "_")
    setup = standin.SETUP.replace("tiny-c", name).replace("tiny_c", module).replace(', extra_link_args=["-Wl,-rpath," + lib]', "")
    return {"setup.py": setup if good else BAD % module, module + ".c": standin.TINY_C.replace("tiny_c", module)}


def recipe(text, variants):
    """Returns the recipe of 3 x variants cells, made from that of standin.world(), and makes its repositories."""
    head, at = text.split("extensions:")[0], text.split('git: "')[1].split("/tiny-c.git")[0]
    lists = ", ".join(f'[{{name: {n}, git: "{at}/{n}.git", ref: v1.0}}]' for n in NAMES)
    return (head.replace("stack: tiny", "stack: many") + f'extensions: [{{name: tiny-a, git: "{at}/tiny-a.git", ref: v1.0}}]\n'
            + f"env: {{VARIANT: '0'}}\nmatrix:\n  extensions: [{lists}]\n"
            + "  env.VARIANT: [" + ", ".join(f"v{i}" for i in range(variants)) + "]\n")  # fmt: skip


def repositories(folder, bad=()):
    for name in NAMES:
        if not os.path.exists(os.path.join(folder, name + ".git")):
            standin.repository(os.path.join(folder, name + ".git"), sources(name, name not in bad), "v1.0")
