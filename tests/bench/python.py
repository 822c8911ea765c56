#!/usr/bin/env python3
"""Compares python/ with packaging: parsing versions, matching, parsing requirements, in one run.

Ours is timed twice: by python_bench itself, and from outside, which includes its start and the
parsing of JSON.
"""
import json
import os
import subprocess
import time

import packaging
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from measure import faster

BENCH = os.path.join(os.environ.get("BUILD", "build"), "python_bench")
OURS_REPEAT, PEER_REPEAT = 400, 4

VERSIONS = [f"{a}.{b}.{c}{s}" for a in range(1, 5) for b in (0, 2, 5, 11) for c in range(3)
            for s in ("", "", "+cu121", "rc1", ".post1", ".dev20240115")]
SPECS = ["", "<2", ">=1.0", ">=1.21,<2", "==2.2.2", "==2.2.*", "~=1.4.2", "!=1.5.0,>=1.2", ">=2.0,!=2.2.1,<3",
         "===2.2.2", ">2.2.1", "<=2.11.0", ">=1.0a1", "==2.2.2+cu121"]
REQS = ["torch==2.2.2", "numpy<2", "einops", "ninja", "packaging>=22", "transformers>=4.30,<5",
        "requests[security,socks]>=2.8.1,!=2.20.0; python_version < '3.8'", "triton==2.2.0; platform_system == 'Linux' "
        "and platform_machine == 'x86_64'", "mamba-ssm @ https://example.org/mamba_ssm-2.2.2-cp311-cp311-linux_x86_64.whl",
        "importlib-metadata (>=3.6); python_version < '3.10'", "typing_extensions~=4.8",
        "nvidia-cublas-cu12==12.1.3.1; platform_system == 'Linux' and platform_machine == 'x86_64' and extra != 'cpu'"]


def ours(repeat):
    given = json.dumps({"versions": VERSIONS, "specs": SPECS, "reqs": REQS * 8, "repeat": repeat})
    start = time.perf_counter()
    out = subprocess.run([BENCH], input=given, text=True, capture_output=True, check=True).stdout
    return json.loads(out), time.perf_counter() - start


def peer(repeat):
    sets = [SpecifierSet(s) for s in SPECS]
    parse = match = req = 0.0
    for _ in range(repeat):
        t0 = time.perf_counter()
        versions = [Version(s) for s in VERSIONS]
        t1 = time.perf_counter()
        matched = sum(s.contains(v) for v in versions for s in sets)
        t2 = time.perf_counter()
        for r in REQS * 8:
            Requirement(r)
        t3 = time.perf_counter()
        parse, match, req = parse + t1 - t0, match + t2 - t1, req + t3 - t2
    calls = len(VERSIONS), len(VERSIONS) * len(SPECS), len(REQS) * 8
    each = [t / repeat / n for t, n in zip((parse, match, req), calls)]
    return each, matched, (parse + match + req) / repeat


def main():
    theirs, matched, round_s = peer(PEER_REPEAT)
    mine, wall_s = ours(OURS_REPEAT)
    assert mine["matched"] == matched, f"{mine['matched']} pairs match, packaging finds {matched}"
    name = f"packaging {packaging.__version__}"
    faster("python: parse a version", mine["parse_us"] / 1e6, theirs[0], name, 10)
    faster("python: match", mine["match_us"] / 1e6, theirs[1], name, 10)
    faster("python: parse a requirement", mine["req_us"] / 1e6, theirs[2], name, 30)
    faster("python: all of it, from outside", wall_s / OURS_REPEAT, round_s, name, 10)


main()
