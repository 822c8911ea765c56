"""Reads shared objects without loading them: their needs, and the libraries that provide them.

System V ABI, gABI chapters 4 and 5; DT_GNU_HASH as binutils writes it.  Little endian, 64 bits.
Whatever a file claims is checked against its size; what cannot be read is a ValueError.
"""
import mmap
import struct

PT_DYNAMIC, PT_LOAD = 2, 1
DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SONAME = 1, 4, 5, 6, 10, 14
DT_RPATH, DT_RUNPATH, DT_GNU_HASH = 15, 29, 0x6ffffef5
MACHINES = {62: "x86_64", 183: "aarch64"}
SYMBOLS_MAX = 4000000


class Elf:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f:
            try:
                self.data = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
            except (ValueError, OSError):
                raise ValueError("it is empty, or cannot be read")
        try:
            self.read()
        except (struct.error, IndexError):
            raise ValueError("it is truncated")

    def read(self):
        d = self.data
        if d[:4] != b"\x7fELF" or len(d) < 64:
            raise ValueError("it is not an ELF file")
        if d[4] != 2 or d[5] != 1:
            raise ValueError("it is not for a 64-bit little-endian machine")
        self.kind, machine = struct.unpack_from("<HH", d, 16)
        self.machine = MACHINES.get(machine, "EM_%d" % machine)
        phoff, shoff = struct.unpack_from("<QQ", d, 32)
        phentsize, phnum, shentsize, shnum, shstrndx = struct.unpack_from("<HHHHH", d, 54)
        self.sections_at = (shoff, shentsize, shnum, shstrndx)
        self.loads, dynamic = [], None
        for i in range(phnum):
            kind, _, offset, address, _, size, _, _ = struct.unpack_from(
                "<IIQQQQQQ", d, phoff + i * phentsize)
            if offset + size > len(d) and kind in (PT_LOAD, PT_DYNAMIC):
                raise ValueError("it is truncated: a segment ends after the end of the file")
            if kind == PT_LOAD:
                self.loads.append((address, offset, size))
            elif kind == PT_DYNAMIC:
                dynamic = (offset, size)
        self.tags, self.needed = {}, []
        if dynamic:
            self.read_dynamic(*dynamic)

    def read_dynamic(self, offset, size):
        needed = []
        for at in range(offset, offset + size - 15, 16):
            tag, value = struct.unpack_from("<qQ", self.data, at)
            if tag == 0:
                break
            if tag == DT_NEEDED:
                needed.append(value)
            self.tags.setdefault(tag, value)
        self.strings = self.offset(self.tags.get(DT_STRTAB, 0))
        self.symbols = self.offset(self.tags.get(DT_SYMTAB, 0))
        self.needed = [self.string(n) for n in needed]
        self.soname = self.string(self.tags[DT_SONAME]) if DT_SONAME in self.tags else None
        runpath = self.tags.get(DT_RUNPATH, self.tags.get(DT_RPATH))
        origin = os.path.dirname(os.path.realpath(self.path))
        self.runpath = [] if runpath is None else [
            p.replace("$ORIGIN", origin).replace("${ORIGIN}", origin)
            for p in self.string(runpath).split(":") if p]
        self.inherited = DT_RUNPATH not in self.tags
        self.hashed = self.offset(self.tags[DT_GNU_HASH]) if DT_GNU_HASH in self.tags else None

    def offset(self, address):
        for start, offset, size in self.loads:
            if start <= address < start + size:
                return offset + address - start
        raise ValueError("an address of its tables is in no segment")

    def string(self, at):
        start = self.strings + at
        end = self.data.find(b"\0", start, start + 65536)
        if end < 0:
            raise ValueError("a name without an end")
        return self.data[start:end].decode("utf-8", "replace")

    def symbol_count(self):
        if DT_HASH in self.tags:
            n = struct.unpack_from("<II", self.data, self.offset(self.tags[DT_HASH]))[1]
        elif self.hashed is not None:
            n = self.gnu_count()
        else:
            n = 0
        if n > SYMBOLS_MAX:
            raise ValueError("it declares %d symbols" % n)
        return n

    def gnu_count(self):
        buckets, first, bloom, _ = struct.unpack_from("<IIII", self.data, self.hashed)
        at = self.hashed + 16 + bloom * 8
        if buckets > SYMBOLS_MAX or not buckets:
            return first
        last = max(struct.unpack_from("<%dI" % buckets, self.data, at))
        if last < first:
            return first
        chain = at + buckets * 4
        while not struct.unpack_from("<I", self.data, chain + (last - first) * 4)[0] & 1:
            last += 1
        return last + 1

    def undefined(self):
        """Returns the names that other libraries must provide; weak ones are optional."""
        names = []
        for i in range(1, self.symbol_count()):
            name, info, _, section, _, _ = struct.unpack_from(
                "<IBBHQQ", self.data, self.symbols + i * 24)
            if section == 0 and info >> 4 == 1 and name:
                names.append(self.string(name))
        return names

    def defines(self, name, number):
        """Tells whether a symbol is exported; number is gnu_hash() of its name."""
        if self.hashed is None:
            if not hasattr(self, "exported"):
                self.exported = set()
                for i in range(1, self.symbol_count()):
                    at, _, _, section, _, _ = struct.unpack_from(
                        "<IBBHQQ", self.data, self.symbols + i * 24)
                    if section:
                        self.exported.add(self.string(at))
            return name in self.exported
        d, h = self.data, self.hashed
        buckets, first, bloom, shift = struct.unpack_from("<IIII", d, h)
        if not buckets or not bloom:
            return False
        word = struct.unpack_from("<Q", d, h + 16 + (number // 64) % bloom * 8)[0]
        if not word >> (number % 64) & word >> ((number >> shift) % 64) & 1:
            return False
        at = h + 16 + bloom * 8
        i = struct.unpack_from("<I", d, at + number % buckets * 4)[0]
        chain = at + buckets * 4
        while i >= first:
            have = struct.unpack_from("<I", d, chain + (i - first) * 4)[0]
            if have | 1 == number | 1:
                at_name, _, _, section, _, _ = struct.unpack_from("<IBBHQQ", d, self.symbols + i * 24)
                if section and self.string(at_name) == name:
                    return True
            if have & 1:
                return False
            i += 1
        return False

    def sections(self):
        """Yields (name, offset, size) of the sections in the file."""
        shoff, entsize, n, names = self.sections_at
        if not shoff or not n:
            return []
        rows = [struct.unpack_from("<IIQQQQ", self.data, shoff + i * entsize) for i in range(n)]
        strings = rows[names][4] if names < n else 0
        found = []
        for name, kind, _, _, offset, size in rows:
            end = self.data.find(b"\0", strings + name, strings + name + 4096)
            if end < 0 or kind == 8:
                continue
            if offset + size > len(self.data):
                raise ValueError("it is truncated: a section ends after the end of the file")
            found.append((self.data[strings + name:end].decode("utf-8", "replace"), offset, size))
        return found


def gnu_hash(name):
    h = 5381
    for c in name.encode():
        h = (h * 33 + c) & 0xffffffff
    return h


def system_libraries():
    """Returns the last places that the loader searches: its cache and its default directories."""
    folders = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
               "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
    found = {}
    try:
        with open("/etc/ld.so.cache", "rb") as f:
            cache = f.read(64 << 20)
        # glibc-ld.so.cache1.1: a header of 48 bytes, entries of 24, then strings.
        start = cache.find(b"glibc-ld.so.cache1.1")
        n = struct.unpack_from("<I", cache, start + 20)[0] if start >= 0 else 0
        for i in range(n):
            flags, key, value = struct.unpack_from("<iII", cache, start + 48 + i * 24)
            name = cache[start + key:cache.index(b"\0", start + key)].decode()
            path = cache[start + value:cache.index(b"\0", start + value)].decode()
            found.setdefault(name, []).append(path)
    except (OSError, ValueError, struct.error):
        pass
    return found, folders


class Loader:
    """Finds libraries as ld.so does, and those of torch in the directories of its wheel and NVIDIA's."""

    def __init__(self, extra):
        self.cache, self.folders = system_libraries()
        self.extra = extra
        self.read = {}

    def open(self, path):
        real = os.path.realpath(path)
        if real not in self.read:
            try:
                self.read[real] = Elf(real)
            except (OSError, ValueError):
                self.read[real] = None
        return self.read[real]

    def find(self, name, by):
        if "/" in name:
            return self.open(name)
        env = [p for p in os.environ.get("LD_LIBRARY_PATH", "").split(":") if p]
        places = [os.path.join(p, name) for p in env + by.runpath]
        places += self.cache.get(name, [])
        places += [os.path.join(p, name) for p in self.folders + self.extra]
        for path in places:
            if os.path.exists(path):
                elf = self.open(path)
                if elf and elf.machine == by.machine:
                    return elf
        return None

    def closure(self, elf):
        """Returns all libraries that are loaded with it, and those that are missing, with the library that needs each."""
        found, missing, waiting = [elf], [], [elf]
        while waiting:
            one = waiting.pop(0)
            for name in one.needed:
                other = self.find(name, one)
                if other is None:
                    missing.append((name, one))
                elif other not in found:
                    found.append(other)
                    waiting.append(other)
        return found, missing
