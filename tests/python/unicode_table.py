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


def classes():
    last = None
    for cp in range(0x110000):
        f = flags(cp)
        if f != last:
            yield f"0x{cp << 8 | f:07x},"
            last = f


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
    for a, b, step, delta in runs:
        yield f"{{ 0x{a:x}, 0x{b:x}, {step}, {delta} }},"


def fill(cells):
    line = "\t"
    for c in cells:
        if len(line.expandtabs(8)) + len(c) > 99:
            yield line.rstrip(" ")
            line = "\t"
        line += c + " "
    yield line.rstrip(" ")


print("/*")
print(f" * Unicode {unicodedata.unidata_version} as Python sees it; printed by")
print(" * tests/python/unicode_table.py.")
print(" */")
print("// clang-format off")
print("#ifndef PYTHON_UNICODE_TABLE_H")
print("#define PYTHON_UNICODE_TABLE_H")
print()
print("#include <stdint.h>")
print()
print(f'#define UNICODE_TABLE_VERSION "{unicodedata.unidata_version}"')
print()
print("/* Where a run of equal characters starts, shifted left by 8, and their classes. */")
print("static const uint32_t unicode_classes[] = {")
print("\n".join(fill(classes())))
print("};")
print()
print("/* Each step-th character from first to last: its lower case is itself + delta. */")
print("static const struct {")
print("\tuint32_t first, last, step;")
print("\tint32_t delta;")
print("} unicode_lower[] = {")
print("\n".join(fill(lower_runs())))
print("};")
print()
print("#endif")
print("// clang-format on")
