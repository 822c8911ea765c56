"""Runs a command in a mount namespace in which every access to a path below DIR blocks for ever, so that the process cannot
be killed (state D), as in a driver that hangs: `stuck.py DIR COMMAND...`. Exit status 77: this needs root and FUSE.
The file system is FUSE without answers; its requests fail when this program ends. Protocol: Linux, include/uapi/linux/fuse.h.
"""
import ctypes
import os
import struct
import subprocess
import sys
import threading

NEW_NAMESPACE, PRIVATE, RECURSIVE, NO_DEVICES_NO_SETUID = 0x20000, 1 << 18, 1 << 14, 6
UNAVAILABLE = 77


def mount(directory):
    """Returns the file of the server; OSError without root or FUSE."""
    libc = ctypes.CDLL(None, use_errno=True)
    fuse = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0".encode()
    for failed in (libc.unshare(NEW_NAMESPACE), libc.mount(b"none", b"/", None, PRIVATE | RECURSIVE, None),
                   libc.mount(b"stuck", directory.encode(), b"fuse", NO_DEVICES_NO_SETUID, options)):
        if failed:
            raise OSError(ctypes.get_errno(), "cannot mount FUSE")
    _, _, unique = struct.unpack_from("<IIQ", os.read(fuse, 1 << 17))
    answer = struct.pack("<IIIIHHIIHH32x", 7, 31, 0, 0, 1, 1, 4096, 1, 1, 0)
    os.write(fuse, struct.pack("<IiQ", 16 + len(answer), 0, unique) + answer)
    return fuse


def ignore_requests(fuse):
    while os.read(fuse, 1 << 17):
        pass


def main():
    try:
        fuse = mount(sys.argv[1])
    except OSError as e:
        print(e, file=sys.stderr)
        return UNAVAILABLE
    threading.Thread(target=ignore_requests, args=(fuse,), daemon=True).start()
    return subprocess.run(sys.argv[2:]).returncode


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # the thread waits in read()
