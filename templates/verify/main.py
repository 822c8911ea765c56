"""Runs the checks, most basic first, and reports each as soon as it is finished."""


def load_plan():
    """Reads the plan from standard input, or the plan inside the image."""
    global IMPORT_S
    try:
        if "plan_text" in EXPECTED:
            plan = json.loads(EXPECTED.pop("plan_text"))
        else:
            with open(EXPECTED["plan"], encoding="utf-8") as f:
                plan = json.load(f)
    except (OSError, ValueError) as err:
        return "%s: %s" % (EXPECTED["plan"], err)
    if not isinstance(plan, dict) or not isinstance(plan.get("verify"), dict):
        return "%s is not a plan with checks" % EXPECTED["plan"]
    EXPECTED.update({k: v for k, v in plan.items() if k != "verify"}, **plan["verify"])
    EXPECTED.pop("plan", None)
    IMPORT_S = EXPECTED.get("import_timeout_s") or 60
    return None


class Run:
    def __init__(self, out):
        self.out = out

    def begin(self, name):
        self.out.say({"begin": name})

    def tell(self, check):
        self.out.say(check.line())

    def basics(self):
        self.begin("installed")
        self.tell(check_set())
        if EXPECTED.get("lock"):
            self.begin("lock")
            self.tell(check_locked())
        self.found = distributions()
        name_modules(self.found)
        self.begin("loads")
        self.torch = run_child("child_torch", None, IMPORT_S) if EXPECTED.get("torch") else Child()
        imports = bool(self.torch.last("imported")) or not EXPECTED.get("torch")
        loads, objects = check_loads(self.found, imports)
        if EXPECTED.get("extensions"):
            self.tell(loads)
            if EXPECTED.get("archs"):
                self.begin("code")
                self.tell(check_code(objects))
        if EXPECTED.get("torch"):
            self.begin("versions")
            self.tell(check_versions(self.torch, self.found))
        self.begin("imports")
        check, fallback = check_imports_of(self.found, self.torch)
        self.tell(check)
        self.tell(fallback)
        self.importable = imports and not check.problems

    def compile(self):
        self.program, self.folder = None, None
        if EXPECTED.get("nvcc"):
            self.begin("compile")
            check, self.program, self.folder = check_compile()
            self.tell(check)

    def on_gpu(self):
        if not EXPECTED.get("archs"):
            return
        self.begin("run")
        gpus = Gpus()
        self.out.say({"gpu": {"driver": gpus.driver, "driver_cuda": gpus.driver_cuda,
                              "names": listed(gpus.names) or None, "why": gpus.why}})
        if gpus.why:
            for name, what in [("run", "the smoke kernel and kernels of torch")] + numbers_planned() + [
                    ("evidence", "kernels, memory, utilisation")]:
                check = Check(name)
                check.what = what
                check.not_run(gpus.why)
                self.tell(check)
            return
        self.tell(check_run(self.program, self.importable))
        numbers_and_evidence(self)


def checks_planned():
    """Returns the ids of the checks that an image needs by its own plan."""
    extensions, archs, torch = EXPECTED.get("extensions"), EXPECTED.get("archs"), EXPECTED.get("torch")
    return [name for name, applies in [
        ("lock", EXPECTED.get("lock")), ("loads", extensions), ("code", extensions and archs), ("versions", torch), ("compile", EXPECTED.get("nvcc")),
        ("run", archs), *((name, archs) for name, _ in numbers_planned()), ("evidence", archs)] if applies]


def verify():
    out = Reporter(EXPECTED["token"])
    plan_error = load_plan()
    out.say({"about": {"python": "%d.%d.%d" % sys.version_info[:3], "stack": EXPECTED.get("stack"),
                       "import_timeout_s": IMPORT_S, "plan_error": plan_error,
                       "checks": [] if plan_error else checks_planned()}})
    if plan_error:
        return
    run = Run(out)
    run.basics()
    run.compile()
    try:
        run.on_gpu()
    finally:
        if run.folder:
            shutil.rmtree(run.folder, ignore_errors=True)
    out.say({"end": True})
