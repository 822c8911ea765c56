#!/usr/bin/env python3
"""What packaging.tags.sys_tags() yields on machines other than this one.

    record_tags.py > tests/python/tags.txt

Each line `= MAJOR MINOR FREE_THREADED MACHINE GLIBC MUSL` is a machine; its tags follow, best first.
"""
from unittest import mock

import packaging
from packaging import _manylinux, _musllinux, tags

TARGETS = [(3, 11, 0, "x86_64", (2, 36), None), (3, 13, 1, "aarch64", (2, 28), None), (3, 7, 0, "x86_64", (2, 12), None),
           (3, 12, 0, "aarch64", None, (1, 2)), (3, 9, 0, "i686", (2, 6), None), (3, 10, 0, "mips64", (2, 36), None),
           (3, 2, 0, "s390x", (2, 17), None), (2, 7, 0, "x86_64", (2, 5), None)]


def tags_of(major, minor, free, machine, glibc, musl):
    config = {"Py_GIL_DISABLED": free, "Py_DEBUG": 0, "WITH_PYMALLOC": 1, "Py_UNICODE_SIZE": 4}
    with mock.patch.object(tags, "_get_config_var", lambda name, warn=False: config.get(name)), \
            mock.patch.object(tags.sysconfig, "get_platform", lambda: "linux-" + machine), \
            mock.patch.object(_manylinux, "_get_glibc_version", lambda: glibc or (-1, -1)), \
            mock.patch.object(_manylinux, "_is_linux_i686", lambda _: True), \
            mock.patch.object(_musllinux, "_get_musl_version", lambda _: musl and _musllinux._MuslVersion(*musl)):
        found = list(tags.cpython_tags((major, minor), platforms=list(tags._linux_platforms(is_32bit=False))))
        found += tags.compatible_tags((major, minor), interpreter=f"cp{major}{minor}",
                                      platforms=list(tags._linux_platforms(is_32bit=False)))
    return [str(t) for t in found]


def recorded():
    yield f"# tags of packaging {packaging.__version__}, printed by tests/python/record_tags.py"
    for target in TARGETS:
        major, minor, free, machine, glibc, musl = target
        yield "= {} {} {} {} {}.{} {}.{}".format(major, minor, free, machine, *glibc or (0, 0), *musl or (0, 0))
        yield from tags_of(*target)


if __name__ == "__main__":
    print("\n".join(recorded()))
