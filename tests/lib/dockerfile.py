"""Parses a Dockerfile like BuildKit, for tests.

in    the text of a Dockerfile
out   Instruction list (`read`), words and values (`pairs`, `flags`, `expand`), stages with the commands and the environment
      of each RUN (`stages`)
errors  Bad: BuildKit would reject the text, or engines of different ages would read it
        differently (a heredoc, a line that ends in two backslashes).  A rendered file must contain
        neither, so the parser rejects both.
source  moby/buildkit frontend/dockerfile/parser and shell; docker's Dockerfile reference.
        tests/suites/buildkit compares the predictions of this parser with the actions of engines.
"""

import json
import re
from dataclasses import dataclass, field

KNOWN = {
    "ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL",
    "MAINTAINER", "ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR",
}  # fmt: skip
# The instructions that docker 20.10, podman 4.3 and buildah 1.28 all support.
FLAGS = {"RUN": ("mount",), "COPY": ("from", "chown", "chmod"), "ADD": ("chown", "chmod"), "FROM": ("platform",)}
HEREDOC_IN = {"RUN", "COPY", "ADD"}
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A heredoc starts a word; a quoted word is not a heredoc.
HEREDOC = re.compile(r"\d*<<-?[^<]*$")


class Bad(ValueError):
    def __init__(self, line, why):
        super().__init__(f"line {line}: {why}")


@dataclass
class Instruction:
    line: int
    name: str
    flags: list  # "--mount=type=cache,..."
    rest: str  # the text after the flags, with continuation lines joined
    json: object = None  # the list if the exec form was used


@dataclass
class Run:
    line: int
    argv: list
    env: dict
    flags: list
    inherited: dict  # the variables that BuildKit adds to env: the ARGs of the stages below; buildah 1.28 does not


@dataclass
class Stage:
    base: str
    name: str
    line: int
    env: dict
    runs: list = field(default_factory=list)
    labels: dict = field(default_factory=dict)
    user: str = ""
    workdir: str = "/"
    copies: list = field(default_factory=list)  # (from or None, [source...], target)
    cmd: object = None
    entrypoint: object = None
    args: dict = field(default_factory=dict)
    inherited: dict = field(default_factory=dict)


def read(text):
    """Returns the instructions of a Dockerfile, in order."""
    if "\0" in text:
        raise Bad(1, "a NUL byte")
    if "\r" in text:
        raise Bad(1, "a carriage return")
    out, lines, at = [], text.split("\n"), 0
    if re.match(r"\s*#\s*(escape|syntax|check)\s*=", lines[0], re.I):
        raise Bad(1, "a parser directive: it needs a registry or changes how the rest is read")
    while at < len(lines):
        first, line = at + 1, lines[at].strip(" \t\v\f")
        at += 1
        if not line or line.startswith("#"):
            continue
        joined = ""
        while True:
            if re.search(r"\\\\[ \t]*$", line):
                raise Bad(at, "a line ends in two backslashes: engines differ on it")
            more = re.search(r"\\[ \t]*$", line)
            if not more:
                joined += line
                break
            joined += line[: more.start()]
            while True:
                if at >= len(lines):
                    raise Bad(at, "the file ends inside an instruction")
                line = lines[at]
                at += 1
                if not line.strip():
                    raise Bad(at, "an empty line inside an instruction")
                if not line.lstrip().startswith("#"):
                    break
        out.append(instruction(first, joined))
    if not out:
        raise Bad(1, "no instruction")
    return out


def instruction(line, text):
    m = re.match(r"(\S+)(?:\s+([\s\S]*))?$", text)
    name, rest = m.group(1).upper(), (m.group(2) or "").strip(" \t\v\f")
    if name not in KNOWN:
        raise Bad(line, f"unknown instruction: {m.group(1)}")
    if not rest:
        raise Bad(line, f"{name} without an argument")
    flags = []
    if name in {"RUN", "COPY", "ADD", "FROM", "HEALTHCHECK"}:
        flags, rest = take_flags(line, rest)
        for f in flags:
            if f[2:].partition("=")[0] not in FLAGS.get(name, ()):
                raise Bad(line, f"{name} {f}: not known to the oldest engines that are supported")
    if name in HEREDOC_IN:
        for word in raw_words(rest):
            if HEREDOC.match(word):
                raise Bad(line, f"a heredoc for engines that know them: {word}")
    i = Instruction(line, name, flags, rest)
    if name in {"RUN", "CMD", "ENTRYPOINT", "SHELL", "COPY", "ADD", "VOLUME"} and rest[0] == "[":
        try:
            i.json = json.loads(rest)
        except ValueError:
            i.json = None
        if not (isinstance(i.json, list) and all(isinstance(s, str) for s in i.json)):
            i.json = None  # engines then use it as shell text
        elif "\\/" in rest:
            raise Bad(line, "JSON with an escaped slash: engines differ on it")
    if name == "SHELL":
        raise Bad(line, "SHELL changes how every RUN is read")
    return i


def take_flags(line, rest):
    """Removes leading --flag=value words; a backslash escapes, and quotes group as in BuildKit's extractor."""
    flags = []
    while rest.startswith("--"):
        m = re.match(r"""((?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)(?:\s+|$)""", rest)
        if not m:
            raise Bad(line, "a flag that does not end")
        if any(c in m.group(1) for c in "\"'\\"):
            raise Bad(line, "a flag with a quote or backslash: engines differ on it")
        if m.group(1) == "--":
            rest = rest[m.end() :]
            break
        flags.append(m.group(1))
        rest = rest[m.end() :]
    return flags, rest


def raw_words(text):
    """Returns the words with their quotes, as the search for heredocs reads them."""
    out, word, quote, i = [], "", "", 0
    while i < len(text):
        c = text[i]
        if quote:
            word += c
            if c == "\\" and quote == '"' and i + 1 < len(text):
                i += 1
                word += text[i]
            elif c == quote:
                quote = ""
        elif c in "'\"":
            quote = c
            word += c
        elif c == "\\" and i + 1 < len(text):
            i += 1
            word += c + text[i]
        elif c.isspace():
            if word:
                out.append(word)
            word = ""
        else:
            word += c
        i += 1
    if word:
        out.append(word)
    return out


def pairs(i):
    """Returns [(name, raw value)] of ENV, LABEL or ARG, with quotes and variables."""
    words = raw_words(i.rest)
    if "=" not in words[0]:
        raise Bad(i.line, f"{i.name} in the form without `=`: its value is the whole line")
    out = []
    for w in words:
        name, eq, value = w.partition("=")
        if not eq or not name:
            raise Bad(i.line, f"{i.name}: no `=` in {w!r}")
        out.append((name, value))
    return out


def expand(line, text, env):
    """Expands a word: removes quotes, and replaces $NAME and ${NAME} from env."""
    out, i, n = "", 0, len(text)
    while i < n:
        c = text[i]
        if c == "'":
            end = text.find("'", i + 1)
            if end < 0:
                raise Bad(line, "an unclosed single quote")
            out += text[i + 1 : end]
            i = end + 1
        elif c == '"':
            i += 1
            while True:
                if i >= n:
                    raise Bad(line, "an unclosed double quote")
                c = text[i]
                if c == '"':
                    i += 1
                    break
                if c == "\\" and i + 1 < n and text[i + 1] in '"$\\':
                    out += text[i + 1]
                    i += 2
                elif c == "$":
                    value, i = variable(line, text, i, env)
                    out += value
                else:
                    out += c
                    i += 1
        elif c == "\\":
            if i + 1 < n:
                out += text[i + 1]
            i += 2
        elif c == "$":
            value, i = variable(line, text, i, env)
            out += value
        else:
            out += c
            i += 1
    return out


def variable(line, text, i, env):
    m = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))").match(text, i)
    if not m:
        if i + 1 < len(text) and (text[i + 1] == "{" or text[i + 1].isdigit() or text[i + 1] in "@*#?!$-"):
            raise Bad(line, f"${text[i + 1]}: a substitution that engines treat differently")
        return "$", i + 1
    return env.get(m.group(1) or m.group(2), ""), m.end()


def stages(text, bases=None):
    """Returns the stages in order; bases: {image: env}, the environment of each image."""
    out, by_name, args = [], {}, {}
    st, inherited = None, {}
    for i in read(text):
        if i.name == "FROM":
            words = i.rest.split()
            if len(words) not in (1, 3) or (len(words) == 3 and words[1].upper() != "AS"):
                raise Bad(i.line, "FROM image [AS name]")
            base = by_name.get(words[0].lower())
            st = Stage(words[0], words[2] if len(words) == 3 else "", i.line, {})
            if base:
                st.env, st.user, st.workdir = dict(base.env), base.user, base.workdir
                st.labels = dict(base.labels)
            else:
                st.env = dict((bases or {}).get(words[0], {}))
            out.append(st)
            by_name[str(len(out) - 1)] = st
            if st.name:
                by_name[st.name.lower()] = st
            inherited = {**base.inherited, **base.args} if base else {}
            st.inherited, st.args = inherited, {}
            args = st.args
            continue
        if st is None:
            if i.name != "ARG":
                raise Bad(i.line, f"{i.name} before FROM")
            continue
        scope = {**args, **st.env}
        if i.name == "ENV":
            # All pairs of one ENV use the environment before it.
            st.env.update({k: expand(i.line, v, scope) for k, v in pairs(i)})
        elif i.name == "LABEL":
            st.labels.update({expand(i.line, k, scope): expand(i.line, v, scope) for k, v in pairs(i)})
        elif i.name == "ARG":
            for w in raw_words(i.rest):
                k, eq, v = w.partition("=")
                if eq:
                    args[k] = expand(i.line, v, scope)
        elif i.name == "USER":
            st.user = expand(i.line, i.rest, scope)
        elif i.name == "WORKDIR":
            path = expand(i.line, i.rest, scope)
            st.workdir = path if path.startswith("/") else st.workdir.rstrip("/") + "/" + path
        elif i.name == "RUN":
            argv = i.json if i.json is not None else ["/bin/sh", "-c", i.rest]
            st.runs.append(Run(i.line, argv, {**args, **st.env}, i.flags, inherited))
        elif i.name in ("COPY", "ADD"):
            words = i.json if i.json is not None else raw_words(i.rest)
            words = [expand(i.line, w, scope) for w in words]
            if len(words) < 2:
                raise Bad(i.line, f"{i.name} needs a source and a target")
            source = next((f[7:] for f in i.flags if f.startswith("--from=")), None)
            st.copies.append((source, words[:-1], words[-1]))
        elif i.name == "CMD":
            st.cmd = i.json if i.json is not None else i.rest
        elif i.name == "ENTRYPOINT":
            st.entrypoint = i.json if i.json is not None else i.rest
    return out
