"""Shows the devices that torch sees, and tests a computation on the GPU, for `stackbuild run --debug`."""
import os
import sys


def show(what, value):
    print(f"  {what + ':':<24}{value}", flush=True)


def main():
    show("Python", f"{sys.version.split()[0]} ({sys.executable})")
    for name in ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "PYTORCH_CUDA_ALLOC_CONF"):
        if name in os.environ:
            show(name, repr(os.environ[name]))
    try:
        import torch
    except Exception as e:  # an import may fail with anything
        show("torch", f"cannot be imported: {type(e).__name__}: {e}")
        return 1
    available = torch.cuda.is_available()
    show("torch", torch.__version__)
    show("CUDA available", available)
    show("CUDA version", torch.version.cuda or "none: a CPU build")
    show("device count", torch.cuda.device_count())
    if not available:
        show("initialisation test", "not run: CUDA is not available")
        return 1
    show("cuDNN version", torch.backends.cudnn.version())
    show("current device", torch.cuda.current_device())
    show("device name", torch.cuda.get_device_name())
    show("memory", "%d of %d MiB free" % tuple(n >> 20 for n in torch.cuda.mem_get_info()))
    x = torch.randn(256, 256, device="cuda")
    difference = (x @ x - (x.cpu() @ x.cpu()).cuda()).abs().max().item()
    torch.cuda.synchronize()
    good = difference < 0.5  # a product of 256 terms, with TF32 at worst
    show("initialisation test", "passed" if good else f"FAILED: the product differs by {difference:.3g}")
    return 0 if good else 1


try:
    sys.exit(main())
except Exception as error:  # what CUDA says is the answer
    show("initialisation test", f"FAILED: {type(error).__name__}: {error}")
    sys.exit(1)
