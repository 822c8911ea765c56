"""Ways to break a stack: wheels, versions, imports, fallbacks. Each: what is done, the checks that must fail (any one of
them is enough), or GPU: it cannot be seen without one."""
from overlay import for_arch, named, sections, version_of, without_gpu_code

GPU = None
SCAN, CONV = "selective_scan_cuda", "causal_conv1d_cuda"
CASES = []


def case(*steps):
    def keep(f):
        CASES.append((f.__name__.replace("_", " "), f.__doc__, set(steps), f))
        return f
    return keep


def object_of(o, module):
    return o.find(module + ".", ".so")


def package_of(module):
    return {"selective_scan_cuda": "mamba_ssm", "causal_conv1d_cuda": "causal_conv1d"}[module]


def rebuilt(o, module, change):
    """The extension was compiled otherwise: its .so is another, and its RECORD says so."""
    o.edit(object_of(o, module), change)
    o.record(package_of(module))


# --- a wheel for another torch, Python, system

@case("loads")
def wrong_torch_wheel(o):
    """a symbol of another torch is asked for"""
    rebuilt(o, SCAN, named("_ZN3c104cuda14ExchangeDeviceEa", "_ZN3c104cuda14ExchangeDevicEEa"))


@case("loads")
def wrong_torch_wheel_of_causal_conv1d(o):
    """the same in the other extension"""
    rebuilt(o, CONV, named("_ZN3c104cuda20getCurrentCUDAStreamEa", "_ZN3c104cuda20getCurrentCUDAStreamEs"))


@case("loads")
def old_abi_wheel(o):
    """compiled with the C++ ABI of before: std::string is another type"""
    new = "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
    rebuilt(o, SCAN, named(new, "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"))


@case("loads")
def cuda_12_wheel(o):
    """made with another CUDA: it needs libcudart.so.12"""
    rebuilt(o, SCAN, named("libcudart.so.13", "libcudart.so.12"))


@case("loads")
def missing_library(o):
    """it needs a library that nobody has"""
    rebuilt(o, CONV, named("libc10_cuda.so", "libc11_cuda.so"))


@case("loads")
def newer_glibc(o):
    """compiled on a newer system"""
    rebuilt(o, SCAN, version_of("GLIBC_2.32", "GLIBC_2.99"))


@case("loads")
def other_machine(o):
    """a wheel for aarch64"""
    rebuilt(o, SCAN, lambda data: data[:18] + b"\xb7\0" + data[20:])


@case("loads", "imports")
def other_python_abi(o):
    """compiled for Python 3.10: no module of that name here"""
    name = object_of(o, SCAN)
    o.put(name.replace("-311-", "-310-"), o.read(name))
    o.remove(name)
    o.edit(o.info("mamba_ssm") + "/RECORD", lambda data: data.replace(b"-311-", b"-310-"))
    o.record("mamba_ssm")


@case("loads", "installed")
def cut_short(o):
    """a download that ended early"""
    rebuilt(o, SCAN, lambda data: data[:len(data) // 4])


@case("loads", "installed")
def empty_file(o):
    """a full disk"""
    rebuilt(o, CONV, lambda data: b"")


@case("installed", "loads", "imports")
def deleted_object(o):
    """somebody removed it"""
    o.remove(object_of(o, SCAN))


@case("installed")
def patched_after_install(o):
    """the file is not the one that was installed"""
    o.edit(object_of(o, SCAN), lambda data: data + b"\0")


# --- GPU code

@case("code")
def stripped_of_gpu_code(o):
    """the GPU code is gone"""
    rebuilt(o, SCAN, without_gpu_code)


@case("code")
def stripped_of_gpu_code_in_causal_conv1d(o):
    """the GPU code of the other one is gone"""
    rebuilt(o, CONV, without_gpu_code)


@case("code")
def missing_architecture(o):
    """compiled for A100 alone"""
    rebuilt(o, SCAN, for_arch(80))


@case("code")
def only_ptx(o):
    """nothing but PTX of a newer GPU"""
    rebuilt(o, SCAN, for_arch(100, ptx=True))


@case("code")
def broken_gpu_code(o):
    """a header of the GPU code was overwritten"""
    def change(data):
        at, _ = sections(data)[".nv_fatbin"]
        return data[:at] + b"\1\2\3\4" + data[at + 4:]
    rebuilt(o, SCAN, change)


@case("code")
def recipe_for_another_gpu(o):
    """the stack is asked to run on a GPU that it has no code for"""
    o.recipe(gpus="[a100-80gb]")


# --- versions

@case("versions", "installed")
def cpu_torch(o):
    """a CPU build took torch's place"""
    o.replace("torch/version.py", "2.11.0+cu130", "2.11.0+cpu")
    o.edit("torch/version.py", lambda data: data.replace(b"= '13.0'", b"= None"))
    o.metadata("torch", "Version: 2.11.0", "Version: 2.11.0+cpu")


@case("versions", "installed", "loads")
def cpu_torch_without_libraries(o):
    """a CPU build, which has no libc10_cuda"""
    cpu_torch_of(o)
    for name in ("libc10_cuda.so", "libtorch_cuda.so"):
        o.remove("torch/lib/" + name)


def cpu_torch_of(o):
    o.edit("torch/version.py", lambda data: data.replace(b"+cu130", b"+cpu").replace(b"= '13.0'", b"= None"))


@case("versions")
def other_cuda_of_torch(o):
    """torch of another CUDA"""
    o.edit("torch/version.py", lambda data: data.replace(b"= '13.0'", b"= '12.8'").replace(b"+cu130", b"+cu128"))


@case("versions", "installed")
def other_torch(o):
    """torch was moved by a later installation"""
    o.replace("torch/version.py", "2.11.0", "2.10.0")
    o.metadata("torch", "Version: 2.11.0", "Version: 2.10.0")


@case("versions")
def torch_that_says_otherwise_than_its_metadata(o):
    """metadata of one torch, files of another"""
    o.replace("torch/version.py", "2.11.0", "2.10.0")


@case("versions", "installed")
def numpy_2(o):
    """numpy 2 where the stack is for numpy 1"""
    o.recipe(packages='[einops, "numpy<2"]')


@case("versions")
def numpy_2_behind_metadata_of_1(o):
    """its metadata says 1.26.4, the module is 2"""
    o.recipe(packages='[einops, "numpy<2"]')
    o.edit(o.info("numpy") + "/METADATA", lambda data: data.replace(b"\nVersion: 2", b"\nVersion: 1", 1))


@case("installed")
def package_missing(o):
    """a package of the plan is not there"""
    o.remove(o.info("einops"))
    o.remove("einops")


@case("installed")
def other_version_of_a_package(o):
    """a package was moved"""
    o.recipe(packages="[einops==0.7.0]")


@case("installed")
def other_version_of_an_extension(o):
    """another release of mamba-ssm"""
    o.metadata("mamba_ssm", "Version: 2.3.1", "Version: 2.2.4")


@case("installed", "loads")
def extension_missing(o):
    """an extension was never installed"""
    o.remove(o.info("causal_conv1d"))
    o.remove("causal_conv1d")
    o.remove(object_of(o, CONV))


@case("installed", "versions", "imports", "loads")
def wrong_python(o):
    """another Python than the recipe's"""
    o.recipe(python="3.10")


# --- imports

def init(o, package, text):
    o.put(package + "/__init__.py", text)
    o.record(package)


@case("imports")
def hanging_import(o):
    """the import never ends"""
    o.recipe(verify="{import_timeout_s: 15}")
    init(o, "mamba_ssm", "import threading\nthreading.Event().wait()\n")


@case("imports")
def busy_import(o):
    """the import spins"""
    o.recipe(verify="{import_timeout_s: 15}")
    init(o, "causal_conv1d", "while True: pass\n")


@case("imports")
def crashing_import(o):
    """a segmentation fault"""
    init(o, "mamba_ssm", "import ctypes\nctypes.string_at(8)\n")


@case("imports")
def aborting_import(o):
    """SIGABRT, as glibc and C++ end programs"""
    init(o, "causal_conv1d", "import os\nos.abort()\n")


@case("imports")
def import_that_exits_with_0(o):
    """the module ends the program, without an error"""
    init(o, "mamba_ssm", "import sys\nsys.exit(0)\n")


@case("imports")
def import_that_leaves_at_once(o):
    """the same, past every handler"""
    init(o, "mamba_ssm", "import os\nos._exit(0)\n")


@case("imports")
def import_error(o):
    """what mamba-ssm needs is not there, though metadata says so"""
    o.remove("transformers")


# --- fallbacks and stubs

@case("loads", "imports", "fallback", "code")
def stubbed_object(o):
    """text in place of the compiled module"""
    o.remove(object_of(o, SCAN))
    o.put("selective_scan_cuda.py", "def fwd(*a):\n    raise NotImplementedError\n\n\nbwd = fwd\n")
    o.edit(o.info("mamba_ssm") + "/RECORD", lambda data: b"".join(
        line for line in data.splitlines(True) if not line.startswith(b"selective_scan_cuda")))


@case("loads", "imports", "fallback")
def shadowed_object(o):
    """a package of the same name stands before the compiled module"""
    o.put("selective_scan_cuda/__init__.py", "def fwd(*a):\n    raise NotImplementedError\n\n\nbwd = fwd\n")


@case("fallback", "imports")
def swallowed_import_error(o):
    """the kernels cannot be imported, and the module goes on without"""
    o.edit("mamba_ssm/ops/selective_scan_interface.py", lambda data: data.replace(
        b"import selective_scan_cuda\n",
        b"try:\n    from mamba_ssm import no_such_kernels as selective_scan_cuda\n"
        b"except ImportError:\n    selective_scan_cuda = None\n", 1))
    o.record("mamba_ssm")


@case("fallback")
def fallback_switch_in_the_environment(o):
    """the switch of incident 3, left on"""
    o.env["SEIZURE_MAMBA_FORCE_FALLBACK"] = "1"


@case("fallback")
def fallback_switch_in_sitecustomize(o):
    """the same, set when Python starts"""
    o.put("sitecustomize.py", "import os\nos.environ['SEIZURE_MAMBA_FORCE_FALLBACK'] = '1'\n")


@case("fallback", "imports")
def causal_conv1d_lost(o):
    """mamba-ssm runs without causal-conv1d, and says nothing"""
    o.edit("causal_conv1d/cpp_functions.py", lambda data: b"raise ImportError('no kernels')\n" + data)
    o.edit("causal_conv1d/__init__.py", lambda data: b"__version__ = '1.6.2.post1'\n")
    o.record("causal_conv1d")


# --- what only a GPU shows

@case(GPU)
def hidden_gpu(o):
    """CUDA_VISIBLE_DEVICES hides every GPU"""
    o.put("sitecustomize.py", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'\n")


@case(GPU)
def wrong_numbers_of_causal_conv1d(o):
    """one per cent too much"""
    o.edit("causal_conv1d/cpp_functions.py", lambda data: data + b"""

_fwd = causal_conv1d_fwd_function


def causal_conv1d_fwd_function(*args, **kwargs):
    return _fwd(*args, **kwargs) * 1.01
""")
    o.record("causal_conv1d")


@case(GPU)
def wrong_gradients_of_the_scan(o):
    """the forward is right, the backward is not"""
    o.edit("mamba_ssm/ops/selective_scan_interface.py", lambda data: data.replace(
        b"selective_scan_cuda.bwd(", b"_bwd(") + b"""

def _bwd(*args):
    return [g * 1.05 if g is not None else None for g in selective_scan_cuda.bwd(*args)]
""")
    o.record("mamba_ssm")


@case(GPU)
def reference_in_place_of_the_kernel(o):
    """right numbers, by plain torch: the reference's kernels are seen instead"""
    o.edit("mamba_ssm/ops/selective_scan_interface.py", lambda data: data + b"""

selective_scan_fn = selective_scan_ref
mamba_inner_fn = mamba_inner_ref
""")
    o.record("mamba_ssm")


@case(GPU)
def computed_on_the_cpu(o):
    """the work is taken to the CPU and back"""
    o.edit("causal_conv1d/causal_conv1d_interface.py", lambda data: data + b"""

def causal_conv1d_fn(x, weight, bias=None, *args, activation=None, **kwargs):
    return causal_conv1d_ref(x.cpu(), weight.cpu(), None if bias is None else bias.cpu(),
                             activation=activation).to(x.device)
""")
    o.record("causal_conv1d")


@case(GPU)
def kernels_that_do_nothing(o):
    """the kernels return zeros"""
    o.edit("causal_conv1d/cpp_functions.py", lambda data: data + b"""

_zero_fwd = causal_conv1d_fwd_function


def causal_conv1d_fwd_function(*args, **kwargs):
    return _zero_fwd(*args, **kwargs).zero_()
""")
    o.record("causal_conv1d")
