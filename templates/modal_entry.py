"""The recipe's program on Modal: launch() checks its arguments on the computer of `modal run`; run() and command()
run it in a container.  With torchrun, each GPU has a process that runs this file.
"""

import ast
import asyncio
import collections
import datetime
import difflib
import importlib.util
import inspect
import os
import re
import runpy
import subprocess
import sys
import typing

APP = "/app"  # app.copy is mounted there
NONE, UNKNOWN = inspect.Parameter.empty, object()  # no default; a default that only the program knows
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
BOOL = {w: True for w in ("1", "true", "t", "yes", "y", "on")}
BOOL.update((w, False) for w in ("0", "false", "f", "no", "n", "off"))
# The types of Modal's own command line.
TYPES = {
    "str": str,
    "int": int,
    "float": float,
    "bool": lambda text: BOOL[text.lower()],
    "datetime": datetime.datetime.fromisoformat,
    "Any": lambda text: text,
}
# kind: a key of TYPES, the values of a Literal, or None; text: the annotation.
Parameter = collections.namedtuple("Parameter", "name kind default text")


def refuse(*lines):
    print(*lines, sep="\n", file=sys.stderr)
    raise SystemExit(2)


# --- parameters: of a function in a container, and from its file on the other computer ---


def kind_of(node, names):
    """Returns the kind of an annotation.  names: what `from typing import Optional as Opt` renames."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return kind_of(ast.parse(node.value, mode="eval").body, names)
        except SyntaxError:
            return None
    last = node.value if isinstance(node, ast.Subscript) else node
    last = getattr(last, "attr", None) or getattr(last, "id", None)
    last = names.get(last, last)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return last if last in TYPES else None
    parts = []
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        parts, last = [node.left, node.right], "Union"
    if last == "Literal":
        values = tuple(getattr(p, "value", None) for p in parts)
        return values if {type(v) for v in values} in ({str}, {int}) else None
    parts = [p for p in parts if not (isinstance(p, ast.Constant) and p.value is None)]
    return kind_of(parts[0], names) if last in ("Optional", "Union") and len(parts) == 1 else None


def parameter(name, node, default, names):
    """Returns a parameter; without an annotation, its default has the type."""
    if node is None:
        kind = type(default).__name__ if type(default).__name__ in TYPES else "Any"
        return Parameter(name, None if default is UNKNOWN else kind, default, "")
    text = node.value if isinstance(node, ast.Constant) else ast.unparse(node)
    return Parameter(name, kind_of(node, names), default, text)


def takes_argv(parameters):
    """Returns whether they are those of `def main(argv=None)`: None stands for sys.argv."""
    return [(p.name, p.default) for p in parameters] in ([("argv", None)], [("args", None)])


def inspected(function):
    """Returns the parameters of a function, or None if it takes any texts (*args)."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:
        hints = {}
    found = []
    for p in inspect.signature(function).parameters.values():
        hint = hints.get(p.name, p.annotation)
        if isinstance(hint, type) and not typing.get_args(hint):
            hint = hint.__name__ if hint is not NONE else None
        node = ast.Constant(hint if isinstance(hint, str) else repr(hint)) if hint else None
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
            found.append(Parameter(str(p).partition(":")[0], None, NONE, p.kind.description))
        else:
            found.append(parameter(p.name, node, p.default, {}))
    return None if [p.text for p in found] == ["variadic positional"] else found


def binds(statement, name):
    """Returns whether a statement of a module can bind a name."""
    if isinstance(statement, DEFINITIONS):
        return statement.name == name
    nodes = [n for n in ast.walk(statement) if not isinstance(getattr(n, "ctx", None), ast.Load)]
    bound = {getattr(n, key, None) for n in nodes for key in ("id", "name", "asname")}
    return name in bound or (isinstance(statement, ast.ImportFrom) and "*" in bound)


def declared(path, name):
    """Returns the parameters of a function as its file declares them; None if only the program knows them."""
    try:
        with open(path, "rb") as file:
            body = ast.parse(file.read()).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = [s for s in body if binds(s, name)]
    if len(found) != 1 or not isinstance(found[0], FUNCTIONS) or found[0].decorator_list:
        return None
    a = found[0].args
    if a.vararg or a.kwarg or a.posonlyargs:
        return None
    names = {x.asname: x.name for s in body if isinstance(s, ast.ImportFrom) for x in s.names if x.asname}
    assigned = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    defaults = [None] * (len(a.args) - len(a.defaults)) + a.defaults + a.kw_defaults
    parameters = []
    for argument, default in zip(a.args + a.kwonlyargs, defaults):
        try:
            value = NONE if default is None else ast.literal_eval(default)
        except ValueError:
            value = UNKNOWN
        p = parameter(argument.arg, argument.annotation, value, names)
        # An assigned name can stand for any type.
        if p.kind is None and (not p.text or assigned.intersection(re.findall(r"\w+", p.text))):
            return None
        parameters.append(p)
    return parameters


def convert(option, kind, text):
    try:
        if isinstance(kind, tuple):
            return {str(v): v for v in kind}[text]
        return TYPES[kind](text)
    except (ValueError, KeyError):
        wanted = "one of " + ", ".join(map(str, kind)) if isinstance(kind, tuple) else f"of type {kind}"
        refuse(f"error: {option}: `{text}` is not {'true or false' if kind == 'bool' else wanted}")


def usage(name, parameters):
    lines = [f"options of {name}:"]
    for p in parameters:
        option = "--" + p.name.replace("_", "-")
        wanted = "|".join(map(str, p.kind)) if isinstance(p.kind, tuple) else p.kind
        text = f"{option}, --no-{option[2:]}" if p.kind == "bool" else f"{option} {wanted}"
        default = "" if p.default is UNKNOWN else f"  default: {p.default!r}"
        lines.append(f"  {text}" + ("  required" if p.default is NONE else default))
    return lines


def parsed(name, parameters, args):
    """Returns the values of a function's parameters, by name."""
    for p in parameters:
        if p.kind is None:
            refuse(
                f"error: {name}: the command line cannot set `{p.name}`: {p.text}",
                "help: make the file the entry point (without ::) and parse sys.argv there",
            )
    known = {p.name: p for p in parameters}
    values, rest = {}, list(args)
    while rest:
        option, equals, text = rest.pop(0).partition("=")
        key = option[2:].replace("-", "_") if option.startswith("--") else ""
        p = known.get(key)
        negated = known.get(key[3:]) if not p and key.startswith("no_") and not equals else None
        if option in ("-h", "--help"):
            print(*usage(name, parameters), sep="\n")
            raise SystemExit(0)
        if negated and negated.kind == "bool":
            values[negated.name] = False
        elif not p:
            near = difflib.get_close_matches(key, known, 1) if key else []
            hint = f"; did you mean --{near[0].replace('_', '-')}?" if near else ""
            refuse(f"error: {name} has no option `{option}`{hint}", *usage(name, parameters))
        elif p.kind == "bool" and not equals and not (rest and not rest[0].startswith("-")):
            values[p.name] = True
        elif not equals and not rest:
            refuse(f"error: {option} requires a value", *usage(name, parameters))
        else:
            values[p.name] = convert(option, p.kind, text if equals else rest.pop(0))
    missing = [p.name for p in parameters if p.default is NONE and p.name not in values]
    if missing:
        options = ", ".join("--" + m.replace("_", "-") for m in missing)
        refuse(f"error: {name} requires {options}", *usage(name, parameters))
    return values


# --- in a container ---


def execute(entry, args):
    """Runs "train.py", "train.py::main" or "-m package.module" with arguments, like Python's own command line."""
    path, _, name = entry.partition("::")
    sys.path[:0] = [APP] if entry.startswith("-m ") else [os.path.dirname(os.path.join(APP, path)), APP]
    sys.argv = [path, *args]
    if entry.startswith("-m "):
        runpy.run_module(entry[3:], run_name="__main__", alter_sys=True)
        return None
    if not name:
        runpy.run_path(os.path.join(APP, path), run_name="__main__")
        return None
    os.environ.setdefault("HYDRA_MAIN_MODULE", "__main__")  # hydra: config_path is relative to the file
    stem = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(stem, os.path.join(APP, path))
    module = sys.modules[stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name)
    plain = inspect.isfunction(function) and not hasattr(function, "__wrapped__")
    parameters = inspected(function) if plain else []
    if parameters is None:
        result = function(*args)
    elif not parameters or takes_argv(parameters):
        result = function()
    else:
        result = function(**parsed(name, parameters, args))
    if inspect.iscoroutine(result):
        return asyncio.run(result)
    return list(result) if inspect.isgenerator(result) else result


def command(words, args):
    """Runs a command in /app; an exit status other than 0 is an exception, so that Modal retries the function."""
    if not words and not args:
        raise ValueError("name a command")
    subprocess.run([*words, *args], cwd=APP if os.path.isdir(APP) else None, check=True)


def run(entry, args, ranks=0):
    """Runs an entry point in /app; ranks: processes of torchrun.  Only texts leave the container: the other computer
    lacks the types of the result."""
    os.chdir(APP)
    try:
        if ranks:
            torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
            return command([*torchrun, __file__, entry], args)
        result = execute(entry, args)
    except SystemExit as end:
        # Modal takes every SystemExit for a failure, and its client cannot pass one on.
        if not end.code:
            return None
        if not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        raise subprocess.CalledProcessError(end.code if isinstance(end.code, int) else 1, [entry, *args]) from None
    return result if result is None or isinstance(result, (str, bytes)) else repr(result)


# --- on the computer of `modal run` ---


def launch(function, args, entry="", directory=".", sources=()):
    """Checks the arguments, runs the function in a container, and ends with its exit status or result."""
    path, _, name = entry.partition("::")
    parameters = declared(os.path.join(directory, path), name) if name else None
    if parameters and not takes_argv(parameters):
        parsed(name, parameters, args)
    for word in args:
        file = os.path.normpath(word.rpartition("=")[2] or ".")
        copied = any(s in (".", file) or file.startswith(s + "/") for s in map(os.path.normpath, sources))
        if not os.path.isabs(file) and not copied and os.path.isfile(os.path.join(directory, file)):
            print(f"warning: {file} is not in app.copy, so the container does not have it", file=sys.stderr)
    try:
        # .remote() of a local entry point ends with this computer, also with `modal run --detach`.
        result = function.spawn(*args).get()
    except subprocess.CalledProcessError as end:
        raise SystemExit(end.returncode if end.returncode > 0 else 128 - end.returncode) from None
    if isinstance(result, str):
        print(result)
    return result


if __name__ == "__main__":  # a process of torchrun
    execute(sys.argv[1], sys.argv[2:])
