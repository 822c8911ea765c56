"""An environment to verify, made in a second without pip: a minimal torch, and an extension compiled by gcc.

    e = Environment(folder)          everything as planned, for RECIPE
    e.write("x.py", "text")          a file in site-packages; e.record(...) makes it part of a distribution
    e.shared(path, code, ...)        a shared object; fatbin((1, 2, 90, 0)) is GPU code for it

The GPU code is a header without a program, which suffices for readers of architectures.
"""
import base64
import hashlib
import os
import shutil
import struct
import subprocess
import sys

SERIES = "%d.%d" % sys.version_info[:2]
SYMBOL = "_ZN3c104cuda14ExchangeDeviceEa"

RECIPE = """stack: standin
base: nvidia/cuda:13.0.3-devel-ubuntu22.04
python: {version: "%s", from: base}
gpus: ["9.0"]
torch: {version: 2.11.0, index: pypi}
extensions:
  - causal-conv1d==1.6.2.post1
verify: {import_timeout_s: 2}
""" % SERIES

VERSION_PY = "from typing import Optional\n__version__ = '2.11.0+cu130'\ncuda: Optional[str] = '13.0'\n"
TORCH = '''"""A stand-in for torch: its tensors are all zero."""
import ctypes, os
from torch.version import __version__, cuda as _cuda
from torch import version
ctypes.CDLL(os.path.join(os.path.dirname(__file__), "lib", "libc10.so"), ctypes.RTLD_GLOBAL)
class _C:
    _GLIBCXX_USE_CXX11_ABI = True
class Tensor:
    shape = (1,)
    def __getattr__(self, name):
        return lambda *a, **k: self
    def __add__(self, other): return self
    __sub__ = __mul__ = __matmul__ = __add__
    def __float__(self): return 0.0
class _Any:
    def __init__(self, *a, **k): pass
    def __getattr__(self, name): return lambda *a, **k: self
    def __enter__(self): return self
    def __exit__(self, *a): pass
def zeros(*a, **k): return Tensor()
ones = randn = tanh = zeros
def equal(a, b): return True
Generator = device = _Any
float32, float16, bfloat16 = "torch.float32", "torch.float16", "torch.bfloat16"
class cuda:
    Stream = _Any
    peak = 0
    def device_count(): return 1
    def get_arch_list(): return ["sm_90"]
    def get_device_name(i=0): return "Stand-in"
    def get_device_capability(i=0): return (9, 0)
    def stream(s): return s
    def synchronize(*a): pass
    def reset_peak_memory_stats(): pass
    def memory_allocated(): return 0
    def max_memory_allocated(): return int(os.environ.get("FAKE_PEAK", "4096"))
class _Event:
    device_type = "DeviceType.CUDA"
    class time_range:
        def elapsed_us(): return 1.5
    def __init__(self, name): self.name = name
class profiler:
    class ProfilerActivity:
        CPU, CUDA = 0, 1
    class profile(_Any):
        def events(self): return [_Event(n) for n in os.environ.get("FAKE_KERNELS", "elementwise").split(",")]
'''

MODULE = """
struct def { long n; void *type; void *init; long index; void *copy; const char *name, *doc; long size; void *rest[5]; };
static struct def d = { 1, 0, 0, 0, 0, "%(name)s", 0, -1, { 0 } };
extern void *PyModule_Create2(void *, int);
extern int marker(void) __asm__("%(symbol)s");
void *PyInit_%(name)s(void) { marker(); return PyModule_Create2(&d, 1013); }
"""


def fatbin(*entries):
    """Returns the bytes of a .nv_fatbin section; entries are (kind, arch, flags), kind 1 PTX, 2 SASS."""
    body = b""
    for kind, arch, flags in entries:
        body += struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, 8, 0, 0, 8, 1, arch, 0, 0, flags, 0, 0)[:64] + b"\x7fELF\2\1\1\0"
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body if entries else b""


SM90 = fatbin((2, 90, 0x11))


def section(data):
    return '__asm__(".pushsection .nv_fatbin,\\"a\\"\\n.byte %s\\n.popsection");' % ",".join(map(str, data)) if data else ""


class Environment:
    def __init__(self, folder):
        self.root = folder
        self.site = os.path.join(folder, "lib", "python" + SERIES, "site-packages")
        os.makedirs(self.site)
        os.makedirs(os.path.join(folder, "bin"))
        os.symlink(sys.executable, os.path.join(folder, "bin", "python"))
        home = os.path.dirname(os.path.realpath(sys.executable))
        with open(os.path.join(folder, "pyvenv.cfg"), "w") as f:
            f.write("home = %s\ninclude-system-site-packages = false\nversion = %s\n" % (home, SERIES))
        self.torch()
        self.shared("torch/lib/libc10.so", 'int marker(void) __asm__("%s"); int marker(void) { return 1; }' % SYMBOL,
                    "-Wl,-soname,libc10.so")
        self.distribution("torch", "2.11.0", ["torch/__init__.py"])
        for name, version in (("ninja", "1.13.2"), ("packaging", "26.3"), ("setuptools", "80.9.0"), ("wheel", "0.48.0")):
            self.distribution(name, version, [])
        self.write("causal_conv1d/__init__.py", "from causal_conv1d.interface import causal_conv1d_fn\n")
        self.write("causal_conv1d/interface.py", "import causal_conv1d_cuda\ncausal_conv1d_fn = print\n")
        self.object = "causal_conv1d_cuda.cpython-%s-x86_64-linux-gnu.so" % SERIES.replace(".", "")
        self.extension()
        self.nvcc()

    def torch(self, version=VERSION_PY, text=TORCH):
        self.write("torch/version.py", version)
        self.write("torch/__init__.py", text)

    def path(self, name):
        return os.path.join(self.site, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as f:
            f.write(text)
        if name == "torch/__init__.py":
            self.record_torch()

    def hook(self, text):
        """Runs this code when the environment's Python starts; a sitecustomize.py would be hidden by Debian's own."""
        self.write("standin_hook.py", text)
        self.write("standin_hook.pth", "import standin_hook\n")

    def unhook(self):
        for name in ("standin_hook.py", "standin_hook.pth"):
            os.unlink(self.path(name))

    def shared(self, name, code, *options):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        # Creates a new file, because another environment may share the old one by a hard link.
        if os.path.exists(self.path(name)):
            os.unlink(self.path(name))
        subprocess.run(["gcc", "-shared", "-fPIC", "-O0", "-x", "c", "-", "-o", self.path(name), *options],
                       input=code.encode(), check=True)

    def extension(self, code=SM90, symbol=SYMBOL, libraries=(), record=True, more=""):
        torch_lib = self.path("torch/lib")
        self.shared(self.object, MODULE % {"name": "causal_conv1d_cuda", "symbol": symbol} + section(code) + more,
                    "-L" + torch_lib, "-L" + self.site, "-Wl,--no-as-needed", "-Wl,--unresolved-symbols=ignore-all",
                    "-lc10", *libraries)
        if record:
            self.distribution("causal_conv1d", "1.6.2.post1",
                              ["causal_conv1d/__init__.py", "causal_conv1d/interface.py", self.object])

    def record_torch(self):
        """Writes RECORD for a changed torch/__init__.py: only `installed` is about files that were changed."""
        record = self.path("torch-2.11.0.dist-info/RECORD")
        if os.path.exists(record) and not os.path.islink(os.path.dirname(record)):
            with open(self.path("torch/__init__.py"), "rb") as f:
                digest = base64.urlsafe_b64encode(hashlib.sha256(f.read()).digest()).decode().rstrip("=")
            with open(record, "w") as f:
                f.write("torch/__init__.py,sha256=%s,\ntorch-2.11.0.dist-info/RECORD,,\n" % digest)

    def distribution(self, name, version, files):
        for old in os.listdir(self.site):
            if old.startswith(name + "-") and old.endswith(".dist-info"):
                shutil.rmtree(self.path(old))
        info = "%s-%s.dist-info" % (name, version)
        self.write(info + "/METADATA", "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name.replace("_", "-"), version))
        rows = []
        for f in files:
            with open(self.path(f), "rb") as opened:
                digest = base64.urlsafe_b64encode(hashlib.sha256(opened.read()).digest()).decode().rstrip("=")
            rows.append("%s,sha256=%s,%d\n" % (f, digest, os.path.getsize(self.path(f))))
        self.write(info + "/RECORD", "".join(rows) + info + "/RECORD,,\n")

    def nvcc(self, code=SM90, text="", rc=0, prints='{"devices": [{"index": 0, "name": "Stand-in", "checks": []}], "ok": true}',
             status=0):
        """Writes a compiler that always makes the same program, which contains that code."""
        program = os.path.join(self.root, "smoke-program")
        source = 'int puts(const char *); int main(void) { puts("%s"); return %d; } %s' % (
            prints.replace('"', '\\"'), status, section(code))
        subprocess.run(["gcc", "-x", "c", "-", "-o", program], input=source.encode(), check=True)
        nvcc = os.path.join(self.root, "bin", "nvcc")
        with open(nvcc, "w") as f:
            f.write('#!/bin/sh\n[ "$1" = --version ] && echo "release 13.0, V13.0.88" && exit\n%s\n'
                    'while [ $# -gt 0 ]; do [ "$1" = -o ] && cp "%s" "$2"; shift; done\nexit %d\n' % (
                        "cat >&2 <<'E'\n%s\nE" % text if text else ":", program, rc))
        os.chmod(nvcc, 0o755)

    def driver(self, init=0, devices=1):
        """Makes a directory for LD_LIBRARY_PATH with a driver and an NVML that report these values."""
        folder = os.path.join(self.root, "driver")
        os.makedirs(folder, exist_ok=True)
        codes = {
            "libcuda.so.1": "int cuInit(unsigned f) { return %d; } int cuDriverGetVersion(int *v) { *v = 13000; return 0; }"
                            "int cuDeviceGetCount(int *n) { *n = %d; return 0; }" % (init, devices),
            "libnvidia-ml.so.1":
                "#include <string.h>\nint nvmlInit_v2(void) { return 0; }"
                "int nvmlSystemGetDriverVersion(char *t, unsigned n) { strncpy(t, \"580.1\", n); return 0; }"
                "int nvmlDeviceGetCount_v2(unsigned *n) { *n = 1; return 0; }"
                "int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **h) { *h = (void *)1; return 0; }"
                "int nvmlDeviceGetName(void *h, char *t, unsigned n) { strncpy(t, \"Stand-in\", n); return 0; }"
                "int nvmlDeviceGetUUID(void *h, char *t, unsigned n) { strncpy(t, \"GPU-1\", n); return 0; }"
                "int nvmlDeviceGetMemoryInfo(void *h, unsigned long long *m) { m[0] = m[2] = 1ull << 30; m[1] = 0; return 0; }"
                "int nvmlDeviceGetUtilizationRates(void *h, unsigned *u) { u[0] = 42; u[1] = 1; return 0; }",
        }
        for name, code in codes.items():
            subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", os.path.join(folder, name)],
                           input=code.encode(), check=True)
        return folder
