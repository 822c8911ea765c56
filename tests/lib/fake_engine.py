"""Container engines that build nothing: they record their calls, and print the output of real ones.

    e = FakeEngine(folder)          its clients are in e.path: docker (kind: bare or buildx), podman, buildah, buildctl
    e.wheels["tiny-c"] = PATH       the result of "compiling"; e.inputs["tiny-c"] = {...} that of inputs.py
    e.set(fail="ext-tiny-c", ...)   see BEHAVIOUR
    e.builds()                      [{"argv", "env", "context", "secrets", "ran", ...}] in their order

A client reads the FROM, RUN, COPY and WORKDIR instructions of its Dockerfile, and runs the target with the stages that it
needs.  It keeps "layers": an instruction that already ran on the same layers, with the same bytes from the
context, is CACHED the next time, unless --no-cache is given.
"""

import csv
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import dockerfile  # noqa: E402

BEHAVIOUR = {
    "docker": "bare",  # or buildx
    "fail": None,  # the stage whose last RUN fails
    "fail_text": ["tiny_c.cu:7: error: no such thing"],
    "fail_status": 1,
    "refuse": None,  # lines of a failure before any step
    "chatter": 0,  # lines printed before those
    "hang": None,  # target (or "image") that never ends
    "container": False,  # then waits for a process in another root directory, and cleans up after it
    "no_inputs": False,
    "push_fails": False,
    "peak": 0,  # MiB that compile.py reports
    "base_digest": None,
}
IMAGE = "sha256:" + "ab" * 32
PUSHED = "sha256:" + "cd" * 32


class FakeEngine:
    def __init__(self, folder):
        self.folder, self.path = folder, os.path.join(folder, "bin")
        self.now, self.wheels, self.inputs = dict(BEHAVIOUR), {}, {}
        os.makedirs(self.path)
        for name in ("docker", "podman", "buildah", "buildctl"):
            words = shlex.join([sys.executable, "-SE", os.path.abspath(__file__), folder, name])  # a third of the time
            with open(os.path.join(self.path, name), "w", encoding="utf-8") as f:
                f.write(f'#!/bin/sh\nexec {words} "$@"\n')
            os.chmod(f.name, 0o755)
        self.set()

    def set(self, **what):
        self.now.update(what)
        with open(os.path.join(self.folder, "now.json"), "w", encoding="utf-8") as f:
            json.dump({**self.now, "wheels": self.wheels, "inputs": self.inputs}, f)

    def reset(self):
        """Restores the initial behaviour; layers stay, and records are removed."""
        self.now = dict(BEHAVIOUR)
        self.forget()
        self.set()

    def forget(self):
        if os.path.exists(os.path.join(self.folder, "calls")):
            os.unlink(os.path.join(self.folder, "calls"))

    def prune(self):
        shutil.rmtree(os.path.join(self.folder, "layers"), ignore_errors=True)

    def calls(self):
        path = os.path.join(self.folder, "calls")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as f:
            return [json.loads(line) for line in f]

    def builds(self):
        return [c for c in self.calls() if c["kind"] == "build"]


# --- the clients ---


class Client:
    def __init__(self, folder, name, argv):
        self.folder, self.name, self.argv = folder, name, argv
        with open(os.path.join(folder, "now.json"), encoding="utf-8") as f:
            self.now = json.load(f)
        self.number = 0

    def note(self, kind, **more):
        with open(os.path.join(self.folder, "calls"), "a", encoding="utf-8") as f:
            f.write(json.dumps({"kind": kind, "name": self.name, "argv": self.argv, "env": dict(os.environ), **more}) + "\n")

    def say(self, text):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def all(self, option):
        return [v for o, v in zip(self.argv, self.argv[1:]) if o == option]

    def one(self, option):
        return (self.all(option) or [None])[0]

    def opt(self, key):
        """Returns the value of buildctl's --opt KEY=VALUE."""
        return next((v.split("=", 1)[1] for v in self.all("--opt") if v.startswith(key + "=")), None)

    def main(self):
        words = " ".join(self.argv) + " "
        bare = self.now["docker"] == "bare"
        if words.startswith(("--version ", "info ", "buildx version ", "build --help ", "image inspect ", "inspect ")):
            self.note("ask")
        if words.startswith("--version "):
            print({"docker": "Docker version 20.10.24, build 297e128", "podman": "podman version 4.3.1",
                   "buildah": "buildah version 1.28.2 (image-spec 1.0.2)", "buildctl": "buildctl x v0.12.5 y"}[self.name])  # fmt: skip
        elif words.startswith("buildx version "):
            print("github.com/docker/buildx v0.24.0 d0e5e86")
            return int(bare)
        elif words.startswith("build --help "):
            print("      --secret stringArray" if os.environ.get("DOCKER_BUILDKIT") == "1" else "")
        elif words.startswith("info "):
            print(json.dumps({"ServerVersion": "20.10.24", "OSType": "linux", "store": {"GraphDriverName": "vfs"}, "host": {},
                              "version": {"Version": "4.3.1"}}))  # fmt: skip
        elif words.startswith("buildx inspect "):
            print("Name: farm\nDriver: docker-container")
        elif "debug workers " in words:
            print("ID  PLATFORMS\nx   linux/amd64")
        elif words.startswith(("image inspect ", "inspect ")):
            return self.inspect()
        elif words.startswith("push "):
            self.note("push")
            if self.now["push_fails"]:
                self.say("denied: requested access to the resource is denied")
                return 1
            if self.one("--digestfile"):
                self.write(self.one("--digestfile"), PUSHED)
            self.write(os.path.join(self.folder, "pushed"), "")
        elif words.startswith("run "):
            return self.run()
        elif words.startswith("rm "):
            self.note("rm")
        elif words.startswith("image load "):
            with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as t:
                self.note("load", files={m.name: hashlib.sha256(t.extractfile(m).read()).hexdigest() for m in t if m.isfile()})
        elif words.startswith(("build ", "bud ", "buildx build ")) or " build " in words:
            return self.build()
        else:
            self.say(f"{self.name}: not expected: {words}")
            return 99
        return 0

    def run(self):
        """Runs the script on this host, with the volume's own path and with the programs next to the client."""
        self.note("run")
        for line in self.now["refuse"] or []:
            self.say(line)
        if self.now["refuse"]:
            return 1
        at, place = self.one("--volume").split(":")
        script = self.argv[-1].replace("/tmp/", self.folder + "/").replace("/etc/apt", self.folder + "/apt").replace(place, at)
        path = os.path.join(self.folder, "bin") + ":" + os.environ["PATH"]
        return subprocess.run(["sh", "-c", script], env=os.environ | {"PATH": path}, check=False).returncode

    def inspect(self):
        tag = self.argv[-1]
        if "Digest}}" in " ".join(self.argv):
            print(self.now["base_digest"] or "")
            return 0
        if not os.path.exists(os.path.join(self.folder, "tags", tag.replace("/", "%"))):
            self.say("Error: No such image: " + tag)
            return 1
        pushed = os.path.exists(os.path.join(self.folder, "pushed"))
        print(IMAGE, '{"layers": [{"size": 77}]}' if self.name == "buildah" else "77 " + ("x@" + PUSHED if pushed else "<none>"))
        return 0

    def write(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    # --- a build ---

    def build(self):
        if self.name == "buildctl":
            local = dict(v.split("=", 1) for v in self.all("--local"))
            self.context, file = local["context"], os.path.join(local["dockerfile"], self.opt("filename"))
            target, out, iid = self.opt("target"), self.one("--output"), self.one("--metadata-file")
            self.out = dest_of(out) if out.startswith("type=local") else None
        else:
            self.context, file, target, iid = self.argv[-1], self.one("-f"), self.one("--target"), self.one("--iidfile")
            self.out = self.one("-o") and dest_of(self.one("-o"))
        self.fresh = "--no-cache" in self.argv
        secrets = {v.split(",")[0][3:]: v.split("src=")[1] for v in self.all("--secret")}
        with open(file, encoding="utf-8") as f:
            text = f.read()
        self.ran = []
        what = {"target": target or "image", "fresh": self.fresh, "context": listing(self.context), "text": text,
                "secrets": {k: digest_file(v) for k, v in secrets.items()}}  # fmt: skip
        if self.now["refuse"]:
            self.note("build", **what, ran=[])
            for n in range(self.now["chatter"]):
                self.say("line %d %s" % (n, "x" * 200))
            for line in self.now["refuse"]:
                self.say(line)
            return 1
        if self.now["hang"] == what["target"]:
            self.note("build", **what, ran=[])
            self.say("#1 [stack 1/2] FROM debian:12")
            self.hang()
            return 1
        status = self.walk(dockerfile.read(text), target)
        self.note("build", **what, ran=self.ran)
        if status:
            return status
        if self.out:
            self.leave(target)
        else:
            if iid and self.name == "buildctl":
                self.write(iid, json.dumps({"containerimage.digest": PUSHED, "containerimage.config.digest": IMAGE}))
            elif iid:
                self.write(iid, PUSHED if "--push" in self.argv else IMAGE)
            for tag in self.all("-t") if "--push" not in self.argv else ():
                self.write(os.path.join(self.folder, "tags", tag.replace("/", "%")), "")
        return 0

    def hang(self):
        made = os.path.join(self.folder, "working-container")
        self.write(made, "")
        if self.now["container"]:
            pid = os.fork()
            if not pid:
                os.setsid()
                os.chroot(self.folder)
            time.sleep(600) if not pid else os.waitpid(pid, 0)
            os.unlink(made)
        else:
            time.sleep(600)

    def walk(self, instructions, target):
        stages, order = {}, []
        for i in instructions:
            if i.name == "FROM":
                words = i.rest.split()
                order.append(words[2])
                stages[words[2]] = [i]
            elif order:
                stages[order[-1]].append(i)
        self.stages, self.keys = stages, {}
        return self.stage(target or order[-1])

    def stage(self, name):
        """Runs a stage and the stages that it needs; returns another number than 0 if it fails."""
        if name in self.keys:
            return 0
        mine, base = self.stages[name], self.stages[name][0].rest.split()[0]
        needs = [base] + [f.split("from=")[1].split(",")[0] for i in mine for f in i.flags if "from=" in f]
        for need in needs:
            if need in self.stages and self.stage(need):
                return 1
        layers = [i for i in mine if i.name in ("RUN", "COPY", "ADD", "WORKDIR")]
        if base not in self.stages and base != "scratch":
            layers.insert(0, mine[0])
        key = hashlib.sha256("".join([base, *(self.keys.get(n, "") for n in needs)]).encode()).hexdigest()
        runs = [i for i in layers if i.name == "RUN"]
        for n, i in enumerate(layers, 1):
            key = hashlib.sha256(f"{key} {i.name} {i.flags} {i.rest} {self.bytes_of(i)}".encode()).hexdigest()
            head = f"[{name} {n}/{len(layers)}] {i.name} {i.rest[:40]}"
            if i.name == "FROM" and self.now["base_digest"]:
                head = f"[{name} {n}/{len(layers)}] FROM docker.io/library/{base}@{self.now['base_digest']}"
            if self.layer(name, i, key, head, i is (runs or [None])[-1]):
                return 1
        self.keys[name] = key
        return 0

    def layer(self, name, i, key, head, last):
        self.number += 1
        mark, path = f"#{self.number}", os.path.join(self.folder, "layers", key)
        self.say(f"{mark} {head}")
        if i.name == "RUN" and self.now["fail"] == name and last:
            for line in self.now["fail_text"]:
                self.say(f"{mark} 0.100 {line}")
            end = f"executor failed running [/bin/sh -c {i.rest[:30]}]: exit code: {self.now['fail_status']}"
            self.say(f"{mark} ERROR: {end}\n------\n > {head}:\n------\n{end}")
            return 1
        if os.path.exists(path) and not self.fresh:
            self.say(f"{mark} CACHED\n")
            return 0
        if i.name == "RUN":
            self.ran.append(name)
        if name.startswith("ext-") and last and self.now["peak"]:
            self.say(f"{mark} 0.200 stackbuild-peak {name[4:]} {self.now['peak']}")
        self.say(f"{mark} DONE {'0.0' if i.name == 'FROM' else '0.3'}s\n")
        self.write(path, "")
        return 0

    def bytes_of(self, i):
        if i.name != "COPY" or any("from=" in f for f in i.flags):
            return ""
        found = []
        for name in i.json[:-1] if i.json is not None else i.rest.split()[:-1]:
            source = os.path.join(self.context, name)
            if not os.path.exists(source):
                raise SystemExit(f"not in the context: {source}")
            found.append(listing(source) if os.path.isdir(source) else digest_file(source))
        return found

    def leave(self, target):
        os.makedirs(self.out, exist_ok=True)
        if target == "inputs":
            for name, inputs in {} if self.now["no_inputs"] else self.now["inputs"].items():
                self.write(os.path.join(self.out, name + ".json"), inputs if isinstance(inputs, str) else json.dumps(inputs))
        if target.startswith("wheel-"):
            shutil.copy(self.now["wheels"][target[6:]], self.out)
        for stage in self.stages if target == "wheels" else ():
            name = stage.removeprefix("ext-")
            if stage.startswith("ext-"):
                os.makedirs(os.path.join(self.out, name), exist_ok=True)
                shutil.copy(self.now["wheels"][name], os.path.join(self.out, name))


def dest_of(output):
    """Returns DIR of type=local,dest=DIR, which BuildKit's clients read as a line of CSV."""
    return dict(field.split("=", 1) for field in next(csv.reader([output])))["dest"]


def listing(folder):
    found = {}
    for d, folders, files in os.walk(folder):
        for f in files + folders:
            path = os.path.join(d, f)
            name = os.path.relpath(path, folder)
            if os.path.islink(path):
                found[name] = "-> " + os.readlink(path)
            elif os.path.isfile(path):
                found[name] = digest_file(path)
    return dict(sorted(found.items()))


def digest_file(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


if __name__ == "__main__":
    sys.exit(Client(sys.argv[1], sys.argv[2], sys.argv[3:]).main())
