"""The same situations as in broken_around.py in their harmless form, and layouts that people really have."""
import os
import shutil
import subprocess

from broken import SCAN, CONV, object_of
from broken_around import ANSWERS, C10_FAILS
from good import case
from overlay import CUDA_HOME, NotRun, named


def appended(o, package, text):
    o.edit(package + "/__init__.py", lambda data: data + text.encode())
    o.record(package)


# --- metadata

@case
def leftover_of_pip(o):
    """`~orch...`: what pip renamed and did not remove; it warns and goes on"""
    o.put("~orch-2.10.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.10.0\n")
    o.put("~orch/__init__.py", "raise ImportError('half of a torch')\n")


@case
def metadata_in_latin_1(o):
    """an old package that nobody planned, its author's name not in UTF-8"""
    o.put("oldtool-0.3.dist-info/METADATA", "Metadata-Version: 1.1\nName: oldtool\nVersion: 0.3\nAuthor: Jos\xe9\n".encode("latin-1"))


@case
def record_of_a_plain_package_gone(o):
    """einops without its RECORD: nothing compiled depends on it"""
    o.remove(o.info("einops") + "/RECORD")


@case
def editable_install(o):
    """mamba-ssm by `pip install -e`, its checkout is there"""
    info, source = o.info("mamba_ssm"), os.path.join(o.folder, "checkout")
    os.makedirs(source)
    for name in ("mamba_ssm", object_of(o, SCAN)):
        os.rename(o.at(name), os.path.join(source, name))
    o.put("__editable__.mamba_ssm-2.3.1.pth", source + "\n")
    o.put(info + "/RECORD", "__editable__.mamba_ssm-2.3.1.pth,,\n%s/METADATA,,\n%s/RECORD,,\n" % (info, info))


@case
def egg(o):
    """causal-conv1d by `python setup.py install`: an egg, named by easy-install.pth"""
    egg = "causal_conv1d-1.6.2.post1-py%s-linux-x86_64.egg" % o.series
    metadata = o.read(o.info("causal_conv1d") + "/METADATA")
    o.remove(o.info("causal_conv1d"))
    os.makedirs(o.at(egg))
    for name in ("causal_conv1d", object_of(o, CONV)):
        os.rename(o.at(name), o.at(egg + "/" + name))
    o.put(egg + "/EGG-INFO/PKG-INFO", metadata)
    o.put("easy-install.pth", "./" + egg + "\n")


# --- layouts

@case
def conda_like(o):
    """a prefix with its own interpreter and conda-meta, no pyvenv.cfg"""
    stdlib = subprocess.run([o.python, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"],
                            capture_output=True, text=True, check=True).stdout.strip()
    os.unlink(os.path.join(o.venv, "pyvenv.cfg"))
    os.makedirs(os.path.join(o.venv, "conda-meta"))
    os.unlink(os.path.join(o.venv, "bin", "python"))
    shutil.copy(o.python, os.path.join(o.venv, "bin", "python"))
    for name in os.listdir(stdlib):
        if name not in ("site-packages", "__pycache__"):
            os.symlink(os.path.join(stdlib, name), os.path.join(os.path.dirname(o.site), name))


@case
def site_packages_by_a_link(o):
    """site-packages lies on another disk"""
    shutil.move(o.site, os.path.join(o.folder, "packages"))
    os.symlink(os.path.join(o.folder, "packages"), o.site)


@case
def system_packages_visible(o):
    """--system-site-packages: what the system has comes after the venv's own"""
    with open(os.path.join(o.venv, "pyvenv.cfg"), "a", encoding="ascii") as f:
        f.write("include-system-site-packages = true\n")


@case
def site_packages_twice(o):
    """PYTHONPATH names site-packages once more"""
    o.env["PYTHONPATH"] = o.site


@case
def long_path(o):
    """a path of 300 characters more"""
    folder = os.path.join(o.folder, *["a-rather-long-name-of-a-folder"] * 10)
    os.makedirs(folder)
    os.rename(o.venv, os.path.join(folder, "venv"))
    o.venv = os.path.join(folder, "venv")


@case
def namespace_package(o):
    """the recipe's own module lies in a folder without __init__.py"""
    o.recipe(verify="{modules: [acme.models.seizure], import_timeout_s: 60}")
    o.put("acme/models/seizure.py", "import torch\n")


# --- what stands before it, and does not matter

@case
def torch_py_where_verify_starts(o):
    """the project's folder has torch.py and numpy.py; nobody put it on the path"""
    for name in ("torch.py", "numpy.py", "random.py"):
        o.cwd = os.path.dirname(o.beside("project/" + name, "raise ImportError('not the real one')\n"))


@case
def torch_py_beside_torch(o):
    """a file torch.py in site-packages: the package stands before it"""
    o.put("torch.py", "raise ImportError('not the real one')\n")


@case
def another_libtorch_on_the_path(o):
    """LD_LIBRARY_PATH names the libraries of another torch: torch's own RPATH comes first"""
    o.env["LD_LIBRARY_PATH"] = os.path.dirname(o.beside(
        "old/libc10.so", named(C10_FAILS, C10_FAILS[:-1] + "F")(o.read("torch/lib/libc10.so"))))


@case
def own_libtorch_on_the_path(o):
    """LD_LIBRARY_PATH names torch/lib, as in incident 2"""
    o.env["LD_LIBRARY_PATH"] = o.at("torch/lib")


@case
def copy_of_libc10_preloaded(o):
    """LD_PRELOAD of a copy of torch's own libc10.so"""
    o.env["LD_PRELOAD"] = o.beside("copy/libc10.so", o.read("torch/lib/libc10.so"))


@case
def toolkit_libraries_first(o):
    """LD_LIBRARY_PATH names the toolkit's libraries, of the same CUDA"""
    folder = os.path.join(CUDA_HOME, "lib64")
    if not os.path.isdir(folder):
        raise NotRun("there is no CUDA toolkit in %s" % CUDA_HOME)
    o.env["LD_LIBRARY_PATH"] = folder


@case
def libraries_of_another_cuda_beside(o):
    """another package brought libcudart.so.12 too"""
    o.put("nvidia/cuda_runtime/lib/libcudart.so.12", o.read("nvidia/cu13/lib/libcudart.so.13"))


@case
def preload_that_is_gone(o):
    """LD_PRELOAD names a file that is not there: the loader complains at every start"""
    o.env["LD_PRELOAD"] = "/opt/gone/libjemalloc.so.2"


@case
def python_home_of_another(o):
    """PYTHONHOME, left by another installation"""
    o.env["PYTHONHOME"] = o.folder


# --- imports

@case
def import_that_writes_to_every_descriptor(o):
    """it writes to every descriptor that is open, and works"""
    appended(o, "causal_conv1d", "\n" + ANSWERS % 3)


@case
def import_that_closes_standard_output(o):
    """it takes standard output and error away, as daemons do"""
    appended(o, "causal_conv1d", "\nimport os\nfor _fd in (1, 2):\n    os.close(_fd)\n    os.open(os.devnull, os.O_WRONLY)\n")


@case
def import_that_leaves_a_daemon(o):
    """a process in a session of its own, deaf to SIGTERM: it must be gone afterwards"""
    appended(o, "causal_conv1d", """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
""")


@case
def import_that_changes_the_folder(o):
    """it changes the current folder and the umask"""
    appended(o, "causal_conv1d", "\nimport os\nos.chdir('/proc')\nos.umask(0o777)\n")


# --- around

@case
def development_mode(o):
    """PYTHONDEVMODE=1: every warning is shown"""
    o.env["PYTHONDEVMODE"] = "1"


@case
def optimised_python(o):
    """PYTHONOPTIMIZE=2: no assertions, no docstrings"""
    o.env["PYTHONOPTIMIZE"] = "2"


@case
def no_home(o):
    """HOME and TMPDIR name folders that are not there"""
    o.env.update(HOME="/no/such/home", TMPDIR="/no/such/tmp")


@case
def hidden_devices(o):
    """CUDA_VISIBLE_DEVICES is empty, as in incident 1"""
    o.env["CUDA_VISIBLE_DEVICES"] = ""


@case
def compiler_by_a_wrapper(o):
    """g++ and gcc are wrappers, as ccache's are"""
    # A ccache of this machine would find the wrapper in PATH, and call it.
    path = [p for p in os.environ["PATH"].split(os.pathsep) if os.path.basename(os.path.realpath(os.path.join(p, "g++"))) != "ccache"]
    for name in ("gcc", "g++"):
        compiler = shutil.which(name, path=os.pathsep.join(path))
        if not compiler:
            raise NotRun("%s is not installed" % name)
        o.script("ccache/" + name, 'exec %s "$@"\n' % compiler)
    o.env["PATH"] = os.path.join(o.folder, "ccache") + os.pathsep + os.environ["PATH"]
    o.env["NVCC_APPEND_FLAGS"] = "-allow-unsupported-compiler --threads 2"


@case
def toolkit_by_links(o):
    """the toolkit is a folder of links, as package managers make them"""
    o.toolkit()


@case
def few_descriptors(o):
    """`ulimit -n 128`"""
    o.limits.append(("RLIMIT_NOFILE", 128))
