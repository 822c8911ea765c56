"""installed: compares the versions with the plan, and the files of each extension with its wheel."""
import csv
import sysconfig


def distributions():
    found = {}
    for name, _, dist in each_distribution():
        found.setdefault(name, dist)
    return found


def files_of(dist):
    """Returns the files that RECORD (or a similar list) names; none if it cannot be read."""
    try:
        return (dist.files if dist else None) or []
    except (OSError, ValueError, TypeError, csv.Error):
        return []


def metadata_folders(name):
    """Returns {directory: versions} of a distribution with several versions in one directory: an interrupted install."""
    folders = {}
    for found, version, dist in each_distribution():
        path = getattr(dist, "_path", None)
        if path is not None and found == normal(name):
            # The directory itself may be a link (Nix, Bazel, an overlay): only its path matters.
            folder = os.path.realpath(os.path.dirname(str(path)))
            folders.setdefault(folder, {})[os.path.basename(str(path))] = version
    return {f: sorted(v.values()) for f, v in folders.items() if len(v) > 1}


def check_once(check, name):
    for folder, versions in metadata_folders(name).items():
        check.problem("%s is installed more than once in %s: versions %s" % (name, folder, " and ".join(versions)), name,
                      "remove every version and install one: tools find any of them")


def name_modules(found):
    """Reads the modules of an unknown extension from its wheel."""
    for ext in EXPECTED.get("extensions", []):
        dist = found.get(normal(ext["name"]))
        if ext.get("modules") or not dist:
            continue
        names = []
        for f in files_of(dist):
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


def record_of(dist):
    """Returns [(file, digest, size)] of RECORD, or None if the package was not installed from a wheel; raises ValueError.

    metadata's own `files` leaves out what is not there since Python 3.12, and that is what is looked for.
    """
    folder = getattr(dist, "_path", None)
    if folder is None or not str(folder).endswith(".dist-info"):
        return None
    try:
        rows = [r for r in csv.reader((dist.read_text("RECORD") or "").splitlines()) if r]
    except (OSError, UnicodeDecodeError, csv.Error) as err:
        raise ValueError("cannot be read: %s" % err)
    if not rows:
        raise ValueError("is empty or missing")
    # Each row has a path, a digest and a size, and a RECORD lists itself.
    if any(len(r) != 3 for r in rows) or not any(r[0].endswith(".dist-info/RECORD") for r in rows):
        raise ValueError("is incomplete")
    return [tuple(r) for r in rows]


def is_code(text, digest):
    return digest.startswith("sha256=") and (text.endswith(".py") or compiled_name(text))


BIG = 16 << 20  # a larger file is compared by its size: torch's libraries have gigabytes


def same_file(path, claims):
    """Tells whether a file is as one of the RECORDs that name it says; None: by its size alone."""
    size = os.stat(path).st_size
    if size > BIG:
        return None if any(s in ("", str(size)) for _, s in claims) else False
    return any(d == "sha256=" + digest_of(path) for d, _ in claims)


def required_by(names, found):
    """Returns the names and what these packages require, as far as it is installed."""
    names, todo = set(names), list(names)
    while todo:
        dist = found.get(todo.pop())
        for text in (dist.requires or []) if dist else []:
            m = re.match(r"[A-Za-z0-9._-]+", text)
            other = normal(m.group()) if m and "extra ==" not in text else None
            if other in found and other not in names:
                names.add(other)
                todo.append(other)
    return names


def check_records(check, found):
    """Compares the code of every package but the extensions with its RECORD.

    Several packages may install one path (tests/__init__.py): it is good if one of them describes it. A package that the
    plan does not need is only reported.
    """
    own, extensions = own_packages(), {normal(e["name"]) for e in EXPECTED.get("extensions", [])}
    rows, claims, without = [], {}, []
    for name in sorted(set(own) - extensions):
        try:
            files = record_of(found[name])
        except ValueError:
            files = None
        if files is None:
            without.append(name)
        for text, digest, size in files or []:
            if is_code(text, digest):
                path = os.path.realpath(str(found[name].locate_file(text)))
                rows.append((name, text, path))
                claims.setdefault(path, []).append((digest, size))
    planned = required_by({normal(p["name"]) for p in EXPECTED.get("pins", []) + (EXPECTED.get("lock") or {}).get("packages", [])}
                          | extensions, found)
    wrong, by_size, seen = {}, 0, {}
    for name, text, path in rows:
        if path not in seen:
            try:
                seen[path] = same_file(path, claims[path])
            except OSError as err:
                seen[path] = err.strerror
            by_size += seen[path] is None
        if seen[path] not in (True, None):
            wrong.setdefault(name, []).append((text, seen[path]))
    for name in sorted(wrong):
        text, why = wrong[name][0]
        more = ", and %d more files" % (len(wrong[name]) - 1) if len(wrong[name]) > 1 else ""
        if name in planned:
            check.problem("%s: %s %s%s" % (name, text, "is missing: %s" % why if why else
                                           "is not the installed file (RECORD differs)", more), name,
                          "install the package again: its files were changed after the install")
    others = sorted(set(wrong) - planned)
    check.figures["records"] = {"packages": len(own) - len(set(own) & extensions) - len(without), "files": len(seen),
                                "by_size": by_size, "without": without[:50], "others_changed": others[:50]}
    return others


def check_files(check, name, dist):
    """Reports code of a distribution that is missing or differs from its RECORD."""
    looked_at = 0
    try:
        rows = record_of(dist)
    except ValueError as err:
        check.problem("%s: its RECORD %s" % (name, err), name,
                      "install the wheel again: without RECORD, its files are unknown")
        return
    if rows is None:
        check.figures.setdefault("no_record", []).append(name)
        return
    for text, digest, _ in rows:
        if not is_code(text, digest):
            continue
        path = str(dist.locate_file(text))
        looked_at += 1
        try:
            same = digest_of(path) == digest[len("sha256="):]
        except OSError as err:
            check.problem("%s: %s is missing: %s" % (name, text, err.strerror), name,
                          "install the wheel again: one of its files is missing")
            continue
        if not same:
            check.problem("%s: %s is not the installed file (its digest differs from RECORD)"
                          % (name, text), name,
                          "install the wheel again: the file was changed after the install")
    check.figures.setdefault("files", {})[name] = looked_at


REQUIRED = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*\(?==\s*([^\s;,()*]+)\)?\s*(?:;\s*(.*))?$")
MARKER = re.compile(r"\s*(platform_system|platform_machine|sys_platform)\s*==\s*[\"']([^\"']*)[\"']\s*$")


def marker_holds(marker):
    """Tells whether a marker is true here; False for a marker about more than the platform."""
    if not marker:
        return True
    have = {"platform_system": os.uname().sysname, "platform_machine": os.uname().machine, "sys_platform": sys.platform}
    found = [MARKER.match(part) for part in marker.split(" and ")]
    return all(m and have[m.group(1)] == m.group(2) for m in found)


def check_pinned_by(check, name, found):
    """Checks the packages that a package pins (torch: cuDNN, triton): each has that version, or is not installed."""
    exact = {normal(p["name"]) for p in EXPECTED.get("pins", []) if "==" in p["specifier"]}
    for text in found[name].requires or []:
        m = REQUIRED.match(text)
        other = found.get(normal(m.group(1))) if m and marker_holds(m.group(3)) else None
        if not other or normal(m.group(1)) in exact or not (VERSION.match(other.version) and VERSION.match(m.group(2))) \
                or holds("==" + m.group(2), other.version):
            continue
        check.problem("%s is %s; %s %s was built for %s" % (
            m.group(1), other.version, name, found[name].version, m.group(2)), name,
            "install %s==%s: it was changed after %s was installed" % (m.group(1), m.group(2), name))


def check_set():
    check = Check("installed")
    rows = check_installed(EXPECTED)
    wrong = [r for r in rows if not r["ok"]]
    for r in wrong:
        if r["name"] == "python" and "specifier" not in r:
            check.problem("this is Python %s; the recipe requires %s" % (r["found"], r["planned"]), "python",
                          "create the environment with that Python: compiled code works with one series only")
        elif r["found"] is None:
            check.problem("%s is not installed (planned: %s)" % (r["name"], r["planned"]), r["name"],
                          "install it, or build the stack again")
        else:
            check.problem("%s is %s; the plan has %s" % (r["name"], r["found"], r["planned"]), r["name"],
                          "it was changed after it was installed: build the stack again")
    found = distributions()
    for name in (["torch"] if EXPECTED.get("torch") else []) + [e["name"] for e in EXPECTED.get("extensions", [])]:
        check_once(check, name)
    if "torch" in found:
        check_pinned_by(check, "torch", found)
    for ext in EXPECTED.get("extensions", []):
        dist = found.get(normal(ext["name"]))
        if dist:
            check_files(check, ext["name"], dist)
    others = check_records(check, found)
    check.figures["found"] = {r["name"]: r["found"] for r in rows}
    check.what = "%d of %d as planned" % (len(rows) - len(wrong), len(rows))
    if not wrong:
        records = check.figures["records"]
        n, what = sum(check.figures.get("files", {}).values()), []
        if EXPECTED.get("extensions"):
            what = ["%d files of %s" % (n, listed(e["name"] for e in EXPECTED["extensions"]))]
        if records["files"]:
            what.append("%d files of %d %spackages" % (records["files"], records["packages"], "other " if what else ""))
        check.what += "; %s as in RECORD" % " and ".join(what) if what else ""
        check.what += " (changed, not in the plan: %s)" % listed(others) if others else ""
    return check


def own_packages():
    """Name -> version of the environment's own packages: those of a base image's Python are not among them."""
    places = {os.path.realpath(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}
    own = {}
    for name, version, dist in each_distribution():
        path = getattr(dist, "_path", None)
        if path is not None and os.path.realpath(os.path.dirname(str(path))) in places:
            own.setdefault(name, version)
    return own


def same_version(x, y):
    return x == y or bool(VERSION.match(x) and VERSION.match(y)) and Version(x).key == Version(y).key


def check_locked():
    """Every package of the lock, in its version, and nothing else but extensions and what venv brings."""
    check = Check("lock")
    own, locked = own_packages(), EXPECTED["lock"]["packages"]
    allowed = {normal(p["name"]) for p in locked} | {normal(e["name"]) for e in EXPECTED.get("extensions", [])}
    good = 0
    for p in locked:
        version = own.get(normal(p["name"]))
        if version is None and not p.get("marker"):
            check.problem("%s %s is not installed; the lock has it" % (p["name"], p["version"]), p["name"], "build the stack again")
        elif version is not None and not same_version(version, p["version"]):
            check.problem("%s is %s; the lock has %s" % (p["name"], version, p["version"]), p["name"],
                          "something moved it after it was installed: build the stack again")
        else:
            good += 1
    extra = sorted(set(own) - allowed - {"pip", "setuptools"})
    for name in extra:
        check.problem("%s %s is installed; the lock does not have it" % (name, own[name]), name,
                      "build the stack again, or add the package to the recipe and lock again")
    check.figures = {"locked": len(locked), "installed": len(own), "others": extra[:50]}
    check.what = "%d of %d packages as in the lock" % (good, len(locked)) + (", %d more" % len(extra) if extra else ", no others")
    return check
