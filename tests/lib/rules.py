"""The rules of the knowledge base and the collected causes of broken stacks, with their tests.

    tests/lib/rules.py NAME...    shows rules of the knowledge base by name, and rows of tests/rules/collected.tsv by id

Classes of the collected causes:
    fact        follows from the knowledge base, by one of its rules or by a row of src/resolve/rows.def
    check       reported for the recipe, by a row of src/resolve/checks.def or by the reader of the value
    prevented   the plan adds the pin, the flag or the file, and nothing is reported; the test shows the rendered file
    later       appears only at run time; the first word names the command that reports it
A source begins with its kind: quoted from reports of users, code read in sources and tables, inferred from them (a warning
at most, except R070 and R078), or general knowledge.
"""

import os
import re
import sys

import yaml

ROOT = os.environ.get("ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def path(*names):
    return os.path.join(ROOT, *names)


def read(*names):
    with open(path(*names), encoding="utf-8") as f:
        return f.read()


def one_line(text):
    return " ".join(str(text).split())


def cases():
    """Returns the output of each golden case on one line, by the name of the case."""
    found = {}
    for area in sorted(os.listdir(path("tests"))):
        if area == "stacks" or not os.path.isdir(path("tests", area)):
            continue
        for file in sorted(os.listdir(path("tests", area))):
            if file.endswith(".test"):
                parts = re.split(r"(?m)^@(?:STDOUT|STDERR)$", read("tests", area, file))
                found[f"{area}/{file[:-5]}"] = one_line(" ".join(parts[1:]))
    return found


class Rule:
    """A rule of the knowledge base. test, near: names of golden cases, or None."""

    def __init__(self, file, name, fields, sources):
        self.file, self.id = file, name
        self.when = fields["when"]
        self.severity = fields["severity"]
        self.sentence = one_line(fields["sentence"])
        self.code = fields.get("code")
        self.research = str(fields.get("research", "")).split()
        given = fields.get("source", [])
        names = given if isinstance(given, list) else [given]
        self.source = "; ".join(one_line(sources.get(n, n)) for n in names)
        self.test = self.near = None

    def shown(self, text):
        """Returns whether a text on one line has the sentence, with any values for its variables."""
        parts = re.split(r"\{[^}]*\}", self.sentence)
        if max(parts, key=len) not in text:  # much faster than the search
            return False
        return re.search(".+?".join(re.escape(p) for p in parts), text) is not None

    def find_tests(self, printed):
        """Returns the first case that has the sentence and has a -near case without it; the case of the rule's own name takes precedence."""
        hits = [n for n in printed if self.shown(printed[n])]
        hits.sort(key=lambda n: (n != f"fit/{self.id}", n))
        good = [n for n in hits if f"{n}-near" in printed and not self.shown(printed[f"{n}-near"])]
        if good:
            self.test, self.near = good[0], f"{good[0]}-near"
        elif hits:
            self.test = hits[0]


def rules():
    """Returns the rules of the knowledge base in the order of the files, with their tests."""
    printed, found = cases(), []
    files = ["knowledge/rules.yaml"] + sorted(f"knowledge/{d}/{n}" for d in ("extensions", "packages")
                                              for n in os.listdir(path("knowledge", d)))
    for file in files:
        data = yaml.load(read(file), yaml.CSafeLoader)
        for name, fields in (data.get("rules") or {}).items():
            found.append(Rule(file, name, fields, data.get("sources") or {}))
            found[-1].find_tests(printed)
    return found


def codes(known):
    """Returns the codes by which rows.def and the rules of the knowledge base report each collected rule."""
    ids = {name: code for file in sorted(os.listdir(path("src/base/codes")))
           for name, code in re.findall(r'(?m)^CODE\((\w+), "(SB\d+)"', read("src/base/codes", file))}  # fmt: skip
    told_by = {}
    row = r'(?m)^CONSTRAINT_\w+\(\w+, \w+, STRENGTH_(?:ERROR|WARNING), (\w+), \d+,\s*"([^"]*)"'
    for code, names in re.findall(row, read("src/resolve/rows.def")):
        for i in names.split():
            told_by.setdefault(i, set()).add(ids[code])
    for rule in known:
        for i in rule.research:
            told_by.setdefault(i, set()).add(rule.code or ids["E_FIT" if rule.severity == "error" else "W_FIT_PAIR"])
    return told_by


def collected(known):
    """Returns the rows of collected.tsv with their tests, the codes, and the rules that report them."""
    lines = [x for x in read("tests/rules/collected.tsv").splitlines() if not x.startswith("#")]
    names, told_by = lines[0].split("\t"), codes(known)
    for line in lines[1:]:
        row = dict(zip(names, line.split("\t"), strict=True))
        row["codes"] = sorted(told_by.get(row["id"], ())) if row["class"] == "fact" else row["codes"].split()
        row["rules"] = [r.id for r in known if row["id"] in r.research]
        area = "fit" if os.path.exists(path("tests/fit", row["id"] + ".test")) else "rules"
        row["test"], row["near"] = f"{area}/{row['id']}", f"{area}/{row['id']}-near"
        yield row


def show(names):
    """Prints the rules and the collected causes with these names or ids, with their tests."""
    known = rules()
    for r in known:
        if r.id in names:
            print(f"{r.id}: {r.sentence}\n  when    {', '.join(f'{k}: {v}' for k, v in r.when.items())}\n  file    {r.file}\n"
                  f"  tests   {r.test} {r.near}\n  source  {r.source}")  # fmt: skip
    for r in collected(known):
        if r["id"] in names:
            print(f"{r['id']}: {r['title']}\n  class   {r['class']}, {r['severity']} {' '.join(r['codes'])}\n  by      {' '.join([r['how'], *r['rules']])}\n"
                  f"  tests   {r['test']} {r['near']}\n  source  {r['source']}")  # fmt: skip


if __name__ == "__main__":
    show(sys.argv[1:])
