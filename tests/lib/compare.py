"""Compares two rendered files that may differ only in one value: a file and its harmless twin.

Both are parsed by the rules of their language (dockerfile.py, shell.py, Python's ast, pip's lines)
into trees: instructions, commands, operators, words.  The trees must be equal after the other value replaces
the twin's in whole words and strings, so a value that became an instruction,
an option's end, an expansion or a second word is a difference.

    why = difference("dockerfile", twin text, text, twin value, values)     None: it is the twin

values: the texts that may replace the twin's value (verbatim, in its normal form).
"""

import ast
import functools
import json
import re

import dockerfile
import shell

DIGEST = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{16})\b")


class Different(Exception):
    pass


def difference(target, twin_text, text, twin, values):
    try:
        same(READERS[target](twin_text), READERS[target](text), twin, values, target)
    except Different as e:
        return str(e)
    except (dockerfile.Bad, shell.Bad, SyntaxError, ValueError) as e:
        return f"not readable as {target}: {e}"
    return None


def same(a, b, twin, values, at):
    if type(a) is not type(b):
        raise Different(f"{at}: {short(a)} became {short(b)}")
    if isinstance(a, str):
        x, y = without_digests(a), without_digests(b)
        if not any(x.replace(twin, v) == y for v in values) and not inside(x, y, twin, values, at):
            raise Different(f"{at}: {short(a.replace(twin, values[0]))} became {short(b)}")
    elif isinstance(a, dict):
        keys = next((k for k in ([k.replace(twin, v) for k in a] for v in values) if sorted(k) == sorted(b)), None)
        if keys is None:
            raise Different(f"{at}: keys {short(sorted(a))} became {short(sorted(b))}")
        for k, now in zip(a, keys):
            if k == "name" and isinstance(a[k], str) and isinstance(b[now], str):
                if any(bare(a[k].replace(twin, v)) == bare(b[now]) for v in values):
                    continue
            same(a[k], b[now], twin, values, f"{at}.{k}")
    elif isinstance(a, list) and a[:1] == ["constraint"] == b[:1]:
        # Names of packages are written in their normal form.
        if not any(bare(a[1].replace(twin, v)) == bare(b[1]) for v in values):
            raise Different(f"{at}: {short(a[1].replace(twin, values[0]))} became {short(b[1])}")
    elif isinstance(a, (list, tuple)):
        for n, (x, y) in enumerate(zip(a, b)):
            same(x, y, twin, values, f"{at}/{n}")
        if len(a) != len(b):
            more = a[len(b) :] or b[len(a) :]
            raise Different(f"{at}: {len(a)} parts became {len(b)}: {short(more[0])}")
    elif a != b:
        raise Different(f"{at}: {a!r} became {b!r}")


# A line of constraints: a name, and its versions.
PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[^\]]*\])?\s*([<>=!~@;].*)?$")


def inside(a, b, twin, values, at):
    """Returns the parts of a text that are files in another language: JSON, or lines of constraints."""
    try:
        trees = json.loads(a), json.loads(b)
    except ValueError:
        lines = a.split("\n"), b.split("\n")
        if "\n" in a and len(lines[0]) == len(lines[1]) and all(PINNED.match(x) for x in lines[0] if x):
            return all(
                any(bare(x.replace(twin, v)) == bare(y) for v in values) and bool(PINNED.match(y)) == bool(x)
                for x, y in zip(*lines)
            )
        return False
    if not all(isinstance(t, (dict, list)) for t in trees):
        return False
    same(*trees, twin, values, at + ":json")
    return True


def bare(s):
    """Returns a line of constraints in its normal form: names without extras."""
    return normal(re.sub(r"\[[^\]]*\]", "", s))


def normal(s):
    return re.sub(r"[-_.]+", "-", re.sub(r"\s", "", s)).lower().replace("'", '"')


def without_digests(s):
    return DIGEST.sub("<digest>", s)


def short(x):
    s = repr(x)
    return s if len(s) < 300 else s[:300] + "..."


# --- shell ---


def sh_tree(text):
    return commands(shell.tokens(text))


def commands(tokens):
    """Returns the tokens; a `printf FORMAT LINE... > PATH` is the file that it writes."""
    out, i = [], 0
    while i < len(tokens):
        t = tokens[i]
        if shell.plain(t) == "printf" and i + 1 < len(tokens) and shell.plain(tokens[i + 1]) == "%s\\n":
            lines, k = [], i + 2
            while k < len(tokens) and tokens[k][0] == "word" and shell.plain(tokens[k]) is not None:
                lines.append(shell.plain(tokens[k]))
                k += 1
            if k + 1 < len(tokens) and tokens[k] in (("op", ">"), ("op", ">>")):
                path = shell.plain(tokens[k + 1]) or str(tokens[k + 1])
                out.append(["file", tokens[k][1], path, content(path, "\n".join(lines) + "\n")])
                i = k + 2
                continue
        if t == ("op", "\n") and (not out or out[-1] == ["op", "\n"]):
            i += 1  # a blank line or a comment: a long title needs more of these lines
            continue
        if t[0] == "word":
            out.append(["word", *(p if isinstance(p, str) else part(p) for p in t[1])])
        elif t[0] == "here":
            out.append(["here", t[2], t[1]])
        else:
            out.append(list(t))
        i += 1
    return out


def part(p):
    return [p[0], commands(list(p[1]))] if p[0] == "$(" else list(p)


def content(path, text):
    """Returns the content of a written file, parsed by the rules of its language."""
    if path.endswith(".json"):
        return ["json", json.loads(text)]
    if path.endswith(".py"):
        return ["python", py_tree(text)]
    if path.endswith("constraints.txt"):
        return ["constraints", [["constraint", line] for line in text.split("\n")]]
    if path.endswith(".sh"):
        return ["sh", sh_tree(text)]
    return ["text", text.split("\n")]


# --- Dockerfile ---


@functools.lru_cache(4096)
def instruction_tree(name, flags, rest, is_json, line):
    i = dockerfile.Instruction(line, name, list(flags), rest)
    if is_json:
        words = json.loads(rest)
        if name in ("COPY", "ADD"):  # engines expand these again
            words = [dockerfile.expand(line, w, Unexpanded()) for w in words]
            return [name, list(flags), words]  # the other form means the same
        return [name, list(flags), "json", words]
    if name == "RUN":
        return [name, list(flags), sh_tree(rest)]
    if name in ("ENV", "LABEL"):
        scope = Unexpanded()
        return [name, [[dockerfile.expand(line, k, scope), dockerfile.expand(line, v, scope)] for k, v in dockerfile.pairs(i)]]  # fmt: skip
    if name in ("COPY", "ADD"):
        return [name, list(flags), [dockerfile.expand(line, w, Unexpanded()) for w in dockerfile.raw_words(rest)]]
    return [name, list(flags), rest.split()]


class Unexpanded(dict):
    """A variable as a marked text, so that a value with `$PATH` differs from one that the shell expands."""

    def get(self, key, default=None):
        return f"\0{key}\0"


def dockerfile_tree(text):
    return [
        instruction_tree(i.name, tuple(i.flags), i.rest, i.json is not None, 0) for i in dockerfile.read(text)
    ]


# --- Python ---

# Strings with shell text: arguments of these calls, and these keywords.
SH_CALLS = {"run_commands", "dockerfile_commands"}
SH_KEYWORDS = {"extra_options"}


def py_tree(text):
    return node(ast.parse(text.encode()), False)  # bytes, because the first lines may name an encoding


def node(n, is_sh):
    if isinstance(n, ast.Constant):
        if isinstance(n.value, str):
            return ["sh", sh_tree(n.value)] if is_sh else ["str", n.value]
        return ["const", repr(n.value)]
    if isinstance(n, ast.Call):
        name = n.func.attr if isinstance(n.func, ast.Attribute) else getattr(n.func, "id", "")
        return [
            "call",
            node(n.func, False),
            [node(x, name in SH_CALLS) for x in n.args],
            [[str(k.arg), node(k.value, k.arg in SH_KEYWORDS)] for k in n.keywords],
        ]
    if isinstance(n, ast.AST):
        return [type(n).__name__, [[f, node(v, is_sh)] for f, v in ast.iter_fields(n)]]
    if isinstance(n, list):
        return [node(x, is_sh) for x in n]
    return ["id", n] if isinstance(n, str) else ["const", repr(n)]


# --- pip ---


def pip_tree(text):
    """Returns the lines as pip reads them: encoding (PEP 263), line ends (str.splitlines), continuation, comments, options."""
    out = []
    for line in text.split("\n")[:2]:
        named = re.search(r"coding[:=]\s*([-\w.]+)", line) if line.startswith("#") else None
        text = text.encode().decode(named[1]) if named else text
    for line in re.sub(r"\\\n", "", text).splitlines():
        line = re.sub(r"(^|\s+)#.*$", "", line).strip()
        if line:
            kind = "option" if line.startswith("-") else "variable" if re.search(r"\$\{[A-Z0-9_]+\}", line) else "line"
            out.append([kind, line])
    return out


# --- definition files of Apptainer ---


def def_tree(text):
    """Returns the header, then the sections, each of which begins with a line whose first word starts with %."""
    parts = [["header", ""]]
    for line in text.split("\n"):
        if line.lstrip().startswith("%"):
            parts.append([line.strip(), ""])
        else:
            parts[-1][1] += line + "\n"
    scripts = ("%post", "%environment", "%test", "%runscript")
    return [[name, sh_tree(body) if name in scripts else pip_tree(body)] for name, body in parts]


READERS = {
    "apptainer": def_tree,
    "dockerfile": dockerfile_tree,
    "modal": py_tree,
    "script": sh_tree,
    "requirements": pip_tree,
    "constraints": lambda text: [["constraint", line] if kind == "line" else [kind, line] for kind, line in pip_tree(text)],
}
