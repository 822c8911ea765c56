{{! What `stackbuild render -t modal` writes: an app file that `modal deploy` takes.  The names
    that can be used are listed in src/render/modal.c, modal_layers.c and modal_function.c. }}
# {{name|comment}}
{{#contents}}
#   {{.|comment}}
{{/contents}}
#
#   modal run {{file|comment}}::smoke
#       builds the image and proves it{{#gpu}} on {{gpu|comment}}{{/gpu}}
{{#functions}}
#   modal run --detach {{file|comment}}::{{name|comment}}
#       {{what|comment}}; options of modal stand before the file
{{/functions}}
#   modal deploy {{file|comment}}
#       keeps the app, so that its functions can be called by name
#
# Before the first run:
{{#checklist}}
#   [{{#held}}x{{/held}}{{^held}} {{/held}}] {{text|comment}}
{{/checklist}}
#
{{#costs}}
# {{.|comment}}
{{/costs}}
#
# Made by stackbuild: change the recipe, not this file.
# Recipe {{digest|comment}}
import os
import shlex

# It decides the first layers, the Python and every cache key; modal reads it from here.
os.environ["MODAL_IMAGE_BUILDER_VERSION"] = {{builder|python}}

import modal  # noqa: E402

app = modal.App({{app|python}})
{{#compiler}}

# The Python of add_python was compiled with clang and asks for clang++ when it compiles.
COMPILER = {{compiler|code}}
{{/compiler}}


def write(path, text, mode="644"):
    """The commands that write a file: its text is part of the layer, so an edit rebuilds it."""
    lines = [shlex.quote(line) for line in text.splitlines()]
    # A builder might take << for the start of a here-document.
    lines = [line.replace("<<", "<''<").replace("<<", "<''<") for line in lines]
    commands = [f"mkdir -p {os.path.dirname(path)} && : > {path}"]
    for i in range(0, len(lines), 400):
        commands.append(f"printf '%s\\n' {' '.join(lines[i:i + 400])} >> {path}")
    if mode != "644":
        commands.append(f"chmod {mode} {path}")
    return commands
{{#heavy}}


def compile_extension(words, variables, netrc=None):
    """A build function: the one kind of layer that can ask for processors and memory.

    Its layer is built again when its arguments or the text of this function change."""
    import os
    import subprocess

    variables = {**os.environ, **variables}
    if netrc:
        variables["NETRC"] = "/tmp/netrc"
        with open(os.open("/tmp/netrc", os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(os.environ[netrc] + "\n")
    try:
        subprocess.run(words, env=variables, check=True)
    finally:
        if netrc:
            os.remove("/tmp/netrc")
{{/heavy}}
{{#local}}


def recipe_folder():
    """Where the files of the app are: the folder you are in, or one that this file lies below."""
    sources = [
{{#sources}}
        {{.|python}},
{{/sources}}
    ]
    folders = [os.environ.get("STACKBUILD_CONTEXT") or os.getcwd()]
    above = os.path.abspath(__file__)
    for _ in range(4):
        above = os.path.dirname(above)
        folders.append(above)
    for folder in folders:
        if all(os.path.exists(os.path.join(folder, source)) for source in sources):
            return folder
    if modal.is_local():
        raise SystemExit(
            "this is not the folder of the recipe, which has " + ", ".join(sources)
            + ": cd there, or set STACKBUILD_CONTEXT to it"
        )
    return folders[0]


CONTEXT = recipe_folder()


def add_local(image, source, copy=False):
    path = os.path.normpath(os.path.join(CONTEXT, source))
    add = image.add_local_dir if os.path.isdir(path) else image.add_local_file
    return add(path, os.path.normpath("/app/" + source), copy=copy)
{{/local}}


# ---- the image: one layer a call, in this order
{{#layers}}

# {{title|comment}}
{{#why}}
#   {{.|comment}}
{{/why}}
{{code|code}}{{/layers}}

# ---- what runs in it
@app.function(
{{smoke_options|code}})
def smoke():
    """What was built, proved where it is to run: the kernel's numbers, then every import."""
    import subprocess

{{#nvcc}}
    subprocess.run({{nvcc|code}}, check=True)
    subprocess.run(["/tmp/smoke"], check=True)
{{/nvcc}}
{{#torch_alone}}
    import torch

    ones = torch.ones(1024, 1024, device="cuda")
    if (ones @ ones).sum().item() != 1024.0**3:
        raise SystemExit("the GPU multiplies wrongly")
{{/torch_alone}}
    subprocess.run(["python", "/opt/stackbuild/probe.py", "/opt/stackbuild/plan.json"], check=True)
{{#functions}}


# {{what|comment}}
@app.function(
{{options|code}})
{{#module}}
def {{name|plain}}(*args: str):
    """The words after its name on the command line arrive as they are."""
    import importlib.util
    import sys

    path = os.path.join("/app", {{module|python}})
    sys.path[:0] = [os.path.dirname(path), "/app"]
    os.chdir("/app")
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return getattr(module, {{function|python}})(*args)
{{/module}}
{{#command}}
def {{name|plain}}():
    import subprocess

    subprocess.run({{command|code}}, cwd="/app", check=True)
{{/command}}
{{/functions}}
