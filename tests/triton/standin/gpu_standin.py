"""A simulated GPU for torch and Triton: its memory is the host's, Triton's interpreter runs its kernels, and torch's
own code for the processor does the rest.  GPU_FAULT selects one fault of tests/triton/faults.tsv.

It replaces torch's queries of the driver (torch.cuda.device, get_device_properties, the profiler), pins one configuration of each
autotuned kernel, and changes nothing in the tested code: templates/verify, mamba_ssm and causal_conv1d.
"""

import os
import types
import weakref

FAULT = os.environ.get("GPU_FAULT", "")
launched = []  # names of the kernels, as the profiler shows them
memory = {"now": 0, "peak": 0}
OPERATIONS = ("add", "mul", "matmul", "sum", "tanh", "einsum", "copy_")


changed, reached = None, set()  # of tests/triton/run: the selected change of a kernel, and the reached ones


def change(n, neutral):
    """Returns a factor (neutral: 1) that is a hundredth too large for the selected change, or a term (neutral: 0) that is then 1."""
    reached.add(n)
    return neutral + (0.01 if neutral else 1) if n == changed else neutral


def fault(name):
    return FAULT == name


def launch(name):
    launched.append(name)


class Placed:
    """A context manager that does nothing: torch.cuda.device, torch.cuda.Stream."""

    def __init__(self, *args, **kwargs):
        self.index = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def synchronize(self):
        pass


class Event:
    device_type = "DeviceType.CUDA"

    def __init__(self, name):
        self.name = name
        self.time_range = types.SimpleNamespace(elapsed_us=lambda: 1.0)


class Profile:
    def __init__(self, *args, **kwargs):
        self.first = 0

    def __enter__(self):
        self.first = len(launched)
        return self

    def __exit__(self, *error):
        return False

    def events(self):
        return [] if fault("profiler-blind") else [Event(n) for n in launched[self.first:]]


def freed(size):
    memory["now"] -= size


def took(torch, tensor):
    """Counts the memory of a tensor on the GPU for as long as it lives."""
    if fault("memory-unused"):
        return tensor
    size = tensor.numel() * tensor.element_size()
    memory["now"] += size
    memory["peak"] = max(memory["peak"], memory["now"])
    weakref.finalize(tensor, freed, size)
    return tensor


def is_gpu(torch, value):
    return isinstance(value, (str, torch.device)) and str(value).startswith("cuda")


def into_torch(torch):
    streams = []

    class Stream(Placed):
        def __enter__(self):
            streams.append(self)
            return self

        def __exit__(self, *error):
            streams.pop()

    def to_gpu(tensor):
        copy = tensor.clone()
        if fault("copy-bit") and not copy.requires_grad and copy.numel() > 64:
            copy.view(-1)[copy.numel() // 2] += 1
        return took(torch, copy)

    def wrong(func, out):
        """Returns the result of a GPU with the fault instead of the correct one."""
        if not isinstance(out, torch.Tensor) or out.dtype == torch.float64:
            return out
        name = func.__name__
        if name in ("matmul", "__matmul__") and fault("product-wrong"):
            out = out.clone()
            out[-1, -1] += 2
        if name in ("matmul", "__matmul__") and out.dtype == torch.bfloat16 and fault("product-bfloat16"):
            out = out * 1.5
        if name == "sum" and not out.dim() and fault("sum-short"):
            out = out + 1
        if streams and name in ("mul", "__mul__") and fault("stream-lost") and streams[-1].number == 1:
            out = torch.zeros_like(out)
        return out

    class Gpu(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, kinds, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if func is torch.Tensor.cuda:
                if fault("launch-fails"):
                    raise RuntimeError("CUDA error: no kernel image is available for execution on the device")
                return to_gpu(args[0])
            moved = is_gpu(torch, kwargs.get("device")) or (func is torch.Tensor.to and any(is_gpu(torch, a) for a in args[1:]))
            if is_gpu(torch, kwargs.get("device")):
                del kwargs["device"]
            args = tuple(args[:1]) + tuple(a for a in args[1:] if not is_gpu(torch, a))
            if func is torch.Tensor.to and moved:
                out = args[0].to(*args[1:], **kwargs) if len(args) > 1 or kwargs else args[0]
                return to_gpu(out)
            out = func(*args, **kwargs)
            if func.__name__ in OPERATIONS:
                launch("at::native::" + func.__name__)
            return took(torch, out) if moved and isinstance(out, torch.Tensor) else wrong(func, out)

    numbers = iter(range(1 << 30))

    def stream(*args, **kwargs):
        made = Stream()
        made.number = next(numbers)
        return made

    def crash():
        os.kill(os.getpid(), 11)

    cuda = torch.cuda
    properties = types.SimpleNamespace(name="Stand-in", multi_processor_count=4, major=9, minor=0, total_memory=1 << 30)
    replaced = {
        "is_available": lambda: True, "device_count": lambda: 0 if fault("no-device") else 1, "current_device": lambda: 0,
        "get_device_name": lambda *a: "Stand-in", "get_device_capability": lambda *a: (9, 0),
        "get_device_properties": lambda *a: properties, "device": Placed, "Stream": stream, "stream": lambda s: s,
        "synchronize": lambda *a: crash() if fault("crash") else None, "set_device": lambda *a: None,
        "reset_peak_memory_stats": lambda *a: memory.update(peak=memory["now"]),
        "memory_allocated": lambda *a: memory["now"], "max_memory_allocated": lambda *a: memory["peak"],
        "is_bf16_supported": lambda *a: True,
    }  # fmt: skip
    for name, value in replaced.items():
        setattr(cuda, name, value)
    torch.profiler.profile = Profile
    Gpu().__enter__()


def into_triton(triton):
    from triton.runtime import interpreter

    autotune, run = triton.autotune, interpreter.GridExecutor.__call__

    def size(config):
        product = 1
        for value in config.kwargs.values():
            product *= value if isinstance(value, int) else 1
        return product

    def pinned(configs, *args, **kwargs):
        return autotune([min(configs, key=size)], *args, **kwargs)

    def counted(self, *args, **kwargs):
        launch(self.fn.__name__)
        return run(self, *args, **kwargs)

    triton.autotune = pinned
    interpreter.GridExecutor.__call__ = counted
