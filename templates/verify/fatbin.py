"""GPU code in a shared object or a program: the entries of its .nv_fatbin sections.

The layout is that of fatbinary_section.h of the CUDA toolkit, and of entries as nvcc writes them:
kind (1 PTX, 2 SASS), a header's size, the payload's size, at 28 the architecture, at 40 flags.
"""
FATBIN_MAGIC = 0xba55ed50
FLAG_A, FLAG_F = 0x100000, 0x200000


def gpu_code(elf):
    """{("sm", "90"), ("compute", "90a")}; ValueError if the section is broken."""
    codes = set()
    for name, offset, size in elf.sections():
        # __nv_relfatbin is the input of a device link: no GPU runs it in a linked file.
        if name == ".nv_fatbin" or (name == "__nv_relfatbin" and elf.kind == 1):
            read_fatbins(elf.data, offset, offset + size, codes)
    return codes


def read_fatbins(data, at, end, codes):
    while at + 16 <= end:
        magic, _, header, size = struct.unpack_from("<IHHQ", data, at)
        if magic != FATBIN_MAGIC:
            # Between two of them are zeros, up to the next multiple of 8.
            if magic == 0:
                at += 4
                continue
            raise ValueError("its GPU code is damaged: a header is missing")
        if header < 16 or at + header + size > end:
            raise ValueError("its GPU code is truncated")
        read_entries(data, at + header, at + header + size, codes)
        at += header + size


def read_entries(data, at, end, codes):
    while at + 48 <= end:
        kind, _, header, size = struct.unpack_from("<HHIQ", data, at)
        if header < 48 or at + header + size > end:
            raise ValueError("its GPU code is truncated")
        arch, = struct.unpack_from("<I", data, at + 28)
        flags, = struct.unpack_from("<Q", data, at + 40)
        suffix = "a" if flags & FLAG_A else "f" if flags & FLAG_F else ""
        if kind in (1, 2):
            codes.add(("compute" if kind == 1 else "sm", "%d%s" % (arch, suffix)))
        at += header + size


def code_text(codes):
    def key(c):
        return c[0] == "compute", int(c[1].rstrip("af")), c[1]
    return " ".join("%s_%s" % c for c in sorted(codes, key=key))
