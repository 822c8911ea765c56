"""Parses shell text into tokens, for tests: its commands, and the text of each word.

in    text that POSIX sh or bash accepts
out   a list of tokens:
      ("op", ";")                      an operator or the end of a line
      ("word", ("text", ...))          a word: texts after quote removal, and between them
                                       expansions as ("$", raw text) or ("$(", tokens)
      ("here", text)                   the body of a here-document
      `plain(token)` is the text of a word without expansions, else None
errors  Bad: an unclosed quote, substitution or here-document; text that sh and bash read differently
source  POSIX.1-2017, Shell Command Language 2.2, 2.3, 2.6; bash's $'...'
"""

OPERATORS = ("<<-", "<<<", "&&", "||", ";;", "<<", ">>", "<&", ">&", "<>", ">|", "&>", ";", "&", "|", "(", ")", "<", ">")  # fmt: skip
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


class Bad(ValueError):
    pass


class Lexer:
    def __init__(self, text):
        self.text, self.i = text, 0

    def tokens(self, until=None):
        out, heres = [], []
        while True:
            while self.i < len(self.text) and self.text[self.i] in " \t":
                self.i += 1
            if self.text.startswith("\\\n", self.i):
                self.i += 2
                continue
            if self.i >= len(self.text):
                if until:
                    raise Bad("an unclosed substitution")
                if heres:
                    raise Bad("a here-document without its body")
                return out
            c = self.text[self.i]
            if until and c == until and not self.depth(out):
                self.i += 1
                return out
            if c == "\n":
                self.i += 1
                out.append(("op", "\n"))
                for end, quoted, strip in heres:
                    out.append(self.here(end, quoted, strip))
                heres = []
            elif c == "#":
                end = self.text.find("\n", self.i)
                self.i = len(self.text) if end < 0 else end
            else:
                op = next((o for o in OPERATORS if self.text.startswith(o, self.i)), None)
                if op:
                    self.i += len(op)
                    out.append(("op", op))
                else:
                    start = self.i
                    out.append(("word", self.word()))
                    if len(out) > 1 and out[-2] in (("op", "<<"), ("op", "<<-")):
                        raw = self.text[start : self.i]
                        heres.append((plain(out[-1]), any(q in raw for q in "'\"\\"), out[-2][1] == "<<-"))

    @staticmethod
    def depth(out):
        ops = [t[1] for t in out if t[0] == "op"]
        return max(ops.count("(") - ops.count(")"), 0)

    def here(self, end, quoted, strip):
        body = []
        while True:
            if self.i >= len(self.text):
                raise Bad("a here-document that does not end")
            stop = self.text.find("\n", self.i)
            line = self.text[self.i :] if stop < 0 else self.text[self.i : stop]
            self.i = len(self.text) if stop < 0 else stop + 1
            if strip:
                line = line.lstrip("\t")
            if line == end:
                return ("here", "\n".join(body), quoted)
            body.append(line)

    def word(self):
        parts, text = [], ""

        def flush():
            nonlocal text
            if text:
                parts.append(text)
            text = ""

        seen = False
        while self.i < len(self.text):
            c = self.text[self.i]
            if c in " \t\n;&|()<>":
                break
            seen = True
            if c == "'":
                end = self.text.find("'", self.i + 1)
                if end < 0:
                    raise Bad("an unclosed single quote")
                text += self.text[self.i + 1 : end]
                self.i = end + 1
            elif c == '"':
                self.i += 1
                while True:
                    if self.i >= len(self.text):
                        raise Bad("an unclosed double quote")
                    c = self.text[self.i]
                    if c == '"':
                        self.i += 1
                        break
                    if c == "\\" and self.i + 1 < len(self.text):
                        n = self.text[self.i + 1]
                        text += n if n in '"\\$`' else "" if n == "\n" else c + n
                        self.i += 2
                    elif c in "$`":
                        e = self.expansion()
                        if isinstance(e, str):
                            text += e
                        else:
                            flush()
                            parts.append(e)
                    else:
                        text += c
                        self.i += 1
            elif c == "\\":
                n = self.text[self.i + 1 : self.i + 2]
                text += "" if n == "\n" else n
                self.i += 2
            elif c == "$" and self.text.startswith("$'", self.i):
                text += self.ansi()
            elif c == "$" and self.text.startswith('$"', self.i):
                raise Bad('$": bash translates it, sh does not')
            elif c in "$`":
                e = self.expansion()
                if isinstance(e, str):
                    text += e
                else:
                    flush()
                    parts.append(e)
            elif c in "*?[~{":
                # Characters that a shell expands outside quotes (bash: also braces).
                flush()
                parts.append(("*", c))
                self.i += 1
            else:
                text += c
                self.i += 1
        flush()
        assert seen
        return tuple(parts) or ("",)

    def ansi(self):
        self.i += 2
        out = ""
        while True:
            if self.i >= len(self.text):
                raise Bad("an unclosed $'")
            c = self.text[self.i]
            self.i += 1
            if c == "'":
                return out
            if c != "\\":
                out += c
                continue
            c = self.text[self.i : self.i + 1]
            self.i += 1
            if c == "x":
                out += chr(int(self.text[self.i : self.i + 2], 16))
                self.i += 2
            else:
                out += ESCAPES.get(c, c if c in "\\'\"?" else "\\" + c)

    def expansion(self):
        t, i = self.text, self.i
        if t[i] == "`":
            end = i + 1
            while end < len(t) and t[end] != "`":
                end += 2 if t[end] == "\\" else 1
            if end >= len(t):
                raise Bad("an unclosed backtick")
            self.i = end + 1
            return ("$", t[i : end + 1])
        n = t[i + 1 : i + 2]
        if n == "(" and t.startswith("$((", i):
            end = t.find("))", i)
            if end < 0:
                raise Bad("an unclosed $((")
            self.i = end + 2
            return ("$", t[i : end + 2])
        if n == "(":
            self.i = i + 2
            return ("$(", tuple(self.tokens(until=")")))
        if n == "{":
            depth, end = 1, i + 2
            while end < len(t) and depth:
                if t[end] == "\\":
                    end += 1
                elif t[end] in "'\"":
                    close = t.find(t[end], end + 1)
                    end = len(t) if close < 0 else close
                elif t[end] == "{":
                    depth += 1
                elif t[end] == "}":
                    depth -= 1
                end += 1
            if depth:
                raise Bad("an unclosed ${")
            self.i = end
            return ("$", t[i:end])
        if n.isalpha() or n == "_":
            end = i + 1
            while end < len(t) and (t[end].isalnum() or t[end] == "_"):
                end += 1
            self.i = end
            return ("$", t[i:end])
        if n and n in "0123456789@*#?-$!":
            self.i = i + 2
            return ("$", t[i : i + 2])
        self.i = i + 1
        return "$"


def tokens(text):
    return Lexer(text).tokens()


def plain(token):
    if token[0] == "word" and all(isinstance(p, str) for p in token[1]):
        return "".join(token[1])
    return None


def commands(text):
    """Returns lists of words, one for each simple command: for texts whose words have no relevant expansions."""
    out, now = [], []
    for t in tokens(text):
        if t[0] == "op" and t[1] in (";", "&&", "||", "|", "&", "\n", "(", ")", ";;"):
            if now:
                out.append(now)
            now = []
        elif t[0] == "word":
            p = plain(t)
            now.append(p if p is not None else t[1])
        else:
            now.append(t)
    if now:
        out.append(now)
    return out
