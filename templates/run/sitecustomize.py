"""The hook of `stackbuild run --trace`: a trace of the first steps or seconds of torch, and a summary.

Python imports this file at its start, since its directory is the first one of PYTHONPATH. STACKBUILD_TRACE holds
"STEPS" or "SECONDSs", and STACKBUILD_TRACE_OUT the directory for the trace.

Steps: the trace begins when the first optimizer step has ended, so that it shows whole steps without the start of the
program. Seconds: it begins when torch has been imported.
"""
import importlib.abc
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def say(text):
    """stackbuild prints the files *.said at the end. The program goes on if the disk is full."""
    try:
        with open(os.path.join(HERE, f"{os.getpid()}.said"), "w") as f:
            f.write(text)
    except OSError as e:
        print(f"stackbuild run: {e}\n{text}", file=sys.stderr)


def union(spans):
    """Returns the spans [start, end) in order, without overlaps."""
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def summary(path):
    """Summarises a trace: launches, copies, GPU use, gaps, top kernels. Its times are microseconds."""
    import json
    with open(path) as f:
        try:
            trace = json.load(f)
        except ValueError:
            raise OSError(f"{path} is incomplete: is the disk full?") from None
    events = [e for e in (trace["traceEvents"] if isinstance(trace, dict) else trace) if e.get("ph") == "X"]
    launches = [e for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver") and "LaunchKernel" in e["name"]]
    copies = [e for e in events if e.get("cat") == "gpu_memcpy"]
    kernels = [e for e in events if e.get("cat") == "kernel"]
    lines = []
    busy = union((float(e["ts"]), float(e["ts"]) + float(e["dur"])) for e in kernels + copies)
    copied = sum(float(e["dur"]) for e in copies)
    lines.append(f"{len(launches)} kernel launches, {len(kernels)} kernels, {len(copies)} copies ({copied / 1000:.1f} ms)")
    if busy:
        total = max(busy[-1][1] - busy[0][0], 1e-9)
        used = sum(end - start for start, end in busy)
        gaps = [after[0] - before[1] for before, after in zip(busy, busy[1:])]
        lines.append(f"GPU busy {100 * used / total:.0f} % of {total / 1000:.1f} ms, longest gap "
                     f"{max(gaps, default=0) / 1000:.1f} ms")
    else:
        lines.append("no work on the GPU")
    names = {}
    for e in kernels:
        time, count = names.get(e["name"], (0, 0))
        names[e["name"]] = (time + float(e["dur"]), count + 1)
    for name, (time, count) in sorted(names.items(), key=lambda item: -item[1][0])[:5]:
        lines.append(f"{time / 1000:8.1f} ms {count:6} x {name[:90]}")
    return lines


class Tracer:
    def __init__(self, torch):
        self.torch, self.profile, self.steps, self.done = torch, None, 0, False
        self.many = os.environ["STACKBUILD_TRACE"]
        self.pid = os.getpid()
        import atexit
        atexit.register(self.at_exit)
        if self.many.endswith("s"):
            self.start()
            self.alarm(float(self.many[:-1]))
            return
        try:
            from torch.optim.optimizer import register_optimizer_step_post_hook
            register_optimizer_step_post_hook(self.step)
        except ImportError:
            say("not traced: this torch has no hook for optimizer steps; use --trace=10s")
            self.done = True

    def start(self):
        from torch.profiler import profile
        self.profile = profile()
        self.profile.start()

    def alarm(self, seconds):
        """The profiler ends in the thread that started it: Python handles signals in the main thread."""
        import signal
        import threading
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGALRM) == signal.SIG_DFL:
            def ring(number, frame):
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                self.stop(f"{seconds:g} s")
            signal.signal(signal.SIGALRM, ring)
            signal.setitimer(signal.ITIMER_REAL, seconds)

    def step(self, *args):
        if self.done or os.getpid() != self.pid:
            return
        self.steps += 1
        if self.steps == 1:
            self.start()
        elif self.steps > int(self.many):
            self.stop(f"{self.steps - 1} steps")

    def stop(self, what):
        if self.done or not self.profile or os.getpid() != self.pid:
            return
        self.done = True
        try:
            if self.torch.cuda.is_available():
                self.torch.cuda.synchronize()
            self.profile.stop()
            out = os.environ["STACKBUILD_TRACE_OUT"]
            os.makedirs(out, exist_ok=True)
            path = os.path.join(out, f"trace-{self.pid}.json")
            self.profile.export_chrome_trace(path)
            say("\n".join([f"trace of {what} of PID {self.pid}: {path} (open it at https://ui.perfetto.dev)",
                           *summary(path)]))
        except Exception as e:  # the program goes on without a trace
            say(f"not traced: {type(e).__name__}: {e}")

    def at_exit(self):
        if self.done or os.getpid() != self.pid:
            return
        if self.profile:
            self.stop("the run up to its end" if self.many.endswith("s") else f"{self.steps - 1} steps")
        else:
            say("not traced: the optimizer made no step; use --trace=10s for the first seconds")


class Finder(importlib.abc.MetaPathFinder):
    """Finds torch with the other finders, and starts the tracer after its import."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                try:
                    Tracer(module)
                except Exception as e:
                    say(f"not traced: {type(e).__name__}: {e}")
            spec.loader.exec_module = exec_module
        return spec


def others_hook():
    """The sitecustomize that Python would have imported without this one."""
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != HERE]
    mine = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        sys.modules["sitecustomize"] = mine


if "STACKBUILD_TRACE" in os.environ:
    sys.meta_path.insert(0, Finder())
others_hook()
