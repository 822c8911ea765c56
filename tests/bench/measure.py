"""Measures processes for benches: alternately, as medians, with the memory from the kernel.

    name|ours|peer|ratio|goal|verdict      one line per figure; table() aligns them
"""

import os
import statistics
import time

NULL = os.open(os.devnull, os.O_RDWR)


def run(argv, cwd=None, statuses=(0,)):
    """Runs one process; returns (seconds, peak resident MiB). Its output is discarded; an unexpected status raises."""
    actions = [(os.POSIX_SPAWN_DUP2, NULL, fd) for fd in (0, 1, 2)]
    if cwd:
        old = os.getcwd()
        os.chdir(cwd)
    try:
        start = time.perf_counter()
        pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions)
        _, status, used = os.wait4(pid, 0)
        spent = time.perf_counter() - start
    finally:
        if cwd:
            os.chdir(old)
    if os.waitstatus_to_exitcode(status) not in statuses:
        raise RuntimeError(f"{' '.join(argv)}: status {os.waitstatus_to_exitcode(status)}")
    return spent, used.ru_maxrss / 1024


def alternate(rounds, *jobs):
    """Returns medians in seconds of jobs that run alternately, so that other load affects all of them.

    A job is a function without arguments that returns seconds.
    """
    spent = [[] for _ in jobs]
    for job in jobs:
        job()
    for _ in range(rounds):
        for job, times in zip(jobs, spent):
            times.append(job())
    return [statistics.median(t) for t in spent]


HEAD = ["figure", "ours", "peer", "ratio", "goal", ""]


def table(lines):
    """Formats the printed lines as a table for people."""
    rows = [HEAD] + [(r.split("|") + [""] * 6)[:6] for r in lines]
    widths = [max(len(r[i]) for r in rows) for i in range(len(HEAD))]
    for n, row in enumerate(rows):
        print("  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip())
        if n == 0:
            print("  ".join("-" * w for w in widths[:-1]))


def seconds(s):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if s * factor >= 1:
            return f"{s * factor:.3g} {unit}"
    return f"{s * 1e9:.3g} ns"


def row(name, ours, peer, ratio, goal, met):
    return f"{name}|{ours}|{peer}|{ratio}|{goal}|{'met' if met else 'MISSED' if met is False else ''}"


def line(*columns):
    print(row(*columns), flush=True)


def faster(name, ours_s, peer_s, peer_name, times):
    """Prints a line whose goal is to be at least `times` as fast as the peer."""
    ratio = peer_s / ours_s
    line(name, seconds(ours_s), f"{peer_name} {seconds(peer_s)}", f"{ratio:.1f}x", f">= {times}x", ratio >= times)
