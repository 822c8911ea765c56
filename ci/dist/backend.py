"""The build backend (PEP 517) of pyproject.toml: compiles stackbuild, and writes its wheel for this machine.

    pip install .        also: pip wheel, uv pip install, and a git+https:// URL of this repository

It requires make, a C compiler and the libraries of `make deps`, and no Python package.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time

sys.dont_write_bytecode = True
import wheelfile  # noqa: E402

# The Debian package, a header and the linker's name of each library that the Makefile links.
LIBRARIES = [
    ("libpcre2-dev", "pcre2.h", "pcre2-8"), ("libyaml-dev", "yaml.h", "yaml"), ("zlib1g-dev", "zlib.h", "z"), ("libssl-dev", "openssl/sha.h", "crypto"),
    ("libgit2-dev", "git2.h", "git2"), ("libcurl4-openssl-dev", "curl/curl.h", "curl"), ("libarchive-dev", "archive.h", "archive"),
    ("libelf-dev", "libelf.h", "elf"), ("libjansson-dev", "jansson.h", "jansson"),
]  # fmt: skip


def flags(name, default=""):
    return shlex.split(os.environ.get(name) or default)


def links(header, library):
    """Returns whether the compiler finds a header and its library."""
    source = f"#define PCRE2_CODE_UNIT_WIDTH 8\n#include <{header}>\nint main(void) {{ return 0; }}\n"
    words = [*flags("CC", "cc"), *flags("CFLAGS"), "-x", "c", "-", "-o", os.devnull, *flags("LDFLAGS"), *([f"-l{library}"] if library else [])]
    return subprocess.run(words, input=source.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def missing():
    """Returns what is missing, as rows of a text and the Debian packages that have it."""
    rows = []
    if not shutil.which("make"):
        rows.append(("make", "make"))
    compiler = flags("CC", "cc")[0]
    if not shutil.which(compiler) or not links("stdio.h", None):
        return [*rows, (f"a C compiler that works (`{compiler}`)", "gcc libc6-dev"), *((h, p) for p, h, _ in LIBRARIES)]
    return rows + [(f"{header} (-l{library})", package) for package, header, library in LIBRARIES if not links(header, library)]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    if not sys.platform.startswith("linux"):
        sys.exit("error: stackbuild runs only on Linux; on Windows, use WSL 2")
    rows = missing()
    if rows:
        sys.exit("error: cannot compile stackbuild, because this machine lacks\n" + "".join(f"    {text}\n" for text, _ in rows) +
                 f"help: on Debian or Ubuntu, run: sudo apt-get install {' '.join(package for _, package in rows)}\n"
                 "    elsewhere, install the packages that have these files; a wheel of `make dist` needs no compiler")  # fmt: skip
    build = os.environ.get("BUILD") or "build"
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    if subprocess.run(["make", f"-j{len(os.sched_getaffinity(0))}", f"BUILD={build}", "all"], env=env, stdout=subprocess.DEVNULL).returncode:
        sys.exit("error: the compile failed: see the lines above")
    programs = {name: wheelfile.read(f"{build}/{name}") for name in ("stackbuild", "stackbuild-world")}
    docs = wheelfile.documents(os.path.abspath(f"{build}/stackbuild"))
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return wheelfile.write(wheel_directory, platform, programs, docs, {"LICENSE": wheelfile.read("LICENSE")}, epoch)
