"""compile.py: runs the command that compiles one extension, with as many jobs as memory allows.

    python compile.py NAME [--version V] --memory=MIB [--threads=N] [--archs=N] [--beside=OTHER=MIB ...]
                      [--tree=DIRECTORY --built=FILE] -- COMMAND ...

MIB is the memory of one compiler for one GPU architecture.  nvcc compiles up to --threads of --archs
architectures at a time, each with its own compiler.  The program sets MAX_JOBS and NVCC_THREADS for the
command, unless they are set; nvcc-arch limits nvcc to NVCC_THREADS.

Parallel builds (--beside) share the memory through a common directory: each writes its use to a file,
and waits while there is no memory for one job.  The program measures the largest process and prints it
(stackbuild-peak NAME MIB); the next run uses this value as MIB.  pip hides the output of compilers, so the program
prints which files they compile.  Without a common directory (a virtual
environment, one extension after the other), a file next to this one stores it.

For own code, --tree is a copy of its directory. The program first removes what an earlier build left there, and in the
end writes FILE, beside the wheel, in the format of sha256sum: the wheel, and each file outside of the directory that
the compilers read, without those of directories that inputs.py reads as a whole.
Exit status: that of the command.  Standard library only, Python 3.8 and later.
"""
import argparse
import fcntl
import hashlib
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import time

SHARED = os.environ.get("STACKBUILD_SHARED") or "/run/stackbuild"
OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "measured")  # if builds share no directory
ROOT = os.environ.get("STACKBUILD_ROOT", "")  # a directory with proc and sys, in tests
LEAST = 256  # MiB: the last command may have compiled nothing
NONE = 1 << 62  # bytes; version 1 of control groups reports no limit as a number near 2^63


def text(path):
    try:
        with open(ROOT + path, encoding="ascii", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def number(path, key=""):
    found = re.search(r"^%s\s*(\d+)" % re.escape(key), text(path), re.MULTILINE)
    return int(found[1]) if found else None


def group_folders():
    """Yields (controller or "" of version 2, directory) of this process's control groups, up to the root of each."""
    own = {}
    for line in text("/proc/self/cgroup").splitlines():
        _, names, path = (line.split(":", 2) + ["", ""])[:3]
        for name in names.split(","):
            own[name] = path
    for line in text("/proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = (after.split(" ") + ["", ""])[:3]
        root, point = (before.split(" ") + [""] * 5)[3:5]
        names = [""] if kind == "cgroup2" else [n for n in ("memory", "cpu") if n in options.split(",")]
        for name in names if kind.startswith("cgroup") else []:
            path, top = own.get(name, "/"), root.rstrip("/")
            # A group outside of the mounted one belongs to another namespace.
            inside = (path + "/").startswith(top + "/") and "/.." not in path
            parts = [p for p in path[len(top):].split("/") if p] if inside else []
            for n in range(len(parts), -1, -1):
                yield name, "/".join([point] + parts[:n])


def left(limit, used, files):
    return limit - max(used - files, 0) if limit is not None and limit < NONE else NONE


def free_mib():
    """Returns the free memory of the machine and its control groups; caches that the kernel can drop count as free."""
    best = (number("/proc/meminfo", "MemAvailable:") or number("/proc/meminfo", "MemFree:") or 0) << 10
    for name, folder in group_folders():
        stat = folder + "/memory.stat"
        if name == "memory":
            used = number(folder + "/memory.usage_in_bytes") or 0
            files = number(stat, "total_inactive_file ") or 0
            limits = [number(folder + "/memory.limit_in_bytes"), number(stat, "hierarchical_memory_limit ")]
        elif name == "":
            used = number(folder + "/memory.current") or 0
            files = number(stat, "inactive_file ") or 0
            limits = [number(folder + "/memory.max"), number(folder + "/memory.high")]
        else:
            continue
        best = min([best] + [left(limit, used, files) for limit in limits])
    return max(best, 0) >> 20


def processors():
    n = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for name, folder in group_folders():
        if name == "cpu":
            quota, period = number(folder + "/cpu.cfs_quota_us"), number(folder + "/cpu.cfs_period_us")
        elif name == "":
            found = re.match(r"(\d+) (\d+)", text(folder + "/cpu.max"))
            quota, period = map(int, found.groups()) if found else (None, None)
        else:
            continue
        if quota and period:
            n = min(n, -(-quota // period))
    return max(n, 1)


class Shared:
    """The directory that all builds of this engine share: a file for each running build, locked while it runs."""

    def __init__(self):
        self.folder, self.held, self.alone = None, None, False
        if self.open(SHARED):
            return
        try:
            os.makedirs(OWN, exist_ok=True)
        except OSError:
            pass
        self.alone = True
        self.open(OWN)

    def open(self, folder):
        try:
            self.lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT, 0o644)
            self.folder = folder
        except OSError:
            pass
        return self.folder

    def __enter__(self):
        if self.folder:
            fcntl.flock(self.lock, fcntl.LOCK_EX)
        return self

    def __exit__(self, *_):
        if self.folder:
            fcntl.flock(self.lock, fcntl.LOCK_UN)

    def path(self, kind, name):
        return os.path.join(self.folder, "%s-%s" % (kind, re.sub(r"[^A-Za-z0-9._+-]", "_", name)))

    def running(self):
        """Returns {name: MIB} of the running builds; removes the files of killed builds."""
        found = {}
        for file in os.listdir(self.folder) if self.folder else []:
            if not file.startswith("takes-"):
                continue
            path = os.path.join(self.folder, file)
            fd = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.remove(path)
            except OSError:
                words = os.read(fd, 4096).decode("utf-8", "replace").split()
                if len(words) == 2 and words[1].isdigit():
                    found[file] = (words[0], int(words[1]))
            finally:
                os.close(fd)
        return found

    def memory(self, kind, name):
        """Returns the number in a file, or None."""
        try:
            with open(self.path(kind, name), encoding="ascii") as f:
                return int(f.read())
        except (OSError, ValueError, TypeError):
            return None

    def remember(self, kind, name, mib):
        if self.folder:
            path = self.path(kind, name)
            with open(path + ".new", "w", encoding="ascii") as f:
                f.write("%d\n" % mib)
            os.replace(path + ".new", path)

    def take(self, name, mib):
        if self.folder:
            self.mark = self.path("takes", "%s-%d-%d" % (name, os.getpid(), time.time_ns()))
            self.held = os.open(self.mark, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.flock(self.held, fcntl.LOCK_EX)
            os.write(self.held, ("%s %d\n" % (name, mib)).encode())

    def give(self):
        if self.held is not None:
            os.remove(self.mark)
            os.close(self.held)


def choose(free, cpus, per_job, threads, jobs, given_threads, beside):
    """Returns (jobs, threads): as many as memory allows, jobs first; beside: the least memory of other builds."""
    room = free - beside if free - beside >= per_job else free
    fits = max(room // per_job, 1)
    if not jobs:
        jobs = min(cpus, max(fits // given_threads, 1) if given_threads else fits)
    if not given_threads:
        given_threads = min(threads, max(fits // jobs, 1))
    return jobs, given_threads


def wait_turn(shared, args, env):
    """Sets MAX_JOBS and NVCC_THREADS as soon as memory allows."""
    cpus, told = processors(), False
    per_job = args.memory
    threads = max(1, min(args.threads, args.archs))
    jobs = int(env["MAX_JOBS"]) if re.fullmatch("[1-9][0-9]*", env.get("MAX_JOBS", "")) else 0
    given = env.get("NVCC_THREADS", "")
    given = min(int(given), threads) if re.fullmatch("[1-9][0-9]*", given) else 0
    while True:
        with shared:
            running = shared.running()
            # The other builds do not use all of their memory yet: count all of it.
            all_free = shared.memory("free", "all") if running else None
            all_free = free_mib() if all_free is None else all_free
            free = min(all_free - sum(mib for _, mib in running.values()), free_mib())
            if free >= per_job or not running:
                names = [name for name, _ in running.values()]
                beside = sum(mib for other, mib in args.beside if not shared.alone and other not in names)
                jobs, given = choose(free, cpus, per_job, threads, jobs, given, beside)
                if not running:
                    shared.remember("free", "all", all_free)
                shared.take(args.name, min(jobs * given * per_job, max(free, per_job)))
                break
        if not told:
            say("%s waits: a job takes %d MiB, %d of %d are left" % (args.name, per_job, max(free, 0), all_free))
            told = True
        time.sleep(1)
    env["MAX_JOBS"], env["NVCC_THREADS"] = str(jobs), str(given)
    say("%s: %d job%s of %d MiB%s; %d MiB are free, %d processor%s" % (
        args.name, jobs, "s" * (jobs != 1), per_job * given, ", nvcc with %d threads" % given if given > 1 else "",
        free, cpus, "s" * (cpus != 1)))
    if free < per_job:
        say("%s: a job takes %d MiB, and there are only %d: it may be killed" % (args.name, per_job, free))


def below(top):
    """Yields (pid, words of the command) of a process and of those below it."""
    parents = {}
    for name in os.listdir("/proc"):
        fields = text("/proc/%s/stat" % name).rpartition(")")[2].split() if name.isdigit() else []
        if fields:
            parents[int(name)] = int(fields[1])
    for pid in parents:
        over = pid
        while over != top and over in parents:
            over = parents[over]
        if over == top:
            yield pid, text("/proc/%d/cmdline" % pid).split("\0")


def objects(ninja):
    """Returns the paths of the object files in the build.ninja of a process."""
    try:
        folder = os.readlink("/proc/%d/cwd" % ninja)
        with open(os.path.join(folder, "build.ninja"), encoding="utf-8", errors="replace") as f:
            return [os.path.join(folder, o) for o in re.findall(r"^build (\S+\.o): ", f.read(), re.MULTILINE)]
    except OSError:
        return []


def compiling(top):
    """Returns ("2 of 9 files are compiled; now a.cu", or "", and the MiB of the largest process)."""
    files, all_files, mib = set(), [], 0
    for pid, words in below(top):
        mib = max(mib, (number("/proc/%d/status" % pid, "VmRSS:") or 0) >> 10)
        if "ninja" in [os.path.basename(w) for w in words[:2]]:
            all_files = objects(pid)
        if "-c" in words:
            files.update(os.path.basename(w) for w in words if re.search(r"\.(cu|cc|cpp|cxx|c)$", w))
    now = ", ".join(sorted(f for f in files if not f.startswith("tmpxft_")))  # nvcc's own
    if now and all_files:
        done = sum(map(os.path.exists, all_files))
        return "%d of %d files are compiled; now %s" % (done, len(all_files), now), mib
    return now and "compiles " + now, mib


def watch(name, child):
    """Waits for the command, and says which files it compiles; returns its status."""
    before = ""
    while True:
        try:
            return child.wait(timeout=2)
        except subprocess.TimeoutExpired:
            now, mib = ("", 0) if ROOT else compiling(child.pid)
            if now and now != before:
                say("%s: %s (%d MiB)" % (name, now, mib))
                before = now


def say(line):
    print("stackbuild: " + line, flush=True)


# --- own code ---


def clean(tree):
    """Removes results of setuptools: it would pack a shared object that is newer than its source, for any torch."""
    for folder, folders, _ in os.walk(tree):
        for name in folders:
            if os.path.basename(folder) == "build" and re.match(r"(lib|temp|bdist)(\.|$)", name):
                shutil.rmtree(os.path.join(folder, name))


def output(argv, folder=None):
    try:
        return subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, LC_ALL="C")).stdout.decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def was_read(tree):
    """Yields the files that the compilers read: ninja's records, and the files that nvcc and gcc write with -MD."""
    for folder, _, files in os.walk(tree):
        found = []
        if ".ninja_deps" in files:
            found += re.findall(r"^    (\S.*)$", output([shutil.which("ninja") or "ninja", "-t", "deps"], folder), re.M)
        for name in files:
            if name.endswith(".d"):
                with open(os.path.join(folder, name), encoding="utf-8", errors="surrogateescape") as f:
                    words = re.findall(r"(?:\\.|[^\s\\])+", f.read().replace("\\\n", " ").partition(": ")[2])
                found += [re.sub(r"\\(.)", r"\1", w) for w in words]
        for path in found:
            yield os.path.realpath(os.path.join(folder, path))


def searched():
    """Returns the directories of which inputs.py reads every file: headers, and Python's packages."""
    cxx = shlex.split(os.environ.get("CXX", "c++"))
    found = re.findall(r"^ (/.*)$", output(cxx + ["-E", "-v", "-x", "c++", os.devnull]), re.M) + sys.path[1:]
    found += [sysconfig.get_path(name) for name in ("stdlib", "include", "platinclude")]
    home = os.environ.get("CUDA_HOME") or os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("nvcc") or "/-/-/-")))
    return [os.path.realpath(p) for p in found + [os.path.join(home, "include")] if os.path.isdir(p)]


def write_built(tree, path):
    folder = os.path.dirname(path)
    top, seen = os.path.realpath(tree), searched()
    below = tuple(os.path.join(d, "") for d in [top] + seen)
    lines = [name for name in sorted(os.listdir(folder)) if name.endswith(".whl")]
    lines += sorted(p for p in set(was_read(tree)) if not p.startswith(below) and os.path.isfile(p))
    with open(path + ".new", "w", encoding="utf-8", errors="surrogateescape") as out:
        for name in lines:
            if re.search(r"[\n\r\\]", name):
                raise SystemExit("compile.py: `%r` has a character that its list cannot hold: rename the file" % name)
            with open(os.path.join(folder, name), "rb") as f:
                out.write("%s  %s\n" % (hashlib.sha256(f.read()).hexdigest(), name))
    os.replace(path + ".new", path)


def pair(word):
    name, _, mib = word.rpartition("=")
    return name, int(mib)


def main():
    p = argparse.ArgumentParser(prog="compile.py")
    p.add_argument("name")
    p.add_argument("--version", default="")
    p.add_argument("--memory", type=int, default=2048, metavar="MIB")
    p.add_argument("--threads", type=int, default=1, metavar="N")
    p.add_argument("--archs", type=int, default=1, metavar="N")
    p.add_argument("--tree", metavar="DIRECTORY")
    p.add_argument("--built", metavar="FILE")
    p.add_argument("--beside", type=pair, action="append", default=[], metavar="OTHER=MIB")
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args, command = p.parse_args(sys.argv[1:cut]), sys.argv[cut + 1:]
    if not command:
        p.error("no command after --")
    if args.tree:
        clean(args.tree)
    shared, env = Shared(), dict(os.environ)
    # The measured memory of the last run, plus a tenth; before that, the value of the knowledge base.
    key = "%s-%s-%d" % (args.name, args.version, args.archs)
    before = shared.memory("peak", key)
    args.memory = max(before + before // 10, LEAST) if before else max(args.memory, 1)
    wait_turn(shared, args, env)
    held = [] if shared.held is None else [shared.held]
    child, early = None, []  # a signal may arrive before Popen returns, when the command already runs

    def forward(number, _):
        child.send_signal(number) if child else early.append(number)

    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, forward)
    try:
        child = subprocess.Popen(command, env=env, pass_fds=held)
    except OSError as e:
        say("%s cannot be run: %s" % (command[0], e.strerror))
        return 127
    for number in early:
        child.send_signal(number)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal also signals the child
    status = watch(args.name, child)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    print("stackbuild-peak %s %d" % (args.name, peak), flush=True)
    with shared:
        shared.give()
        if status == 0:
            shared.remember("peak", key, peak)
    if status == 0 and args.built:
        write_built(args.tree, args.built)
    if status < 0:  # end with the signal of the command
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


if __name__ == "__main__":
    sys.exit(main())
