"""cuda_links.py LINK: makes a CUDA_HOME of the toolkit in PyPI's CUDA 13 wheels.

The wheels unpack to nvidia/cu13 without the names that linkers search for: lib64, and libX.so
next to libX.so.13.  The program creates these links, and LINK, which points to the toolkit.
It can run twice.  Standard library only.
"""
import os
import sys


def link(target, path):
    if os.path.islink(path):
        if os.readlink(path) == target:
            return
        os.remove(path)
    if not os.path.lexists(path):
        os.symlink(target, path)


def main():
    if len(sys.argv) != 2:
        print("usage: cuda_links.py LINK", file=sys.stderr)
        return 2
    try:
        import nvidia.cu13
    except ImportError:
        print("cuda_links: the wheels of CUDA 13 are not installed", file=sys.stderr)
        return 1
    home = list(nvidia.cu13.__path__)[0]
    lib = os.path.join(home, "lib")
    for name in sorted(os.listdir(lib)):
        stem, dot, number = name.partition(".so.")
        if dot and number[:1].isdigit():
            link(name, os.path.join(lib, stem + ".so"))
    link("lib", os.path.join(home, "lib64"))
    link(home, sys.argv[1])
    if not os.access(os.path.join(home, "bin", "nvcc"), os.X_OK):
        print("cuda_links: no nvcc in %s" % home, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
