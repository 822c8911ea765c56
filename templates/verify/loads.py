"""loads, code: reads the shared objects of the extensions, then loads them."""
import importlib.util
import sysconfig


class Object:
    """One shared object of an extension."""

    def __init__(self, extension, path):
        self.extension, self.path, self.name = extension, path, os.path.basename(path)
        self.elf, self.broken = None, None
        try:
            self.elf = Elf(path)
        except (OSError, ValueError) as err:
            self.broken = str(err)


def spec_of(module):
    """Returns the file that a module would be imported from, without importing it (or a parent package)."""
    try:
        return importlib.util.find_spec(module) if "." not in module else None
    except (ImportError, ValueError, AttributeError):
        return None


def objects_of(ext, dist):
    paths = []
    for f in files_of(dist):
        if compiled_name(str(f)):
            paths.append(str(f.locate()))
    for module in ext.get("modules", []):
        spec = spec_of(module)
        if spec and spec.origin and compiled_name(spec.origin):
            paths.append(spec.origin)
    real = []
    for path in paths:
        path = os.path.realpath(path)
        if path not in real and os.path.exists(path):
            real.append(path)
    return [Object(ext["name"], p) for p in real]


def library_folders():
    """Returns the library directories of torch's wheel, NVIDIA's wheels and Python."""
    folders = []
    for site in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")} | set(sys.path):
        for pattern in ("torch/lib", "nvidia"):
            at = os.path.join(site, pattern)
            if pattern == "nvidia" and os.path.isdir(at):
                folders += [os.path.join(at, d, "lib") for d in sorted(os.listdir(at))]
            elif os.path.isdir(at):
                folders.append(at)
    return folders + [sysconfig.get_config_var("LIBDIR") or "/usr/lib"]


# Libraries of the driver: a machine without a GPU has none of them.
DRIVER_LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1")


class Reading:
    """Returns the needs and unresolved symbols of all objects, by reading them."""

    def __init__(self, objects):
        self.loader = Loader(library_folders())
        python = self.loader.open(sys.executable)
        self.python = self.loader.closure(python)[0] if python else []
        self.rows = {o.path: self.one(o) for o in objects if o.elf}

    def one(self, o):
        try:
            found, missing = self.loader.closure(o.elf)
            scope = found + self.python
            open_ = []
            for name in o.elf.undefined():
                number = gnu_hash(name)
                if not any(lib.defines(name, number) for lib in scope):
                    open_.append(name)
        except (ValueError, struct.error, IndexError) as err:
            return {"broken": str(err)}
        driver = [n for n, by in missing if n in DRIVER_LIBRARIES]
        return {"needed": len(found) - 1, "driver": driver, "unresolved": open_,
                "missing": [(n, os.path.basename(by.path)) for n, by in missing if n not in driver]}


def child_dlopen():
    path, with_torch = child_arg()
    if with_torch:
        __import__("torch")
    try:
        ctypes.CDLL(path, os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as err:
        tell(error=str(err))
        return
    tell(loaded=path)


TORCH_SYMBOL = re.compile(r"_ZNK?(2at|3c10|5torch)|^_ZN?K?S?t?.*(at4_ops|c10)")
SYMBOL = re.compile(r"undefined symbol: (\S+)")
LIBRARY = re.compile(r"(\S+): cannot open shared object file")


def dlopen_problem(check, o, error):
    """Reports an error of the loader with its meaning."""
    name = "%s of %s" % (o.name, o.extension)
    symbol, library = SYMBOL.search(error), LIBRARY.search(error)
    if library and library.group(1) in DRIVER_LIBRARIES:
        check.not_run("%s needs %s, which belongs to the driver" % (name, library.group(1)))
    elif symbol:
        torch = TORCH_SYMBOL.search(symbol.group(1))
        check.problem("%s: undefined symbol %s" % (name, symbol.group(1)), o.extension,
                      "compile it against the installed torch: it was built for another one" if torch
                      else "compile it again in this environment: no library that it needs has this symbol")
    elif library:
        check.problem("%s needs %s, which the loader does not find" % (name, library.group(1)), o.extension,
                      "install the package that contains %s, in the version of its name" % library.group(1))
    else:
        check.problem("%s cannot be loaded: %s" % (name, error), o.extension, None)


def reading_problem(check, o, row):
    name = "%s of %s" % (o.name, o.extension)
    if row.get("broken"):
        check.problem("%s is broken: %s" % (name, row["broken"]), o.extension, "install the wheel again")
        return
    for library, by in row["missing"]:
        check.problem("%s needs %s, which the loader does not find%s" % (
            name, library, "" if by == o.name else " (for %s)" % by), o.extension,
            "install the package that contains %s, in the version of its name" % library)
    if row["unresolved"] and not row["missing"]:
        check.problem("%s: undefined symbol %s" % (name, listed(row["unresolved"], 2)), o.extension,
                      "compile it against the installed torch")
    for library in row["driver"]:
        check.not_run("%s needs %s, which belongs to the driver" % (name, library))


def module_problems(check, ext, objects):
    """Reports a compiled module that is missing, or that a Python file replaces."""
    own = {o.name.split(".", 1)[0] for o in objects}
    for module in ext.get("modules", []):
        spec = spec_of(module)
        if spec and spec.origin and not spec.submodule_search_locations and \
                not compiled_name(spec.origin) and (ext.get("compiled") or module in own):
            check.problem("%s of %s is %s: a Python file instead of a compiled module"
                          % (module, ext["name"], spec.origin), ext["name"],
                          "remove that file, and install the wheel again")
    if ext.get("compiled") and not objects:
        check.problem("%s has no compiled module" % ext["name"], ext["name"],
                      "compile it: its wheel was built without the CUDA code")


def check_loads(found, torch_imports):
    check, objects = Check("loads"), []
    with_torch = bool(EXPECTED.get("torch"))
    for ext in EXPECTED.get("extensions", []):
        dist = found.get(normal(ext["name"]))
        own = objects_of(ext, dist)
        if dist:
            module_problems(check, ext, own)
        else:
            check.problem("%s is not installed" % ext["name"], ext["name"], "install it")
        objects += own
    reading = Reading(objects)
    rows = check.figures["objects"] = []
    for o in objects:
        row = reading.rows.get(o.path, {"broken": o.broken})
        rows.append({"name": o.name, "extension": o.extension, "needed": row.get("needed"),
                     "unresolved": row.get("unresolved", [])[:8], "missing": row.get("missing", [])})
        if row.get("broken") or not torch_imports:
            reading_problem(check, o, row)
            continue
        child = run_child("child_dlopen", [o.path, with_torch], IMPORT_S)
        if child.last("error"):
            dlopen_problem(check, o, child.last("error"))
        elif not child.last("loaded"):
            check.problem("%s of %s: %s" % (o.name, o.extension, child.why("loading it", IMPORT_S)),
                          o.extension)
    if not torch_imports and objects:
        check.not_run("torch does not import (see imports), so the files were read but not loaded")
    bad = sum(len(r["unresolved"]) for r in rows)
    check.what = "%s: libraries found, %d symbols unresolved" % (
        listed(o.name.split(".")[0] for o in objects) or "no compiled module", bad)
    return check, objects


# --- code

def runs_on(codes, cc):
    """Tells whether there is SASS for a capability: its own, or an older one of the same generation."""
    want = int(cc.replace(".", ""))
    for kind, arch in codes:
        number, suffix = int(arch.rstrip("af")), arch[-1] in "af"
        if kind == "sm" and (number == want or (number // 10 == want // 10 and number < want and not suffix)):
            return True
    return False


def asked(codes, ccs):
    """Returns the SASS codes that run on one of the requested capabilities."""
    serve = set()
    for kind, arch in codes:
        for cc in ccs:
            want, number = int(cc.replace(".", "")), int(arch.rstrip("af"))
            if number == want or (number // 10 == want // 10 and number < want and not runs_on(
                    {c for c in codes if int(c[1].rstrip("af")) == want}, cc)):
                serve.add((kind, arch))
    return serve


def judge_code(check, o, codes, ccs, exactly):
    """Reports GPUs without code, and code for other GPUs if the list is the recipe's."""
    missing = [cc for cc in ccs if not runs_on(codes, cc)]
    if missing:
        check.problem("%s of %s has no code for sm_%s (it has: %s)" % (
            o.name, o.extension, listed([cc.replace(".", "") for cc in missing]), code_text(codes)),
            o.extension, "compile it for the recipe's GPUs: without their code, every launch fails")
    # A wheel of the store may have code for more GPUs; `build` rejects a compile that makes such a wheel.
    return {c for c in codes if c[0] == "sm"} - asked(codes, ccs) if exactly else set()


def check_code(objects):
    check, ccs = Check("code"), EXPECTED.get("archs", [])
    rows, all_codes, more = check.figures.setdefault("code", {}), set(), set()
    with_code = set()
    for o in objects:
        if not o.elf:
            continue
        try:
            codes = gpu_code(o.elf)
        except (ValueError, struct.error) as err:
            check.problem("%s of %s: %s" % (o.name, o.extension, err), o.extension, "install the wheel again")
            with_code.add(o.extension)
            continue
        rows[o.name] = code_text(codes)
        if codes:
            with_code.add(o.extension)
            all_codes |= codes
            ext = [e for e in EXPECTED["extensions"] if e["name"] == o.extension][0]
            more |= judge_code(check, o, codes, ccs, ext.get("exactly", True))
    for ext in EXPECTED.get("extensions", []):
        if ext.get("compiled") and ext["name"] not in with_code:
            check.problem("%s has no GPU code" % ext["name"], ext["name"],
                          "compile it with nvcc: it was built without its CUDA part")
    n = sum(1 for text in rows.values() if text)
    check.what = "%s in %s" % (code_text(all_codes) or "none", "both" if n == 2 else "all %d" % n if n > 2
                               else listed(k.split(".")[0] for k in rows) or "no compiled module")
    if more:
        check.what += "; more than the recipe's GPUs: %s" % code_text(more)
    return check
