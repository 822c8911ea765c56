"""evidence: shows that the GPU did the work, by the kernels in torch's profiler, the memory, and NVML's utilisation."""


class Watch:
    """Wraps a piece of work, and records what the GPU did."""

    def __init__(self, torch):
        self.torch = torch
        self.busy, self.ending = 0, threading.Event()
        activity = torch.profiler.ProfilerActivity
        self.profile = torch.profiler.profile(activities=[activity.CPU, activity.CUDA])

    def __enter__(self):
        torch = self.torch
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        self.before = torch.cuda.memory_allocated()
        self.thread = threading.Thread(target=self.sample, daemon=True)
        self.thread.start()
        self.profile.__enter__()
        # A kernel of torch: a profiler that does not see it sees no kernel.
        (torch.ones(64, device="cuda") * 2).sum().item()
        return self

    def __exit__(self, *error):
        self.torch.cuda.synchronize()
        self.profile.__exit__(*error)
        self.ending.set()
        self.thread.join(5)

    def sample(self):
        try:
            nvml = Nvml()
        except OSError:
            self.busy = None
            return
        while True:
            last = self.ending.wait(0.05)
            self.busy = max(self.busy, nvml.use()[0])
            if last:
                return

    def seen(self):
        kernels = {}
        for event in self.profile.events():
            if str(event.device_type).endswith("CUDA"):
                row = kernels.setdefault(event.name, [0, 0.0])
                row[0] += 1
                row[1] += event.time_range.elapsed_us()
        longest = sorted(kernels.items(), key=lambda i: -i[1][1])
        return {"kernels": [{"name": short(n, 160), "calls": c, "us": round(us, 1)} for n, (c, us) in longest[:24]],
                "kinds": len(kernels), "names": sorted(n[:400] for n in kernels)[:200],
                "memory_before": self.before, "memory_peak": self.torch.cuda.max_memory_allocated(),
                "utilisation": self.busy}


def judge_seen(check, name, extension, seen):
    check.figures[name] = {k: v for k, v in seen.items() if k != "names"}
    if not seen["kinds"]:
        check.not_run("torch's profiler sees no kernel: the container may not be allowed to use CUPTI")
        return
    for words in PROBES.get(name, (None, []))[1]:
        if not any(w in kernel for w in words for kernel in seen["names"]):
            check.problem("%s ran, but none of its kernels did (%s): %s did the work" % (
                name, words[0], listed([k["name"] for k in seen["kernels"]], 2)), extension,
                "a fallback replaced it: see the check `fallback`, and the environment variables")
    if seen["memory_peak"] <= seen["memory_before"]:
        check.problem("%s used no memory of the GPU" % name, extension, None)


def numbers_and_evidence(run):
    evidence, all_seen = Check("evidence"), []
    for name, extension, text in probes_planned():
        run.begin("numbers/" + name)
        check, seen = check_numbers(name, extension, text)
        run.tell(check)
        if seen:
            all_seen.append(seen)
            judge_seen(evidence, name, extension, seen)
        else:
            evidence.not_run("%s did not end" % name)
    run.begin("evidence")
    if not probes_planned():
        torch_alone(evidence, all_seen)
    kinds = sum(s["kinds"] for s in all_seen)
    busy = [s["utilisation"] for s in all_seen if s["utilisation"] is not None]
    evidence.what = "%d kinds of kernels, %d MiB at most%s" % (
        kinds, max([s["memory_peak"] for s in all_seen] or [0]) >> 20,
        ", utilisation up to %d %%" % max(busy) if busy else "")
    run.tell(evidence)


def child_torch_alone():
    import torch
    torch.zeros(1).cuda()
    watch = Watch(torch)
    with watch:
        x = torch.randn(1024, 1024, device="cuda")
        for _ in range(20):
            x = torch.tanh(x @ x)
    tell(seen=watch.seen())


def torch_alone(evidence, all_seen):
    """Uses torch's own kernels as the evidence for a stack without a probe."""
    if not EXPECTED.get("torch"):
        evidence.not_run("the stack has neither torch nor a probe")
        return
    child = run_child("child_torch_alone", None, NUMBERS_S)
    if child.last("seen"):
        all_seen.append(child.last("seen"))
        judge_seen(evidence, "torch", "torch", child.last("seen"))
    else:
        evidence.problem(child.why("torch under its profiler", NUMBERS_S), "torch", likely(child.text))
