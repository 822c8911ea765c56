"""Run `modal run` on app files without Modal: the real client's command line, with containers in this machine's processes.

    echo '{"words": ["modal_app.py", "--config", "x"], "cwd": DIR, "container": DIR}' | python run_app.py

A line of JSON on standard input is one run.  `container` has root/ (the app file and modal_entry.py, as Modal mounts
them) and app/ (the files of app.copy).  `run_app` of the client is replaced, and spawn(...).get() and remote(...) call
the function in another process, which has only those files.  What leaves it is pickled, as Modal does.  A line of JSON
on standard output is the result:

    {"status": 3, "out": "...", "err": "...", "calls": [["spawn", "main", ["--config", "x"]]]}

Both processes are forked from one that has loaded the client.
"""

import contextlib
import importlib
import json
import os
import pickle
import sys
import tempfile
import traceback

for name in [k for k in os.environ if k.startswith("MODAL_")]:
    del os.environ[name]
os.environ.update(MODAL_CONFIG_PATH="/nonexistent/modal.toml", MODAL_TOKEN_ID="ak-none", MODAL_TOKEN_SECRET="as-none", COLUMNS="200")
sys.dont_write_bytecode = True

import modal.__main__  # noqa: E402
import modal.cli.run  # noqa: E402
from modal._runtime.execution_context import _TaskLifecycleManager  # noqa: E402


class Container:
    """A process that calls one function of the app file, as Modal's container does."""

    def __init__(self, folder, module):
        (self.there, answer), (request, self.here) = os.pipe(), os.pipe()
        if not os.fork():
            os.close(self.here)
            self.serve(folder, module, request, answer)
            os._exit(0)
        os.close(answer)
        os.close(request)

    def serve(self, folder, module, request, answer):
        with os.fdopen(request, "rb") as file:
            asked = file.read()
        if not asked:
            return
        name, args = pickle.loads(asked)
        os.chdir("/")
        sys.path.insert(0, os.path.join(folder, "root"))
        _TaskLifecycleManager._singleton = object()
        try:
            app = importlib.import_module(module)
            if name == "smoke":  # needs the image
                print("the smoke test runs")
                result = (True, None)
            else:
                importlib.import_module("modal_entry").APP = os.path.join(folder, "app")
                result = (True, getattr(app, name).local(*args))
        except BaseException as error:  # Modal reports each of them
            traceback.print_exc()
            result = (False, error)
        sys.stdout.flush()
        sys.stderr.flush()
        with os.fdopen(answer, "wb") as file:
            pickle.dump(result, file)

    def call(self, name, args):
        with os.fdopen(self.here, "wb") as file:
            pickle.dump((name, args), file)
        with os.fdopen(self.there, "rb") as file:
            good, result = pickle.load(file)
        if good:
            return result
        if isinstance(result, SystemExit):
            raise RuntimeError("SystemExit left the container: it would end the client's event loop")
        raise result


class Call:
    def __init__(self, get):
        self.get = get


def run(asked):
    """What `modal run` does, in a process of its own: its status, and the calls of functions."""
    module = os.path.basename(asked["words"][0].partition("::")[0]).removesuffix(".py")
    calls, container = [], Container(asked["container"], module)

    def call(how, function, args):
        source = getattr(function, "_source_info_", None) or function.info
        calls.append([how, source.raw_f.__name__, list(args)])
        return container.call(source.raw_f.__name__, args)

    modal.Function.spawn = lambda self, *args: Call(lambda: call("spawn", self, args))
    modal.Function.remote = lambda self, *args: call("remote", self, args)
    modal.cli.run.run_app = lambda *args, **options: contextlib.nullcontext()
    os.chdir(asked["cwd"])
    sys.argv = ["modal", "run", *asked.get("options", []), *asked["words"]]
    status = 0
    try:
        modal.__main__.main()
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
        status = 70
    sys.stdout.flush()
    sys.stderr.flush()
    return {"status": status, "calls": calls}


def main():
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err, tempfile.TemporaryFile("w+") as seen:
            child = os.fork()
            if not child:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                json.dump(run(json.loads(line)), seen)
                seen.flush()
                os._exit(0)
            os.waitpid(child, 0)
            for file in (out, err, seen):
                file.seek(0)
            result = json.loads(seen.read() or '{"status": 71, "calls": []}')
            print(json.dumps({**result, "out": out.read(), "err": err.read()}), flush=True)


if __name__ == "__main__":
    main()
