"""More ways to break a stack: its metadata, what lies before it on a path, libraries, compilers, imports that do not play
by the rules. Each stands for a situation that somebody was in; docs of each case say which."""
import os
import shutil
import signal
import subprocess

from broken import CONV, SCAN, case, init, object_of
from overlay import CUDA_HOME, NotRun, named, version_of

START = "start"  # the interpreter itself does not answer: exit 1, SB0600, no proof

C10_FAILS = "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"


# --- metadata

@case("installed")
def two_dist_infos_of_torch(o):
    """pip was stopped in an upgrade: metadata of two releases"""
    old = "torch-2.10.0.dist-info/"
    o.put(old + "METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.10.0\n")
    o.put(old + "RECORD", old + "METADATA,,\n" + old + "RECORD,,\n")


@case("installed")
def two_dist_infos_of_an_extension(o):
    """conda and pip both brought it, under two spellings"""
    o.put("Mamba_SSM-2.2.4.dist-info/METADATA", "Metadata-Version: 2.1\nName: Mamba-SSM\nVersion: 2.2.4\n")


@case("installed")
def record_cut_short(o):
    """the machine went down while RECORD was written"""
    o.edit(o.info("mamba_ssm") + "/RECORD", lambda data: data[:len(data) // 2])


@case("installed")
def record_gone(o):
    """somebody cleaned up: pip cannot remove this package any more"""
    o.remove(o.info("causal_conv1d") + "/RECORD")


@case("installed")
def record_of_zeros(o):
    """a file system after a crash: the length is right, the bytes are not"""
    o.edit(o.info("causal_conv1d") + "/RECORD", lambda data: bytes(len(data)))


@case("installed")
def removal_cut_off(o):
    """`pip uninstall` was stopped when it had renamed the metadata"""
    name = o.info("mamba_ssm")
    o.own(name)
    os.rename(o.at(name), o.at("~" + name[1:]))


@case("loads", "imports")
def package_left_empty(o):
    """an old `pip uninstall` left the folder and its caches: Python takes it for a namespace package"""
    o.remove("mamba_ssm")
    o.put("mamba_ssm/__pycache__/__init__.cpython-311.pyc", b"\0" * 16)
    o.remove(object_of(o, SCAN))


@case("loads", "imports")
def editable_install_that_vanished(o):
    """`pip install -e` of a checkout that is not there any more"""
    info = o.info("mamba_ssm")
    o.remove("mamba_ssm")
    o.remove(object_of(o, SCAN))
    o.put("__editable__.mamba_ssm-2.3.1.pth", os.path.join(o.folder, "checkout") + "\n")
    o.put(info + "/direct_url.json", '{"dir_info": {"editable": true}, "url": "file://%s/checkout"}' % o.folder)
    o.put(info + "/RECORD", "__editable__.mamba_ssm-2.3.1.pth,,\n%s/METADATA,,\n%s/RECORD,,\n" % (info, info))


@case("installed")
def cudnn_moved(o):
    """`pip install -U nvidia-cudnn-cu13`: not the one that torch was made for"""
    o.edit(o.info("nvidia_cudnn_cu13") + "/METADATA", lambda data: data.replace(b"\nVersion: 9.", b"\nVersion: 9.99.", 1))


@case("imports")
def library_package_removed(o):
    """`pip uninstall nvidia-cusparselt-cu13`, to save space"""
    if "libcusparseLt.so.0" in subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout:
        raise NotRun("this machine has a cuSPARSELt of its own, which takes the place of the one that is removed")
    o.remove(o.info("nvidia_cusparselt_cu13"))
    o.own("torch/lib")  # its libraries look for the others from where they lie
    o.remove("nvidia/cusparselt")


# --- what stands before it

@case("versions", "imports")
def numpy_py_in_the_project(o):
    """PYTHONPATH names a project with a file numpy.py"""
    o.recipe(extensions="[causal-conv1d==1.6.2.post1]", packages="[numpy]")
    o.env["PYTHONPATH"] = os.path.dirname(o.beside("project/numpy.py", "def zeros(n):\n    return [0] * n\n"))


@case("imports")
def torch_checkout_in_the_project(o):
    """PYTHONPATH names a checkout of PyTorch, which nobody built"""
    folder = os.path.join(o.folder, "pytorch", "torch")
    os.makedirs(folder)
    o.fill(os.path.join(o.real, "torch"), folder)
    for name in os.listdir(folder):
        if name.endswith(".so") or name == "lib":
            os.unlink(os.path.join(folder, name))
    o.env["PYTHONPATH"] = os.path.dirname(folder)


@case("imports", START)
def random_py_in_the_project(o):
    """PYTHONPATH names a folder with a file random.py, which the standard library imports too"""
    o.env["PYTHONPATH"] = os.path.dirname(o.beside("project/random.py", "print('my experiment')\n"))


@case("versions")
def another_torch_first(o):
    """a .pth file puts a second torch of the same version before the installed one"""
    folder = os.path.join(o.folder, "shared")
    os.makedirs(os.path.join(folder, "torch"))
    o.fill(os.path.join(o.real, "torch"), os.path.join(folder, "torch"))
    shutil.copy(os.path.join(o.real, "torch", "__init__.py"), os.path.join(folder, "copy.py"))
    os.unlink(os.path.join(folder, "torch", "__init__.py"))
    os.rename(os.path.join(folder, "copy.py"), os.path.join(folder, "torch", "__init__.py"))
    o.put("shared.pth", "import sys; sys.path.insert(0, %r)\n" % folder)


@case(START)
def pth_file_that_ends_python(o):
    """a licence hook in a .pth file ends every Python here"""
    o.put("licence.pth", "import sys; sys.exit('licence: no server answers')\n")


@case(START)
def python_gone(o):
    """the Python that the venv was made with was removed"""
    path = os.path.join(o.venv, "bin", "python")
    os.unlink(path)
    os.symlink(os.path.join(o.folder, "python3.11"), path)


@case("imports")
def path_that_is_not_utf_8(o):
    """a path with a letter in Latin-1, on an old file system: torch 2.11 encodes its own path as UTF-8"""
    path = os.path.join(o.folder, os.fsdecode(b"caf\xe9"))
    os.rename(o.venv, path)
    o.venv = path


# --- libraries

@case("imports")
def libc10_of_another_torch_preloaded(o):
    """LD_PRELOAD of another torch's libc10.so, as advice against undefined symbols has it"""
    o.env["LD_PRELOAD"] = o.beside("old/libc10.so", named(C10_FAILS, C10_FAILS[:-1] + "F")(o.read("torch/lib/libc10.so")))


@case("versions")
def libc10_of_another_build_preloaded(o):
    """the same, and every symbol is there: torch runs on a library that is not its own"""
    o.env["LD_PRELOAD"] = o.beside("old/libc10.so", o.read("torch/lib/libc10.so") + b"\0")


@case("imports")
def libstdcxx_too_old(o):
    """LD_LIBRARY_PATH names a folder with an old libstdc++.so.6"""
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64"):
        path = os.path.join(folder, "libstdc++.so.6")
        if os.path.exists(path):
            break
    else:
        raise NotRun("libstdc++.so.6 was not found")
    with open(path, "rb") as f:
        old = version_of("GLIBCXX_3.4.22", "GLIBCXX_3.4.77", ".gnu.version_d")(f.read())
    o.env["LD_LIBRARY_PATH"] = os.path.dirname(o.beside("old/libstdc++.so.6", old))


@case("imports")
def too_little_address_space(o):
    """`ulimit -v` of a login node: the libraries cannot be mapped"""
    o.limits.append(("RLIMIT_AS", 2 << 30))


# --- imports

ANSWERS = """import json, os
rows = [{"imported": True, "seconds": 0, "fallbacks": []}, {"end": True}]
for fd in range(%d, 1024):
    for row in rows:
        try:
            os.write(fd, (json.dumps(row) + "\\n").encode())
        except OSError:
            pass
"""


@case("imports")
def import_that_writes_to_every_descriptor_and_exits(o):
    """a crash reporter writes to every open descriptor, and ends the program with 0"""
    init(o, "mamba_ssm", ANSWERS % 1 + "os._exit(0)\n")


@case("imports")
def import_that_prints_the_words_of_a_result(o):
    """a test runner inside prints results like ours, and fails"""
    init(o, "causal_conv1d", "import json\nprint(json.dumps({'check': 'imports', 'result': 'passed'}))\n"
                             "print(json.dumps({'imported': True}), json.dumps({'end': True}), flush=True)\n1 / 0\n")


@case("imports")
def import_that_becomes_another_program(o):
    """a wrapper replaces the process by another one, which ends with 0"""
    init(o, "mamba_ssm", "import os\nos.execv('/bin/true', ['true'])\n")


@case("imports")
def import_that_goes_to_the_background(o):
    """a daemon library forks and lets the first process end with 0"""
    init(o, "mamba_ssm", "import os, time\nif os.fork():\n    os._exit(0)\nos.setsid()\ntime.sleep(60)\n")


@case("imports")
def import_that_kills_its_parent(o):
    """a watchdog that takes whoever started it for a leftover"""
    init(o, "causal_conv1d", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n")


@case("imports")
def import_that_asks(o):
    """a licence question at the first import"""
    init(o, "mamba_ssm", "if input('Accept the licence? [y/N] ') != 'y':\n    raise SystemExit(1)\n")


NUMPY_1 = """
typedef struct object object;
extern object *PyImport_ImportModule(const char *), *PyObject_GetAttrString(object *, const char *), *PyExc_ImportError;
extern object *PyModule_Create2(void *, int);
extern void PyErr_Print(void), PyErr_SetString(object *, const char *);
static struct { long n; void *type, *init; long index; void *copy; const char *name, *doc; long size; void *rest[5]; }
    module = { 1, 0, 0, 0, 0, "_windows", 0, -1, { 0 } };
/* import_array() of numpy 1: __multiarray_api.h */
object *PyInit__windows(void)
{
    object *numpy = PyImport_ImportModule("numpy.core._multiarray_umath");
    object *api = numpy ? PyObject_GetAttrString(numpy, "_ARRAY_API") : 0;
    if (!api) {
        PyErr_Print();
        PyErr_SetString(PyExc_ImportError, "numpy.core.multiarray failed to import");
        return 0;
    }
    return PyModule_Create2(&module, 1013);
}
"""


@case("imports", "fallback")
def binary_for_numpy_1(o):
    """a compiled part of the extension was made for numpy 1; here is numpy 2"""
    name = "mamba_ssm/_windows.cpython-%s-x86_64-linux-gnu.so" % o.series.replace(".", "")
    o.own("mamba_ssm")
    o.shared(o.at(name), NUMPY_1)
    o.edit("mamba_ssm/__init__.py", lambda data: b"from mamba_ssm import _windows\n" + data)
    o.edit(o.info("mamba_ssm") + "/RECORD", lambda data: data + (name + ",sha256=x,1\n").encode())
    o.record("mamba_ssm")


@case("versions", "imports")
def numpy_without_its_core(o):
    """numpy's own compiled module is gone"""
    o.recipe(extensions="[causal-conv1d==1.6.2.post1]")
    folder = o.own("numpy/_core")
    for name in os.listdir(folder):
        if name.startswith("_multiarray_umath"):
            o.remove("numpy/_core/" + name)


@case("versions", "imports")
def numpy_for_a_newer_processor(o):
    """numpy was compiled with -march=native elsewhere: an illegal instruction"""
    o.recipe(extensions="[causal-conv1d==1.6.2.post1]")
    o.edit("numpy/__init__.py", lambda data: b"import os\nos.kill(os.getpid(), %d)\n" % signal.SIGILL + data)


@case("imports")
def import_that_crashes_at_the_end(o):
    """an exit handler of the extension crashes: every job ends with 139"""
    o.edit("causal_conv1d/__init__.py", lambda data: data + b"\nimport atexit, ctypes\natexit.register(ctypes.string_at, 8)\n")
    o.record("causal_conv1d")


@case("imports")
def import_that_never_lets_python_end(o):
    """telemetry in a thread that is no daemon: jobs never end"""
    o.recipe(verify="{modules: [telemetry], import_timeout_s: 20}")
    o.put("telemetry.py", "import threading\nthreading.Thread(target=threading.Event().wait).start()\n")


@case("imports")
def transformers_moved_on(o):
    """a newer transformers no longer has a name that mamba-ssm imports"""
    o.put("transformers/generation/__init__.py", "class TextStreamer:\n    pass\n")


@case("imports")
def module_of_the_application_missing(o):
    """the recipe's own module was never installed"""
    o.recipe(verify="{modules: [seizure_model], import_timeout_s: 60}")


@case("imports")
def module_of_the_application_for_another_python(o):
    """the recipe's own module uses syntax of a later Python"""
    o.recipe(verify="{modules: [seizure_model], import_timeout_s: 60}")
    o.put("seizure_model.py", "type Batch = list[int]\ntype = lambda match case: 3\n")


# --- fallbacks

@case("fallback")
def triton_interpreter(o):
    """TRITON_INTERPRET=1, left from debugging"""
    o.env["TRITON_INTERPRET"] = "1"


@case("fallback")
def module_that_sets_a_fallback_switch(o):
    """the application's module sets the switch of incident 3 when it is imported"""
    o.recipe(verify="{modules: [seizure_model], import_timeout_s: 60}")
    o.put("seizure_model.py", "import os\nos.environ.setdefault('SEIZURE_MAMBA_FORCE_FALLBACK', '1')\n")


# --- compilers

@case("compile")
def no_host_compiler(o):
    """an image with nvcc and without build-essential"""
    folder = os.path.join(o.toolkit(), "bin")
    for name in ("sh", "rm", "cat"):
        os.symlink(shutil.which(name), os.path.join(folder, name))
    o.env["PATH"] = folder


@case("compile")
def host_compiler_too_new(o):
    """a newer gcc than this nvcc knows"""
    gxx = shutil.which("g++")
    if not gxx:
        raise NotRun("g++ is not installed")
    o.toolkit()
    o.env["NVCC_CCBIN"] = o.script("new/g++", 'exec %s -U__GNUC__ -D__GNUC__=99 "$@"\n' % gxx)


@case("compile")
def toolkit_without_cicc(o):
    """PyPI's nvidia-cuda-nvcc alone: nvcc is there, its compiler for the GPU (nvidia-nvvm) is not"""
    os.unlink(os.path.join(o.toolkit(), "nvvm"))


@case("compile")
def toolkit_of_two_releases(o):
    """pip mixed nvvm 13.5 with nvcc 13.0: its PTX is too new for ptxas"""
    home = o.toolkit()
    real = os.path.join(os.path.realpath(CUDA_HOME), "nvvm")
    os.unlink(os.path.join(home, "nvvm"))
    os.makedirs(os.path.join(home, "nvvm", "bin"))
    for name in os.listdir(real):
        if name != "bin":
            os.symlink(os.path.join(real, name), os.path.join(home, "nvvm", name))
    o.script("cuda/nvvm/bin/cicc", '%s "$@" || exit\nfor word; do\n'
             'case $word in *.ptx) sed -i "s/^\\.version .*/.version 9.5/" "$word" ;; esac\ndone\n'
             % os.path.join(real, "bin", "cicc"))


@case("compile")
def wrapper_that_drops_the_gpu(o):
    """an nvcc wrapper of another project compiles for its own GPU alone"""
    home = o.toolkit()
    os.rename(os.path.join(home, "bin", "nvcc"), os.path.join(home, "bin", "nvcc.real"))
    os.symlink(os.path.join(home, "bin", "nvcc.profile"), os.path.join(home, "bin", "nvcc.real.profile"))
    o.script("cuda/bin/nvcc", 'for word; do\nshift\ncase $word in\n-gencode=*) set -- "$@" -gencode=arch=compute_80,code=sm_80 ;;\n'
             'arch=*) set -- "$@" arch=compute_80,code=sm_80 ;;\n*) set -- "$@" "$word" ;;\nesac\ndone\n'
             'exec %s "$@"\n' % os.path.join(home, "bin", "nvcc.real"))
