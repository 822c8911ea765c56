#!/usr/bin/env python3
"""Print src/python/unicode_table.h from this Python's Unicode data.

packaging reads text with Python's idea of white space, word characters,
identifiers and lower case; the table holds that idea.  The suite python-packaging
compares the file with this script's output where the Unicode version is the same.
"""
import unicodedata

WORD, ID_START, ID_PART, SPACE, CASED, IGNORED = 1, 2, 4, 8, 16, 32


def flags(cp):
    ch = chr(cp)
    f = 0
    if ch.isalnum() or ch == "_":
        f |= WORD
    if ch.isidentifier():
        f |= ID_START
    if ("a" + ch).isidentifier():
        f |= ID_PART
    if ch.isspace():
        f |= SPACE
    # A capital sigma shows which characters its lower case depends on.
    if "\u03c2" in (ch + "\u03a3").lower():
        f |= CASED
    elif "\u03c2" in ("A" + ch + "\u03a3").lower():
        f |= IGNORED
    return f


def class_runs():
    """[classes, count]: from 0 on, so many characters have these classes."""
    runs = []
    for cp in range(0x110000):
        f = flags(cp)
        if runs and runs[-1][0] == f:
            runs[-1][1] += 1
        else:
            runs.append([f, 1])
    return runs


def lower_runs():
    """[first, last, step, delta]: each step-th of first..last becomes itself + delta."""
    runs = []
    for cp in range(0x80, 0x110000):
        low = chr(cp).lower()
        if len(low) > 1 or ord(low) == cp:
            continue
        delta = ord(low) - cp
        if runs and runs[-1][3] == delta:
            r = runs[-1]
            step = cp - r[1]
            if (r[0] == r[1] and step in (1, 2)) or (r[0] != r[1] and step == r[2]):
                r[1:3] = [cp, step]
                continue
        runs.append([cp, cp, 1, delta])
    return runs


def lower_cells():
    end = 0
    for first, last, step, delta in lower_runs():
        yield f"{first - end} {last - first} {step} {delta} "
        end = last


def literal(cells):
    line = ""
    for c in cells:
        if len(line) + len(c) > 89:
            yield f'\t"{line}"'
            line = ""
        line += c
    yield f'\t"{line.rstrip()}";'


RUNS = class_runs()
SETS = sorted({f for f, n in RUNS})

print(f"/* Unicode {unicodedata.unidata_version} in Python, printed by tests/python/unicode_table.py. */")
print("// clang-format off")
print("#ifndef PYTHON_UNICODE_TABLE_H")
print("#define PYTHON_UNICODE_TABLE_H")
print()
print(f'#define UNICODE_TABLE_VERSION "{unicodedata.unidata_version}"')
print()
print("/* Runs of characters from 0 on: the set that holds their classes, and how many (1: left out). */")
print("static const unsigned char unicode_sets[] = {", ", ".join(map(str, SETS)), "};")
print("static const char unicode_classes[] =")
print("\n".join(literal(chr(ord("A") + SETS.index(f)) + (str(n) if n > 1 else "") for f, n in RUNS)))
print()
print("/*")
print(" * Runs of characters with a lower case: how far the first is from the last of the run before, how")
print(" * far the last is from the first, which step leads from one to the next, how far the lower case is.")
print(" */")
print("static const char unicode_lower[] =")
print("\n".join(literal(lower_cells())))
print()
print("#endif")
print("// clang-format on")
