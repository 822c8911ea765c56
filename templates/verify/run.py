"""run: runs the smoke kernel and torch's own kernels on every visible device."""

RUN_S = 600

# Errors of CUDA, and their usual causes.
LIKELY = [
    ("no kernel image is available", "the program has no code for this GPU: compile it for the GPU's compute capability"),
    ("not supported in the installed CUDA driver", "the driver is older than the CUDA of this environment: update it"),
    ("driver version is insufficient", "the driver is older than the CUDA of this environment: update it"),
    ("out of memory", "another process holds the GPU's memory, or it is too small"),
    ("illegal memory access", "a kernel reads or writes outside its memory: a bug in it, or a wrong build of it"),
    ("illegal instruction", "a damaged or wrong build of a kernel; or failing hardware or driver (WSL2: update both)"),
    ("misaligned address", "a kernel received memory that is not aligned as it requires"),
    ("launch failed", "a kernel crashed: run with CUDA_LAUNCH_BLOCKING=1 to see which"),
    ("invalid device function", "the program was compiled for other GPUs than this one"),
    ("busy or unavailable", "the GPU is in exclusive mode, and another process uses it"),
    ("unsupported toolchain", "the PTX is of a newer CUDA than the driver supports: update the driver"),
    ("uncorrectable ECC", "the GPU's memory is failing: replace the GPU"),
    ("unknown error", "after a suspend or a driver update: restart the machine"),
]


def likely(text):
    for words, cause in LIKELY:
        if words.lower() in text.lower():
            return cause
    return None


def child_program():
    p = subprocess.run([child_arg()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    tell(code=p.returncode, out=p.stdout.decode(errors="replace")[-65536:],
         err=p.stderr.decode(errors="replace")[-2048:])


def judge_device(check, device):
    name = "GPU %s, %s" % (device.get("index"), device.get("name"))
    for one in device.get("checks", []):
        if one.get("ok"):
            continue
        if "error" in one:
            check.problem("%s, %s: %s (%s)" % (name, one.get("name"), one["error"], one.get("call")), "run",
                          likely(one["error"]))
        else:
            check.problem("%s, %s: %s numbers are wrong" % (name, one.get("name"), one.get("wrong")), "run",
                          "the GPU computes wrong numbers: its memory, its power or its driver")


def run_smoke(check, program):
    child = run_child("child_program", program, RUN_S)
    code = child.last("code")
    if code is None:
        check.problem(child.why("the smoke kernel", RUN_S), "run", None)
        return
    try:
        said = json.loads(child.last("out"))
    except ValueError:
        check.problem("the smoke kernel exited with status %s: %s" % (code, short(child.last("err"), 300)), "run")
        return
    check.figures["smoke"] = said
    if code == 3:
        check.not_run("the smoke kernel finds no GPU: %s" % said.get("not_run"))
        return
    for device in said.get("devices", []):
        judge_device(check, device)
    if code and not check.problems:
        text = "%s (%s)" % (said.get("error", "status %s" % code), said.get("call"))
        check.problem("the smoke kernel: " + text, "run", likely(text))


def child_torch_runs():
    """Each device through torch: a copy, sums, a product in each dtype, two streams."""
    import torch
    for i in range(torch.cuda.device_count()):
        tell(device=i, name=torch.cuda.get_device_name(i), capability="%d.%d" % torch.cuda.get_device_capability(i))
        there = torch.device("cuda", i)
        generator = torch.Generator().manual_seed(1)
        x, y = (torch.randn(256, 256, generator=generator) for _ in range(2))
        same = torch.equal(x.to(there).cpu(), x)
        tell(device=i, check="copy", ok=same, error=0.0 if same else 1.0)
        for dtype, limit in ((torch.float32, 1e-2), (torch.float16, 5e-2), (torch.bfloat16, 4e-1)):
            a, b = x.to(dtype), y.to(dtype)
            want = a.double() @ b.double()
            error = float(((a.to(there) @ b.to(there)).cpu().double() - want).abs().max())
            tell(device=i, check="product " + str(dtype).split(".")[-1], ok=error <= limit, error=error)
        error = abs(float(x.to(there).sum()) - float(x.double().sum()))
        tell(device=i, check="sum", ok=error <= 1e-1, error=error)
        streams = [torch.cuda.Stream(there) for _ in range(2)]
        parts = []
        for k, stream in enumerate(streams):
            with torch.cuda.stream(stream):
                parts.append(x.to(there) * (k + 2))
        torch.cuda.synchronize(there)
        error = max(float((p.cpu() - x * (k + 2)).abs().max()) for k, p in enumerate(parts))
        tell(device=i, check="streams", ok=error == 0, error=error)
    tell(done=True)


def run_torch(check):
    child = run_child("child_torch_runs", None, RUN_S)
    rows = [r for r in child.results if "check" in r]
    check.figures["torch"] = rows
    check.figures["devices"] = [r for r in child.results if "capability" in r]
    for r in rows:
        if not r["ok"]:
            check.problem("torch on GPU %d, %s: wrong by %g" % (r["device"], r["check"], r["error"]), "run",
                          "torch's own kernels give wrong numbers on this GPU")
    if not child.last("done"):
        text = child.why("torch on the GPU", RUN_S)
        check.problem(text, "run", likely(text))
    elif not rows:
        check.problem("torch sees no GPU, although the driver does", "run",
                      "torch is a CPU build, or its CUDA is newer than the driver")


def check_run(program, importable):
    check = Check("run")
    if program:
        run_smoke(check, program)
    elif EXPECTED.get("nvcc"):
        check.not_run("there is no smoke program (see the check compile)")
    if EXPECTED.get("torch") and importable:
        run_torch(check)
    elif EXPECTED.get("torch"):
        check.not_run("torch: not all modules import")
    smoke = check.figures.get("smoke", {}).get("devices", [])
    n = sum(len(d.get("checks", [])) for d in smoke) + len(check.figures.get("torch", []))
    check.what = "%d checks on %s" % (n, listed(d["name"] for d in check.figures.get("devices", []) or smoke) or "no GPU")
    return check
