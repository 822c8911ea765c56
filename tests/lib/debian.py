"""Makes a small Debian with Python in a directory, for chroot, once: by debootstrap, from the archive of this machine's apt."""

import os
import shutil
import subprocess


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")


def archive():
    p = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages")
    return next((u for u in p.stdout.split() if u.rstrip("/").endswith("/debian")), None)


def make(folder, suite):
    """Makes FOLDER/SUITE; returns the root directory and None, or None and the reason why there is none."""
    root = os.path.join(folder, suite)
    if os.path.exists(root + ".ok"):
        return root, None
    if os.getuid() or not shutil.which("debootstrap") or not archive():
        return None, "needs root, debootstrap and an archive of Debian"
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(folder, exist_ok=True)
    p = run("debootstrap", "--variant=minbase", "--include=python3,python3-venv", suite, root, archive())
    if p.returncode:
        return None, "debootstrap failed: " + p.stdout.strip().split("\n")[-1]
    open(root + ".ok", "w", encoding="utf-8").close()
    return root, None
