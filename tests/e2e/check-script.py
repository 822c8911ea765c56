"""Runs in the venv that the script target made: the requested packages are installed and work."""

import einops
import numpy
import torch

assert torch.__version__.split("+")[0] == "2.2.2", torch.__version__
assert numpy.__version__.startswith("1."), numpy.__version__
assert torch.arange(6.0).numpy()[5] == 5
assert einops.rearrange(torch.ones(2, 3), "a b -> b a").shape == (3, 2)
print("imports torch", torch.__version__, "numpy", numpy.__version__, "einops", einops.__version__)
