{{! What `stackbuild render -t modal` writes: an app file that `modal deploy` takes; with `-t modal-image`,
    a module that has only the image.  The names that
    may be used are listed in src/render/modal.c and modal_layers.c. }}
{{#contents}}
# {{.|comment}}
{{/contents}}
#
{{#generated}}
# {{.|comment}}
{{/generated}}
#
{{#usage}}
#   {{.|comment}}
{{/usage}}
#
# Before the first run:
{{#checklist}}
#   [ ] {{.|comment}}
{{/checklist}}
#
{{#notes}}
# {{.|comment}}
{{/notes}}
{{#loads}}
import functools
{{/loads}}
import os
{{#program}}
import sys
{{/program}}
from pathlib import Path

# The image builder decides the first layers and is part of every cache key.
os.environ["MODAL_IMAGE_BUILDER_VERSION"] = {{builder|python}}

import modal  # noqa: E402
{{#app}}

app = modal.App({{app|python}})
{{/app}}
{{#helpers}}

# Only the host that builds the image has these files; a container has this file only.
{{#cell}}
HELPERS = Path(__file__).parent.parent / "stackbuild"
{{/cell}}
{{^cell}}
HELPERS = Path(__file__).parent / "stackbuild"
{{/cell}}
{{#program}}
sys.path.append(str(HELPERS))  # modal_entry.py, which a container has next to this file
{{/program}}
{{/helpers}}
{{#constrained}}
{{^locked}}
# pip keeps the versions in constraints.txt, leaves no cache in the layer, never prompts, and resumes broken downloads.
CONSTRAINED = "-c /opt/stackbuild/constraints.txt --no-cache-dir"
{{/locked}}
{{#locked}}
# pip never asks, and resumes broken downloads.
{{/locked}}
PIP = {"PIP_NO_INPUT": "1", "PIP_RETRIES": "8", "PIP_RESUME_RETRIES": "8"}
{{/constrained}}
{{#compiler}}
# The Python of add_python was built with clang and would compile with clang++.
COMPILER = dict({{compiler|code}}, **PIP)
{{/compiler}}
{{#heavy}}


def compile_extension(requirement, options, netrc=None):
    """Compile in a function: only a function can request processors and memory."""
    import os
    import subprocess

    if netrc:
        os.environ["NETRC"] = "/tmp/netrc"
        with open(os.open("/tmp/netrc", os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(os.environ[netrc] + "\n")
    try:
        subprocess.run(["python", "-m", "pip", "install", requirement, *options.split()], check=True)
    finally:
        if netrc:
            os.remove("/tmp/netrc")
{{/heavy}}

image = (
{{#layers}}
{{#comments}}
    # {{.|comment}}
{{/comments}}
    {{code|code}}
{{/layers}}
)
{{#sources}}
{{#first}}


SOURCES = [
{{/first}}
    {{.|python}},
{{#last}}
]


def app_directory():
    """The recipe's directory: the current one, or one above this file, that has all of SOURCES."""
    tried = [Path(os.environ.get("STACKBUILD_CONTEXT") or os.getcwd()), *Path(__file__).resolve().parents[:4]]
    for directory in tried:
        if all((directory / source).exists() for source in SOURCES):
            return directory
    if modal.is_local():
        raise SystemExit(
            "the recipe's directory, which has " + ", ".join(SOURCES)
            + ", was not found: run this command there, or set STACKBUILD_CONTEXT to it"
        )
    return tried[0]


def add_app(image, source, copy=False):
    path = app_directory() / source
    add = image.add_local_dir if path.is_dir() else image.add_local_file
    return add(path, os.path.normpath("/app/" + source), copy=copy)
{{#own_code}}


def add_code(image, source, target):
    """Copy your own code, without build results and the files that git or .dockerignore ignores."""
    import re
    import shutil
    import subprocess

    path, top, listed = app_directory() / source, app_directory(), None
    top = path if source.startswith("..") else top  # beside the recipe's directory
    patterns = top / ".dockerignore"
    matches = modal.FilePatternMatcher.from_file(patterns) if patterns.is_file() else lambda file: False
    if modal.is_local() and shutil.which("git"):
        git = subprocess.run(["git", "-C", path, "ls-files", "-coz", "--exclude-standard"], capture_output=True)
        listed = None if git.returncode else os.fsdecode(git.stdout).split("\0")

    def ignore(file):
        return (
            bool(re.search(r"(^|/)(\.git|__pycache__|build/((lib|temp|bdist)(\..*)?))(/|$)", file.as_posix()))
            or (listed is not None and file.as_posix() not in listed)
            or matches(file if top == path else Path(source) / file)
        )

    return image.add_local_dir(path, target, copy=True, ignore=ignore)
{{/own_code}}


{{/last}}
{{/sources}}
{{#app_layers}}
{{#comments}}
# {{.|comment}}
{{/comments}}
{{code|code}}
{{/app_layers}}
{{^app}}

# A container imports this module, too. No build step can follow: change the recipe instead.
image = image.add_local_python_source(__name__.partition(".")[0])
{{/app}}
{{#app}}


{{#args}}
ARGS = {{args|code}}  # if `modal run` has none


{{/args}}
{{smoke|code}}
def smoke():
    """Test the image on Modal: {{#nvcc}}the smoke kernel's numbers, {{/nvcc}}installed versions, imports."""
    import subprocess

{{#nvcc}}
    {{nvcc|code}}
    subprocess.run(["/opt/stackbuild/smoke"], check=True)
{{/nvcc}}
{{#torch_alone}}
    import torch

    ones = torch.ones(1024, 1024, device="cuda")
    if (ones @ ones).sum().item() != 1024.0**3:
        raise SystemExit("the GPU computed a wrong matrix product")
{{/torch_alone}}
    {{probe|code}}
{{#functions}}


{{decorator|code}}
{{#entry}}
def {{name|plain}}(*args: str):
    """Run the recipe's entry point in /app, with the arguments as sys.argv."""
{{/entry}}
{{#command}}
def {{name|plain}}(*args: str):
    """Run the recipe's command in /app, with the arguments after it."""
{{/command}}
{{#any}}
def {{name|plain}}(*args: str):
    """Run the command in the arguments in the image: modal run {{file|plain}} python -c "import torch"."""
{{/any}}
    import modal_entry
    {{call|code}}
{{/functions}}
{{#program}}


@app.local_entrypoint()
def launch(*args: str):
    """Check the arguments here and run the program in a container; --detach keeps it without this computer."""
    import modal_entry
    {{launch|code}}
{{/program}}
{{#loads}}


@functools.cache
def load_object(path, name):
    """Import a file of /app once, and return its object of that name."""
    import importlib.util
    import sys

    path = os.path.join("/app", path)
    sys.path[:0] = [os.path.dirname(path), "/app"]
    os.chdir("/app")
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(path))[0], path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)
{{/loads}}
{{#web}}
{{#endpoint}}


def signature_of(path, name):
    """In a container, give a function the signature of the recipe's: FastAPI reads a request's parameters from it."""
    import inspect

    def decorate(function):
        if not modal.is_local():
            function.__signature__ = inspect.signature(load_object(path, name), eval_str=True)
        return function

    return decorate
{{/endpoint}}


{{decorator|code}}
{{#concurrent}}
{{concurrent|code}}
{{/concurrent}}
{{#interface}}
{{interface|code}}
{{/interface}}
{{#application}}
def web():
    """Serve the recipe's application: an object, or a function without parameters that returns it."""
    import inspect

    found = load_object({{file|python}}, {{object|python}})
    return found() if inspect.isfunction(found) and not inspect.signature(found).parameters else found
{{/application}}
{{#starts}}
def web():
    """Call the recipe's function, which starts a server and returns."""
    load_object({{file|python}}, {{object|python}})()
{{/starts}}
{{#endpoint}}
@signature_of({{file|python}}, {{object|python}})
async def web(*args, **kwargs):
    """Call the recipe's function for each request."""
    import asyncio
    import inspect

    function = load_object({{file|python}}, {{object|python}})
    if inspect.iscoroutinefunction(function):
        return await function(*args, **kwargs)
    return await asyncio.to_thread(function, *args, **kwargs)
{{/endpoint}}
{{#server}}
class Server:
    """Modal sends requests to the port; the recipe's function starts a server there and returns."""

    @modal.enter()
    def start(self):
        load_object({{file|python}}, {{object|python}})()
{{/server}}
{{/web}}
{{#class}}


{{decorator|code}}
{{#concurrent}}
{{concurrent|code}}
{{/concurrent}}
class {{object|plain}}:
    """The recipe's class: a container makes one object, and calls its methods."""

    @modal.enter()
    def _enter(self):
        import asyncio
        import threading

        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._object = load_object({{file|python}}, {{object|python}})()
{{#load}}
        self._finish(self._object.{{load|plain}}())
{{/load}}

    def _finish(self, result):
        """Wait for an async method: all of a container run in one event loop."""
        import asyncio
        import inspect

        return asyncio.run_coroutine_threadsafe(result, self._loop).result() if inspect.iscoroutine(result) else result
{{#methods}}

    @modal.method()
    def {{name|plain}}(self, *args, **kwargs):
        return self._finish(self._object.{{name|plain}}(*args, **kwargs))
{{/methods}}
{{/class}}
{{/app}}
