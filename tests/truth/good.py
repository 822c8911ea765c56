"""Stacks with which nothing is wrong, however odd: without a GPU each ends in `not run`, exit 3."""
import os
import shutil

from broken import CONV, SCAN, object_of
from overlay import also_for, without_gpu_code

CASES = []


def case(f):
    CASES.append((f.__name__.replace("_", " "), f.__doc__, f))
    return f


def env(name, doc, **values):
    def f(o):
        o.env.update(values)
    CASES.append((name, doc, f))


def recipe(name, doc, **values):
    def f(o):
        o.recipe(**values)
    CASES.append((name, doc, f))


@case
def as_it_is(o):
    """nothing is changed"""


# --- where it lies, how it is named

@case
def blanks_in_the_path(o):
    """blanks and letters beyond ASCII in its path"""
    os.rename(o.venv, os.path.join(o.folder, "a venv \u00e9"))
    o.venv = os.path.join(o.folder, "a venv \u00e9")


@case
def by_a_link(o):
    """the folder is a symbolic link"""
    os.rename(o.venv, os.path.join(o.folder, "real"))
    os.symlink("real", o.venv)


@case
def trailing_slash(o):
    """named with a slash at its end"""
    o.venv += "/"


@case
def relative_path(o):
    """named from the current folder"""
    o.venv = os.path.relpath(o.venv)


@case
def through_a_pth_file(o):
    """its packages lie elsewhere: a .pth file names them"""
    shutil.rmtree(o.site)
    os.mkdir(o.site)
    o.put("all.pth", o.real + "\n")


@case
def copied_dist_info(o):
    """metadata is a copy, files are links"""
    for package in ("torch", "mamba_ssm", "causal_conv1d"):
        o.own(o.info(package) + "/METADATA")


@case
def metadata_with_cr_lf(o):
    """as Windows writes it"""
    o.edit(o.info("einops") + "/METADATA", lambda data: data.replace(b"\n", b"\r\n"))


@case
def no_installer_files(o):
    """INSTALLER and direct_url.json are not there"""
    name = o.info("causal_conv1d")
    o.own(name)
    for extra in ("INSTALLER", "direct_url.json", "REQUESTED"):
        if os.path.lexists(o.at(f"{name}/{extra}")):
            o.remove(f"{name}/{extra}")


@case
def other_packages_beside(o):
    """packages that the plan does not name"""
    o.put("other/__init__.py", "raise RuntimeError('nobody asked for this module')\n")
    o.put("other-9.9.dist-info/METADATA", "Metadata-Version: 2.1\nName: other\nVersion: 9.9\n")


@case
def damaged_metadata_of_another_package(o):
    """an empty dist-info of nobody"""
    o.put("gone-1.0.dist-info/INSTALLER", "pip\n")


@case
def byte_code_of_another_python(o):
    """__pycache__ of Python 3.10"""
    o.own("einops")
    o.put("einops/__pycache__/einops.cpython-310.pyc", b"\0" * 16)


@case
def broken_library_of_a_package_that_is_not_planned(o):
    """a .so of another package does not load"""
    o.put("other.cpython-311-x86_64-linux-gnu.so", b"\x7fELF" + b"\0" * 60)


# --- noise

@case
def a_site_hook_that_prints(o):
    """a .pth file writes to standard output at every start"""
    o.put("noise.pth", "import sys; sys.stdout.write('hello from a hook\\n'); sys.stdout.flush()\n")


@case
def a_site_hook_that_fails(o):
    """a .pth file raises; Python goes on"""
    o.put("bad.pth", "import no_such_module_at_all\n")


@case
def json_on_standard_output(o):
    """a package prints what looks like a result"""
    o.edit("einops/__init__.py", lambda data: data + b"\nprint('{\"check\": \"loads\", \"result\": \"failed\"}')\n")
    o.record("einops")


@case
def warnings_at_import(o):
    """a deprecation warning, and a line on standard error"""
    o.edit("causal_conv1d/__init__.py", lambda data: data + b"\nimport sys, warnings\n"
           b"warnings.warn('old', DeprecationWarning)\nsys.stderr.write('note\\n' * 1000)\n")
    o.record("causal_conv1d")


@case
def much_output_at_import(o):
    """two megabytes on standard output"""
    o.edit("causal_conv1d/__init__.py", lambda data: data + b"\nimport os\nos.write(1, b'x' * 2000000)\n")
    o.record("causal_conv1d")


@case
def slow_import(o):
    """an import that takes its time, below the limit"""
    o.edit("causal_conv1d/__init__.py", lambda data: data + b"\nimport time\ntime.sleep(3)\n")
    o.record("causal_conv1d")


@case
def import_that_leaves_a_thread(o):
    """a thread runs on after the import"""
    o.edit("causal_conv1d/__init__.py", lambda data: data + b"\nimport threading\n"
           b"threading.Thread(target=threading.Event().wait, daemon=True).start()\n")
    o.record("causal_conv1d")


@case
def import_that_leaves_a_child(o):
    """a process runs on after the import"""
    o.edit("causal_conv1d/__init__.py", lambda data: data + b"\nimport subprocess\nsubprocess.Popen(['sleep', '30'])\n")
    o.record("causal_conv1d")


@case
def a_forgiven_import_of_something_else(o):
    """an optional package that is not there"""
    o.edit("causal_conv1d/__init__.py", lambda data: data + b"\ntry:\n    import no_such_extra\n"
           b"except ImportError:\n    no_such_extra = None\n")
    o.record("causal_conv1d")


@case
def a_word_in_a_comment(o):
    """`fallback` in a comment and in a name"""
    o.edit("causal_conv1d/__init__.py", lambda data: data + b"\n# fallback\nfallback = False\n")
    o.record("causal_conv1d")


# --- the extension

@case
def stripped_symbols(o):
    """strip(1) took the symbol table that no loader reads: here its section is zeros"""
    from overlay import sections

    def change(data):
        at, size = sections(data).get(".comment", (0, 0))
        return data[:at] + bytes(size) + data[at + size:]
    o.edit(object_of(o, CONV), change)
    o.record("causal_conv1d")


@case
def bytes_behind_the_object(o):
    """something was appended to the .so, and RECORD knows"""
    o.edit(object_of(o, SCAN), lambda data: data + b"signature")
    o.record("mamba_ssm")


@case
def helper_without_gpu_code(o):
    """a second .so of the extension, which has nothing for the GPU"""
    helper = without_gpu_code(o.read(object_of(o, CONV)))
    o.put("causal_conv1d/helper.so", helper.replace(b".nv_fatbin\0", b".nv_nothin\0"))
    o.edit(o.info("causal_conv1d") + "/RECORD", lambda data: data + b"causal_conv1d/helper.so,sha256=x,1\n")
    o.record("causal_conv1d")


@case
def code_for_more_gpus(o):
    """a wheel of the store with code for A100 as well: `verify` names it"""
    o.edit(object_of(o, SCAN), also_for(80))
    o.record("mamba_ssm")


# --- environment of the caller

env("one thread", "as launchers set it", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
env("PYTHONPATH that leads nowhere", "a folder that is not there", PYTHONPATH="/no/such/folder")
env("warnings on", "PYTHONWARNINGS=default", PYTHONWARNINGS="default")
env("no locale", "LC_ALL=C, no terminal", LC_ALL="C", TERM="dumb")
env("isolated bytes", "PYTHONDONTWRITEBYTECODE and PYTHONUNBUFFERED", PYTHONUNBUFFERED="1", PYTHONDONTWRITEBYTECODE="1")
env("a switch that is off", "SEIZURE_MAMBA_FORCE_FALLBACK=0", SEIZURE_MAMBA_FORCE_FALLBACK="0")
env("a switch that forbids", "NO_FALLBACK=1", NO_FALLBACK="1")
env("another venv is active", "VIRTUAL_ENV names another", VIRTUAL_ENV="/opt/other")

# --- the recipe

recipe("without einops", "a plan that names less than is there", packages="[]")
recipe("one extension", "the other one is there all the same", extensions="[causal-conv1d==1.6.2.post1]")
recipe("no extensions", "torch alone", extensions="[]", packages="[einops]")
recipe("a capability by its number", "gpus: \"9.0\"", gpus='["9.0"]')
recipe("numpy as it is", "numpy>=2", packages='[einops, "numpy>=2"]')
recipe("modules of its own", "verify: modules:", verify="{modules: [einops, einops.layers.torch]}")
recipe("a longer time limit", "import_timeout_s: 300", verify="{import_timeout_s: 300}")
recipe("fallbacks allowed", "forbid_fallback: false", verify="{forbid_fallback: false}")
