"""A pytest plugin that writes tests/python/vectors/ from packaging's own tests.

In the unpacked sdist of packaging, with pytest and pretend installed:

    PYTHONPATH=TESTS/python python -m pytest -p record_vectors tests/test_{version,specifiers,...}.py

What those tests hand to packaging becomes the question, what packaging says the answer.
"""
import json
import os
import sys

import answers
import packaging
import vectors
from packaging import markers, requirements, specifiers, tags, utils, version

# What a marker does not set itself: CPython 3.11 on Linux.
ENV = {"implementation_name": "cpython", "implementation_version": "3.11.7", "os_name": "posix",
       "platform_machine": "x86_64", "platform_python_implementation": "CPython",
       "platform_release": "6.1.0-18-amd64", "platform_system": "Linux",
       "platform_version": "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1", "python_full_version": "3.11.7",
       "python_version": "3.11", "sys_platform": "linux", "extra": ""}
seen = {}


def record(**line):
    try:
        text = json.dumps(line)
    except TypeError:
        return
    seen[text] = line


def wrap(owner, name, note):
    original = getattr(owner, name)

    def wrapper(*args, **kwargs):
        note(*args, **kwargs)
        return original(*args, **kwargs)
    setattr(owner, name, wrapper)


def on_version(_, s):
    if isinstance(s, str):
        record(op="version", s=s)


def on_contains(spec, item, prereleases=None, **_):
    if spec._prereleases is None:
        record(op="match", spec=str(spec), v=str(item), pre=prereleases)


def on_specifier(_, spec="", **__):
    if isinstance(spec, str):
        record(op="match", spec=spec, v="1.0", pre=None)
        record(op="req", s="x" + spec)


def on_marker(_, s):
    if isinstance(s, str):
        record(op="marker", s=s, env=ENV)


def on_evaluate(marker, environment=None, context="metadata"):
    given = {k: sorted(v) if isinstance(v, (set, frozenset)) else v for k, v in (environment or {}).items()}
    record(op="marker", s=str(marker), env={**ENV, **given})


def on_tag(tag, **_):
    record(op="tags", file=f"x-1-{tag}.whl")


wrap(version.Version, "__init__", on_version)
wrap(specifiers.Specifier, "__init__", on_specifier)
wrap(specifiers.SpecifierSet, "__init__", on_specifier)
wrap(specifiers.Specifier, "contains", on_contains)
wrap(specifiers.SpecifierSet, "contains", on_contains)
wrap(requirements.Requirement, "__init__", lambda _, s: record(op="req", s=s))
wrap(markers.Marker, "__init__", on_marker)
wrap(markers.Marker, "evaluate", on_evaluate)
wrap(utils, "parse_wheel_filename", lambda file, **_: record(op="tags", file=file))
wrap(tags, "parse_tag", on_tag)


def pytest_sessionfinish():
    os.makedirs(vectors.FOLDER, exist_ok=True)
    head = {"source": f"PyPI: packaging {packaging.__version__}, its tests",
            "licence": "Apache-2.0 OR BSD-2-Clause", "copyright": "Donald Stufft and individual contributors",
            "rows": "see tests/python/vectors.py"}
    rows = {"order": sys.modules["tests.test_version"].VERSIONS}
    for line in list(seen.values()):
        op = line["op"]
        rows.setdefault(op, []).append(vectors.to_row(op, line, answers.answer(line), ENV))
    for op, table in rows.items():
        with open(os.path.join(vectors.FOLDER, op + ".jsonl"), "w", encoding="utf-8") as f:
            print(json.dumps({**head, "env": ENV} if op == "marker" else head), file=f)
            for row in table:
                print(json.dumps(row, ensure_ascii=False, separators=(",", ":")), file=f)
