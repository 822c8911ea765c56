"""The package index: pages (PEP 691), and METADATA of one wheel of a release (PEP 658, or range requests)."""
import io
import json
import os
import struct
import tarfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import InvalidVersion

TIMEOUT_S = 90
WHOLE_MAX = 1 << 20  # smaller wheels are read whole, in one request
TAIL = 400_000       # bytes at the end of a larger wheel that usually have its directory and METADATA
SDIST_MAX = 8 << 20


class Unreadable(Exception):
    """A release whose METADATA cannot be read; the text has the reason."""


def file_version(name):
    """Returns the version in a file name of the index, or None."""
    try:
        return parse_wheel_filename(name)[1] if name.endswith(".whl") else parse_sdist_filename(name)[1]
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None


def wheel_rank(name):
    """Returns the rank of a wheel as the sample of its release: first those for Linux on x86_64."""
    platforms = {t.platform for t in parse_wheel_filename(name)[3]}
    if any(p.endswith("linux_x86_64") or "manylinux" in p and p.endswith("x86_64") for p in platforms):
        return 0
    return 1 if "any" in platforms else 2


class Unreachable(Unreadable):
    """A request that failed: the answer may be another one later."""


class Index:
    def __init__(self, url, cache, max_requests):
        self.url, self.cache, self.max_requests, self.requests = url, cache, max_requests, 0
        os.makedirs(cache, exist_ok=True)

    def get(self, url, headers=None):
        if self.requests >= self.max_requests:
            raise Unreachable(f"the limit of {self.max_requests} requests is reached")
        self.requests += 1
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=TIMEOUT_S) as r:
                return r.status, r.read()
        except (urllib.error.URLError, OSError) as e:
            raise Unreachable(str(e)) from e

    def cached(self, key, make, fresh=False):
        path = os.path.join(self.cache, key + ".json")
        if os.path.exists(path) and not fresh:
            with open(path, encoding="utf-8") as f:
                return json.load(f)
        value = make()
        with open(path + ".new", "w", encoding="utf-8") as f:
            json.dump(value, f)
        os.replace(path + ".new", path)
        return value

    def page(self, name, fresh=False):
        """Returns the page of a package; fresh: not that of the cache."""
        def make():
            url = f"{self.url()}/{name}/"
            page = json.loads(self.get(url, {"Accept": "application/vnd.pypi.simple.v1+json"})[1])
            for f in page["files"]:
                f["url"] = urllib.parse.urljoin(url, f["url"])
            return page
        return self.cached(name + ".page", make, fresh)

    def files(self, name, version):
        """Returns the files of a release; empty if the page does not list it."""
        return [f for f in self.page(name)["files"] if file_version(f["filename"]) == version]

    def metadata(self, name, version):
        """Returns METADATA of a release as text."""
        return self.cached(f"{name}-{version}.meta", lambda: self.read_metadata(name, version))

    def read_metadata(self, name, version):
        files = self.files(name, version)
        wheels = [f for f in files if f["filename"].endswith(".whl")]
        if wheels:
            best = min(wheels, key=lambda f: (bool(f["yanked"]), wheel_rank(f["filename"]), f["size"], f["filename"]))
            if best.get("core-metadata"):
                return self.get(best["url"] + ".metadata")[1].decode()
            return self.from_wheel(best["url"], best["size"])
        if not files:
            raise Unreadable("the index page does not list it")
        if files[0]["size"] > SDIST_MAX:
            raise Unreadable("its source distribution is too large")
        return from_sdist(self.get(files[0]["url"])[1])

    def part(self, url, first, last):
        status, data = self.get(url, {"Range": f"bytes={first}-{last}"})
        if status != 206 or len(data) != last - first + 1:
            raise Unreadable("the server does not answer range requests")
        return data

    def from_wheel(self, url, size):
        if size <= WHOLE_MAX:
            with zipfile.ZipFile(io.BytesIO(self.get(url)[1])) as z:
                return z.read(next(n for n in z.namelist() if is_metadata(n))).decode()
        start = size - min(size, TAIL)
        data = self.part(url, start, size - 1)
        end = data.rfind(b"PK\5\6")
        directory, = struct.unpack("<I", data[end + 16:end + 20])
        if end < 0 or directory == 0xffffffff:
            raise Unreadable("the wheel has no plain ZIP directory")
        if directory < start:
            start = directory
            data = self.part(url, start, size - 1)
        for name, method, packed, local in members(data, directory - start):
            if is_metadata(name):
                length = 30 + len(name) + 1024 + packed
                found = data[local - start:] if local >= start else self.part(url, local, min(local + length, size) - 1)
                return unpack(found, method, packed)
        raise Unreadable("the wheel has no METADATA")


def is_metadata(path):
    return path.endswith(".dist-info/METADATA") and path.count("/") == 1


def members(data, at):
    """Yields (name, method, packed size, offset of the local header) of each entry of a ZIP directory."""
    while data[at:at + 4] == b"PK\1\2":
        method, = struct.unpack("<H", data[at + 10:at + 12])
        packed, _, name, extra, comment = struct.unpack("<IIHHH", data[at + 20:at + 34])
        local, = struct.unpack("<I", data[at + 42:at + 46])
        yield data[at + 46:at + 46 + name].decode("utf-8", "replace"), method, packed, local
        at += 46 + name + extra + comment


def unpack(data, method, packed):
    name, extra = struct.unpack("<HH", data[26:30])
    body = data[30 + name + extra:30 + name + extra + packed]
    return (zlib.decompress(body, -15) if method == zipfile.ZIP_DEFLATED else body).decode()


def from_sdist(data):
    """Returns PKG-INFO of a source distribution; requirements that only setup.py knows are an error."""
    def is_info(path):
        return path.endswith("/PKG-INFO") and path.count("/") == 1
    try:
        if data[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(data)) as z:
                text = z.read(next(n for n in z.namelist() if is_info(n))).decode()
        else:
            with tarfile.open(fileobj=io.BytesIO(data)) as t:
                text = t.extractfile(next(n for n in t.getnames() if is_info(n))).read().decode()
    except (StopIteration, tarfile.TarError, zipfile.BadZipFile) as e:
        raise Unreadable("its source distribution has no PKG-INFO") from e
    return text
