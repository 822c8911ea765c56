"""modal_chain.py: reads the image of a Modal app, and runs nothing of the app.

    python3 -I -S -B modal_chain.py PATH [FUNCTION] < app.py

It parses the app with `ast` and follows the values that the text alone determines: literals, names, f-strings, lists,
paths, loops over them, and calls of the app's own functions.  Everything else is known only at run time.  It prints one
JSON object:

    {"calls": [CALL...], "function": {...} or null, "app": TEXT or null, "builder": TEXT or null,
     "left": [[what, PLACE, why, warning]...], "changed": [[PLACE, text]...]}  or  {"error": text, "line": number}

    CALL   {"call": "pip_install", "what": text, "at": PLACE, "words": [TEXT...], "options": [OPTION...]}
    OPTION {"name": "index_url", "what": text, "at": PLACE, "texts": [TEXT...], "pairs": [[key, text, PLACE]...]}
    TEXT   [text, PLACE];  PLACE  [line, bytes before it on the line, bytes]

`function` has `name` and the options of the first function with a GPU, or of FUNCTION.  A PLACE counts in UTF-8.  The
limits are 64 MiB of memory and 2 s of CPU time.  Standard library only, Python 3.8 and later.
"""
import ast
import json
import posixpath
import sys

MEMORY, CPU_S = 64 << 20, 2
STEPS, DEPTH, SHOWN = 100000, 400, 300

# The parameters that may be positional, by method; "*": each positional argument is one of its words.
# Source: the signatures of modal 1.5.4 and 1.6.4; the last two lines: methods of older clients.
METHODS = {
    "from_registry": "tag secret", "from_aws_ecr": "tag secret", "from_gcp_artifact_registry": "tag secret",
    "from_dockerfile": "path", "debian_slim": "python_version force_build", "from_name": "name", "from_id": "image_id",
    "micromamba": "python_version force_build", "from_scratch": "force_build",
    "pip_install": "*", "uv_pip_install": "*", "apt_install": "*", "run_commands": "*", "dockerfile_commands": "*",
    "micromamba_install": "*", "pip_install_private_repos": "*", "add_local_python_source": "*",
    "pip_install_from_requirements": "requirements_txt find_links",
    "pip_install_from_pyproject": "pyproject_toml optional_dependencies",
    "poetry_install_from_file": "poetry_pyproject_toml poetry_lockfile", "uv_sync": "uv_project_dir",
    "entrypoint": "entrypoint_commands", "shell": "shell_commands", "cmd": "cmd", "env": "vars", "workdir": "path",
    "add_local_file": "local_path remote_path", "add_local_dir": "local_path remote_path", "run_function": "raw_f",
    "from_dockerhub": "tag", "conda": "python_version", "conda_install": "*", "copy_mount": "mount remote_path",
    "copy_local_file": "local_path remote_path", "copy_local_dir": "local_path remote_path",
}  # fmt: skip
# Methods of which a recipe contains nothing: their arguments are not read.
UNREAD = {"run_function", "add_local_file", "add_local_dir", "add_local_python_source", "copy_local_file", "copy_local_dir",
          "copy_mount", "cmd", "shell"}  # fmt: skip
# Methods of an image whose names other objects have, too.
COMMON = {"entrypoint", "shell", "cmd", "env", "workdir", "from_name", "from_id"}
STARTS = {"from_registry", "from_aws_ecr", "from_gcp_artifact_registry", "from_dockerfile", "debian_slim", "from_name",
          "from_id", "micromamba", "from_scratch", "from_dockerhub", "conda"}  # fmt: skip
PYTHONS = {"debian_slim", "micromamba", "conda"}  # the first parameter is an option
DECORATORS = {"function", "cls", "local_entrypoint", "server"}
TEXT_METHODS = set("join format split rsplit strip lstrip rstrip replace lower upper splitlines startswith endswith "
                   "partition rpartition title capitalize find count isdigit".split())  # fmt: skip
LIST_METHODS = set("append extend insert copy index count remove pop sort reverse".split())
DICT_METHODS = set("get items keys values update copy pop setdefault".split())
BUILTINS = {f.__name__: f for f in (str, int, float, bool, len, list, tuple, dict, sorted, range, zip, enumerate,
                                    reversed, min, max, sum, abs, round, any, all, repr)}  # fmt: skip
BINARY = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
          ast.Div: lambda a, b: a / b, ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b,
          ast.BitOr: lambda a, b: {**a, **b},
          ast.Pow: lambda a, b: a**b if abs(a) <= 1024 and 0 <= b <= 8 else a**0 / 0,
          ast.LShift: lambda a, b: a << b if b <= 40 else a**0 / 0}  # fmt: skip
COMPARE = {ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b, ast.Lt: lambda a, b: a < b,
           ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
           ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b, ast.Is: lambda a, b: a is b,
           ast.IsNot: lambda a, b: a is not b}  # fmt: skip
# What a value of another type than expected raises: only a run tells what the app does then.
EVERY = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.With, ast.AsyncWith)


class Text(str):
    """A text with the node that it comes from."""

    node = None


class Unknown:
    """A value that only a run determines; setting: it is a variable of the environment."""

    def __init__(self, why, setting=False):
        self.why, self.setting = why, setting


class Path:
    """A path of the host, relative to the directory of the command."""

    def __init__(self, text):
        self.text = posixpath.normpath(text)


class Ref:
    """A name of a module: "modal.Image", "os.environ"."""

    def __init__(self, name):
        self.name = name


class Image:
    def __init__(self, parent, node, method, words, options):
        self.parent, self.node, self.method, self.words, self.options = parent, node, method, words, options

    def chain(self):
        calls, image = [], self
        while image:
            calls.append(image)
            image = image.parent
        return calls[::-1]


class Bound:
    """A method of a value, before its call."""

    def __init__(self, value, name):
        self.value, self.name = value, name


class Function:
    def __init__(self, node, scope):
        self.node, self.scope = node, scope


class Object:
    """An app, a secret, a volume, a class of the app, or an old `modal.gpu` object."""

    def __init__(self, kind, name=None, fields=None):
        self.kind, self.name, self.fields = kind, name, fields or {}


class Scope:
    def __init__(self, parent=None):
        self.names, self.parent = {}, parent

    def get(self, name):
        scope = self
        while scope:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None


class TooMuch(Exception):
    pass


def is_image_call(node):
    """Returns whether a call is surely one of an image, by its name or by a call before it."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in METHODS and node.func.attr not in COMMON:
            return True
        if node.func.attr not in METHODS:
            return False
        node = node.func.value
    return False


def image_calls(nodes):
    for top in nodes:
        for node in ast.walk(top):
            if is_image_call(node):
                yield node


def settable(value):
    return value.copy() if isinstance(value, (list, dict)) else value


class Reader:
    def __init__(self, source, path):
        self.tree = ast.parse(source, path)
        self.lines = source.decode("utf-8", "replace").split("\n")
        self.path, self.steps, self.depth, self.calls = path, 0, 0, 0
        self.left, self.changed, self.why, self.images, self.functions = [], [], {}, [], []
        self.builder, self.app, self.options_of = None, None, {}
        self.top = Scope()

    # --- places and texts ---

    def place(self, node):
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        rest = len(self.lines[node.lineno - 1].encode()) - node.col_offset if node.lineno <= len(self.lines) else 1
        width = end - node.col_offset if end is not None else rest
        return [node.lineno, node.col_offset, max(1, min(width, max(rest, 1)))]

    def shown(self, node):
        """Returns the text of a node on one line."""
        line, at, _ = self.place(node)
        rows = self.lines[line - 1 : node.end_lineno]
        if not rows:
            return "?"
        if len(rows) == 1:
            text = rows[0].encode()[at : node.end_col_offset].decode("utf-8", "replace")
        else:
            first = rows[0].encode()[at:].decode("utf-8", "replace")
            text = " ".join([first] + [r.strip() for r in rows[1:-1][:20]] + [rows[-1][: node.end_col_offset].strip()])
        text = " ".join(text.split())
        return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."

    def call_shown(self, node):
        """Returns "pip_install(...)" without the calls before it."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else self.shown(node.func)
        inner = [self.shown(a) for a in node.args[:20]]
        inner += ["%s=%s" % (k.arg, self.shown(k.value)) if k.arg else "**" + self.shown(k.value) for k in node.keywords]
        text = "%s(%s)" % (name, ", ".join(inner))
        return text if len(text) <= SHOWN else text[: SHOWN - 4] + "...)"

    def call_place(self, node):
        """Returns the place of the method's name and arguments, without the calls before it."""
        value = node.func.value if isinstance(node.func, ast.Attribute) else node
        if value is node:
            return self.place(node)
        line, at = value.end_lineno, value.end_col_offset
        while line <= len(self.lines):
            row = self.lines[line - 1].encode()
            dot = row.find(b".", at)
            if dot >= 0 and not row[at:dot].strip(b" \t\\)"):
                end = node.end_col_offset if node.end_lineno == line else len(row)
                return [line, dot + 1, max(1, end - dot - 1)]
            line, at = line + 1, 0
        return self.place(node)

    def leave(self, node, why, warning=True, what=None, at=None):
        self.left.append([what or self.shown(node), at or self.place(node), why, warning])

    def run_time(self, node):
        return Unknown("only a run of the app determines `%s`" % self.shown(node))

    def pair(self, text, node):
        """Returns a TEXT; the place is that of the literal if the text is unchanged since then."""
        return [str(text), self.place(getattr(text, "node", None) or node)]

    # --- expressions ---

    def value(self, node, scope):
        self.steps += 1
        if self.steps > STEPS:
            raise TooMuch("it needs more than %d steps" % STEPS)
        if self.depth > DEPTH:
            return Unknown("it is nested too deeply")
        self.depth += 1
        try:
            found = getattr(self, "of_" + type(node).__name__, None)
            value = found(node, scope) if found else self.run_time(node)
        except EVERY:
            value = self.run_time(node)
        finally:
            self.depth -= 1
        if type(value) is str:
            value = Text(value)
            value.node = node
        return value

    def of_Constant(self, node, scope):
        return node.value

    def of_Name(self, node, scope):
        value = scope.get(node.id)
        if value is not None or any(node.id in s.names for s in self.scopes(scope)):
            return value
        if node.id == "__file__":
            return Path(self.path)
        if node.id == "__name__":
            return "app"
        return Ref(node.id)

    @staticmethod
    def scopes(scope):
        while scope:
            yield scope
            scope = scope.parent

    def of_Attribute(self, node, scope):
        value, name = self.value(node.value, scope), node.attr
        if isinstance(value, Unknown):
            return value if not value.setting else self.run_time(node)
        if isinstance(value, Ref):
            if value.name == "sys" and name == "platform":
                return "linux"
            return Ref(value.name + "." + name)
        if isinstance(value, Path) and name in ("parent", "name", "stem", "parents"):
            above = [value]
            for _ in range(20):
                text = above[-1].text
                above.append(Path(posixpath.join(text, "..") if posixpath.basename(text) in ("", ".", "..")
                                  else posixpath.dirname(text) or "."))  # fmt: skip
            base = posixpath.basename(value.text)
            return {"parent": above[1], "parents": above[1:], "name": base, "stem": base.rsplit(".", 1)[0]}[name]
        if isinstance(value, Object) and value.kind == "class" and name in value.fields:
            return value.fields[name]
        return Bound(value, name)

    def of_JoinedStr(self, node, scope):
        parts = []
        for part in node.values:
            value = self.value(part, scope)
            if isinstance(value, Unknown):
                return value
            parts.append(str(self.native(value)))
        return "".join(parts)

    def of_FormattedValue(self, node, scope):
        value = self.value(node.value, scope)
        spec = self.value(node.format_spec, scope) if node.format_spec else ""
        if isinstance(value, Unknown) or isinstance(spec, Unknown):
            return value if isinstance(value, Unknown) else spec
        value = {114: repr, 97: ascii, 115: str}.get(node.conversion, lambda v: v)(self.native(value))
        return format(value, str(spec))

    @staticmethod
    def native(value):
        """Returns a value of Python's own; TypeError for one that only this reader has."""
        if isinstance(value, Path):
            return value.text
        if isinstance(value, (Unknown, Ref, Image, Bound, Function, Object)):
            raise TypeError
        if isinstance(value, (list, tuple)):
            for x in value:
                Reader.native(x)
        return str(value) if isinstance(value, Text) else value

    def plain(self, value):
        value = self.native(value)
        return str(int(value) if isinstance(value, float) and value.is_integer() else value)

    def items(self, nodes, scope):
        """Returns the values of a list's or call's parts, with starred ones expanded."""
        out = []
        for n in nodes:
            if isinstance(n, ast.Starred):
                value = self.value(n.value, scope)
                if isinstance(value, dict):
                    value = list(value)
                out.extend(value if isinstance(value, (list, tuple, range)) else [self.unknown(value, n.value)])
            else:
                out.append(self.value(n, scope))
        return out

    def unknown(self, value, node):
        return value if isinstance(value, Unknown) else self.run_time(node)

    def of_List(self, node, scope):
        return self.items(node.elts, scope)

    def of_Tuple(self, node, scope):
        return tuple(self.items(node.elts, scope))

    def of_Set(self, node, scope):
        out = []
        for x in self.items(node.elts, scope):
            if x not in out:
                out.append(x)
        return out

    def of_Dict(self, node, scope):
        out = {}
        for k, v in zip(node.keys, node.values):
            value = self.value(v, scope)
            if k is None:
                out.update(value if isinstance(value, dict) else {self.unknown(value, v): None})
            else:
                out[self.hashed(self.value(k, scope))] = value
        return out

    @staticmethod
    def hashed(key):
        return key.text if isinstance(key, Path) else key

    def of_BinOp(self, node, scope):
        a, b = self.value(node.left, scope), self.value(node.right, scope)
        for x in (a, b):
            if isinstance(x, Unknown):
                return x
        if isinstance(a, Path) or isinstance(b, Path):
            if isinstance(node.op, ast.Div):
                return Path(posixpath.join(self.plain(a), self.plain(b)))
        if isinstance(a, tuple) and isinstance(node.op, ast.Mod):
            raise TypeError
        if isinstance(node.op, ast.Mod):
            b = tuple(self.native(x) for x in b) if isinstance(b, tuple) else self.native(b)
        elif not isinstance(a, (list, tuple, dict)):
            a, b = self.native(a), self.native(b)
        return BINARY[type(node.op)](a, b)

    def of_UnaryOp(self, node, scope):
        value = self.value(node.operand, scope)
        if isinstance(node.op, ast.Not):
            holds = self.holds(value)
            return self.unknown(value, node) if holds is None else not holds
        return -self.native(value) if isinstance(node.op, ast.USub) else self.run_time(node)

    @staticmethod
    def holds(value):
        """Returns whether a value is true; None: only a run tells."""
        if isinstance(value, (Unknown, Ref, Bound)):
            return None
        return bool(value) if isinstance(value, (str, int, float, list, tuple, dict, range, type(None))) else True

    def of_BoolOp(self, node, scope):
        value = None
        for i, n in enumerate(node.values):
            value = self.value(n, scope)
            holds = self.holds(value)
            last = i + 1 == len(node.values)
            if holds is None and isinstance(value, Unknown) and value.setting and isinstance(node.op, ast.Or) and not last:
                return self.default(n, self.value(node.values[i + 1], scope))
            if holds is None:
                return self.unknown(value, n)
            if last or holds == isinstance(node.op, ast.Or):
                return value
        return value

    def default(self, node, value):
        """Uses the default of a variable of the environment, and reports it."""
        if isinstance(value, (str, int, float)):
            used = "`%s`" % value if value != "" else "an empty text"
            self.changed.append([self.place(node), "`%s` depends on the environment: init used its default, %s"
                                 % (self.shown(node), used)])  # fmt: skip
        return value

    def of_Compare(self, node, scope):
        values = [self.value(n, scope) for n in [node.left] + node.comparators]
        for v, n in zip(values, [node.left] + node.comparators):
            if isinstance(v, (Unknown, Ref, Bound)):
                return self.unknown(v, n)
        return all(COMPARE[type(op)](a, b) for op, a, b in zip(node.ops, values, values[1:]))

    def of_IfExp(self, node, scope):
        test = self.value(node.test, scope)
        holds = self.holds(test)
        if holds is not None:
            self.skip([node.orelse if holds else node.body], "`%s` is %s" % (self.shown(node.test), holds))
            return self.value(node.body if holds else node.orelse, scope)
        a, b = self.value(node.body, scope), self.value(node.orelse, scope)
        return self.either(a, b, self.unknown(test, node.test), node.test)

    def either(self, a, b, test, node):
        """Returns one of two values: for images the one that is more than Debian, else the first."""
        if isinstance(a, Image) or isinstance(b, Image):
            first = a if isinstance(a, Image) else b
            if isinstance(a, Image) and isinstance(b, Image) and self.is_slim(a) and not self.is_slim(b):
                first = b
            other = b if first is a else a
            if isinstance(other, Image):
                self.blame(other, first, "init uses the other image: " + self.only(test))
            return first
        bound = isinstance(a, Bound) and isinstance(b, Bound) and isinstance(a.value, Image) and a.value is b.value
        if bound and {a.name, b.name} <= {"add_local_dir", "add_local_file"}:
            return a  # both stay in the app
        same = type(a) is type(b) and not isinstance(a, (Unknown, Object, Ref, Bound, Function)) and a == b
        return a if a is b or same else test

    @staticmethod
    def only(test):
        return test.why

    @staticmethod
    def is_slim(image):
        return image.chain()[0].method == "debian_slim"

    def blame(self, image, kept, why):
        """Notes why the calls of an image that another one does not have are not in the recipe."""
        own = {id(c.node) for c in kept.chain()} if kept else set()
        for c in image.chain():
            if id(c.node) not in own:
                self.why.setdefault(id(c.node), (why, True))

    def of_Subscript(self, node, scope):
        value = self.value(node.value, scope)
        if isinstance(value, Ref) and value.name == "os.environ":
            return Unknown(self.run_time(node).why, setting=True)
        if isinstance(node.slice, ast.Slice):
            ends = [self.value(n, scope) if n else None for n in (node.slice.lower, node.slice.upper, node.slice.step)]
            return value[slice(*ends)]
        index = node.slice.value if type(node.slice).__name__ == "Index" else node.slice  # Python 3.8
        return value[self.hashed(self.value(index, scope))] if isinstance(value, (list, tuple, dict, str)) else self.unknown(
            value, node)  # fmt: skip

    def of_NamedExpr(self, node, scope):
        value = self.value(node.value, scope)
        self.assign(node.target, value, scope)
        return value

    def of_Lambda(self, node, scope):
        return Function(node, scope)

    def comprehend(self, node, scope, add):
        def nest(k, inner):
            if k == len(node.generators):
                add(inner)
                return
            g = node.generators[k]
            values = self.value(g.iter, inner)
            values = list(values) if isinstance(values, dict) else values
            if not isinstance(values, (list, tuple, range, str)):
                raise TypeError
            for v in values:
                deeper = Scope(inner)
                self.assign(g.target, v, deeper)
                tests = [self.holds(self.value(t, deeper)) for t in g.ifs]
                if None in tests:
                    raise TypeError
                if all(tests):
                    nest(k + 1, deeper)

        nest(0, Scope(scope))

    def of_ListComp(self, node, scope):
        out = []
        self.comprehend(node, scope, lambda s: out.append(self.value(node.elt, s)))
        return out

    of_GeneratorExp = of_SetComp = of_ListComp

    def of_DictComp(self, node, scope):
        out = {}
        self.comprehend(node, scope, lambda s: out.__setitem__(self.hashed(self.value(node.key, s)), self.value(node.value, s)))
        return out

    # --- calls ---

    def keywords(self, node, scope):
        """Returns {name: (value, node)} of a call."""
        out = {}
        for k in node.keywords:
            value = self.value(k.value, scope)
            if k.arg:
                out[k.arg] = (value, k)
            elif isinstance(value, dict):
                for name, v in value.items():
                    if isinstance(name, str):
                        out[str(name)] = (v, k)
            else:
                self.leave(k.value, self.unknown(value, k.value).why, what="**" + self.shown(k.value))
        return out

    def of_Call(self, node, scope):
        f = self.value(node.func, scope)
        if isinstance(f, Bound) and isinstance(f.value, Image):
            return self.image_method(f, node, scope)
        if isinstance(f, Ref):
            start = f.name.rsplit(".", 1)
            if start[-1] in STARTS and (start[0].endswith("Image") or start[0] == "modal"):
                return self.image(None, start[-1], node, scope)
            return self.module_call(f.name, node, scope)
        if isinstance(f, Function):
            args, named = self.items(node.args, scope), {k: v for k, (v, _) in self.keywords(node, scope).items()}
            return self.inline(f, args, named, node)
        if isinstance(f, Bound):
            return self.method(f.value, f.name, node, scope)
        if isinstance(f, Object) and f.kind == "class":
            return Object("class", f.name, dict(f.fields)) if not node.args and not node.keywords else self.run_time(node)
        return self.unknown(f, node)

    def image_method(self, f, node, scope):
        if f.name in METHODS:
            return self.image(f.value, f.name, node, scope)
        args = self.items(node.args, scope)
        if f.name == "pipe" and args and isinstance(args[0], Function):
            return self.inline(args[0], [f.value] + args[1:], {k: v for k, (v, _) in self.keywords(node, scope).items()}, node)
        if f.name not in ("imports", "build", "publish", "hydrate"):
            self.leave(node, "init does not know this method of an image", at=self.call_place(node), what=self.call_shown(node))
            return f.value
        return f.value if f.name in ("build", "hydrate") else None

    def image(self, parent, method, node, scope):
        """Returns an image with one more call, whose arguments have the names of the client's parameters."""
        words, options, names = [], [], METHODS[method].split()
        if method in UNREAD:
            return self.made(Image(parent, node, method, words, options))
        args = []
        for n in node.args:
            nodes = [n]
            values = self.items(nodes, scope)
            args += [(v, n.value if isinstance(n, ast.Starred) else n) for v in values]
        if names == ["*"]:
            for v, n in args:
                self.texts(v, n, words)
            args = []
        named = [(name, v, n, n) for name, (v, n) in zip(names, args)]
        named += [(k, v, n.value, n) for k, (v, n) in self.keywords(node, scope).items()]
        for name, v, n, whole in named:
            if name == names[0] and method not in PYTHONS:
                pairs = []
                self.texts(v, n, words, pairs)
                if pairs:
                    options.append(self.option(name, whole, [], pairs))
                continue
            self.add_option(options, name, v, n, whole)
        return self.made(Image(parent, node, method, words, options))

    def made(self, image):
        self.images.append(image)
        return image

    def option(self, name, whole, texts, pairs):
        what = self.shown(whole)
        what = "%s of %s" % (name, what) if what.startswith("**") else what if what.startswith(name) else name + "=" + what
        return {"name": name, "what": what, "at": self.place(whole), "texts": texts, "pairs": pairs}

    def add_option(self, options, name, value, node, whole):
        texts, pairs = [], []
        if value in (None, False, "") if isinstance(value, (str, int, float, type(None))) else False:
            return
        self.texts(value, node, texts, pairs, name + "=")
        if texts or pairs:
            options.append(self.option(name, whole, texts, pairs))

    def texts(self, value, node, out, pairs=None, name=""):
        """Adds the texts of a value, also those in lists, as the client does; reports values that are unknown."""
        if isinstance(value, (list, tuple)):
            for v in value:
                self.texts(v, getattr(v, "node", None) or node, out, pairs, name)
        elif isinstance(value, dict):
            for k, v in value.items():
                if isinstance(k, Unknown) or not isinstance(v, (str, int, float, Path)) or self.bad(k) or self.bad(v):
                    text = k if isinstance(k, str) else self.shown(node)
                    bad = k if isinstance(k, Unknown) else v
                    self.leave(node, self.reason(bad, node), what="%s%s" % (name, text))
                else:
                    (pairs if pairs is not None else out).append([str(k), self.plain(v), self.place(getattr(v, "node", None) or
                                                                  getattr(k, "node", None) or node)])  # fmt: skip
        elif isinstance(value, Object) and value.kind == "secret" and not value.name:
            # Its arguments may be passwords.
            self.leave(node, "a recipe has secrets by name: create it with `modal secret create`", False, name + "Secret(...)",
                       [0, 0, 0])  # fmt: skip
        elif isinstance(value, (Object, Function)):
            name_of = value.name if isinstance(value, Object) else getattr(value.node, "name", "lambda")
            out.append([str(name_of) if name_of else self.shown(node), self.place(node)])
        elif isinstance(value, (str, int, float, Path)) and not self.bad(value):
            out.append(self.pair(value if isinstance(value, Text) else self.plain(value), node))
        elif value is not None:
            self.leave(node, self.reason(value, node), what=name + self.shown(node))

    def reason(self, value, node):
        if isinstance(value, (str, int, float, Path)):
            return "it has a character that a recipe cannot contain"
        return self.unknown(value, node).why

    @staticmethod
    def bad(value):
        """Returns whether a text has control characters, or line ends that only some readers know."""
        return isinstance(value, str) and any(
            c not in "\n\t" and (c < " " or "\x7f" <= c <= "\x9f" or c in "\u2028\u2029\ufeff\ufffe\uffff" or "\ud800" <= c <= "\udfff")
            for c in value)  # fmt: skip

    def module_call(self, name, node, scope):
        last = name.rsplit(".", 1)[-1]
        args = self.items(node.args, scope)
        if name in BUILTINS:
            return self.builtin(name, args, node, scope)
        if name in ("os.getenv", "os.environ.get"):
            named = self.keywords(node, scope)
            other = args[1] if len(args) > 1 else named["default"][0] if "default" in named else None
            return Unknown(self.run_time(node).why, setting=True) if other is None else self.default(node, other)
        if name in ("set", "frozenset"):
            return list(dict.fromkeys(args[0])) if args else []
        if last in ("Path", "PurePath", "PosixPath", "PurePosixPath") or name == "os.path.join":
            return Path(posixpath.join(*[self.plain(a) for a in args]) if args else ".")
        if name in ("os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.expanduser", "os.fspath"):
            return args[0] if str(self.native(args[0])).startswith("~") else Path(self.plain(args[0]))
        if name == "os.path.dirname":
            return Path(posixpath.dirname(self.plain(args[0])) or ".")
        if name == "os.path.basename":
            return posixpath.basename(self.plain(args[0]))
        if name in ("os.getcwd", "pathlib.Path.cwd", "Path.cwd"):
            return Path(".")
        if name == "shlex.quote":
            import shlex
            return shlex.quote(self.plain(args[0]))
        if name == "modal.is_local":
            return True
        return self.modal_object(name, last, args, node, scope)

    def modal_object(self, name, last, args, node, scope):
        owner = name.split(".")[-2] if "." in name else ""
        named = self.keywords(node, scope)
        if last in ("App", "Stub") or owner in ("App", "Stub") and last == "lookup":
            text = args[0] if args else named.get("name", (None, None))[0]
            app = Object("app", text, {k: v for k, v in named.items() if k != "name"})
            self.app = self.app or app
            return app
        if owner in ("Secret", "Volume"):
            text = args[0] if args else named.get("name", (None, None))[0]
            known = last in ("from_name", "persisted", "lookup", "new") and isinstance(text, str)
            return Object(owner.lower(), text if known else None)
        if ".gpu." in "." + name and owner == "gpu":
            count, size = named.get("count", (1, None))[0], named.get("size", named.get("memory", ("", None)))[0]
            size = "%sGB" % size if isinstance(size, int) else size
            parts = last + ("-" + size if size else "") + (":%d" % count if count != 1 else "")
            return parts if last.lower() != "any" else self.run_time(node)
        return Object(last) if name.startswith("modal.") else self.run_time(node)

    def builtin(self, name, args, node, scope):
        for a in args:
            if isinstance(a, Unknown):
                return a
        if name == "dict":
            out = dict(args[0]) if args else {}
            out.update({k: v for k, (v, _) in self.keywords(node, scope).items()})
            return out
        if node.keywords:
            return self.run_time(node)
        if name in ("str", "repr", "int", "float", "len") and args and not isinstance(args[0], (list, tuple, dict, range)):
            args = [self.native(a) for a in args]
        value = BUILTINS[name](*args)
        return list(value) if name in ("zip", "enumerate", "reversed") else value

    def method(self, value, name, node, scope):
        args = self.items(node.args, scope)
        named = {k: v for k, (v, _) in self.keywords(node, scope).items()}
        if isinstance(value, str) and name in TEXT_METHODS:
            if name == "join":
                parts = list(args[0])
                for p in parts:
                    if isinstance(p, Unknown):
                        return p
                args = [[self.plain(p) for p in parts]]
            for a in list(args) + list(named.values()):
                if isinstance(a, Unknown):
                    return a
            args = args if name == "join" else [self.native(a) for a in args]
            return getattr(str(value), name)(*args, **{k: self.native(v) for k, v in named.items()})
        if isinstance(value, list) and name in LIST_METHODS:
            if name == "extend" and isinstance(args[0], Unknown):
                return value.append(args[0])
            return getattr(value, name)(*args)
        if isinstance(value, list) and name == "add":
            return value.append(args[0])
        if isinstance(value, dict) and name in DICT_METHODS:
            out = getattr(value, name)(*args, **named)
            return list(out) if name in ("items", "keys", "values") else out
        if isinstance(value, Path) and name in ("resolve", "absolute", "expanduser"):
            return value
        if isinstance(value, Path) and name in ("as_posix", "__str__"):
            return value.text
        if isinstance(value, Path) and name == "joinpath":
            return Path(posixpath.join(value.text, *[self.plain(a) for a in args]))
        return self.run_time(node)

    def inline(self, f, args, named, node):
        """Returns the value of a call of the app's own function."""
        if self.calls >= 20:
            return Unknown("the functions of the app call each other too deeply")
        a, scope = f.node.args, Scope(f.scope)
        params = [p.arg for p in getattr(a, "posonlyargs", []) + a.args]
        for p, d in zip(params[len(params) - len(a.defaults) :], a.defaults):
            scope.names[p] = self.value(d, f.scope)
        for p, d in zip(a.kwonlyargs, a.kw_defaults):
            if d is not None:
                scope.names[p.arg] = self.value(d, f.scope)
        scope.names.update(zip(params, args))
        if a.vararg:
            scope.names[a.vararg.arg] = tuple(args[len(params) :])
        known = set(params) | {p.arg for p in a.kwonlyargs}
        scope.names.update({k: v for k, v in named.items() if k in known})
        if a.kwarg:
            scope.names[a.kwarg.arg] = {k: v for k, v in named.items() if k not in known}
        if isinstance(f.node, ast.Lambda):
            return self.value(f.node.body, scope)
        if isinstance(f.node, ast.AsyncFunctionDef) or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(f.node)):
            return self.run_time(node)
        self.calls += 1
        try:
            done = self.block(f.node.body, scope)
        finally:
            self.calls -= 1
        return done[1] if done and done[0] == "return" else None

    # --- statements ---

    def block(self, body, scope):
        """Follows statements; returns None, ("return", value), ("break",) or ("continue",)."""
        for i, s in enumerate(body):
            self.steps += 1
            if self.steps > STEPS:
                raise TooMuch("it needs more than %d steps" % STEPS)
            try:
                done = self.statement(s, scope)
            except EVERY:
                done = self.blur([s], scope, self.run_time(s))
            if done:
                self.skip(body[i + 1 :], "the app never reaches it")
                return done
        return None

    def statement(self, s, scope):
        if isinstance(s, (ast.Import, ast.ImportFrom)):
            self.imported(s, scope)
        elif isinstance(s, (ast.Assign, ast.AnnAssign)):
            if s.value is not None:
                value = self.value(s.value, scope)
                for t in s.targets if isinstance(s, ast.Assign) else [s.target]:
                    self.assign(t, value, scope)
        elif isinstance(s, ast.AugAssign):
            load = ast.copy_location(ast.Name(s.target.id, ast.Load()), s.target) if isinstance(s.target, ast.Name) else s.target
            self.assign(s.target, self.value(ast.copy_location(ast.BinOp(load, s.op, s.value), s), scope), scope)
        elif isinstance(s, ast.Expr):
            value = self.value(s.value, scope)
            if isinstance(value, Image) and value.parent:
                self.why.setdefault(id(value.node), ("the app does not use the result of this call", False))
        elif isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scope.names[s.name] = Function(s, scope)
            self.decorated(s, scope)
        elif isinstance(s, ast.ClassDef):
            inner = Scope(scope)
            self.block([x for x in s.body if not isinstance(x, (ast.FunctionDef, ast.AsyncFunctionDef))], inner)
            scope.names[s.name] = Object("class", s.name, inner.names)
            self.decorated(s, scope)
        elif isinstance(s, ast.Return):
            return ("return", self.value(s.value, scope) if s.value else None)
        elif isinstance(s, ast.Break):
            return ("break",)
        elif isinstance(s, ast.Continue):
            return ("continue",)
        elif isinstance(s, BLOCKS):
            return self.compound(s, scope)
        elif type(s).__name__ in ("Match", "TryStar"):
            self.blur([s], scope, self.run_time(s))
        return None

    def compound(self, s, scope):
        if isinstance(s, ast.If):
            return self.branch(s, scope)
        if isinstance(s, (ast.With, ast.AsyncWith)):
            for item in s.items:
                value = self.value(item.context_expr, scope)
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, self.unknown(value, item.context_expr), scope)
            return self.block(s.body, scope)
        if isinstance(s, ast.Try):
            done = self.block(s.body, scope)
            for h in s.handlers:
                self.skip(h.body, "it is under `except`")
            return done or self.block(s.orelse, scope) or self.block(s.finalbody, scope)
        return self.loop(s, scope)

    def loop(self, s, scope):
        if isinstance(s, ast.While):
            while True:
                test = self.value(s.test, scope)
                holds = self.holds(test)
                if holds is None:
                    self.blur(s.body, scope, self.unknown(test, s.test))
                    return None
                if not holds:
                    return self.block(s.orelse, scope)
                done = self.block(s.body, scope)
                if done and done[0] != "continue":
                    return done if done[0] == "return" else None
        values = self.value(s.iter, scope)
        values = list(values) if isinstance(values, (dict, str)) else values
        if not isinstance(values, (list, tuple, range)):
            self.blur(s.body, scope, self.unknown(values, s.iter))
            return None
        if not values:
            self.skip(s.body, "the loop over `%s` has no pass" % self.shown(s.iter))
        for v in list(values) if not isinstance(values, range) else values:
            self.assign(s.target, v, scope)
            done = self.block(s.body, scope)
            if done and done[0] != "continue":
                return done if done[0] == "return" else None
        return self.block(s.orelse, scope)

    def branch(self, s, scope):
        test = self.value(s.test, scope)
        holds = self.holds(test)
        if isinstance(s.test, ast.Name) and s.test.id == "TYPE_CHECKING":
            holds = False
        if holds is not None:
            self.skip(s.orelse if holds else s.body, "`%s` is %s" % (self.shown(s.test), holds))
            return self.block(s.body if holds else s.orelse, scope)
        test = self.unknown(test, s.test)
        before = {k: settable(v) for k, v in scope.names.items()}
        done_a, made = self.block(s.body, scope), scope.names
        scope.names = {k: settable(v) for k, v in before.items()}
        done_b, other = self.block(s.orelse, scope), scope.names
        scope.names = {}
        for name in list(made) + [k for k in other if k not in made]:
            a, b, old = made.get(name), other.get(name), before.get(name)
            if isinstance(old, Image):
                for x in (a, b):
                    if isinstance(x, Image):
                        self.blame(x, old, test.why)
                scope.names[name] = old
            elif name in made and name in other:
                scope.names[name] = self.either(a, b, test, s.test)
            else:
                x = made.get(name, other.get(name))
                scope.names[name] = x if isinstance(x, (Image, Function, Ref, Object)) else test
        if done_a and done_b:
            return (done_a[0], self.either(done_a[1], done_b[1], test, s.test)) if len(done_a) == len(done_b) == 2 else done_a
        for done in (done_a, done_b):
            if done and len(done) == 2 and isinstance(done[1], Image):
                self.blame(done[1], None, test.why)
        return None

    def blur(self, body, scope, test):
        """Forgets the values that statements assign, because only a run tells whether it reaches them."""
        self.skip(body, test.why, True)
        for top in body:
            for n in ast.walk(top):
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
                    if not isinstance(scope.get(n.id), Image):
                        scope.names[n.id] = test

    def skip(self, body, why, warning=False):
        for call in image_calls(body):
            self.why.setdefault(id(call), (why, warning))

    def imported(self, s, scope):
        for n in s.names:
            if isinstance(s, ast.Import):
                scope.names[n.asname or n.name.split(".")[0]] = Ref(n.name if n.asname else n.name.split(".")[0])
            elif n.name == "*":
                self.leave(s, "init does not read `%s`" % ("." * s.level + (s.module or "")))
            elif s.level or (s.module or "").split(".")[0] not in KNOWN_MODULES:
                text = "`%s` is defined in `%s`, which init does not read"
                scope.names[n.asname or n.name] = Unknown(text % (n.name, "." * s.level + (s.module or "")))
            else:
                scope.names[n.asname or n.name] = Ref(s.module + "." + n.name)

    def assign(self, target, value, scope):
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = value if isinstance(value, (list, tuple)) and len(value) == len(target.elts) else None
            for i, t in enumerate(target.elts):
                self.assign(t, values[i] if values and not isinstance(t, ast.Starred) else self.run_time(t), scope)
        elif isinstance(target, ast.Subscript):
            owner = self.value(target.value, scope)
            index = target.slice.value if type(target.slice).__name__ == "Index" else target.slice
            key = self.value(index, scope)
            if isinstance(owner, Ref) and owner.name == "os.environ" and key == "MODAL_IMAGE_BUILDER_VERSION":
                self.builder = self.pair(value, target) if isinstance(value, str) and not self.bad(value) else None
            elif isinstance(owner, (dict, list)) and not isinstance(key, Unknown):
                try:
                    owner[self.hashed(key)] = value
                except (IndexError, TypeError):
                    pass
        elif isinstance(target, ast.Attribute):
            owner = self.value(target.value, scope)
            if isinstance(owner, Object) and owner.kind == "app" and target.attr == "image" and isinstance(value, Image):
                self.changed.append([self.place(target), "modal 1.6.0 and later ignore this assignment: pass the image to `App(image=...)`"])
                owner.fields.setdefault("image", (value, target))

    def decorated(self, s, scope):
        for d in s.decorator_list:
            if isinstance(d, ast.Call) and isinstance(d.func, ast.Attribute) and d.func.attr in DECORATORS:
                owner = self.value(d.func.value, scope)
                if d.func.attr == "server" and not isinstance(owner, Object):
                    continue
                named = self.keywords(d, scope)
                fields = owner.fields if isinstance(owner, Object) and owner.kind == "app" else {}
                self.functions.append({"name": s.name, "kind": d.func.attr, "node": d, "args": named, "app": fields})
            else:
                self.value(d, scope)


# `from X import Y`: modules of Python and of Modal; those of the app are not read.
KNOWN_MODULES = set("modal os sys pathlib typing shlex json subprocess datetime time re dataclasses functools itertools "
                    "__future__ enum collections textwrap platform math string random uuid logging".split())  # fmt: skip


class Report:
    """Chooses the function and its image, and lists everything else."""

    def __init__(self, reader, wanted):
        self.r, self.wanted = reader, wanted

    @staticmethod
    def image_of(f):
        value = f["args"].get("image", f["app"].get("image", (None, None)))[0]
        return value if isinstance(value, Image) else None

    @staticmethod
    def unknown_image(f):
        """Returns why the image of a function is unknown, or None."""
        value = f["args"].get("image", f["app"].get("image", (None, None)))[0]
        return value.why if isinstance(value, Unknown) else None

    def choose(self):
        all_of = [f for f in self.r.functions if f["kind"] != "local_entrypoint"]
        if self.wanted:
            all_of = [f for f in all_of if f["name"] == self.wanted]
            if not all_of:
                names = ", ".join(f["name"] for f in self.r.functions) or "none"
                return None, None, "the app has no function `%s`; its functions: %s" % (self.wanted, names)
        on_gpu = [f for f in all_of if f["args"].get("gpu", (None,))[0] is not None]
        for f in on_gpu:
            if self.image_of(f):
                return f, self.image_of(f), None
        for f in on_gpu:
            if self.unknown_image(f):
                return f, None, self.unknown_image(f)
        for f in all_of:
            if self.image_of(f):
                return f, self.image_of(f), None
        f = (on_gpu + all_of + [None])[0]
        app = self.r.app and self.r.app.fields.get("image", (None,))[0]
        image = app if isinstance(app, Image) else None
        for candidate in [] if image or self.wanted else self.r.images:
            if image is None or len(candidate.chain()) > len(image.chain()):
                image = candidate
        why = None if image else f and self.unknown_image(f) or "it defines no image"
        return f, image, why

    def function(self, f):
        """Returns the options of the chosen function; what only the app can have is left out by the caller."""
        r, options = self.r, []
        named = dict(f["args"])
        for key in ("secrets", "volumes"):
            if key in f["app"]:
                (value, whole), (own, _) = f["app"][key], named.get(key, (None, None))
                both = {**value, **(own or {})} if isinstance(value, dict) and isinstance(own or {}, dict) else None
                both = list(value) + list(own or []) if isinstance(value, (list, tuple)) else both
                named[key] = (value if both is None else both, whole)
        for key, (value, whole) in named.items():
            if key != "image":
                node = whole.value if isinstance(whole, ast.keyword) else whole
                r.add_option(options, key, value if key != "volumes" else self.volumes(value, node), node, whole)
        return {"name": f["name"], "at": r.place(f["node"]), "options": options}

    def volumes(self, value, node):
        if not isinstance(value, dict):
            return value
        out = {}
        for k, v in value.items():
            if isinstance(v, Object) and v.kind == "volume" and isinstance(v.name, str):
                out[k] = v.name
            else:
                known = isinstance(v, Object)
                why = "it is no volume with a name: it stays in the app's function" if known else self.r.unknown(v, node).why
                self.r.leave(node, why, not known, what="volumes=%s" % (k if isinstance(k, str) else self.r.shown(node)))
        return out

    def others(self, f, image):
        r = self.r
        kept = {id(c.node) for c in image.chain()}
        used = {}
        for other in r.functions:
            of = self.image_of(other)
            for c in of.chain() if of else []:
                used.setdefault(id(c.node), other["name"])
        owner = {}
        for n in ast.walk(r.tree):
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for call in image_calls([n]):
                    owner.setdefault(id(call), n.name)
        done = set()
        for node in [i.node for i in r.images] + list(image_calls([r.tree])):
            if id(node) in kept or id(node) in done:
                continue
            done.add(id(node))
            why, warning = r.why.get(id(node), (None, False))
            if id(node) in used:
                why = "it belongs to the image of `%s`: `::%s` after the path selects that one" % ((used[id(node)],) * 2)
                warning = False
            elif not why and id(node) in owner and id(node) not in {id(i.node) for i in r.images}:
                why = "it is in `%s`, which the app does not call when it loads" % owner[id(node)]
            r.leave(node, why or "it belongs to an image that the selected function does not use", warning,
                    r.call_shown(node), r.call_place(node))  # fmt: skip
        for other in r.functions:
            if other is not f and self.unknown_image(other):
                r.leave(other["node"], self.unknown_image(other), what="image of %s" % other["name"])
            if other is not f:
                r.leave(other["node"], "it stays in the app, which can import the image", False,
                        "%s (@%s)" % (other["name"], r.shown(other["node"].func)))  # fmt: skip

    def out(self):
        r = self.r
        f, image, why = self.choose()
        if image is None:
            return {"error": why, "line": f["node"].lineno if f else 0, "found": len(r.functions)}
        before, r.left = r.left, []
        own = {id(n) for c in image.chain() for n in ast.walk(c.node)}
        function = self.function(f) if f else None
        self.others(f, image)
        # The arguments of other images are listed with their calls.
        of_others = {tuple(r.place(n)) for i in r.images for n in ast.walk(i.node) if hasattr(n, "lineno") and id(n) not in own}
        kept = [x for x in before if tuple(x[1]) not in of_others]
        name = r.app.name if r.app else None
        return {
            "calls": [{"call": c.method, "what": r.call_shown(c.node), "at": r.call_place(c.node), "words": c.words,
                       "options": c.options} for c in image.chain()],
            "function": function,
            "app": r.pair(name, r.tree.body[0]) if isinstance(name, str) and not r.bad(name) else None,
            "builder": r.builder,
            "left": unique(kept + r.left),
            "changed": unique(r.changed),
        }  # fmt: skip


def unique(rows):
    out, seen = [], set()
    for row in rows:
        key = json.dumps(row)
        if key not in seen:
            seen.add(key)
            out.append(row)
    return out


def clean(value):
    """Replaces the characters that not every reader of YAML takes, in texts that are only shown."""
    if isinstance(value, str):
        return "".join("?" if Reader.bad(c) else c for c in value)
    if isinstance(value, list):
        return [clean(v) for v in value]
    return {k: clean(v) for k, v in value.items()} if isinstance(value, dict) else value


def limit():
    import resource
    import signal

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)


def read(path, wanted):
    version = "Python %d.%d" % sys.version_info[:2]
    try:
        reader = Reader(sys.stdin.buffer.read(), path)
        sys.setrecursionlimit(8000)
        reader.block(reader.tree.body, reader.top)
        return Report(reader, wanted).out()
    except SyntaxError as e:
        return {"error": "%s cannot parse it: %s" % (version, e.msg), "line": e.lineno or 0, "syntax": True}
    except (RecursionError, TooMuch) as e:
        return {"error": str(e) if isinstance(e, TooMuch) else "its expressions are nested too deeply", "line": 0}
    except MemoryError:
        return {"error": "%s needs more than %d MiB to parse it, or its expressions are nested too deeply"
                % (version, MEMORY >> 20), "line": 0}  # fmt: skip
    except ValueError as e:
        return {"error": "%s cannot parse it: %s" % (version, e), "line": 0, "syntax": True}


if __name__ == "__main__":
    limit()
    found = read(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
    sys.stdout.buffer.write(json.dumps(clean(found), ensure_ascii=False).encode("utf-8", "replace") + b"\n")
