"""Recipes that are locked with an index on loopback, by the uv of the environment."""

import glob
import hashlib
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tarfile
import tomllib

import registry
import standin

HERE = os.path.dirname(os.path.abspath(__file__))
STACKBUILD = os.path.abspath(os.environ.get("STACKBUILD", os.path.join(HERE, "..", "..", "stackbuild")))
UV = os.path.join(os.path.dirname(sys.executable), "uv")
PLATFORM = "linux/arm64" if os.uname().machine == "aarch64" else "linux/amd64"


class Place:
    """A directory with a recipe, its index, and a separate cache for uv."""

    def __init__(self, folder, index):
        self.folder, self.index = folder, index
        self.recipe = os.path.join(folder, "r.yaml")
        self.lock = os.path.join(folder, "pylock.demo.toml")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_"))}
        self.env |= {"PIP_CONFIG_FILE": "/dev/null", "UV": UV, "NO_COLOR": "1", "HOME": folder, "UV_HTTP_RETRIES": "0",
                     "UV_CACHE_DIR": os.path.join(folder, "cache"), "TMPDIR": folder}  # fmt: skip

    def write(self, text):
        with open(self.recipe, "w", encoding="utf-8") as f:
            f.write("stack: demo\n" + text)

    def run(self, *args, verb="lock", **how):
        """Locks the recipe, or checks the lock; the index behaves as `how` describes."""
        return self.command(verb, "r.yaml", *args, **how)

    def command(self, *args, how="json+metadata", limit=None, before=(), **env):
        """Returns a command of stackbuild after the words of `before`; limit: maximum bytes of a file."""
        all_env = {"UV_DEFAULT_INDEX": self.index.url(how)} | self.env | {k: v for k, v in env.items() if v is not None}
        for k, v in env.items():
            if v is None:
                all_env.pop(k, None)

        def prepare():
            if limit:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        p = subprocess.run([*before, STACKBUILD, *args], capture_output=True, text=True, timeout=300, cwd=self.folder,
                           env=all_env, preexec_fn=prepare)  # fmt: skip
        p.text = f"exit {p.returncode}\n{p.stdout}{p.stderr}"
        return p

    def bytes(self):
        with open(self.lock, "rb") as f:
            return f.read()

    def toml(self):
        return tomllib.loads(self.bytes().decode())

    def versions(self):
        return {p["name"]: p["version"] for p in self.toml()["packages"]}


def wheels(folder, *all):
    """Writes pure wheels: (name, version, requirements...)."""
    os.makedirs(folder, exist_ok=True)
    for name, version, *needs in all:
        standin.wheel(os.path.join(folder, f"{name.replace('-', '_')}-{version}-py3-none-any.whl"), name, version, "py3-none-any",
                      {f"{name.replace('-', '_')}.py": b""}, needs)  # fmt: skip


def build_requirements(index):
    wheels(index.folder, *[(n, "90.0") for n in ("packaging", "ninja", "wheel")], ("setuptools", "81.0.0"))


def errors(p):
    return [x for x in p.stderr.split("\n") if x.startswith("error[") or ": error[" in x and x[0] != " "]


def blob(host, data):
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    host.blobs[digest] = data
    return {"digest": digest, "size": len(data)}


def python_layer():
    """Returns a layer with this Debian's Python, its venv and a shell, and None; or None and the reason why there is none."""
    python, wheels_at = "/usr/bin/python3.11", "/usr/share/python-wheels"
    if not os.path.exists(python) or not os.path.isdir(wheels_at):
        return None, "this machine is no Debian 12 with python3-venv"
    programs = [python, "/bin/mkdir", "/bin/dash"]
    needed = programs + glob.glob("/usr/lib/python3.11/lib-dynload/*.so")
    libs = re.findall(r"(?:=> |\t)(/\S+) \(", subprocess.run(["ldd", *needed], capture_output=True, text=True).stdout)
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for path in [*programs, *sorted(set(libs)), "/usr/lib/python3.11", wheels_at]:
            tar.add(os.path.realpath(path) if path not in programs else path, arcname=path.lstrip("/"),
                    filter=lambda m: None if re.search(r"__pycache__|/config-|pydoc_data|lib2to3", m.name) else m)  # fmt: skip
        for name, target in (("bin/sh", "dash"), ("usr/bin/python3", "python3.11")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
        for name in ("tmp", "root", "proc", "sys", "dev", "etc"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(folder)
    return data.getvalue(), None


def manifest(host, tag, salt, layers=(), config=b"{}"):
    """Makes the registry serve the index of an image for one platform; returns its digest and that of the image."""
    def put(kind, value):
        data = json.dumps(value).encode()
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        host.manifests["base", digest] = (data, kind)
        return digest, len(data)

    os_name, machine = PLATFORM.split("/")
    kind = "application/vnd.oci.image.manifest.v1+json"
    config = {"mediaType": "application/vnd.oci.image.config.v1+json", **blob(host, config)}
    digest, size = put(kind, {"schemaVersion": 2, "mediaType": kind, "config": config, "annotations": {"salt": salt}, "layers": [
        {"mediaType": "application/vnd.oci.image.layer.v1.tar", **blob(host, x)} for x in layers]})  # fmt: skip
    listed, _ = put(registry.INDEX, {"schemaVersion": 2, "mediaType": registry.INDEX, "manifests": [
        {"mediaType": kind, "digest": "sha256:" + "1" * 64, "size": 1, "platform": {"os": "linux", "architecture": "s390x"}},
        {"mediaType": kind, "digest": digest, "size": size, "platform": {"os": os_name, "architecture": machine}}]})  # fmt: skip
    host.tags["base", tag] = listed
    return listed, digest
