"""Wheels for tests: small ones with a correct RECORD, and shared objects that gcc makes for them.

GPU code is written into the section of nvcc (the layout of fatbinary.h), so that a test can choose the architectures of
a binary without a CUDA toolkit; none of it can run.
"""
import base64
import hashlib
import io
import os
import struct
import subprocess
import tempfile
import zipfile

NEW_ABI = "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
OLD_ABI = "_ZN3c105ErrorC2ENS_14SourceLocationESs"


def fatbin(archs, code=b"\x7fELF-not-really" * 8):
    """Returns the bytes of one container: "sm_90" or "compute_90" for each entry; a suffix a or f is a flag."""
    entries = b""
    for arch in archs:
        kind, _, number = arch.partition("_")
        flags = {"a": 1 << 20, "f": 1 << 21}.get(number[-1], 0)
        head = bytearray(64)
        struct.pack_into("<HHIQ", head, 0, 1 if kind == "compute" else 2, 0x101, 64, len(code))
        struct.pack_into("<I", head, 28, int(number.rstrip("af")))
        struct.pack_into("<Q", head, 40, flags)
        entries += bytes(head) + code
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries


def shared_object(archs=(), undefined=(), machine=None, needed=()):
    """Links a shared object with gcc; `undefined`: its undefined symbols, `needed`: the libraries that it needs."""
    lines = ["int answer(void) { return 42; }"]
    for i, symbol in enumerate(undefined):
        lines.append(f'extern void u{i}(void) __asm__("{symbol}"); void call{i}(void) {{ u{i}(); }}')
    asm = ""
    if archs:
        data = fatbin(archs)
        asm = '.section .nv_fatbin,"a"\n.balign 8\n' + "".join(f".byte {b}\n" for b in data)
    asm += '.section .note.GNU-stack,"",@progbits\n'
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        with open(path("x.c"), "w", encoding="ascii") as f:
            f.write("\n".join(lines) + "\n")
        with open(path("y.s"), "w", encoding="ascii") as f:
            f.write(asm)
        for soname in needed:
            subprocess.run(["gcc", "-shared", f"-Wl,-soname,{soname}", "-o", path(soname), "-xc", "/dev/null"], check=True)
        libraries = ["-Wl,--no-as-needed", *(path(soname) for soname in needed)]
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", path("x.so"), path("x.c"), path("y.s"), *libraries], check=True)
        with open(path("x.so"), "rb") as f:
            data = bytearray(f.read())
    if machine is not None:  # e_machine of another machine
        struct.pack_into("<H", data, 18, machine)
    return bytes(data)


def record_of(files, info):
    lines = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f'{path},' if "," not in path else f'"{path}",')
        lines[-1] += f"sha256={digest},{len(data)}"
    return ("\n".join(lines) + f"\n{info}/RECORD,,\n").encode()


def wheel(folder, name="tiny-ext", version="1.0", tag="cp311-cp311-linux_x86_64", files=None, stored=False, rows=b""):
    """Writes a wheel to the directory; returns its path. rows: a text before those of RECORD."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    files = dict(files or {})
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as z:
        for path, data in [*files.items(), (f"{info}/RECORD", rows + record_of(files, info))]:
            entry = zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = z.compression
            z.writestr(entry, data)
    path = os.path.join(folder, f"{stem}-{tag}.whl")
    with open(path, "wb") as f:
        f.write(out.getvalue())
    return path


def inputs(name="tiny-ext", version="1.0", archs=("9.0",), argv=("pip", "wheel", "."), **more):
    """Returns the inputs of a key in the form of docs/store.md; `more` replaces values."""
    digest = lambda c: "sha256:" + c * 64
    all_ = {
        "schema": 1, "name": name, "version": version,
        "source": {"kind": "git", "digest": digest("a"), "commit": "b" * 40},
        "patches": [digest("c"), digest("d")],
        "python": {"version": "3.11.2", "soabi": "cpython-311-x86_64-linux-gnu", "platform": "linux-x86_64"},
        "libc": "glibc 2.36",
        "torch": {"version": "2.11.0+cu130", "digest": digest("e"), "cxx11abi": True},
        "cuda": {"version": "13.0", "nvcc": "13.0.88"},
        "compiler": {"cc": "gcc (Debian 12.2.0-14) 12.2.0", "cxx": "g++ (Debian 12.2.0-14) 12.2.0",
                     "ld": "GNU ld (GNU Binutils for Debian) 2.40"},
        "build": {"setuptools": "80.9.0", "wheel": "0.45.1", "ninja": "1.11.1", "numpy": "2.3.4", "pybind11": "3.0.1"},
        "archs": list(archs), "argv": list(argv),
        "env": {"CC": "gcc", "CXX": "g++", "CFLAGS": "-O2", "TORCH_CUDA_ARCH_LIST": "9.0", "MAMBA_FORCE_BUILD": "TRUE"},
        "system": {part: digest(c) for part, c in zip(("includes", "libraries", "packages", "python", "environment"), "f0123")},
    }
    all_.update(more)
    return all_
