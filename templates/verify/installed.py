"""installed: the versions that were planned, and of each extension the very files of its wheel."""


def distributions():
    found = {}
    for dist in metadata.distributions():
        if dist.metadata["Name"]:
            found.setdefault(normal(dist.metadata["Name"]), dist)
    return found


def metadata_folders(name):
    """{folder: versions} of a distribution, where one folder holds more than one: an install that was cut off."""
    folders = {}
    for dist in metadata.distributions():
        path = getattr(dist, "_path", None)
        if path is not None and normal(dist.metadata["Name"] or "") == normal(name):
            path = os.path.realpath(str(path))
            folders.setdefault(os.path.dirname(path), {})[path] = dist.version
    return {f: sorted(v.values()) for f, v in folders.items() if len(v) > 1}


def check_once(check, name):
    for folder, versions in metadata_folders(name).items():
        check.problem("%s is installed more than once in %s: versions %s" % (name, folder, " and ".join(versions)), name,
                      "remove every version and install one: which of them a tool finds is chance")


def name_modules(found):
    """An extension that nobody knows: what it can be imported as stands in its wheel."""
    for ext in EXPECTED.get("extensions", []):
        dist = found.get(normal(ext["name"]))
        if ext.get("modules") or not dist:
            continue
        names = []
        for f in dist.files or []:
            if len(f.parts) == 2 and f.parts[1] == "__init__.py":
                names.append(f.parts[0])
            elif len(f.parts) == 1 and (".cpython-" in f.name or f.name.endswith(".abi3.so")):
                names.append(f.name.split(".")[0])
        ext["modules"] = sorted(set(names))
        EXPECTED.setdefault("modules", []).extend(n for n in ext["modules"] if n not in EXPECTED["modules"])


def digest_of(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            h.update(block)
    return base64.urlsafe_b64encode(h.digest()).decode().rstrip("=")


def compiled_name(name):
    return name.endswith(".so") or ".so." in name.rsplit("/", 1)[-1]


def check_files(check, name, dist):
    """Whether code of a distribution is missing, or is not what its RECORD says."""
    files, looked_at = dist.files, 0
    if not files:
        check.figures.setdefault("no_record", []).append(name)
        return
    for f in files:
        text = str(f)
        if not f.hash or f.hash.mode != "sha256" or not (text.endswith(".py") or compiled_name(text)):
            continue
        path = str(f.locate())
        looked_at += 1
        try:
            same = digest_of(path) == f.hash.value
        except OSError as err:
            check.problem("%s: %s is not there: %s" % (name, text, err.strerror), name,
                          "install the wheel again: a file of it is gone")
            continue
        if not same:
            check.problem("%s: %s is not the file that was installed (its digest is not that of RECORD)"
                          % (name, text), name,
                          "install the wheel again: what changed the file made another stack of it")
    check.figures.setdefault("files", {})[name] = looked_at


def check_set():
    check = Check("installed")
    rows = check_installed(EXPECTED)
    wrong = [r for r in rows if not r["ok"]]
    for r in wrong:
        if r["name"] == "python" and "specifier" not in r:
            check.problem("this is Python %s; the recipe asks for %s" % (r["found"], r["planned"]), "python",
                          "make the environment with that Python: what is compiled fits one series only")
        elif r["found"] is None:
            check.problem("%s is not installed (planned: %s)" % (r["name"], r["planned"]), r["name"],
                          "install it, or build the stack again")
        else:
            check.problem("%s is %s; planned was %s" % (r["name"], r["found"], r["planned"]), r["name"],
                          "something moved it after it was installed: build the stack again")
    found = distributions()
    for name in (["torch"] if EXPECTED.get("torch") else []) + [e["name"] for e in EXPECTED.get("extensions", [])]:
        check_once(check, name)
    for ext in EXPECTED.get("extensions", []):
        dist = found.get(normal(ext["name"]))
        if dist:
            check_files(check, ext["name"], dist)
    check.figures["found"] = {r["name"]: r["found"] for r in rows}
    check.what = "%d of %d as planned" % (len(rows) - len(wrong), len(rows))
    if not wrong and EXPECTED.get("extensions"):
        n = sum(check.figures.get("files", {}).values())
        check.what += "; %d files of %s as in RECORD" % (n, listed(e["name"] for e in EXPECTED["extensions"]))
    return check
