"""Runs inside an image: the extension was compiled against this torch, and only for this GPU."""

import struct
import sys

import einops
import numpy
import torch  # before the extension, which needs its libraries

import tiny_ext  # isort: skip

assert torch.__version__.split("+")[0] == "2.11.0" and torch.version.cuda == "13.0", torch.__version__
assert numpy.__version__.startswith("1."), numpy.__version__
assert einops.rearrange(torch.ones(2, 3), "a b -> b a").shape == (3, 2)


def gpu_code(data):
    """Yields the entries of a fat binary: magic, version, header size, size; then entries of kind and architecture."""
    at = 0
    while (at := data.find(b"\x50\xed\x55\xba", at)) >= 0:
        _, head, size = struct.unpack_from("<HHQ", data, at + 4)
        entry, end = at + head, at + head + size
        while entry < end:
            kind, _, head, size = struct.unpack_from("<HHIQ", data, entry)
            yield {1: "compute_", 2: "sm_"}[kind] + str(struct.unpack_from("<I", data, entry + 28)[0])
            entry += head + size
        at = end


with open(tiny_ext.__file__, "rb") as f:
    code = list(gpu_code(f.read()))
assert code == ["sm_89"], f"compiled for {code}, not for the recipe's GPU alone"
print("imports tiny_ext for sm_89 with torch", torch.__version__, "numpy", numpy.__version__,
      "python", sys.version.split()[0])  # fmt: skip
