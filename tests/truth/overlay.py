"""An environment that is another one but for what is changed: links to its files, copies of what is broken."""
import base64
import csv
import hashlib
import io
import os
import shutil
import struct
import subprocess

RECIPE = """stack: {stack}
base: nvidia/cuda:13.0.3-devel-ubuntu22.04
python: "{python}"
gpus: {gpus}
torch: {{version: {torch}, index: {index}}}
packages: {packages}
extensions: {extensions}
verify: {verify}
"""
DEFAULTS = {"stack": "truth", "gpus": "[h100]", "torch": "2.11.0", "index": "cu130",
            "packages": "[einops]", "extensions": "[causal-conv1d==1.6.2.post1, mamba-ssm==2.3.1]",
            "verify": "{import_timeout_s: 60}"}


CUDA_HOME = os.environ.get("CUDA_HOME", "/usr/local/cuda")


class NotRun(Exception):
    """The reason why a case cannot be made on this machine."""


class Overlay:
    """A venv in `folder` on the files of the venv `real`.

    `env` is added to the environment of `verify`, `cwd` is where it starts, `limits` are (resource, value) pairs.
    """

    def __init__(self, real, folder, python=None):
        self.folder, self.env = folder, {}
        self.cwd, self.limits = None, []
        self.venv = os.path.join(folder, "venv")
        self.python = os.path.realpath(python or os.path.join(real, "bin", "python"))
        self.series = subprocess.run([self.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                                     capture_output=True, text=True, check=True).stdout.strip()
        self.recipe_values = dict(DEFAULTS, python=self.series)
        libs = os.path.join(real, "lib")
        self.real = next(os.path.join(libs, d, "site-packages") for d in sorted(os.listdir(libs))
                         if d.startswith("python"))
        self.site = os.path.join(self.venv, "lib", "python" + self.series, "site-packages")
        os.makedirs(self.site)
        os.makedirs(os.path.join(self.venv, "bin"))
        # What `python -m venv --without-pip` writes.
        self.put("../../../pyvenv.cfg", "home = %s\ninclude-system-site-packages = false\n"
                 % os.path.dirname(self.python))
        os.symlink(self.python, os.path.join(self.venv, "bin", "python"))
        os.symlink("python", os.path.join(self.venv, "bin", "python3"))
        self.fill(self.real, self.site)

    @staticmethod
    def fill(source, target):
        # Byte code stays behind: what Python writes for a changed file must not reach the real one.
        for name in os.listdir(source):
            if name != "__pycache__":
                os.symlink(os.path.join(source, name), os.path.join(target, name))

    def at(self, name):
        return os.path.join(self.site, name)

    def own(self, name):
        """The file or folder is a copy from here on, and the folders above it are real ones."""
        path = self.site
        for part in os.path.normpath(name).split(os.sep):
            path = os.path.join(path, part)
            if not os.path.islink(path):
                continue
            source = os.path.realpath(path)
            os.unlink(path)
            if os.path.isdir(source):
                os.mkdir(path)
                self.fill(source, path)
            else:
                shutil.copyfile(source, path)
        return path

    def put(self, name, data):
        """A file with these bytes or this text, in place of what was there."""
        os.makedirs(os.path.dirname(self.own_folder(name)), exist_ok=True)
        path = self.at(name)
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "wb") as f:
            f.write(data.encode() if isinstance(data, str) else data)

    def own_folder(self, name):
        folder = os.path.dirname(name)
        if folder and not folder.startswith(".."):
            self.own(folder)
        return self.at(name)

    def read(self, name):
        with open(self.at(name), "rb") as f:
            return f.read()

    def edit(self, name, change):
        data = self.read(name)
        new = change(data)
        if new == data:
            raise ValueError(f"{name}: nothing was changed")
        self.put(name, new)

    def replace(self, name, old, new):
        self.edit(name, lambda data: data.replace(old.encode(), new.encode()))

    def remove(self, name):
        path = self.own(os.path.dirname(name)) if os.path.dirname(name) else self.site
        path = os.path.join(path, os.path.basename(name))
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)

    def find(self, start, end=""):
        names = [n for n in sorted(os.listdir(self.site)) if n.startswith(start) and n.endswith(end)]
        if not names:
            raise LookupError(f"no {start}*{end} in {self.site}")
        return names[0]

    def info(self, package):
        return self.find(package + "-", ".dist-info")

    def record(self, package):
        """RECORD is that of what is there now: as if a wheel with these files had been installed."""
        name = self.info(package) + "/RECORD"
        rows = []
        for row in csv.reader(io.StringIO(self.read(name).decode())):
            path = self.at(row[0])
            if not os.path.exists(path) and not row[0].startswith(".."):
                continue
            if row[1] and os.path.exists(path):
                with open(path, "rb") as f:
                    data = f.read()
                row[1:] = ["sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(),
                           str(len(data))]
            rows.append(row)
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(rows)
        self.put(name, out.getvalue())

    def metadata(self, package, old, new):
        self.edit(self.info(package) + "/METADATA", lambda data: data.replace(old.encode(), new.encode(), 1))

    def beside(self, name, text=""):
        """A file beside the environment, and the path of it."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(text.encode() if isinstance(text, str) else text)
        return path

    def script(self, name, text):
        path = self.beside(name, "#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

    def shared(self, path, code, *options):
        """A shared object that gcc makes of C code."""
        if not shutil.which("gcc"):
            raise NotRun("gcc is not installed")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", path, *options], input=code.encode(), check=True)

    def toolkit(self):
        """A CUDA toolkit of links to the real one, first in PATH; its nvcc is a copy, which looks beside itself."""
        real = os.path.realpath(CUDA_HOME)
        if not os.path.exists(os.path.join(real, "bin", "nvcc")):
            raise NotRun("there is no CUDA toolkit in %s" % CUDA_HOME)
        home = os.path.join(self.folder, "cuda")
        os.makedirs(os.path.join(home, "bin"))
        self.fill(os.path.join(real, "bin"), os.path.join(home, "bin"))
        for name in ("nvcc", "nvcc.profile"):
            os.unlink(os.path.join(home, "bin", name))
            shutil.copy(os.path.join(real, "bin", name), os.path.join(home, "bin", name))
        for name in os.listdir(real):
            if name != "bin":
                os.symlink(os.path.join(real, name), os.path.join(home, name))
        self.env["PATH"] = os.path.join(home, "bin") + os.pathsep + os.environ["PATH"]
        return home

    def recipe(self, **values):
        self.recipe_values.update(values)

    def write_recipe(self):
        path = os.path.join(self.folder, "recipe.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(RECIPE.format(**self.recipe_values))
        return path


# --- changes to the bytes of a shared object ---

def named(old, new):
    """A name of its string table: as long or shorter."""
    old, new = old.encode() + b"\0", new.encode()
    return lambda data: data.replace(old, new.ljust(len(old) - 1, b"\0") + b"\0")


def sections(data):
    at, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    rows = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    text = rows[names][4]
    return {data[text + r[0]:data.index(b"\0", text + r[0])].decode(): (r[4], r[5]) for r in rows if r[1] != 8}


def elf_hash(name):
    h = 0
    for c in name.encode():
        h = (h << 4) + c
        g = h & 0xf0000000
        h = (h ^ g >> 24) & ~g & 0xffffffff
    return h


def version_of(old, new, section=".gnu.version_r"):
    """A version that is asked for (or defined) becomes another of the same length: its name and its hash."""
    def change(data):
        at, size = sections(data)[section]
        part = data[at:at + size].replace(struct.pack("<I", elf_hash(old)), struct.pack("<I", elf_hash(new)))
        return named(old, new)(data[:at] + part + data[at + size:])
    return change


def without_gpu_code(data):
    at, size = sections(data)[".nv_fatbin"]
    return data[:at] + bytes(size) + data[at + size:]


def gpu_entries(change):
    """change(entry) for each entry of GPU code, as a bytearray of its header."""
    def edit(data):
        out = bytearray(data)
        at, size = sections(data)[".nv_fatbin"]
        end = at + size
        while at < end:
            if out[at:at + 4] != b"\x50\xed\x55\xba":
                at += 1
                continue
            header, length = struct.unpack_from("<HQ", out, at + 6)
            stop, at = at + header + length, at + header
            while at < stop:
                entry_header, entry_size = struct.unpack_from("<IQ", out, at + 4)
                entry = out[at:at + 48]
                change(entry)
                out[at:at + 48] = entry
                at += entry_header + entry_size
        return bytes(out)
    return edit


def also_for(number):
    """Every second entry is for another GPU."""
    seen = []

    def change(entry):
        seen.append(entry)
        if len(seen) % 2 == 0:
            entry[28:32] = struct.pack("<I", number)
    return gpu_entries(change)


def for_arch(number, ptx=False):
    def change(entry):
        entry[28:32] = struct.pack("<I", number)
        if ptx:
            entry[0:2] = b"\1\0"
    return gpu_entries(change)
