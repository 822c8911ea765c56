"""keep_base.py TORCH [FILE]: writes constraints that keep the torch of the base image.

Writes base.txt next to itself: the installed versions of torch and of the packages that belong to it, and the
constraints of the image in FILE, if it exists.  pip then neither replaces nor reinstalls them.
Exit status: 0; 1 if this Python has no torch, or another one than TORCH.
Standard library only, Python 3.8 and later.
"""
import os
import re
import sys
from importlib import metadata

COMPANIONS = ("torch", "torchvision", "torchaudio", "torchtext", "torchao", "torch-tensorrt", "triton", "pytorch-triton")


def normal(name):
    return re.sub("[-_.]+", "-", name).lower()


def installed():
    """Returns name -> version of the packages that belong to torch; Python imports the first one of a name."""
    found = {}
    for dist in metadata.distributions():
        name = normal(dist.metadata["Name"] or "")
        if name in COMPANIONS or name.startswith("nvidia-"):
            found.setdefault(name, dist.version)
    return found


def main():
    if len(sys.argv) not in (2, 3):
        print("usage: keep_base.py TORCH [FILE]", file=sys.stderr)
        return 2
    found = installed()
    planned, version = sys.argv[1], found.get("torch")
    if not version:
        print("keep_base: %s has no torch: the base image should bring torch %s" % (sys.executable, planned),
              file=sys.stderr)
        return 1
    if version.split("+")[0] != planned:
        print("keep_base: the base image has torch %s; the plan has torch %s" % (version, planned), file=sys.stderr)
        return 1
    lines = ["%s==%s" % pair for pair in sorted(found.items())]
    lines += ["-c " + path for path in sys.argv[2:] if os.path.exists(path)]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "base.txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
