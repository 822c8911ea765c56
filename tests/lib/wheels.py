"""Makes valid and broken wheels in memory, for tests/suites/inspect."""
import base64
import hashlib
import io
import struct
import zipfile

NAME = "x-1.0-py3-none-any.whl"
INFO = "x-1.0.dist-info"
METADATA = b"Metadata-Version: 2.1\nName: x\nVersion: 1.0\nRequires-Dist: torch>=2\n\nName: body\n"
WHEEL = b"Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def digest(data, kind="sha256"):
    return kind + "=" + base64.urlsafe_b64encode(hashlib.new(kind, data).digest()).rstrip(b"=").decode()


def record_of(files, kind="sha256"):
    rows = ["%s,%s,%d" % (('"' + n.replace('"', '""') + '"') if "," in n or '"' in n else n, digest(d, kind), len(d))
            for n, d in files.items()]
    return ("\n".join(rows) + f"\n{INFO}/RECORD,,\n").encode()


def files_of(extra=None, metadata=METADATA, wheel=WHEEL):
    files = {"x/__init__.py": b"value = 1\n", "x/data.bin": bytes(range(256)) * 40}
    files.update(extra or {})
    files[f"{INFO}/METADATA"] = metadata
    files[f"{INFO}/WHEEL"] = wheel
    return files


def pack(files, record=None, kind="sha256", edit=None, method=zipfile.ZIP_DEFLATED, streamed=False, zip64=False):
    """Returns the bytes of a wheel; edit(info) may change an entry's ZipInfo."""
    out = io.BytesIO()
    if streamed:
        out = Unseekable(out)
    with zipfile.ZipFile(out, "w", method) as z:
        for name, data in [*files.items(), (f"{INFO}/RECORD", record_of(files, kind) if record is None else record)]:
            info = zipfile.ZipInfo(name, (2020, 2, 2, 0, 0, 0))
            info.compress_type = method
            info.external_attr = 0o100644 << 16
            if edit:
                edit(info)
            with z.open(info, "w", force_zip64=zip64) as f:
                f.write(data)
    return out.inner.getvalue() if streamed else out.getvalue()


class Unseekable(io.RawIOBase):
    """Makes zipfile write the descriptors after the files."""

    def __init__(self, inner):
        self.inner = inner

    def writable(self):
        return True

    def write(self, data):
        return self.inner.write(data)


def central(data):
    """Returns the offset of each header of the central directory, and of its local header."""
    end = len(data) - 22
    at, count = struct.unpack_from("<I", data, end + 16)[0], struct.unpack_from("<H", data, end + 10)[0]
    rows = []
    for _ in range(count):
        n, extra, comment = struct.unpack_from("<HHH", data, at + 28)
        rows.append((at, struct.unpack_from("<I", data, at + 42)[0], data[at + 46:at + 46 + n].decode()))
        at += 46 + n + extra + comment
    return rows


def patched(data, *edits):
    out = bytearray(data)
    for at, new in edits:
        out[at:at + len(new)] = new
    return bytes(out)


def local_edit(data, name, offset, new):
    """Returns the wheel with bytes changed only in the local header of an entry."""
    at = next(local for _, local, n in central(data) if n == name)
    return patched(data, (at + offset, new))


def central_edit(data, name, offset, new):
    at = next(c for c, _, n in central(data) if n == name)
    return patched(data, (at + offset, new))


def both_edit(data, name, local_offset, central_offset, new):
    return central_edit(local_edit(data, name, local_offset, new), name, central_offset, new)


def without_row(name):
    files = files_of()
    kept = {n: d for n, d in files.items() if n != name}
    return pack(files, record=record_of(kept))


def twice(name, first, second):
    """Makes two entries of one name: RECORD describes the second one."""
    out = io.BytesIO()
    files = files_of({name: second})
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr(name, first)
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for n, d in files.items():
                z.writestr(n, d)
            z.writestr(f"{INFO}/RECORD", record_of(files))
    return out.getvalue()


def hidden(data, between):
    """Inserts bytes between the last file and the central directory."""
    at = struct.unpack_from("<I", data, len(data) - 6)[0]
    out = data[:at] + between + data[at:]
    return patched(out, (len(out) - 6, struct.pack("<I", at + len(between))))


def local_file(name, body):
    """Inserts a local header and its file, which the central directory does not list."""
    import zlib
    return struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 0, 0, 0x5021, zlib.crc32(body), len(body), len(body),
                       len(name), 0) + name.encode() + body


def with_folders():
    """Adds entries for directories, as `zip -r` writes them; RECORD does not list them."""
    files = files_of()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("x/", b"")
        z.writestr(INFO + "/", b"")
        for n, d in [*files.items(), (f"{INFO}/RECORD", record_of(files))]:
            z.writestr(n, d)
    return out.getvalue()


def good():
    yield "deflated", NAME, pack(files_of())
    yield "stored", NAME, pack(files_of(), method=zipfile.ZIP_STORED)
    yield "written as a stream", NAME, pack(files_of(), streamed=True)
    yield "zip64 fields in the local headers", NAME, pack(files_of(), zip64=True)
    yield "a stream with zip64 fields", NAME, pack(files_of(), streamed=True, zip64=True)
    yield "sha384", NAME, pack(files_of(), kind="sha384")
    yield "sha512", NAME, pack(files_of(), kind="sha512")
    yield "a comma and quotes in a name", NAME, pack(files_of({'x/a,"b".txt': b"1"}))
    yield "a name in UTF-8", NAME, pack(files_of({"x/\u00e9\u4e2d.py": b"1"}))
    yield "RECORD with CR LF", NAME, pack(files_of(), record=record_of(files_of()).replace(b"\n", b"\r\n"))
    yield "RECORD without sizes", NAME, pack(files_of(), record="".join(
        f"{n},{digest(d)},\n" for n, d in files_of().items()).encode() + f"{INFO}/RECORD,,\n".encode())
    yield "a signature beside RECORD", NAME, pack({**files_of(), f"{INFO}/RECORD.jws": b"{}"}, record=record_of(files_of()))
    yield "metadata with CR LF", NAME, pack(files_of(metadata=METADATA.replace(b"\n", b"\r\n")))
    yield "a version written otherwise", "x-1.0.0-py3-none-any.whl", pack(files_of())
    yield "compressed tags", "x-1.0-py2.py3-none-any.whl", pack(files_of(
        wheel=WHEEL.replace(b"py3-none-any", b"py2-none-any\nTag: py3-none-any")))
    yield "a build number", "x-1.0-1-py3-none-any.whl", pack(files_of(wheel=WHEEL + b"Build: 1\n"))
    yield "folders with entries of their own", NAME, with_folders()
    yield "an empty file", NAME, pack(files_of({"x/empty": b""}))
    yield "text named like a library", NAME, pack(files_of({"x/libm.so": b"INPUT(-lm)"}))


def set_mode(mode, name):
    def edit(info):
        if info.filename == name:
            info.create_system = 3
            info.external_attr = mode << 16
    return edit


def broken():
    """Yields broken wheels: the fault, the file name, the bytes, the text of the diagnostic."""
    base = pack(files_of())
    streamed = pack(files_of(), streamed=True)
    meta, init, record = f"{INFO}/METADATA", "x/__init__.py", f"{INFO}/RECORD"
    for n in (0, 1, 21, 22, len(base) // 2, len(base) - 1):
        yield f"cut to {n} bytes", NAME, base[:n], "truncated"
    yield "a byte behind the end", NAME, base + b"\0", "truncated"
    yield "a comment", NAME, patched(base, (len(base) - 2, b"\1\0")) + b"c", "truncated"
    yield "bytes before the first file", NAME, b"#!/bin/sh\n" + base, "is not at the recorded offset"
    yield "bytes before the directory", NAME, hidden(base, b"12345678"), "unknown bytes follow"
    yield "a file that no directory names", NAME, hidden(base, local_file("x/evil.py", b"evil()")), "unknown bytes follow"
    yield "bytes behind a descriptor", NAME, hidden(streamed, b"123"), "unknown bytes follow"
    yield "a local name that differs", NAME, local_edit(base, init, 30, b"y"), "differ in the name"
    yield "a local name that is shorter", NAME, local_edit(base, init, 26, b"\x05\0"), "differ in the name"
    yield "a local method that differs", NAME, local_edit(base, init, 8, b"\0\0"), "differ in the method"
    yield "a local checksum that differs", NAME, local_edit(base, init, 14, b"\1\2\3\4"), "differ in the checksum"
    yield "a local size that differs", NAME, local_edit(base, init, 22, b"\1"), "differ in the size"
    yield "a local packed size that differs", NAME, local_edit(base, init, 18, b"\1"), "differ in the size"
    yield "a local flag that differs", NAME, local_edit(base, init, 6, b"\x08"), "differ in the flags"
    yield "a local header that is none", NAME, local_edit(base, init, 0, b"QK"), "is not at the offset"
    yield "encrypted", NAME, both_edit(base, init, 6, 8, b"\1"), "is encrypted"
    yield "another method", NAME, both_edit(base, init, 8, 10, b"\x0e"), "compressed with method 14"
    yield "a zip of the future", NAME, both_edit(base, init, 4, 6, b"\x60"), "a reader for zip 9.6"
    yield "a checksum that is wrong in both", NAME, both_edit(base, init, 14, 16, b"\1\2\3\4"), "cannot be unpacked"
    yield "an unpacked size that is too large in both", NAME, both_edit(base, init, 22, 24, b"\x0b"), "size"
    yield "an unpacked size that is too small in both", NAME, both_edit(base, init, 22, 24, b"\x09"), "size"
    yield "a size of gigabytes", NAME, both_edit(base, init, 22, 24, b"\0\0\0\x7f"), "cannot have the size"
    yield "an offset outside", NAME, central_edit(base, init, 42, b"\0\0\0\x7f"), "unknown bytes precede"
    yield "two entries in one place", NAME, central_edit(
        base, "x/data.bin", 42, struct.pack("<I", central(base)[0][1])), "is not at the offset"
    yield "fewer entries than the directory", NAME, patched(base, (len(base) - 14, b"\1\0\1\0")), "more entries than it declares"
    yield "more entries than the directory", NAME, patched(base, (len(base) - 14, b"\x70\0\x70\0")), "directory is broken"
    yield "a part of several", NAME, patched(base, (len(base) - 18, b"\1\0")), "one part of a multi-part"
    yield "a directory elsewhere", NAME, patched(base, (len(base) - 6, b"\0\0\0\0")), "is not at the recorded offset"
    yield "a name twice", NAME, twice("x/a.py", b"first", b"second"), "twice"
    yield "a folder that is a file", NAME, pack(files_of({"x/__init__.py/y": b"1"})), "both a directory and a file"
    for name in ("../evil.py", "/etc/evil.py", "x/../../evil.py", "./x/a.py", "x//a.py", "x\\a.py", "C:/a.py", "x/\x01.py",
                 "x/" + "n" * 256):
        yield f"the name {name[:20]!r}", NAME, pack(files_of({name: b"1"})), "not a path inside"
    yield "a symbolic link", NAME, pack(files_of(), edit=set_mode(0o120777, init)), "a link or a device"
    yield "a device", NAME, pack(files_of(), edit=set_mode(0o020644, init)), "a link or a device"
    yield "a folder by its mode", NAME, pack(files_of(), edit=set_mode(0o040755, init)), "both a directory and a file"
    yield "no .dist-info", NAME, pack({"x/a.py": b"1"}, record=b"").replace(INFO.encode(), b"x-1.0.dist-fini"), "no .dist-info"
    yield "two .dist-info", NAME, pack(files_of({"y-1.0.dist-info/METADATA": b"1"})), "two .dist-info"
    yield "no METADATA", NAME, pack({n: d for n, d in files_of().items() if n != meta}), "no x-1.0.dist-info/METADATA"
    yield "no WHEEL", NAME, pack({n: d for n, d in files_of().items() if not n.endswith("/WHEEL")}), "no x-1.0.dist-info/WHEEL"
    yield "no RECORD", NAME, pack(files_of()).replace(record.encode(), b"x-1.0.dist-info/RECXXX"), "no x-1.0.dist-info/RECORD"
    yield "a file that is not in RECORD", NAME, without_row(init), "not in RECORD"
    yield "METADATA that is not in RECORD", NAME, without_row(meta), "not in RECORD"
    yield "a file of RECORD that is missing", NAME, pack(files_of(), record=record_of(files_of({"x/b.py": b"1"}))), "not in the wheel"
    for kind in ("md5", "sha1", "sha224"):
        yield f"a digest by {kind}", NAME, pack(files_of(), kind=kind), "weaker than SHA-256"
    rows = record_of(files_of())
    for kind in ("sha256", "sha384", "sha512"):
        yield f"a file with another {kind}", NAME, pack(
            files_of({"x/c.py": b"1"}), record=record_of(files_of({"x/c.py": b"2"}), kind)), "differs from the RECORD"
    yield "a size that is wrong", NAME, pack(files_of(), record=rows.replace(b",10\n", b",11\n", 1)), "the RECORD lists 11"
    yield "a size that is no number", NAME, pack(files_of(), record=rows.replace(b",10\n", b",1e1\n", 1)), "not a number"
    yield "a size without end", NAME, pack(files_of(), record=rows.replace(b",10\n", b"," + b"9" * 40 + b"\n", 1)), "impossible size"
    yield "a row of two fields", NAME, pack(files_of(), record=rows + b"x/z.py,sha256=1\n"), "does not have the form path"
    yield "a row of four fields", NAME, pack(files_of(), record=rows.replace(b",10\n", b",10,\n", 1)), "does not have the form path"
    yield "a quote without end", NAME, pack(files_of(), record=rows + b'"x'), "a quote without end"
    yield "a path twice in RECORD", NAME, pack(files_of(), record=rows + b"x/__init__.py,sha256=AAAA,10\n"), "lists a file twice"
    yield "no digest", NAME, pack(files_of(), record=rows.replace(digest(b"value = 1\n").encode(), b"")), "has no digest"
    yield "padding in a digest", NAME, pack(files_of(), record=rows.replace(b",10\n", b"=,10\n", 1).replace(b"=,10", b"=,10")), "differs from the RECORD"
    yield "a NUL in METADATA", NAME, pack(files_of(metadata=METADATA + b"\0")), "contains a NUL"
    yield "another name", "y-1.0-py3-none-any.whl", base, "different names or versions"
    yield "another version", "x-1.1-py3-none-any.whl", base, "different names or versions"
    yield "a local version in the file name alone", "x-1.0+cu121-py3-none-any.whl", base, "has version `1.0`, its file name has `1.0+cu121`"
    yield "another name in METADATA", NAME, pack(files_of(metadata=METADATA.replace(b"Name: x", b"Name: y"))), "metadata has the name `y`"
    yield "another version in METADATA", NAME, pack(files_of(metadata=METADATA.replace(b"1.0\n", b"1.1\n"))), "version `1.1`"
    yield "no name in METADATA", NAME, pack(files_of(metadata=METADATA.replace(b"Name: x\n", b""))), "no `Name`"
    yield "two versions in METADATA", NAME, pack(files_of(metadata=b"Version: 1.0\n" + METADATA)), "more than one"
    yield "a format of the future", NAME, pack(files_of(wheel=WHEEL.replace(b"Wheel-Version: 1.0", b"Wheel-Version: 2.0"))), "its format is `2.0`"
    yield "no format", NAME, pack(files_of(wheel=WHEEL.replace(b"Wheel-Version: 1.0\n", b""))), "no `Wheel-Version`"
    yield "another tag", "x-1.0-py2-none-any.whl", base, "has the tag `py3-none-any`"
    yield "a platform that WHEEL does not name", "x-1.0-py3-none-linux_x86_64.whl", base, "has the tag `py3-none-any`"
    yield "a tag too many", "x-1.0-py2.py3-none-any.whl", base, "file name has the tag `py2-none-any`"
    yield "no tag", NAME, pack(files_of(wheel=WHEEL.replace(b"Tag: py3-none-any\n", b""))), "file name has the tag"
    yield "more tags than there are", NAME, pack(files_of(
        wheel=WHEEL + b"Tag: " + b"a." * 99 + b"a-" + b"b." * 99 + b"b-c\n")), "too many tags"
    yield "another build number", "x-1.0-2-py3-none-any.whl", pack(files_of(wheel=WHEEL + b"Build: 1\n")), "build number"
    yield "no file name of a wheel", "x.whl", base, "its file name"
    yield "a library that is cut short", NAME, pack(files_of({"x/y.so": b"\x7fELF\2\1\1" + b"\0" * 30})), "cannot be read"
