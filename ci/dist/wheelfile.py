"""The wheel of stackbuild: ci/dist/pack writes the portable one, and ci/dist/backend.py one of programs compiled here."""

import base64
import glob
import hashlib
import io
import os
import subprocess
import time
import zipfile

SUMMARY = "Builds and verifies CUDA extension stacks: torch and the packages that compile kernels against it"

# The source of `python -m stackbuild`, which runs the program that the wheel installed.
MAIN = '''"""Runs the stackbuild program of this installation: `python -m stackbuild check recipe.yaml`."""

import os
import sys
import sysconfig


def program():
    """Returns the path of the program, beside this Python or in the scripts of the user's installation."""
    schemes = ["", os.name + "_user"]
    for scheme in schemes:
        path = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        if path and os.access(os.path.join(path, "stackbuild"), os.X_OK):
            return os.path.join(path, "stackbuild")
    sys.exit("stackbuild: the program is not where pip installs scripts; install the package again")


if __name__ == "__main__":
    os.execv(program(), ["stackbuild"] + sys.argv[1:])
'''


def read(path):
    with open(path, "rb") as f:
        return f.read()


def version():
    return read("NEWS.md").split(b"\n")[0].split()[2].decode()


def documents(program):
    """Returns the files below share/, which are the same on every machine: path to bytes. `program` runs here."""
    say = lambda *args: subprocess.run([program, *args], check=True, capture_output=True).stdout
    files = {
        "man/man1/stackbuild.1": say("man"),
        "bash-completion/completions/stackbuild": say("completion", "bash"),
        "zsh/site-functions/_stackbuild": say("completion", "zsh"),
        "fish/vendor_completions.d/stackbuild.fish": say("completion", "fish"),
        "stackbuild/recipe.schema.json": say("schema"),
    }
    for path in sorted(glob.glob("docs/**", recursive=True)):
        if os.path.isfile(path):
            files["doc/stackbuild/" + os.path.relpath(path, "docs")] = read(path)
    for path in sorted(glob.glob("recipes/*.yaml")):
        files["doc/stackbuild/recipes/" + os.path.basename(path)] = read(path)
    return files


def metadata(licences):
    head = f"""Metadata-Version: 2.1
Name: stackbuild
Version: {version()}
Summary: {SUMMARY}
License: MIT
Keywords: CUDA,torch,Docker,Modal
Classifier: Environment :: Console
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Software Development :: Build Tools
Requires-Python: >=3.7
Description-Content-Type: text/markdown
"""
    for name in sorted(licences):
        head += f"License-File: licenses/{name}\n"
    return (head + "\n").encode() + read("README.md")


def write(folder, platform, programs, docs, licences, epoch, bill=None):
    """Writes the wheel into `folder` and returns its name.

    in  platform: the last part of its tag; programs: name to bytes; docs: the files of documents(); licences: name to bytes;
        epoch: the time of each file, in seconds; bill: an SBOM in SPDX's JSON
    """
    number, tag = version(), f"py3-none-{platform}"
    info, data = f"stackbuild-{number}.dist-info", f"stackbuild-{number}.data"
    files = {
        "stackbuild/__init__.py": f'"""stackbuild is a program; `python -m stackbuild` runs it."""\n\n__version__ = "{number}"\n'.encode(),
        "stackbuild/__main__.py": MAIN.encode(),
        f"{info}/METADATA": metadata(licences),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: stackbuild ci/dist\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
    }
    files.update({f"{data}/scripts/{name}": body for name, body in programs.items()})
    files.update({f"{data}/data/share/{name}": text for name, text in docs.items()})
    files.update({f"{info}/licenses/{name}": text for name, text in licences.items()})
    if bill:
        files[f"{info}/sboms/stackbuild.spdx.json"] = bill
    record = ""
    for name, body in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(body)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name in sorted(files, key=lambda n: (n.startswith(info), n)):  # PEP 427: dist-info comes last
            entry = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            z.writestr(entry, files[name])
    name = f"stackbuild-{number}-{tag}.whl"
    with open(f"{folder}/{name}", "wb") as f:
        f.write(out.getvalue())
    return name
