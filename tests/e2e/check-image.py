"""Run inside an image: the extension was compiled against this torch, for this GPU and no other."""

import sys

import einops
import numpy
import tiny_ext
import torch

assert torch.__version__.split("+")[0] == "2.11.0" and torch.version.cuda == "13.0", torch.__version__
assert numpy.__version__.startswith("1."), numpy.__version__
assert einops.rearrange(torch.ones(2, 3), "a b -> b a").shape == (3, 2)
with open(tiny_ext.__file__, "rb") as f:
    code = f.read()
assert b"sm_89" in code, "no code for the recipe's GPU"
others = [n for n in (75, 80, 86, 90, 100, 120) if b"sm_%d" % n in code]
assert not others, f"code for other GPUs: {others}"
try:
    tiny_ext.twice(torch.ones(3))
    gpu = "ran"
except Exception as e:
    gpu = str(e).split("\n")[0][:60]
print("imports tiny_ext for sm_89 with torch", torch.__version__, "numpy", numpy.__version__,
      "python", sys.version.split()[0] + "; twice() on the CPU:", gpu)  # fmt: skip
