"""A small stand-in for torch and for an extension that is compiled against it, served from loopback.

The wheel has the parts that builds and probes use: torch/version.py, the C++ ABI, a shared library that the extension links
with.  `world(folder)` makes both, serves them, and returns a recipe for them.
"""

import base64
import contextlib
import hashlib
import http.server
import os
import re
import subprocess
import sys
import threading
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SERIES = "%d.%d" % sys.version_info[:2]
TAG = "cp%d%d" % sys.version_info[:2]
VERSION = "2.11.0"

INIT = '''"""A stand-in for torch: as much of it as the tests of stackbuild need."""
from . import version
__version__ = version.__version__
class _Cuda:
    @staticmethod
    def is_available():
        return False
    @staticmethod
    def device_count():
        return 0
cuda = _Cuda()
def compiled_with_cxx11_abi():
    return True
'''
VERSION_PY = "__version__ = %r\ndebug = False\ncuda = None\ngit_version = '0' * 40\nhip = None\n"
LIBC10 = "int c10_answer(void);\nint c10_answer(void) { return 41; }\n"
SETUP = '''import os, torch
from setuptools import Extension, setup
lib = os.path.join(os.path.dirname(torch.__file__), "lib")
setup(name="tiny-c", version="1.0", ext_modules=[Extension("tiny_c", ["tiny_c.c"], libraries=["c10"],
      library_dirs=[lib], extra_link_args=["-Wl,-rpath," + lib])])
'''
TINY_C = """#include <Python.h>
int c10_answer(void);
static PyObject *answer(PyObject *self, PyObject *args) { return PyLong_FromLong(c10_answer() + 1); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, 0}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "tiny_c", 0, -1, methods};
PyMODINIT_FUNC PyInit_tiny_c(void) { return PyModule_Create(&module); }
"""


def wheel(path, name, version, tag, files, requires=()):
    """Writes a wheel with a correct RECORD; files: path -> bytes."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    files = dict(files)
    needs = "".join(f"Requires-Dist: {r}\n" for r in requires)
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}".encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: standin\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = "".join(
        f"{p},sha256={base64.urlsafe_b64encode(hashlib.sha256(b).digest()).rstrip(b'=').decode()},{len(b)}\n"
        for p, b in files.items()
    )
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for p, b in files.items():
            z.writestr(zipfile.ZipInfo(p, (2020, 1, 1, 0, 0, 0)), b)


def seal(lock):
    """Returns the text of a lock that a test edited, with a new digest of its content (docs/lock.md)."""
    rest = "".join(x for x in lock.splitlines(keepends=True) if not x.startswith("content = "))
    return re.sub("(?m)^content = .*", f'content = "sha256:{hashlib.sha256(rest.encode()).hexdigest()}"', lock)


def torch_wheel(folder, version=VERSION, local=""):
    """Writes the stand-in's wheel to `folder`; returns the path."""
    library, source = os.path.join(folder, "libc10.so"), os.path.join(folder, "c10.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(LIBC10)
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libc10.so", "-o", library, source], check=True)
    with open(library, "rb") as f:
        code = f.read()
    tag = f"{TAG}-{TAG}-linux_{os.uname().machine}"
    path = os.path.join(folder, f"torch-{version}{local}-{tag}.whl")
    wheel(path, "torch", version + local, tag, {
        "torch/__init__.py": INIT.encode(),
        "torch/version.py": (VERSION_PY % (version + local)).encode(),
        "torch/lib/libc10.so": code,
    })  # fmt: skip
    os.unlink(library)
    os.unlink(source)
    return path


class Index(http.server.BaseHTTPRequestHandler):
    """An index of PEP 503 for one directory of wheels."""

    def do_GET(self):
        parts = [p for p in self.path.split("/") if p]
        names = os.listdir(self.server.folder)
        if len(parts) == 2 and parts[0] == "simple":
            mine = [n for n in names if n.lower().startswith(parts[1].replace("-", "_") + "-")]
            body = "".join(f'<a href="/files/{n}">{n}</a>\n' for n in mine).encode()
            self.answer(200 if mine else 404, body, "text/html")
        elif len(parts) == 2 and parts[0] == "files" and parts[1].replace("%2B", "+") in names:
            with open(os.path.join(self.server.folder, parts[1].replace("%2B", "+")), "rb") as f:
                self.answer(200, f.read(), "application/octet-stream")
        else:
            self.answer(404, b"", "text/plain")

    def answer(self, status, body, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):
        self.do_GET()

    def log_message(self, *args):
        pass


def repository(folder, files, tag):
    """Makes a bare repository FOLDER/NAME.git of these files, with a tag; returns the commit."""
    work = folder + ".work"
    os.makedirs(work)
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(work, name)), exist_ok=True)
        with open(os.path.join(work, name), "w", encoding="utf-8") as f:
            f.write(text)
    env = dict(os.environ, GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@localhost", GIT_COMMITTER_NAME="t",
               GIT_COMMITTER_EMAIL="t@localhost", GIT_AUTHOR_DATE="2020-01-01T00:00:00Z",
               GIT_COMMITTER_DATE="2020-01-01T00:00:00Z", GIT_CONFIG_GLOBAL="/dev/null")  # fmt: skip
    for c in (["init", "-q"], ["add", "."], ["commit", "-qm", tag], ["tag", tag], ["clone", "-q", "--bare", ".", folder]):
        subprocess.run(["git", *c], cwd=work, env=env, check=True)
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=work, env=env, check=True, capture_output=True,
                          text=True).stdout.strip()  # fmt: skip


@contextlib.contextmanager
def world(folder, host="127.0.0.1"):
    """Yields the text of a recipe for the stand-in and tiny-c, and serves both meanwhile."""
    wheels, repos = os.path.join(folder, "index"), os.path.join(folder, "git")
    os.makedirs(wheels)
    os.makedirs(repos)
    torch_wheel(wheels)
    repository(os.path.join(repos, "tiny-c.git"), {"setup.py": SETUP, "tiny_c.c": TINY_C}, "v1.0")
    index = http.server.ThreadingHTTPServer((host, 0), Index)
    index.folder = wheels
    threading.Thread(target=index.serve_forever, daemon=True).start()
    serve = os.path.join(os.path.dirname(HERE), "e2e", "serve-git")
    git = subprocess.Popen([sys.executable, serve, repos, host], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        port = git.stdout.readline().strip()
        yield f"""stack: tiny
base: debian:12
python: "{SERIES}"
torch: {{version: {VERSION}, index: "http://{host}:{index.server_port}/simple"}}
extensions:
  - {{name: tiny-c, git: "http://{host}:{port}/tiny-c.git", ref: v1.0}}
verify: {{modules: [tiny_c]}}
"""
    finally:
        git.terminate()
        git.wait()
        git.stdout.close()
        index.shutdown()
        index.server_close()
