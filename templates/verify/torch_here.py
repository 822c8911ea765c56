"""versions: checks torch's version, CUDA and C++ ABI, and whether torch and numpy work together."""

VERSION_LINE = re.compile(r"^(__version__|cuda)\s*(?::[^=]*)?=\s*(?:'([^']*)'|\"([^\"]*)\"|None)", re.MULTILINE)


def child_torch():
    import torch
    row = {"version": str(torch.__version__), "cuda": torch.version.cuda, "file": torch.__file__}
    try:
        row["cxx11abi"] = bool(torch._C._GLIBCXX_USE_CXX11_ABI)
    except AttributeError:
        row["cxx11abi"] = None
    try:
        row["archs"] = list(torch.cuda.get_arch_list())
    except Exception:
        row["archs"] = []
    row["foreign"] = foreign_libraries(torch.__file__)
    tell(**row)
    tell(imported=True)
    numpy = None
    try:
        import numpy
        tell(numpy=numpy.__version__)
        a = torch.from_numpy(numpy.arange(4, dtype="float32")) * 2
        tell(numpy_works=[float(x) for x in a.numpy()] == [0.0, 2.0, 4.0, 6.0])
    except Exception as err:
        if not isinstance(err, ModuleNotFoundError) or err.name != "numpy":
            tell(numpy_error="%s: %s%s" % (type(err).__name__, short(str(err).strip().split("\n")[0], 300),
                                           "; numpy is %s" % getattr(numpy, "__file__", None) if numpy else ""))


def foreign_libraries(torch_file):
    """Returns torch's libraries that this process loaded from another place, if they differ from torch's own."""
    own, found = os.path.join(os.path.dirname(torch_file), "lib"), []
    with open("/proc/self/maps", errors="replace") as maps:
        paths = sorted({line.split(maxsplit=5)[5].strip() for line in maps if "/lib" in line})
    for path in paths:
        there = os.path.join(own, os.path.basename(path))
        if os.path.basename(path).startswith(("libc10", "libtorch")) and os.path.exists(there) and os.path.exists(path) \
                and not os.path.samefile(path, there) and digest_of(path) != digest_of(there):
            found.append(path)
    return found


def torch_by_reading():
    """Returns version and CUDA of an installed torch that does not import, from its version.py."""
    spec = spec_of("torch")
    if not spec or not spec.submodule_search_locations:
        return {}
    try:
        with open(os.path.join(list(spec.submodule_search_locations)[0], "version.py"), encoding="utf-8") as f:
            found = {m[0]: m[1] or m[2] or None for m in VERSION_LINE.findall(f.read(65536))}
    except OSError:
        return {}
    return {"version": found.get("__version__"), "cuda": found.get("cuda")} if "__version__" in found else {}


def judge_torch(check, have, want):
    public = str(have["version"] or "").split("+")[0]
    if want.get("version") and not (VERSION.match(public) and Version(public).public == Version(want["version"]).public):
        check.problem("torch is %s; the recipe requires %s" % (have["version"], want["version"]), "torch",
                      "install the torch that the extensions were compiled against")
    if want.get("cuda") and not have["cuda"]:
        check.problem("torch %s is a CPU build; the plan has CUDA %s" % (
            have["version"], want["cuda"]), "torch",
            "install torch from the index of the recipe only")
    elif want.get("cuda") and have["cuda"].split(".")[:2] != want["cuda"].split(".")[:2]:
        check.problem("torch is built for CUDA %s; the plan has %s" % (have["cuda"], want["cuda"]), "torch",
                      "install torch from the index that the recipe names")
    elif have["cuda"] and want.get("cpu"):
        check.problem("torch %s is a build for CUDA %s; the plan has a CPU build" % (have["version"], have["cuda"]),
                      "torch", "install torch from the index that the recipe names")
    abi = want.get("cxx11abi")
    if abi is not None and have.get("cxx11abi") is not None and have["cxx11abi"] != abi:
        names = {True: "new", False: "old"}
        check.problem("torch has the %s C++ ABI; the plan has the %s one" % (names[have["cxx11abi"]], names[abi]),
                      "torch", "extensions of one ABI do not load with a torch of the other")


def judge_place(check, have, found):
    """Checks that this torch is the installed one, with its own libraries."""
    shadowed = shadow_of(found.get("torch"), "torch", have.get("file"))
    if shadowed:
        check.problem("import torch loads %s instead of %s" % (have["file"], shadowed), "torch",
                      "another module has the same name: remove it, or remove its directory from PYTHONPATH")
    for path in have.get("foreign", []):
        check.problem("torch runs with %s instead of its own %s" % (path, os.path.basename(path)), "torch",
                      "remove that directory or file from LD_LIBRARY_PATH and LD_PRELOAD")


def judge_numpy(check, child):
    error, version = child.last("numpy_error"), child.last("numpy")
    if error and not version:
        check.problem("numpy does not import: %s" % error, "numpy",
                      "install numpy again; remove a file numpy.py that hides it")
    elif error or child.last("numpy_works") is False:
        check.problem("torch does not work with numpy %s: %s" % (
            version, error or "wrong numbers came back"), "numpy", "a torch that was compiled against numpy 1 needs numpy<2")
    elif not child.last("end"):
        check.problem(child.why("numpy beside torch", IMPORT_S), "numpy", "install numpy again, for this machine")


def check_versions(child, found):
    """child: the result of importing torch; see child_torch."""
    check, want = Check("versions"), EXPECTED.get("torch") or {}
    have = next((r for r in child.results if "version" in r), None)
    if not have:
        have = torch_by_reading()
        if have:
            judge_torch(check, have, want)
        check.not_run("torch does not import (see imports)" if have else "torch is not installed")
    else:
        judge_torch(check, have, want)
        judge_place(check, have, found)
        judge_numpy(check, child)
    numpy = child.last("numpy")
    if EXPECTED.get("numpy") and numpy and not all(
            holds(c, numpy) for c in EXPECTED["numpy"].split(",") if c.strip()):
        check.problem("numpy is %s; the plan has numpy%s" % (numpy, EXPECTED["numpy"]), "numpy",
                      "it was changed after it was installed: build the stack again")
    check.figures.update(have or {}, numpy=numpy)
    if have:
        parts = ["torch " + str(have["version"]), "CUDA " + have["cuda"] if have["cuda"] else "CPU build"]
        if have.get("cxx11abi") is not None:
            parts.append("%s C++ ABI" % ("new" if have["cxx11abi"] else "old"))
        check.what = ", ".join(parts + (["numpy " + numpy] if numpy else []))
    else:
        check.what = "no torch"
    return check
