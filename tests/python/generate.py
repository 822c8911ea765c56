"""Lines for python_cli, made up from a seed: by grammar, then damaged."""
import random
import re

# What looks like something else: digits, letters whose other case is ASCII, white space, ...
HOSTILE = list("１٣²½ſKıİßΣςσǅéÉ\u0301\u200b\ufeff\u2028\u3000\u00a0\u2003\u0085\u001c\u000b\u202e😀\U0010ffff")
CONTROL = list("\n\r\t\0\x01\x1f\x7f ")
ASCII = list("0123456789abcdevprctxyzABCDEVPRCTZ.-_+!*,;=<>~()[]@'\"\\ /")
DAMAGE = HOSTILE + CONTROL * 2 + ASCII * 3


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def pick(self, *options):
        return self.rng.choice(options)

    def maybe(self, p, f):
        return f() if self.rng.random() < p else ""

    def case(self, s):
        r = self.rng.random()
        return s if r < 0.7 else s.upper() if r < 0.85 else "".join(self.pick(c, c.upper()) for c in s)

    def damaged(self, s):
        """One to three small changes."""
        s = list(s)
        for _ in range(self.rng.randint(1, 3)):
            at = self.rng.randint(0, len(s))
            what = self.rng.randrange(5)
            if what == 0 or not s:
                s.insert(at, self.rng.choice(DAMAGE))
            elif what == 1:
                s[min(at, len(s) - 1)] = self.rng.choice(DAMAGE)
            elif what == 2:
                del s[min(at, len(s) - 1)]
            elif what == 3:
                s[at:at] = s[max(0, at - self.rng.randint(1, 4)):at]
            else:
                other = self.rng.randrange(len(s))
                at = min(at, len(s) - 1)
                s[at], s[other] = s[other], s[at]
        return "".join(s)

    def perhaps_damaged(self, s, p=0.25):
        return self.damaged(s) if self.rng.random() < p else s

    # --- versions ---

    def number(self):
        r = self.rng.random()
        if r < 0.8:
            return str(self.rng.randrange(5))
        if r < 0.9:
            return str(self.rng.randrange(3000))
        if r < 0.95:
            return "0" * self.rng.randint(1, 3) + str(self.rng.randrange(20))
        edge = self.rng.choice([10**17, 10**18, 2**60, 2**62, 2**63, 2**64, 10**36, 10**40])
        return str(edge + self.rng.randint(-2, 2))

    def sep(self):
        return self.pick("", "", ".", "-", "_")

    def count(self):
        return self.maybe(0.85, lambda: self.sep() + self.maybe(0.9, self.number))

    def release(self, least=1):
        return ".".join(self.number() for _ in range(self.rng.choice([1, 2, 2, 3, 3, 3, 4, 5]) + least - 1))

    def suffix(self):
        pre = self.maybe(0.25, lambda: self.sep() + self.case(
            self.pick("a", "alpha", "b", "beta", "c", "rc", "pre", "preview")) + self.count())
        post = self.maybe(0.2, lambda: self.pick(
            "-" + self.number(), self.sep() + self.case(self.pick("post", "rev", "r")) + self.count()))
        dev = self.maybe(0.2, lambda: self.sep() + self.case("dev") + self.count())
        return pre + post + dev

    def part(self):
        return self.pick(self.number(), self.case(self.pick("cu121", "cu118", "cpu", "ubuntu", "abc", "a", "0a", "b9")))

    def local(self):
        return "+" + self.part() + "".join(self.pick(".", "-", "_") + self.part()
                                           for _ in range(self.rng.choice([0, 0, 1, 2])))

    def plain(self, p_local=0.2):
        return (self.maybe(0.05, lambda: self.case("v")) + self.maybe(0.06, lambda: self.number() + "!")
                + self.release() + self.suffix() + self.maybe(p_local, self.local))

    def version(self):
        s = self.plain()
        if self.rng.random() < 0.05:
            s = self.space() + s + self.space()
        return self.perhaps_damaged(s)

    def close(self, s):
        """A version near to another one: what comparisons have trouble with."""
        return self.rng.choice([
            lambda: s, lambda: s + ".0", lambda: s + self.local(), lambda: s + ".dev" + self.number(),
            lambda: s + ".post" + self.number(), lambda: s.split("+")[0], lambda: s + self.pick("a", "b", "rc") + "1",
            lambda: s[:-1] + self.number(), lambda: s + "." + self.number(), lambda: "0!" + s, self.plain])()

    def space(self):
        return self.pick("", " ", "  ", "\t", "\n", "\u3000", "\x1c", "\x85", "\u200b")

    # --- specifiers ---

    def clause(self, near=None):
        op = self.pick(">=", "<=", ">", "<", "==", "!=", "~=", "==", "!=", "===")
        v = near if near and self.rng.random() < 0.7 else self.plain(0.3 if op in ("==", "!=", "===") else 0.03)
        if op == "===":
            v = self.pick(v, v.upper(), "weird", "x,y", "É", "ΑΣ")
        elif op in ("==", "!=") and self.rng.random() < 0.3:
            v = re.search(r"(?:[0-9]+!)?[0-9.]*[0-9]", near)[0] if near and self.rng.random() < 0.5 else self.release()
            v += ".*"
        elif op not in ("==", "!=") and self.rng.random() < 0.95:
            v = v.split("+")[0]
        if op == "~=" and self.rng.random() < 0.9:
            v = re.sub(r"^(v?(?:[0-9]+!)?[0-9]+)(?![0-9.!])", r"\1.0", v, flags=re.I)
        return op + self.pick("", "", "", " ", "\t") + v

    def specifiers(self, near=None):
        clauses = [self.clause(near) for _ in range(self.rng.choice([0, 1, 1, 1, 2, 2, 3, 4]))]
        if len(clauses) > 1 and self.rng.random() < 0.2:
            clauses.append(self.rng.choice(clauses))
        return self.pick(",", ",", ", ", " ,").join(clauses) + self.maybe(0.05, lambda: ",")

    # --- requirements and markers ---

    NAMES = ["torch", "numpy", "Foo.Bar", "a", "A-b_c", "x2", "mamba_ssm", "causal-conv1d", "foo_", "Zope.Interface"]
    VARIABLES = ["python_version", "python_full_version", "os_name", "sys_platform", "platform_release",
                 "platform_system", "platform_version", "platform_machine", "platform_python_implementation",
                 "implementation_name", "implementation_version", "extra", "os.name", "sys.platform",
                 "platform.version", "platform.machine", "platform.python_implementation", "python_implementation"]
    SETS = ["extras", "dependency_groups"]
    VALUES = ["posix", "linux", "win32", "x86_64", "CPython", "cpython", "Linux", "3.8", "3.11", "3.11.7", "3.1", "3",
              "3.12.0a1", "5.10.0-28-amd64", "dev", "Foo.Bar", "foo-bar", "FOO__bar", "", "3.8.*", "3.13.0a1+",
              "python_version", "os_name", "a b", "É", "=3.8", "1!2"]

    def blank(self):
        return self.pick("", "", " ", " ", "  ", "\t")

    def name(self):
        return self.rng.choice(self.NAMES)

    def quoted(self, s):
        if self.rng.random() < 0.06:
            s += self.pick("\\n", "\\x41", "\\101", "\\u00e9", "\\U0001f600", "\\'", "\\\"", "\\\\", "\\q", "\\",
                           "\\\n", "\\8", "\\400", "\\x4", "\\u12", "\\N", "\n", "\\0", "\\t", "'", '"')
        q = self.pick('"', "'", '"')
        return q + s + q

    def value(self):
        return self.rng.choice(self.VALUES) if self.rng.random() < 0.8 else self.plain()

    def item(self):
        op = self.pick("==", "!=", "<", "<=", ">", ">=", "in", "not in", "==", ">=", "<", "not  in")
        if self.rng.random() < 0.05:
            op = self.pick("~=", "===")
        gap = " " if op[0] in "in" else self.blank()
        r = self.rng.random()
        if r < 0.7:
            left, right = self.rng.choice(self.VARIABLES), self.quoted(self.value())
        elif r < 0.85:
            left, right = self.quoted(self.value()), self.rng.choice(self.VARIABLES)
        elif r < 0.95:
            left, right = self.quoted(self.value()), self.rng.choice(self.SETS)
            op = self.pick("in", "not in", "in", "==", "!=", op)
            gap = " "
        elif r < 0.98:
            left, right = self.rng.choice(self.VARIABLES), self.rng.choice(self.VARIABLES + self.SETS)
        else:
            left, right = self.quoted(self.value()), self.quoted(self.value())
        return left + gap + op + gap + right

    def marker(self, depth=0):
        def atom():
            if depth < 3 and self.rng.random() < 0.2:
                return "(" + self.blank() + self.marker(depth + 1) + self.blank() + ")"
            return self.item()
        s = atom()
        for _ in range(self.rng.choice([0, 0, 0, 1, 1, 2, 3])):
            s += " " + self.pick("and", "or") + self.pick(" ", "  ") + atom()
        return self.blank() + s + self.blank()

    def env(self):
        env = {v: self.value() for v in self.VARIABLES if "." not in v and v != "python_implementation"}
        if self.rng.random() < 0.7:
            env.update(python_version="3.11", python_full_version="3.11.7", os_name="posix", sys_platform="linux",
                       platform_system="Linux", platform_machine="x86_64", implementation_version="3.11.7")
        for s in self.SETS:
            env[s] = [self.name() for _ in range(self.rng.randrange(3))]
        if self.rng.random() < 0.1:
            env[self.rng.choice(self.SETS)] = self.value()
        if self.rng.random() < 0.1:
            del env[self.rng.choice(list(env))]
        return env

    def requirement(self):
        s = self.blank() + self.name() + self.blank()
        if self.rng.random() < 0.3:
            s += "[" + (self.blank() + "," + self.blank()).join(self.name() for _ in range(self.rng.randrange(4))) + "]"
        s += self.blank()
        r = self.rng.random()
        if r < 0.15:
            s += "@" + self.blank() + self.pick("https://x.org/a.whl", "git+https://x.org/a@v1", "file:///a b", "a;b", "é") \
                + self.pick("", " ", " ", "\t")
        elif r < 0.4:
            s += "(" + self.blank() + self.specifiers() + self.blank() + ")" + self.blank()
        else:
            s += self.specifiers() + self.blank()
        if self.rng.random() < 0.4:
            s += ";" + self.marker()
        return self.perhaps_damaged(s)

    # --- wheels ---

    def wheel(self):
        def tags(*options):
            return ".".join(self.rng.choice(options) for _ in range(self.rng.choice([1, 1, 1, 2, 3])))
        parts = [self.pick("torch", "Foo_Bar", "a.b", "numpy", "x__y", "é", "naïve", "Σ", "_", "a2"), self.plain()]
        if self.rng.random() < 0.3:
            parts.append(self.pick("1", "007", "2a", "0", "12_x.y", "x", "1\u00e9", "18446744073709551617abc"))
        parts += [tags("cp311", "py3", "py2", "CP310", "cp313t", "pp39", "été", "3"),
                  tags("cp311", "none", "abi3", "CP310", "cp313t"),
                  tags("any", "linux_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "win_amd64", "ß")]
        return self.perhaps_damaged("-".join(parts) + self.pick(".whl", ".whl", ".whl", ".whl", ".whl", ".WHL"))

    # --- lines ---

    def line(self):
        r = self.rng.random()
        if r < 0.2:
            return {"op": "version", "s": self.version()}
        if r < 0.35:
            a = self.plain()
            return {"op": "cmp", "a": self.perhaps_damaged(a, 0.05), "b": self.close(a)}
        if r < 0.65:
            v = self.plain()
            spec = self.specifiers(self.close(v))
            return {"op": "match", "spec": self.perhaps_damaged(spec, 0.1), "v": self.perhaps_damaged(v, 0.1),
                    "pre": self.pick(None, True, False)}
        if r < 0.82:
            return {"op": "req", "s": self.requirement()}
        if r < 0.93:
            return {"op": "marker", "s": self.perhaps_damaged(self.marker(), 0.15), "env": self.env()}
        return {"op": "tags", "file": self.wheel()}


def lines(seed, n):
    g = Generator(seed)
    return [g.line() for _ in range(n)]
