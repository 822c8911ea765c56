"""Container engines as readers of Dockerfiles, without network: the commands that they would run.

The base images are replaced by one whose /bin/sh (record.c) prints argv and environment instead
of running anything, so the real engine parses, converts and "runs" a whole rendered Dockerfile in
a second.

    e = Docker(dir); e.base("debian:12", files=[...]); r = e.build(text)

    r.refused   the engine's message if it rejected the text, else None
    r.runs      {stage: [(argv, env)...]} in the order of the file; docker names a stage without
                a name stage-N; buildah does not identify stages: key None
"""

import io
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LIMIT_S = 120  # limit for one Dockerfile: a build that waits for itself would never end
# Variables that engines add themselves.
OWN_ENV = {"HOME", "HOSTNAME", "TERM", "PWD", "OLDPWD", "container"}


class Missing(Exception):
    """The engine cannot run here; str() returns the reason."""


@dataclass
class Result:
    refused: str | None
    runs: dict = field(default_factory=dict)
    log: str = ""


def recorder(work):
    """Compiles the static program once and returns its path."""
    path = os.path.join(work, "record")
    if not os.path.exists(path):
        cc = os.environ.get("CC", "cc").split()
        subprocess.run([*cc, "-O1", "-static", "-o", path, os.path.join(HERE, "record.c")], check=True)
    return path


def layer(work, files, users):
    """Makes a tar file with /bin/sh, the files that later COPY lines need, and users."""
    path = os.path.join(work, "base.tar")
    seen = set()
    with tarfile.open(path, "w") as t:

        def add(name, data, mode):
            parts = name.strip("/").split("/")
            for n in range(1, len(parts)):
                d = "/".join(parts[:n])
                if d not in seen:
                    seen.add(d)
                    info = tarfile.TarInfo(d)
                    info.type, info.mode = tarfile.DIRTYPE, 0o755
                    t.addfile(info)
            name = "/".join(parts)
            if name in seen:
                return
            seen.add(name)
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), mode
            t.addfile(info, io.BytesIO(data))

        with open(recorder(work), "rb") as f:
            add("bin/sh", f.read(), 0o755)
        add("tmp/.keep", b"", 0o644)
        rows = ["root:x:0:0:root:/root:/bin/sh"]
        rows += [f"{u}:x:{1000 + n}:{1000 + n}::/:/bin/sh" for n, u in enumerate(users)]
        add("etc/passwd", ("\n".join(rows) + "\n").encode(), 0o644)
        groups = ["root:x:0:"] + [f"{u}:x:{1000 + n}:" for n, u in enumerate(users)]
        add("etc/group", ("\n".join(groups) + "\n").encode(), 0o644)
        for f in files:
            add(f, b"", 0o644)
    return path


def decode(lines):
    """Returns argv and environment from the recorder's lines."""
    got = bytes.fromhex("".join(line.removeprefix("@record ") for line in lines))
    words = [w.decode("utf-8", "surrogateescape") for w in got.split(b"\0")[:-1]]
    # argv may contain empty words, but the environment never does: the last empty word separates them.
    cut = len(words) - 1 - words[::-1].index("")
    return words[:cut], dict(w.split("=", 1) for w in words[cut + 1 :])


def archive(work, name, files, users):
    out = os.path.join(work, "base-image.tar")
    make = os.path.join(ROOT, "ci", "image-archive")
    subprocess.run([make, "--name", name, "--env", "PATH=" + PATH, layer(work, files, users), "-o", out], check=True)
    return out


def forbidden(said):
    """Returns the line with which a kernel or a surrounding container forbids an engine its work, or None."""
    wall = r"remount /, flags|operation not permitted|permission denied|cannot clone|root filesystem propagation|cgroup.* (isn't|not) mounted"
    return next((line.strip()[-200:] for line in said.split("\n") if re.search(wall, line, re.I)), None)


def use_unpacked():
    """Finds engines that ci/engines unpacked into the build folder."""
    folder = os.path.join(ROOT, os.environ.get("BUILD", "build"), "engines")
    out = subprocess.run([os.path.join(ROOT, "ci", "engines"), os.path.abspath(folder), "env"],
                         capture_output=True, text=True).stdout  # fmt: skip
    for line in out.splitlines():
        k, _, v = line.removeprefix("export ").partition("=")
        os.environ[k] = v


class Docker:
    """BuildKit inside the daemon of ci/testbed."""

    name = "docker"

    def __init__(self, work):
        self.work = work
        os.makedirs(work, exist_ok=True)
        # A separate state directory, because the suite must not end a testbed that is in use.
        self.env = dict(os.environ, TESTBED_STATE=os.path.join(work, "testbed"))
        up = self.testbed("up", "engine")
        if up.returncode:
            raise Missing((up.stdout + up.stderr).strip().replace("\n", " "))
        # The daemon ends after this process, however that ends.
        watch = 'while kill -0 "$1"; do sleep 1; done; exec "$2" down --clean'
        subprocess.Popen(["sh", "-c", watch, "sh", str(os.getpid()), os.path.join(ROOT, "ci", "testbed")], env=self.env,
                         start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)  # fmt: skip
        env = self.testbed("env").stdout
        for word in env.replace("export ", "").split():
            k, _, v = word.partition("=")
            self.env[k] = v
        self.cli = self.env["DOCKER"]
        self.version = subprocess.run(
            [self.cli, "version", "--format", "{{.Server.Version}}"],
            env=self.env, capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip

    def testbed(self, *args):
        cmd = [os.path.join(ROOT, "ci", "testbed"), *args]
        return subprocess.run(cmd, env=self.env, capture_output=True, text=True)

    def base(self, names, files=(), users=()):
        path = archive(self.work, "stackbuild-test/recorder:1", files, users)
        self.run("load", "-q", "-i", path)
        for n in names:
            self.run("tag", "stackbuild-test/recorder:1", n)

    def run(self, *args):
        p = subprocess.run([self.cli, *args], env=self.env, capture_output=True, text=True)
        if p.returncode:
            raise Missing(f"docker {args[0]}: " + p.stderr.strip().split("\n")[-1])

    def build(self, text, context=None, secrets=(), target=None, cache=False):
        with open(os.path.join(self.work, "Dockerfile"), "w", newline="") as f:
            f.write(text)
        context = context or empty(self.work)
        cmd = [self.cli, "build", "--network=host", "-f", f.name] + ([] if cache else ["--no-cache"])
        cmd += secret_options(self.work, secrets) + (["--target", target] if target else [])
        try:
            p = subprocess.run([*cmd, context], env=self.env, capture_output=True, text=True,
                               errors="surrogateescape", timeout=LIMIT_S)  # fmt: skip
        except subprocess.TimeoutExpired as e:
            return Result(f"hangs after {(e.stderr or b'')[-300:]!r}")
        r = Result(None, log=p.stderr)
        if p.returncode:
            r.refused = last_error(p.stderr)
        r.runs = docker_runs(p.stderr)
        return r

    def close(self):
        down = self.testbed("down", "--clean")
        if down.returncode:
            raise RuntimeError(down.stderr)


def docker_runs(log):
    names, chunks = {}, {}
    for line in log.split("\n"):
        m = re.match(r"#(\d+) \[(?:(\S+) +)?(\d+)/(\d+)\] RUN", line)
        if m:
            names[m[1]] = (m[2] or "stage-0", int(m[3]))
            continue
        m = re.match(r"#(\d+) [\d.]+ (@record [0-9a-f]+|@end)$", line)
        if m:
            chunks.setdefault(m[1], []).append(m[2])
    out = {}
    for vertex, lines in chunks.items():
        stage, n = names[vertex]
        out.setdefault(stage, []).append((n, decode([x for x in lines if x != "@end"])))
    return {s: [run for _, run in sorted(v, key=lambda x: x[0])] for s, v in out.items()}


class Buildah:
    """buildah with its own storage, as root or not; chroot isolation needs no network."""

    name = "buildah"

    def __init__(self, work):
        self.work, self.policy = work, []
        os.makedirs(work, exist_ok=True)
        # In memory if there is enough: every RUN creates and removes a container.
        self.memory = None
        if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 2 << 30:
            self.memory = tempfile.mkdtemp(prefix="stackbuild-", dir="/dev/shm")
        self.cli = shutil.which("buildah")
        if not self.cli:
            raise Missing("buildah is not installed")
        os.environ["TMPDIR"] = work  # its cache mounts would stay in /var/tmp
        at = self.memory or work
        self.store = ["--root", f"{at}/root", "--runroot", f"{at}/run"]
        self.version = subprocess.run([self.cli, "--version"], capture_output=True, text=True).stdout.split()[2]
        # chroot needs no runtime, but starts itself again without LD_LIBRARY_PATH, so unpacked libraries do not work.
        self.isolation = ["--isolation", "chroot"]
        if os.environ.get("LD_LIBRARY_PATH") and shutil.which("runc"):
            self.isolation = ["--isolation", "oci", "--runtime", shutil.which("runc")]
        if not os.path.exists("/etc/containers/policy.json"):
            policy = os.path.join(work, "policy.json")
            with open(policy, "w") as f:
                f.write('{"default": [{"type": "insecureAcceptAnything"}]}')
            self.policy = ["--signature-policy", policy]
        p = subprocess.run([self.cli, *self.store, "images"], capture_output=True, text=True)
        if p.returncode:
            raise Missing(p.stderr.strip().split("\n")[-1])

    def base(self, names, files=(), users=()):
        name = "docker.io/stackbuild-test/recorder:1"
        path = archive(self.work, name, files, users)
        for cmd in [["pull", "-q", *self.policy, f"docker-archive:{path}"]] + [["tag", name, n] for n in names]:
            p = subprocess.run([self.cli, *self.store, *cmd], capture_output=True, text=True)
            if p.returncode:
                raise Missing(p.stderr.strip().split("\n")[-1])

    def build(self, text, context=None, secrets=(), target=None):
        path = os.path.join(self.work, "Dockerfile")
        with open(path, "w", newline="") as f:
            f.write(text)
        cmd = [self.cli, *self.store, "bud", *self.isolation, "--network", "host", "--pull-never", *self.policy, "-f", path]
        cmd += secret_options(self.work, secrets) + (["--target", target] if target else [])
        # Through a file, because chroot isolation may lose the output of a command that ends at once.
        record = os.path.join(self.work, "record-log")
        os.makedirs(record, exist_ok=True)
        log = os.path.join(record, "log")
        open(log, "w").close()
        cmd += ["--volume", f"{record}:/record"]
        try:
            p = subprocess.run([*cmd, context or empty(self.work)], capture_output=True, text=True,
                               errors="surrogateescape", timeout=LIMIT_S)  # fmt: skip
        except subprocess.TimeoutExpired as e:
            return Result(f"hangs after {(e.stdout or b'')[-300:]!r}")
        r = Result(None, log=p.stdout + p.stderr)
        if p.returncode:
            r.refused = last_error(p.stderr)
        runs, lines = [], []
        with open(log, encoding="ascii") as f:
            recorded = f.read()
        for line in recorded.split("\n"):
            if line.startswith("@record "):
                lines.append(line)
            elif line == "@end":
                runs.append(decode(lines))
                lines = []
        r.runs = {None: runs}
        return r

    def close(self):
        subprocess.run([self.cli, *self.store, "rm", "-a"], capture_output=True)
        if self.memory:
            subprocess.run(["umount", f"{self.memory}/root/overlay"], capture_output=True)
            shutil.rmtree(self.memory, ignore_errors=True)


def secret_options(work, secrets):
    path = os.path.join(work, "secret")
    with open(path, "w") as f:
        f.write("not a secret\n")
    return [f"--secret=id={s},src={path}" for s in secrets]


def last_error(stderr):
    lines = [x for x in stderr.strip().split("\n") if x.strip()]
    for x in reversed(lines):
        if re.search(r"error|Error|refused|failed", x):
            return x.strip()
    return lines[-1].strip() if lines else "no message"


def empty(work):
    path = os.path.join(work, "context")
    os.makedirs(path, exist_ok=True)
    return path


