"""imports: imports each module in a child; fallback: finds optional imports that fail although the package is installed."""
import ast


def child_import():
    arg = child_arg()
    for name in arg["before"]:
        __import__(name)
    begin = time.monotonic()
    __import__(arg["module"])
    module = sys.modules[arg["module"]]
    tell(seconds=time.monotonic() - begin, file=getattr(module, "__file__", None))
    tell(imported=True, switches=switches())
    if arg["look"]:
        tell(fallbacks=fallbacks(arg["module"].split(".")[0], set(arg["planned"])))


# --- names that are None because an import failed, in `try: from M import N / except: N = None`

def guarded_imports(tree):
    """Yields (statement, names) of imports whose failure a module ignores."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Try):
            continue
        none = {t.id for h in node.handlers for s in h.body if isinstance(s, ast.Assign)
                for target in s.targets for t in ast.walk(target) if isinstance(t, ast.Name)}
        for s in node.body:
            if isinstance(s, (ast.Import, ast.ImportFrom)):
                names = {(a.asname or a.name).split(".")[0] for a in s.names}
                if names & none:
                    yield s, sorted(names & none)


def top_of(statement, module):
    if isinstance(statement, ast.ImportFrom):
        return module.split(".")[0] if statement.level else statement.module.split(".")[0]
    return statement.names[0].name.split(".")[0]


def error_of(statement, module):
    """Returns the error of an import that the module ignores."""
    code = compile(ast.Module([statement], []), "<import>", "exec")
    package = getattr(module, "__package__", None) or module.__name__
    try:
        exec(code, {"__name__": module.__name__, "__package__": package})
    except BaseException as err:
        return "%s: %s" % (type(err).__name__, err)
    return None


def fallbacks(package, planned):
    rows = []
    for name, module in sorted(sys.modules.items()):
        path = getattr(module, "__file__", None) or ""
        if name.split(".")[0] != package or not path.endswith(".py"):
            continue
        try:
            with open(path, encoding="utf-8") as f:
                tree = ast.parse(f.read())
        except (OSError, SyntaxError, ValueError):
            continue
        for statement, names in guarded_imports(tree):
            top = top_of(statement, name)
            lost = [n for n in names if getattr(module, n, 0) is None]
            if lost and (top == package or top in planned):
                rows.append({"module": name, "names": lost, "from": top,
                             "error": short(error_of(statement, module) or "", 300)})
    return rows


# Variables that make a package avoid its kernels. TRITON_INTERPRET belongs to Triton.
SWITCH = re.compile(r"FALLBACK")
NO_SWITCH = re.compile(r"(NO|DISABLE|FORBID|WITHOUT|ALLOW)_?[A-Z_]*FALLBACK|MPS_FALLBACK")
OFF = ("", "0", "false", "no", "off", "none")


def switches():
    found = []
    known = EXPECTED.get("switches", [])
    for name, value in sorted(os.environ.items()):
        on = value.strip().lower() not in OFF
        if on and (name in known or name == "TRITON_INTERPRET"
                   or (SWITCH.search(name) and not NO_SWITCH.search(name))):
            found.append("%s=%s" % (name, short(value, 40)))
    return found


def owner_of(module):
    for ext in EXPECTED.get("extensions", []):
        if module in ext.get("modules", []):
            return ext["name"]
    return None


def planned_modules(found):
    """Returns the top-level modules of everything that the plan names."""
    names = {m.split(".")[0] for m in EXPECTED.get("modules", [])}
    for pin in EXPECTED.get("pins", []):
        dist = found.get(normal(pin["name"]))
        names.add(normal(pin["name"]).replace("-", "_"))
        for f in files_of(dist):
            if len(f.parts) == 2 and f.parts[1] == "__init__.py":
                names.add(f.parts[0])
    return sorted(names)


def shadow_of(dist, module, file):
    """Returns the extension's file of `module`, if Python imported another file."""
    parts = module.split(".")
    own = [f for f in files_of(dist)
           if f.parts[:-1] == tuple(parts) and f.name == "__init__.py"
           or f.parts[:-1] == tuple(parts[:-1]) and f.name.split(".")[0] == parts[-1]
           and f.suffix in (".so", ".py")]
    paths = [os.path.realpath(str(dist.locate_file(f))) for f in own]
    return paths[0] if file and paths and os.path.realpath(file) not in paths else None


TOPICS = {"test", "tests", "testing", "doc", "docs", "example", "examples", "benchmark", "benchmarks", "scripts"}


def modules_of(name, dist):
    """Returns the modules to import for a package: the one with its own name, else all top-level modules."""
    tops = set()
    for f in files_of(dist):
        first = f.parts[0] if f.parts else ""
        if len(f.parts) == 2 and f.parts[1].split(".")[0] == "__init__" or len(f.parts) == 1 and f.suffix in (".py", ".so"):
            tops.add(first.split(".")[0])
    tops = {t for t in tops if t.isidentifier() and not t.startswith("_") and t not in TOPICS}
    own = [t for t in sorted(tops) if normal(t) == name]
    return own or sorted(tops)[:3]


def check_packages(check, found, times):
    """Imports the ordinary packages that the recipe names, each in a child."""
    lost, extensions = [], {normal(e["name"]) for e in EXPECTED.get("extensions", [])}
    for name in dict.fromkeys(normal(p["name"]) for p in EXPECTED.get("pins", []) if p.get("step") == "packages"):
        if name in extensions or name not in found:
            continue
        modules = modules_of(name, found[name])
        if not modules:
            lost.append(name)
        for module in [m for m in modules if m not in times]:
            child = run_child("child_import", {"module": module, "before": [], "look": False, "planned": []}, IMPORT_S)
            if not child.last("imported") or not child.last("end"):
                import_problem(check, module, child, name)
            else:
                end_problem(check, module, child)
            times[module] = child.seconds
    check.figures["not_imported"] = lost
    return lost


def import_problem(check, module, child, owner=None):
    owner = owner or owner_of(module)
    error = child.line()
    if child.status == "exit" and NEEDS_GPU.search(child.text):
        check.not_run("%s needs a GPU to import: %s" % (module, short(error, 200)))
        return
    help = None
    if child.status == "hang":
        help = "a hang inside a library is often its file system (WSL2: a Windows drive) or a GPU driver " \
               "that does not answer; set verify: import_timeout_s for more time"
    elif child.status == "signal":
        help = "a crash at import most often comes from a library that was built for another one: see `loads`"
    check.problem(child.why("import " + module, IMPORT_S), owner or module, help)


def end_problem(check, module, child):
    """Reports a module whose import makes Python hang or crash at its end."""
    if child.status == "hang":
        text = "Python does not exit (%g s)" % IMPORT_S
    elif child.status == "signal":
        text = "%s ends Python" % child.signal
    else:
        return
    check.problem("import %s succeeds, but then %s" % (module, text), owner_of(module) or module,
                  "a thread or an exit handler of the module causes this, in every program that imports it")


def check_imports_of(found, torch_child):
    """Runs two checks, imports and fallback, in the same children."""
    check, fallback = Check("imports"), Check("fallback")
    torch = "torch" if EXPECTED.get("torch") else None
    times, planned, known = {}, planned_modules(found), switches()
    if torch:
        times["torch"] = torch_child.seconds
        if not torch_child.last("imported"):
            import_problem(check, "torch", torch_child)
    for module in [m for m in EXPECTED.get("modules", []) if m != torch]:
        if torch and not torch_child.last("imported"):
            check.not_run("%s: torch does not import" % module)
            continue
        child = run_child("child_import", {
            "module": module, "before": [torch] if torch else [], "look": bool(owner_of(module)),
            "planned": planned}, IMPORT_S)
        if not child.last("imported") or not child.last("end"):
            import_problem(check, module, child)
        else:
            end_problem(check, module, child)
        times[module] = child.seconds
        owner, file = owner_of(module), child.last("file")
        shadowed = owner and shadow_of(found.get(normal(owner)), module, file)
        if shadowed:
            check.problem("import %s loads %s instead of %s" % (module, file, shadowed), owner,
                          "another module has the same name: remove it, or remove its directory "
                          "from PYTHONPATH")
        for row in child.last("fallbacks", []):
            fallback_row(fallback, owner_of(module), row)
        for switch in sorted(set(child.last("switches", [])) - set(known)):
            known.append(switch)
            fallback.figures.setdefault("set_by_imports", []).append(switch)
            if EXPECTED.get("forbid_fallback", True):
                fallback.problem("import %s sets %s: the kernels are not used" % (module, switch), owner or module,
                                 "remove it from the module, or set verify: {forbid_fallback: false}")
    lost = check_packages(check, found, times)
    check.figures["seconds"] = {m: round(s, 1) for m, s in times.items()}
    check.figures["limit_s"] = IMPORT_S
    check.what = "%s (limit %g s)" % (listed(("%s %.1f s" % i for i in times.items()), 5) or "nothing", IMPORT_S)
    check.what += "; no module, so not imported: %s" % listed(lost) if lost else ""
    judge_switches(fallback, check)
    return check, fallback


def fallback_row(check, owner, row):
    if NEEDS_GPU.search(row["error"]):
        check.not_run("%s needs a GPU to import" % row["from"])
        return
    check.figures.setdefault("lost", []).append(row)
    text = "%s works without %s%s" % (row["module"], listed(row["names"]),
                                     ": " + row["error"] if row["error"] else "")
    if EXPECTED.get("forbid_fallback", True):
        check.problem(text, owner, "make that import work: otherwise, slower or wrong code replaces the kernels")


def judge_switches(check, imports):
    check.figures["switches"] = found = switches()
    if EXPECTED.get("forbid_fallback", True):
        for name in found:
            check.problem("the environment sets %s: the kernels are not used" % name, "env",
                          "unset it, or set verify: {forbid_fallback: false}")
    elif found or check.figures.get("lost"):
        check.what = "allowed by the recipe: %s" % listed(
            found + ["%s.%s" % (r["module"], n) for r in check.figures.get("lost", []) for n in r["names"]])
    if imports.problems and not check.problems:
        check.not_run("not all modules import")
    if not check.what:
        check.what = "no variable disables a kernel; every module has its kernels" if not check.problems else "a fallback path"
