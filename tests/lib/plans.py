"""The plans of recipes/ and of the stacks of tests/stacks that are not rejected, as objects with what pip is called for."""

import functools
import importlib.machinery
import importlib.util
import json
import os
import subprocess

import knowledge as K
import yaml

ROOT = K.ROOT


def runner():
    """Returns tests/run as a module, for its reader of .test files and its environment."""
    loader = importlib.machinery.SourceFileLoader("tests_run", os.path.join(ROOT, "tests", "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tests_run", loader))
    loader.exec_module(module)
    return module


RUN = runner()


def recipes(folder, wanted):
    """Writes each recipe to the folder; returns their names."""
    found = {}
    for name in sorted(os.listdir(os.path.join(ROOT, "tests", "stacks"))):
        if name.endswith(".test"):
            head, sections = RUN.parse(os.path.join(ROOT, "tests", "stacks", name))
            if "verdict: incompatible\n" not in head:
                found[name[: -len(".test")]] = sections[0].text()
    for name in sorted(os.listdir(os.path.join(ROOT, "recipes"))):
        with open(os.path.join(ROOT, "recipes", name), encoding="utf-8") as f:
            found["recipes-" + name[: -len(".yaml")]] = f.read()
    found = {n: text for n, text in found.items() if not wanted or any(w in n for w in wanted)}
    for name, text in found.items():
        with open(os.path.join(folder, name + ".yaml"), "w", encoding="utf-8") as f:
            f.write(text)
    return list(found)


class Plan:
    """The plan of one recipe: its calls of pip, its constraints and its extensions."""

    def __init__(self, name, folder, cell=None, alone=False):
        """alone: without the recipe's packages, so that the plan has those that the extensions need."""
        self.name, self.cell = name + (f" {cell}" if cell else "") + " alone" * alone, cell
        with open(os.path.join(folder, name + ".yaml"), encoding="utf-8") as f:
            self.recipe = yaml.load(f, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        p = subprocess.run([RUN.STACKBUILD, "plan", "--format", "json", name + ".yaml", *(["--cell", cell] if cell else []),
                            *["--set", "packages=[]"] * alone],
                           cwd=folder, env=RUN.environment(folder), stdin=subprocess.DEVNULL, capture_output=True,
                           timeout=60, close_fds=False)  # fmt: skip
        if alone:
            self.recipe["packages"] = []
        self.error = p.stderr.decode("utf-8", "replace") if p.returncode else None
        if self.error:
            return
        data = json.loads(p.stdout)
        self.cells = data["cells"]
        self.steps = data["steps"]
        self.calls = []  # (step, kind of the step, index, requirements, no_deps)
        self.lines = []  # the lines of constraints.txt at the end
        self.sources = []  # operations that fetch an extension
        for step in self.steps:
            for op in step["operations"]:
                if op["kind"] == "packages":
                    self.calls.append((step["id"], step["kind"], op["index"], op["requirements"], op["no_deps"]))
                elif op["kind"] == "fetch":
                    self.sources.append((step["id"], op))
                elif op["kind"] == "file" and op["path"] == "{share}/constraints.txt":
                    self.lines = op["text"].splitlines()
                elif op["kind"] == "file" and op["helper"] == "plan.json":
                    self.image = json.loads(op["text"])
        self.python = self.image["python"]
        self.machine = "aarch64" if "arm64" in str(self.recipe.get("platform")) else "x86_64"
        self.base = any(op["kind"] == "keep" for s in self.steps for op in s["operations"])
        self.refs = {step: op["ref"] for step, op in self.sources}
        self.extensions = [s["id"] for s in self.steps if s["kind"] == "extension"]

    # --- the golden block ---

    def block(self):
        out, before = [f"== {self.name}"], []
        if self.error:
            return out + ["rejected: " + line.split(": ")[1] for line in self.error.splitlines() if ": error[" in line]
        for step in self.steps:
            for op in step["operations"]:
                if op["kind"] == "file" and op["path"] == "{share}/constraints.txt":
                    lines = op["text"].splitlines()
                    new = [f"+{x!r}" if " " in x else "+" + x for x in lines if x not in before]
                    new += [f"-{x!r}" if " " in x else "-" + x for x in before if x not in lines]
                    out += ["  " + " ".join(new)] * bool(new)
                    before = lines
                elif op["kind"] == "packages":
                    words = [repr(r) if " " in r else r for r in op["requirements"]]
                    out.append(" ".join([step["id"], op["index"] or "-"] + ["--no-deps"] * op["no_deps"] + words))
                elif op["kind"] == "keep":
                    out.append(f"{step['id']} keep {op['torch']}")
                elif op["kind"] == "fetch":
                    words = [op["source"], op["requirement"], op["url"], op["ref"], op["sha256"], op["index"]]
                    out.append(" ".join([step["id"]] + [w for w in words if w]))
        return out

    # --- for the invariants ---

    @functools.cached_property
    def requirements(self):
        """Returns (name, specifier, text, kind of the step) of each requirement whose marker is true."""
        every = [(text, kind) for _, kind, _, texts, _ in self.calls for text in texts]
        return [(K.name_of(t), str(K.requirement(t).specifier), t, kind) for t, kind in every
                if K.requirement(t) and self.applies(t)]  # fmt: skip

    @functools.cached_property
    def constraints(self):
        rows = [(K.requirement(line), line) for line in self.lines]
        return [(K.name_of(line), str(req.specifier)) for req, line in rows if req and self.applies(line)]

    def applies(self, text, extras=()):
        return not self.python or K.applies(text, self.python, self.machine, tuple(extras))

    def limits(self, name):
        """Returns what the plan allows of a package, as one specifier."""
        specs = [s for n, s in self.constraints if n == name] + [s for n, s, _, _ in self.requirements if n == name]
        return ",".join(dict.fromkeys(s for s in specs if s))

    @functools.cached_property
    def selected(self):
        """Returns name -> version of everything that the plan pins."""
        pinned = {}
        for name, spec in [(n, s) for n, s, _, _ in self.requirements] + self.constraints + \
                          [(p["name"], p["specifier"]) for p in self.image["pins"] if p["step"] in self.extensions]:  # fmt: skip
            for one in spec.split(","):
                if one.startswith("==") and "*" not in one and not one.startswith("==="):
                    pinned.setdefault(name, one[2:])
        if self.image["verify"]["torch"]:
            pinned["torch"] = self.image["verify"]["torch"]["version"]
        return pinned

    def value(self, name):
        """Returns the selected version of a name, or None."""
        return self.python + ".99" if name == "python" and self.python else self.selected.get(name)

    @functools.cached_property
    def named(self):
        """Returns the names of all packages that the plan requires, extensions included."""
        return {n for n, _, _, _ in self.requirements} | set(self.extensions)

    @functools.cached_property
    def wanted(self):
        """Returns the requirements of the recipe that apply: texts of packages and torch.with."""
        torch = self.recipe.get("torch") or {}
        texts = list(self.recipe.get("packages") or []) + list((torch.get("with") or []) if isinstance(torch, dict) else [])
        return [t for t in texts if K.requirement(t) and self.applies(t)]

    def extras(self, name):
        return sorted({e for t in self.wanted if K.name_of(t) == name for e in K.requirement(t).extras})
