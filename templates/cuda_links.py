"""cuda_links.py LINK: the toolkit of PyPI's CUDA 13 wheels as a CUDA_HOME.

The wheels unpack below nvidia/cu13 without what linkers look for: lib64, and libX.so
beside libX.so.13.  Makes those links there, and LINK itself, which points to the toolkit.
Safe to run twice.  Standard library only.
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
        print("cuda_links: the wheels of CUDA 13 are not installed here", file=sys.stderr)
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
