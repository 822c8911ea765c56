"""Reads the inputs that decide the bytes of an extension's wheel, in the environment that compiles it.

    python inputs.py PLAN.json SOURCE INPUTS.json

PLAN.json has the inputs of the plan: name, version, source, argv, env, archs.  The program reads the
rest from the source, this environment and the compilers.  If an input is unknown, the program fails:
two different wheels must not have the same key in a wheel store.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib import metadata

LIMIT_S = 120  # for a child process

# Variables that compilers and build tools read, in addition to those that the source names.
TOOLS_READ = re.compile(
    r"(.*FLAGS|CC|CXX|CPP|LD|AR|AS|NM|RANLIB|NVCC|LDSHARED|LDCXXSHARED|CUDAHOSTCXX|CUDAARCHS"
    r"|CPATH|C_INCLUDE_PATH|CPLUS_INCLUDE_PATH|LIBRARY_PATH|COMPILER_PATH|GCC_EXEC_PREFIX"
    r"|(NVCC|TORCH|PYTORCH|CMAKE|DISTUTILS|SETUPTOOLS|SKBUILD|MESON)_.*"
    r"|PIP_(GLOBAL_OPTION|BUILD_OPTION|CONFIG_SETTINGS)|SOURCE_DATE_EPOCH|USE_NINJA)$"
)
# These affect the speed of the compile, the place of files, or the user: they are not inputs.  The
# program reads the versions of nvcc, the compilers and the packages from these programs.
NO_INPUT = re.compile(
    r"(MAX_JOBS|NVCC_THREADS|CUDA_HOME|CUDA_PATH|PATH|HOME|PWD|OLDPWD|SHLVL|_|USER|LOGNAME|SHELL"
    r"|TERM|COLUMNS|LINES|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|TEMP|TMP|HOSTNAME|VIRTUAL_ENV|PYTHON.*"
    r"|PIP_(?!GLOBAL_OPTION|BUILD_OPTION|CONFIG_SETTINGS).*|XDG_.*|SSH_.*|NVIDIA_.*|STACKBUILD_.*|CI)$"
)
BUILD_FILES = (".py", ".toml", ".cfg", ".cmake", ".txt", ".in", ".build", ".sh")
# Not inputs either: variables of a session, a scheduler or a CI service, and secrets.
SESSION = re.compile(
    r"(DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|WINDOWID"
    r"|(DBUS|DESKTOP|GNOME|KDE|GTK|QT|SESSION|TERM|VTE|TMUX|LESS|HIST|LC|GPG|SYSTEMD|NPM|VSCODE|SLURM|PBS"
    r"|KUBERNETES|GITHUB|GITLAB|RUNNER|CI|BUILDKIT|BUILDAH|DOCKER|WSL)_.*"
    r"|TMUX|STY|EDITOR|VISUAL|PAGER|LESS|LS_COLORS|COLORTERM|MAIL|PS[0-4]|PROMPT.*|HIST.*|INVOCATION_ID|JOURNAL_STREAM"
    r"|MANAGERPID|container|DEBIAN_FRONTEND|NO_COLOR|SECRETS|APP|LD_LIBRARY_PATH|.*_NUM_THREADS"
    r"|.*(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH|API_?KEY).*)$",
    re.I,
)
WHOLE_MAX = 8 << 20  # bytes: of a larger file, the size, the first and the last MiB are inputs
CODE = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", ".inl", ".so", ".a", ".o", ".lib", ".pxd", ".bc", ".fatbin")


class Unknown(Exception):
    """An input that cannot be read."""


def output(argv, what, cwd=None):
    shown = " ".join(a for a in argv if "\n" not in a)
    try:
        p = subprocess.run(
            argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S
        )
    except OSError as e:
        raise Unknown("%s: %s cannot be run: %s" % (what, argv[0], e.strerror))
    except subprocess.TimeoutExpired:
        raise Unknown("%s: %s has not ended after %d s" % (what, shown, LIMIT_S))
    if p.returncode:
        last = p.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        raise Unknown("%s: %s ended with %d: %s" % (what, shown, p.returncode, last))
    return p.stdout.decode("utf-8", "replace")


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def file_digest(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            h.update(block)
    return h


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


# --- the source ---


def tree_files(root):
    """Returns the paths below root, sorted by their bytes, without git's own files."""
    found = []
    for folder, folders, files in os.walk(root):
        links = [d for d in folders if os.path.islink(os.path.join(folder, d))]
        folders[:] = [d for d in folders if d != ".git" and d not in links]
        found += [os.path.relpath(os.path.join(folder, f), root) for f in files + links if f != ".git"]
    return sorted(found, key=os.fsencode)


def tree_digest(root):
    """Returns the digest of modes (as in git), paths and contents, with those of submodules."""
    h = hashlib.sha256()
    for path in tree_files(root):
        full = os.path.join(root, path)
        if os.path.islink(full):
            mode, content = "120000", hashlib.sha256(os.fsencode(os.readlink(full)))
        elif os.path.isfile(full):
            mode = "100755" if os.stat(full).st_mode & 0o100 else "100644"
            content = file_digest(full)
        else:
            raise Unknown("source: %s is neither a file nor a link" % path)
        h.update(b"%s %s %s\0" % (mode.encode(), content.hexdigest().encode(), os.fsencode(path)))
    return "sha256:" + h.hexdigest()


def outside_of(paths):
    """Returns the digests of the files outside of own code that its last compile read, if they still exist."""
    return {p: "sha256:" + file_digest(p).hexdigest() for p in paths if os.path.isfile(p)}


def archive_of(folder):
    found = [f for f in sorted(os.listdir(folder)) if re.search(r"\.(tar\.(gz|bz2|xz)|tgz|zip)$", f)]
    if len(found) != 1:
        raise Unknown("source: %d archives in %s, not one" % (len(found), folder))
    return os.path.join(folder, found[0])


def unpack(archive, folder):
    """Returns the only directory in an sdist."""
    try:
        shutil.unpack_archive(archive, folder)
    except Exception as e:  # each format has errors of its own
        raise Unknown("source: %s cannot be unpacked: %s" % (os.path.basename(archive), e))
    inside = os.listdir(folder)
    if len(inside) != 1:
        raise Unknown("source: %s has %d entries, not one directory" % (os.path.basename(archive), len(inside)))
    return os.path.join(folder, inside[0])


def source_of(kind, path, scratch):
    """Returns the description of the source, and the directory with its files."""
    if not os.path.isdir(path):
        raise Unknown("source: the directory %s does not exist" % path)
    if kind == "sdist":
        archive = archive_of(path)
        found = {"kind": kind, "digest": "sha256:" + file_digest(archive).hexdigest(), "commit": None}
        return found, unpack(archive, os.path.join(scratch, "sdist"))
    commit = None
    if kind == "git":
        commit = output(["git", "-C", path, "rev-parse", "HEAD"], "source").strip()
        if not re.match(r"[0-9a-f]{40}$", commit):
            raise Unknown("source: the HEAD of the git repository is %s" % commit)
    elif kind != "tree":
        raise Unknown("source: unknown kind: %s" % kind)
    return {"kind": kind, "digest": tree_digest(path), "commit": commit}, path


PYPROJECT = {"project": {"version": str}, "build-system": {"requires": list, "build-backend": str, "backend-path": list}}


def read_toml(path):
    """Returns the file, or None if it does not exist."""
    if not os.path.exists(path):
        return None
    try:
        import tomllib as toml
    except ImportError:
        try:
            from pip._vendor import tomli as toml
        except ImportError:
            raise Unknown("pyproject.toml: this Python has no module that reads TOML")
    try:
        with open(path, "rb") as f:
            found = toml.load(f)
    except (toml.TOMLDecodeError, UnicodeDecodeError) as e:
        raise Unknown("pyproject.toml cannot be read: %s" % e)
    for table, keys in PYPROJECT.items():
        for key, kind in keys.items():
            if not isinstance(found.get(table, {}), dict) or not isinstance(found.get(table, {}).get(key, kind()), kind):
                raise Unknown("pyproject.toml: %s.%s has a wrong type" % (table, key))
    return found


METADATA = """
import importlib, os, sys
name, _, inside = sys.argv[1].partition(":")
sys.path[:0] = [p for p in sys.argv[3:]] or [""]
backend = importlib.import_module(name)
for part in filter(None, inside.split(".")):
    backend = getattr(backend, part)
folder = backend.prepare_metadata_for_build_wheel(sys.argv[2])
sys.stdout.write("\\n@" + folder)
"""


def built_version(folder, project, scratch):
    """Asks the build itself: runs setup.py or the backend on a copy."""
    system = (project or {}).get("build-system", {})
    copy, made = os.path.join(scratch, "copy"), os.path.join(scratch, "metadata")
    shutil.copytree(folder, copy, symlinks=True)
    os.mkdir(made)
    backend = system.get("build-backend", "setuptools.build_meta:__legacy__")
    argv = [sys.executable, "-c", METADATA, backend, made] + system.get("backend-path", [])
    name = output(argv, "version", cwd=copy).rpartition("@")[2]
    with open(os.path.join(made, name, "METADATA"), encoding="utf-8") as f:
        return header(f.read(), "Version")


def header(text, name):
    """A field of METADATA or PKG-INFO."""
    found = re.search(r"^%s:[ \t]*(\S+)[ \t]*$" % name, text.partition("\n\n")[0], re.M)
    if not found:
        raise Unknown("version: the metadata has no version")
    return found.group(1)


def version_of(plan, folder, project, scratch):
    if plan["version"]:
        return plan["version"]
    info = os.path.join(folder, "PKG-INFO")
    if plan["source"] == "sdist" and os.path.exists(info):
        with open(info, encoding="utf-8") as f:
            return header(f.read(), "Version")
    fixed = (project or {}).get("project", {}).get("version")
    return fixed or built_version(folder, project, scratch)


# --- the environment ---


def libc():
    try:
        said = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):
        said = None
    if not said:
        raise Unknown("libc: it is not the GNU C library, and does not report its version")
    return said


def distributions():
    found = {}
    for d in metadata.distributions():
        name = d.metadata["Name"]
        # Python imports the first one in sys.path.
        if name:
            found.setdefault(normal(name), d)
    return found


def record_lines(d):
    """Returns RECORD without the entries that depend on the place and the installer."""
    text = d.read_text("RECORD")
    if not text:
        raise Unknown("%s: it has no RECORD" % d.metadata["Name"])
    lines = []
    for line in text.split("\n"):
        path = line.strip().rsplit(",", 2)[0].strip('"')
        if not path or path.startswith("..") or path.endswith(".pyc") or os.path.isabs(path):
            continue
        if re.search(r"\.dist-info/(RECORD|INSTALLER|REQUESTED|direct_url\.json)$", path):
            continue
        lines.append(line.strip())
    return sorted(lines)


def record_digest(d):
    return digest_of("\n".join(record_lines(d)).encode())


def has_code(d):
    text = d.read_text("RECORD")
    paths = [x.rsplit(",", 2)[0].strip('"') for x in text.split("\n")] if text else [str(f) for f in d.files or []]
    return any(p.endswith(CODE) or ".so." in os.path.basename(p) for p in paths)


def requirement(text):
    """Returns the name and the extras of a requirement."""
    found = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^]]*)\])?", text)
    if not found:
        raise Unknown("build requirement: `%s` has no name" % text)
    return normal(found.group(1)), tuple(normal(x.strip()) for x in (found.group(2) or "").split(",") if x.strip())


def wanted(text, extras):
    """Tells whether these extras need it; a marker of another kind may be true."""
    asked = re.findall(r"extra\s*==\s*[\"']([^\"']+)[\"']", text.partition(";")[2])
    return not asked or any(normal(x) in extras for x in asked)


def needed_to_build(asked, found):
    """Returns the installed build requirements, and their installed requirements in turn."""
    todo, seen = [requirement(str(r)) for r in asked], set()
    while todo:
        name, extras = todo.pop()
        if name in found and (name, extras) not in seen:
            seen.add((name, extras))
            todo += [requirement(r) for r in found[name].requires or [] if wanted(r, extras)]
    return {name for name, _ in seen}


def build_set(plan, project, found):
    asked = plan["requires"] + (project or {}).get("build-system", {}).get("requires", [])
    names = needed_to_build(asked, found) | {n for n, d in found.items() if has_code(d)}
    names -= {normal(n) for n in plan["beside"] + [plan["name"]]}
    return {n: found[n].version for n in sorted(names)}


# --- torch, CUDA, compilers ---


def cxx11abi(d):
    """Reads the C++ ABI from the names in libc10.so; if they do not show it, imports torch in a child."""
    path = str(d.locate_file("torch/lib/libc10.so"))
    if os.path.exists(path):
        with open(path, "rb") as f:
            names = f.read()
        new = re.search(rb"_ZN3c105ErrorC[12]ENS_14SourceLocationENSt7__cxx1112basic_string", names)
        old = re.search(rb"_ZN3c105ErrorC[12]ENS_14SourceLocationESs", names)
        if bool(new) != bool(old):
            return bool(new)
    code = "import torch; print('@%d' % torch.compiled_with_cxx11_abi())"
    said = output([sys.executable, "-c", code], "torch's C++ ABI").strip()[-2:]
    if said not in ("@0", "@1"):
        raise Unknown("torch's C++ ABI: torch does not report it")
    return said == "@1"


def torch_of(found):
    d = found.get("torch")
    if not d:
        raise Unknown("torch: it is not installed")
    return {"version": d.version, "digest": record_digest(d), "cxx11abi": cxx11abi(d)}


def nvcc_path():
    """Returns the CUDA home that torch's own build tools use."""
    if os.environ.get("STACKBUILD_NVCC"):
        return os.environ["STACKBUILD_NVCC"]
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    if home:
        return os.path.join(home, "bin", "nvcc")
    found = shutil.which("nvcc")
    return found or "/usr/local/cuda/bin/nvcc"


def cuda_of(plan):
    nvcc = nvcc_path()
    if not os.path.exists(nvcc):
        if plan["cuda"]:
            raise Unknown("CUDA: %s does not exist" % nvcc)
        return None
    said = re.search(r"release (\d+\.\d+), V(\d+(?:\.\d+)+)", output([nvcc, "--version"], "CUDA"))
    if not said:
        raise Unknown("CUDA: %s --version does not print a release" % nvcc)
    return {"version": said.group(1), "nvcc": said.group(2)}


def first_line(argv, what):
    line = output(argv + ["--version"], what).strip().split("\n")[0].strip()
    if not line:
        raise Unknown("%s: %s --version prints nothing" % (what, " ".join(argv)))
    return line


def tool(name):
    """Returns the program that a variable names; setuptools uses that of Python by default."""
    words = shlex.split(os.environ.get(name) or sysconfig.get_config_var(name) or "")
    if not words:
        raise Unknown("compiler: %s is not set" % name)
    return words


def compiler_of():
    cc = tool("CC")
    ld = output(cc + ["-print-prog-name=ld"], "compiler").strip() or "ld"
    return {"cc": first_line(cc, "compiler"), "cxx": first_line(tool("CXX"), "compiler"), "ld": first_line([ld], "linker")}


# --- variables ---


def words_of(folder):
    """Returns the names in capitals in the source's build files: the variables that it may read."""
    found = set()
    for path in tree_files(folder):
        full = os.path.join(folder, path)
        if path.endswith(BUILD_FILES) and os.path.isfile(full):
            with open(full, "rb") as f:
                found |= set(re.findall(rb"[A-Za-z_][A-Za-z0-9_]{2,}", f.read()))
    return {w.decode() for w in found}


def env_of(plan, folder):
    named = words_of(folder)
    env = {k: v for k, v in plan["env"].items() if k not in ("MAX_JOBS", "NVCC_THREADS")}
    for k, v in os.environ.items():
        if k not in env and not NO_INPUT.match(k) and (TOOLS_READ.match(k) or k in named):
            env[k] = v
    return env


# --- files that the compilers and setup.py find by themselves ---


def content(path):
    """Returns the size of a file and a digest: of the whole file, or of both ends of a large library."""
    size = os.path.getsize(path)
    if size <= WHOLE_MAX:
        return b"%d %s" % (size, file_digest(path).digest())
    with open(path, "rb") as f:
        ends = f.read(1 << 20)
        f.seek(-(1 << 20), os.SEEK_END)
        return b"%d %s" % (size, hashlib.sha256(ends + f.read()).digest())


def state_of(roots, deep, left_out=()):
    """Returns the digest of names and contents below directories, without bytecode, which contains times."""
    h = hashlib.sha256()
    for root in roots:
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(d for d in folders if deep and d != "__pycache__")
            for name in sorted(files):
                path = os.path.join(folder, name)
                inside = os.path.relpath(path, root)
                if name.endswith(".pyc") or inside in left_out or INSTALLED.search(inside):
                    continue
                try:
                    found = content(path) if os.path.isfile(path) else b"no file"
                except OSError as e:
                    raise Unknown("%s cannot be read: %s" % (path, e.strerror))
                h.update(b"%s\0%s\0" % (os.fsencode(inside), found))
        h.update(b"\0")
    return "sha256:" + h.hexdigest()


INSTALLED = re.compile(r"\.dist-info/(RECORD|INSTALLER|REQUESTED|direct_url\.json|uv_cache\.json)$")


def existing(paths):
    """Returns the real directories, each once, in their order."""
    found = []
    for path in paths:
        real = os.path.realpath(path)
        if path and os.path.isdir(real) and real not in found:
            found.append(real)
    return found


def search_of():
    """Returns the directories that the compiler, nvcc and the linker search."""
    cxx = tool("CXX")
    said = subprocess.run(
        cxx + ["-E", "-v", "-x", "c++", os.devnull], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=LIMIT_S, env=dict(os.environ, LC_ALL="C"),
    ).stdout.decode("utf-8", "replace")  # fmt: skip
    includes = re.findall(r"^ (/.*)$", said, re.M)
    libraries = re.search(r"^libraries: =?(.*)$", output(cxx + ["-print-search-dirs"], "compiler"), re.M)
    toolkit = os.path.dirname(os.path.dirname(os.path.realpath(nvcc_path())))
    includes += [os.path.join(toolkit, "include"), sysconfig.get_path("include"), sysconfig.get_path("platinclude")]
    libraries = (libraries.group(1) if libraries else "").split(":")
    libraries += [os.path.join(d, "pkgconfig") for d in libraries]
    libraries += [os.path.join(toolkit, d) for d in ("lib64", "lib", "lib64/stubs")]
    return existing(includes), existing(libraries)


def outermost(folders):
    """Removes directories inside others: a walk finds them anyway."""
    return [d for d in folders if not any(d != other and d.startswith(other + os.sep) for other in folders)]


PACKAGE_LISTS = (
    ["dpkg-query", "-W", "-f", "${Package}:${Architecture} ${Version} ${Status}\n"],
    ["rpm", "-qa", "--qf", "%{NAME}.%{ARCH} %{VERSION}-%{RELEASE}\n"],
    ["apk", "info", "-v"],
)


def system_packages():
    found = ["%s\n%s" % (argv[0], output(argv, "system packages")) for argv in PACKAGE_LISTS if shutil.which(argv[0])]
    return digest_of("\n".join("\n".join(sorted(text.split("\n"))) for text in found).encode())


def python_packages(plan, found):
    """Returns all importable packages outside the standard library, without those that are not inputs of this wheel."""
    own = {normal(n) for n in plan["beside"] + [plan["name"]]}
    left_out = set()
    for d in [found[n] for n in own if n in found]:
        left_out |= {str(f) for f in d.files or []}
    standard = existing([sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")])
    roots = [d for d in existing(sys.path[1:]) if d not in standard and os.path.basename(d) != "lib-dynload"]
    return state_of(roots, True, left_out)


def rest_of_environment(env):
    """Returns the variables that `env` does not list: setup.py can compute the name of any."""
    rest = {
        k: v.replace(sys.prefix, "{prefix}") for k, v in os.environ.items()
        if k not in env and not NO_INPUT.match(k) and not SESSION.match(k) and k not in ("MAX_JOBS", "NVCC_THREADS")
    }  # fmt: skip
    return digest_of(json.dumps(rest, sort_keys=True).encode())


def system_of(plan, found, env):
    includes, libraries = search_of()
    return {
        "includes": state_of(outermost(includes), True),
        "libraries": state_of(libraries, False),
        "packages": system_packages(),
        "python": python_packages(plan, found),
        "environment": rest_of_environment(env),
    }


def inputs_of(plan, path, scratch):
    source, folder = source_of(plan["source"], path, scratch)
    if plan.get("outside"):
        source["outside"] = outside_of(plan["outside"])
    if plan["subdirectory"]:
        folder = os.path.join(folder, plan["subdirectory"])
    project = read_toml(os.path.join(folder, "pyproject.toml"))
    found = distributions()
    soabi = sysconfig.get_config_var("SOABI")
    if not soabi:
        raise Unknown("python: it does not report its SOABI")
    env = env_of(plan, folder)
    return {
        "schema": 1,
        "name": plan["name"],
        "version": version_of(plan, folder, project, scratch),
        "source": source,
        "patches": plan["patches"],
        "python": {
            "version": sys.version.split()[0],
            "soabi": soabi,
            "platform": sysconfig.get_platform(),
        },
        "libc": libc(),
        "torch": torch_of(found),
        "cuda": cuda_of(plan),
        "compiler": compiler_of(),
        "build": build_set(plan, project, found),
        "archs": plan["archs"],
        "argv": plan["argv"],
        "env": env,
        "system": system_of(plan, found, env),
    }


def write(path, text):
    """Writes the file completely or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    fd, temporary = tempfile.mkstemp(dir=folder)
    with os.fdopen(fd, "w", encoding="ascii") as f:
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
    os.chmod(temporary, 0o644)
    os.rename(temporary, path)


def main():
    p = argparse.ArgumentParser(description="Writes what an extension's wheel depends on.")
    p.add_argument("plan")
    p.add_argument("source")
    p.add_argument("out")
    o = p.parse_args()
    with open(o.plan, encoding="utf-8") as f:
        plan = json.load(f)
    scratch = tempfile.mkdtemp()
    try:
        write(o.out, json.dumps(inputs_of(plan, o.source, scratch), indent=2, sort_keys=True) + "\n")
    except Unknown as why:
        sys.exit("inputs of %s: %s" % (plan["name"], why))
    except OSError as e:
        sys.exit("inputs of %s: %s" % (plan["name"], e))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
