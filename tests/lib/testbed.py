"""ci/testbed for suites: a separate docker daemon, and a registry that replaces Docker Hub."""

import contextlib
import os
import subprocess

import registry

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(*args, env):
    return subprocess.run([os.path.join(ROOT, "ci", "testbed"), *args], env=env, capture_output=True, text=True)


@contextlib.contextmanager
def up(state, keep=False):
    """Yields the environment with DOCKER, DOCKER_HOST and the TESTBED_ variables; raises registry.Missing if it cannot run here.

    The testbed of a TESTBED_STATE in the environment is used and left as it is; else that of `state` ends with the block."""
    env = registry.search_path()
    own = "TESTBED_STATE" not in env
    if own:
        env.update(TESTBED_STATE=state, CUDA_HOME="/none")  # it needs no toolkit
    p = run("up", env=env)
    if p.returncode == 77:
        raise registry.Missing(p.stdout.strip().split("skipped: ")[-1])
    if p.returncode:
        raise RuntimeError(p.stderr)
    try:
        for line in run("env", env=env).stdout.split("\n"):
            env.update(w.split("=", 1) for w in line.split()[1:])
        yield env
    finally:
        if own and not keep:
            run("down", "--clean", env=env)
