"""Makes `python -m venv` of the tests' environment ten times faster: pip comes from a copy instead of from ensurepip.

ensurepip unpacks and compiles pip anew for each environment, which takes 4 s of CPU; the tests make about a hundred.  The
first environment is made by ensurepip and kept below $(VENV)/quick.  quick_venv.pth, which the Makefile writes to the
environment, runs this file before the module venv.  QUICK_VENV=0 turns it off; suites/runner compares both results.
"""

import fcntl
import os
import shutil
import sys
import venv

HERE = os.path.join(sys.prefix, "quick")
SITE = os.path.join("lib", "python%d.%d" % sys.version_info[:2], "site-packages")
setup_pip = venv.EnvBuilder._setup_pip


def template():
    """Returns an environment made by ensurepip."""
    folder = os.path.join(HERE, "%d.%d.%d" % sys.version_info[:3])
    os.makedirs(HERE, exist_ok=True)
    with open(os.path.join(HERE, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(folder):
            shutil.rmtree(folder + ".part", ignore_errors=True)
            builder = venv.EnvBuilder(symlinks=True)
            builder.create(folder + ".part")
            setup_pip(builder, builder.ensure_directories(folder + ".part"))
            os.rename(folder + ".part", folder)
    return folder


def script(text, python):
    """Returns a script of pip for another interpreter, with the first lines that pip writes."""
    lines = text.splitlines(True)
    body = "".join(lines[3:] if lines[0] == "#!/bin/sh\n" else lines[1:])
    if " " in python or len(python) > 120:
        return "#!/bin/sh\n'''exec' \"%s\" \"$0\" \"$@\"\n' '''\n%s" % (python, body)
    return "#!%s\n%s" % (python, body)


def quick(self, context):
    made = template()
    shutil.copytree(os.path.join(made, SITE), os.path.join(context.env_dir, SITE), symlinks=True, dirs_exist_ok=True)
    for name in os.listdir(os.path.join(made, "bin")):
        path = os.path.join(context.bin_path, name)
        if name.startswith(("pip", "easy_install")) and not os.path.exists(path):
            with open(os.path.join(made, "bin", name), encoding="utf-8") as f:
                text = f.read()
            with open(path, "w", encoding="utf-8") as f:
                f.write(script(text, context.env_exe))
            os.chmod(path, 0o755)


# A .pth file is read twice where lib64 is a link to lib.
if os.environ.get("QUICK_VENV") != "0" and setup_pip.__name__ != "quick":
    venv.EnvBuilder._setup_pip = quick
