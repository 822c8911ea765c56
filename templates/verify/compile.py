"""compile: nvcc compiles smoke.cu for the recipe's GPUs, in this environment."""
import glob
import shutil
import tempfile

COMPILE_S = 600


def share():
    return EXPECTED.get("share") or "/opt/stackbuild"


def nvcc_candidates(want):
    # The stack's own nvcc comes first: {share} is the directory of the plan's files, here and in an image.
    name = want["name"].replace("{share}", share())
    yield name if "/" in name else shutil.which(name)
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    if home:
        yield os.path.join(home, "bin", "nvcc")
    yield "/usr/local/cuda/bin/nvcc"
    for path in glob.glob(os.path.join(sysconfig.get_path("purelib"), "nvidia", "cu*", "bin", "nvcc")):
        yield path


def find_nvcc(want):
    for path in nvcc_candidates(want):
        if path and os.access(path, os.X_OK):
            return path
    return None


def release_of(nvcc):
    try:
        text = subprocess.run([nvcc, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60).stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return None
    m = re.search(r"\bV(\d+\.\d+\.\d+)", text)
    return m.group(1) if m else None


def digits_of(cc):
    return re.sub(r"\D", "", cc)


def supported(nvcc):
    """The architectures that this nvcc compiles for ("90"); None: it cannot list them (before CUDA 11)."""
    try:
        p = subprocess.run([nvcc, "--list-gpu-arch"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.findall(r"^compute_(\d+)\w?$", p.stdout.decode(errors="replace"), re.MULTILINE)
    return set(found) if p.returncode == 0 and found else None


def flags_for(flags, archs):
    """Returns the flags without -gencode of other architectures than these; None: none is left."""
    kept, words, some = [], iter(flags), False
    for word in words:
        value = next(words, "") if word == "-gencode" else None
        number = re.search(r"arch=compute_(\d+)", value or word)
        if number and number.group(1) not in archs:
            continue
        some = some or bool(number)
        kept += [word] if value is None else [word, value]
    return kept if some else None


def judge_program(check, path, known=None):
    """Checks that the program has code for each GPU that its compiler supports."""
    try:
        codes = gpu_code(Elf(path))
    except (OSError, ValueError, struct.error) as err:
        check.problem("%s: %s" % (path, err), "compile", "build the image again")
        return ""
    for cc in EXPECTED.get("archs", []):
        if known is not None and digits_of(cc) not in known:
            continue
        if not runs_on(codes, cc):
            check.problem("%s has no code for sm_%s (it has: %s)" % (path, cc.replace(".", ""), code_text(codes)),
                          "compile", "compile it for the recipe's gpus")
    return code_text(codes)


def compile_problem(check, nvcc, text):
    lines = [x.strip() for x in text.splitlines() if x.strip()]
    first = next((x for x in lines if re.search(r"\berror\b|fatal|not found|No such file", x, re.I)), None)
    check.problem("%s: %s" % (nvcc, first or (lines[-1] if lines else "it failed without output")), "compile",
                  "nvcc needs a host compiler that its release supports, and the headers of the same release")


def child_compile():
    """Compiles in its own directory; as a child, so that a time limit ends all processes of nvcc."""
    argv, folder = child_arg()
    # nvcc uses TMPDIR even if the directory does not exist, and leaves its files there when it is killed.
    p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder,
                       env=dict(os.environ, TMPDIR=folder))
    tell(code=p.returncode, text=p.stdout.decode(errors="replace")[-8192:])


def compile_here(check, nvcc, flags):
    """Compiles; returns the program's path, or None. The caller removes the directory."""
    try:
        folder = tempfile.mkdtemp(prefix="stackbuild-")
    except OSError as err:
        check.not_run("no directory to compile in: %s" % err)
        return None
    source, program = os.path.join(folder, "smoke.cu"), os.path.join(folder, "smoke")
    with open(source, "w", encoding="ascii") as f:
        f.write(EXPECTED["smoke_cu"])
    child = run_child("child_compile", [[nvcc] + flags + ["-o", program, source], folder], COMPILE_S)
    if child.last("code") != 0:
        if child.last("code") is None:
            check.problem(child.why("nvcc smoke.cu", COMPILE_S), "compile")
        else:
            compile_problem(check, nvcc, child.last("text", ""))
        shutil.rmtree(folder, ignore_errors=True)
        return None
    return program


def check_compile():
    """Returns the check, the program or None, and the directory to remove or None."""
    check, want = Check("compile"), EXPECTED["nvcc"]
    built = os.path.join(share(), "smoke")
    nvcc = find_nvcc(want)
    if not nvcc and not os.path.exists(built):
        check.not_run("there is no nvcc, and no program that a build stage compiled")
        check.what = "smoke.cu"
        return check, None, None
    if not nvcc:
        check.figures["program"], check.figures["code"] = built, judge_program(check, built)
        check.what = "smoke.cu was compiled in the build stage: " + check.figures["code"]
        return check, built, None
    release = release_of(nvcc)
    check.figures.update(nvcc=nvcc, release=release)
    check.what = "smoke.cu by nvcc %s" % (release or "of an unknown release")
    known = supported(nvcc)
    lacking = [cc for cc in EXPECTED.get("archs", []) if known is not None and digits_of(cc) not in known]
    if lacking:
        check.not_run("nvcc %s does not compile for %s" % (
            release or nvcc, listed(["sm_" + cc.replace(".", "") for cc in lacking], 8)))
    flags = flags_for(want["flags"], known) if lacking else want["flags"]
    program = compile_here(check, nvcc, flags) if flags else None
    if program:
        check.figures["code"] = judge_program(check, program, known if lacking else None)
        check.what += " for " + check.figures["code"]
    return check, program, os.path.dirname(program) if program else None
