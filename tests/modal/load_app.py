"""Give app files to the real `modal deploy` and print what it would send, a line of JSON each.

    python load_app.py modal_app.py other/modal_app.py

Runs under any Python that has the modal client.  The client talks to a server of ours on
127.0.0.1 that says yes to everything and keeps what it was asked; no account, no token,
no network.  A line:

    {"client": "1.6.4", "status": 0, "output": "...", "warnings": ["..."], "app": "name",
     "layers": [{"commands": ["FROM base", "RUN ..."], "env": {...}, "secrets": [...],
                 "gpu": "", "function": {...}}],        of the one image, first layer first
     "functions": {"smoke": {"gpu": [...], "timeout_s": 900, ...}},
     "sent": {"smoke": {...}}}      the whole message of each function, with the names of proxies and secrets

Each file has a process of its own, forked from one that has loaded the client.
"""

import argparse
import asyncio
import json
import os
import pathlib
import sys
import tempfile
import threading
import warnings

for name in [k for k in os.environ if k.startswith("MODAL_")]:
    del os.environ[name]
os.environ.update(
    MODAL_CONFIG_PATH="/nonexistent/modal.toml",
    MODAL_TOKEN_ID="ak-none",
    MODAL_TOKEN_SECRET="as-none",
    MODAL_DISABLE_API_PROXY="1",
    MODAL_BUILD_VALIDATION="ignore",  # the file was written a moment ago
    COLUMNS="200",
)
sys.dont_write_bytecode = True

import google.protobuf.json_format  # noqa: E402
import grpclib.const  # noqa: E402
import grpclib.server  # noqa: E402
import modal.__main__  # noqa: E402
from modal_proto import api_grpc, api_pb2  # noqa: E402


class Server:
    """Answers every call with an empty reply of its type, and those below with more."""

    def __init__(self, builder):
        self.builder = builder
        self.images, self.functions, self.secrets, self.volumes, self.mounts = {}, {}, {}, {}, {}
        self.proxies, self.classes = {}, {}
        self.app = None

    def __mapping__(self):
        names = api_grpc.ModalClientBase.__abstractmethods__
        stub = type("Stub", (api_grpc.ModalClientBase,), {name: None for name in names})()
        return {path: self.handler(path.rpartition("/")[2], h) for path, h in stub.__mapping__().items()}

    def handler(self, name, known):
        async def answer(stream):
            request = await stream.recv_message()
            reply = known.reply_type()
            fill = getattr(self, name, None)
            if fill:
                fill(request, reply)
            await stream.send_message(reply)

        return grpclib.const.Handler(answer, known.cardinality, known.request_type, known.reply_type)

    # The same thing asked for twice gets the same id, as from the real server.
    @staticmethod
    def keep(things, prefix, thing):
        for key, other in things.items():
            if other == thing:
                return key
        key = f"{prefix}-{len(things) + 1}"
        things[key] = thing
        return key

    def EnvironmentGetOrCreate(self, request, reply):
        reply.environment_id = "en-1"
        reply.metadata.name = "main"
        reply.metadata.settings.image_builder_version = self.builder

    def AppCreate(self, request, reply):
        reply.app_id = "ap-1"

    def AppGetOrCreate(self, request, reply):
        reply.app_id = "ap-1"

    def AppPublish(self, request, reply):
        self.app = request.name
        reply.url = "offline"

    def MountPutFile(self, request, reply):
        reply.exists = True

    def MountGetOrCreate(self, request, reply):
        files = {f.filename: {"sha256": f.sha256_hex, "mode": f"{f.mode & 0o777:o}"} for f in request.files}
        reply.mount_id = self.keep(self.mounts, "mo", {"name": request.deployment_name, "files": files})

    def SecretGetOrCreate(self, request, reply):
        secret = {"name": request.deployment_name, "keys": list(request.required_keys), "env": dict(request.env_dict)}
        reply.secret_id = self.keep(self.secrets, "st", secret)

    def ProxyGet(self, request, reply):
        reply.proxy.proxy_id = self.keep(self.proxies, "pr", request.name)

    def ClassCreate(self, request, reply):
        reply.class_id = f"cs-{len(self.classes) + 1}"
        self.classes[reply.class_id] = [m.function_name for m in request.methods]

    def VolumeGetOrCreate(self, request, reply):
        reply.volume_id = self.keep(self.volumes, "vo", request.deployment_name)
        reply.metadata.name = request.deployment_name

    def ImageGetOrCreate(self, request, reply):
        definition = request.image.SerializeToString(deterministic=True)
        reply.image_id = self.keep(self.images, "im", (definition, request.builder_version, request.build_function_id))
        reply.result.status = api_pb2.GenericResult.GENERIC_STATUS_SUCCESS
        reply.metadata.image_builder_version = request.builder_version

    def FunctionPrecreate(self, request, reply):
        reply.function_id = f"fu-{request.function_name}"
        reply.handle_metadata.function_name = request.function_name
        reply.handle_metadata.function_type = request.function_type

    def FunctionCreate(self, request, reply):
        name = request.function.function_name or request.function_data.function_name
        reply.function_id = f"fu-{name}"
        reply.handle_metadata.function_name = name
        self.functions[reply.function_id] = request
        # 1.6 reads the answer's function_data, which the real server always fills.
        if "function_data" in reply.DESCRIPTOR.fields_by_name:
            reply.function_data.CopyFrom(request.function_data)
            if not request.function_data.ranked_functions:
                reply.function_data.function_name = name
                reply.function_data.ranked_functions.add(rank=0, function=request.function)
        reply.function.CopyFrom(request.function)

    # --- what was asked, in words ---

    def layer(self, image_id):
        definition, builder, function_id = self.images[image_id]
        image = api_pb2.Image.FromString(definition)
        secrets = [self.secrets[i] for i in image.secret_ids]
        layer = {
            "commands": list(image.dockerfile_commands),
            "builder": builder,
            "env": {k: v for s in secrets for k, v in s["env"].items()},
            "secrets": [{"name": s["name"], "keys": s["keys"]} for s in secrets if s["name"]],
            "gpu": image.gpu_config.gpu_type,
            "context": sorted(f.filename for f in image.context_files),
            "copied": self.mounts.get(image.context_mount_id, {"files": {}})["files"],
            "function": None,
        }
        if function_id:
            asked = self.functions[function_id].function
            layer["function"] = {
                "name": asked.function_name,
                "cpu": asked.resources.milli_cpu / 1000,
                "memory_mib": asked.resources.memory_mb,
                "timeout_s": asked.timeout_secs,
                "arguments": image.build_function.input.args.hex(),
            }
        bases = [b.image_id for b in image.base_images]
        return layer, bases[0] if bases else None

    def sent(self, request):
        """Returns a function's message as a dict, with names in place of the ids of proxies and secrets."""
        message = google.protobuf.json_format.MessageToDict(request.function, preserving_proto_field_name=True)
        data = google.protobuf.json_format.MessageToDict(request.function_data, preserving_proto_field_name=True)
        for ranked in data.pop("ranked_functions", [])[:1]:
            data.update(ranked["function"])
        message.update(data)
        for name in ("class_serialized", "function_serialized", "definition_id", "mount_ids", "image_id"):
            message.pop(name, None)
        if message.get("proxy_id"):
            message["proxy"] = self.proxies[message.pop("proxy_id")]
        message["secrets"] = [self.secrets[i] for i in message.pop("secret_ids", ())]
        for mount in message.get("cloud_bucket_mounts", ()):
            secret = self.secrets.get(mount.pop("credentials_secret_id", None))
            mount["secret"] = secret and secret["name"]
        return message

    def chain(self, image_id):
        layers = []
        while image_id:
            layer, image_id = self.layer(image_id)
            layers.append(layer)
        return layers[::-1]

    def function(self, request):
        ranked = [r.function for r in request.function_data.ranked_functions] or [request.function]
        asked = request.function_data if request.function_data.ranked_functions else request.function
        first = ranked[0]
        gpus = [f.resources.gpu_config for f in ranked]
        return {
            "gpu": [f"{g.gpu_type}:{g.count}" for g in gpus if g.gpu_type],
            "timeout_s": asked.timeout_secs,
            "scaledown_window_s": asked.autoscaler_settings.scaledown_window,
            "cpu": first.resources.milli_cpu / 1000,
            "memory_mib": first.resources.memory_mb,
            "volumes": {v.mount_path: self.volumes[v.volume_id] for v in first.volume_mounts},
            "secrets": [self.secrets[i]["name"] for i in first.secret_ids],
            "files": sorted(f for i in first.mount_ids for f in self.mounts.get(i, {"files": []})["files"]),
        }, first.image_id


def serve(server):
    """The server's port, with the server in a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    async def start():
        listener = grpclib.server.Server([server])
        await listener.start("127.0.0.1", 0)
        server.listener = listener
        return listener._server.sockets[0].getsockname()[1]

    return asyncio.run_coroutine_threadsafe(start(), loop).result(30)


def deploy(path):
    """`modal deploy PATH`, here; its exit status."""
    if not sys.warnoptions:  # with `python -W error`, a warning ends the deployment
        warnings.simplefilter("always")
    sys.argv = ["modal", "deploy", path]
    try:
        modal.__main__.main()
    except SystemExit as end:
        return end.code or 0
    return 0


def result(server, status, output):
    functions, images, sent = {}, [], {}
    for asked in server.functions.values():
        if not asked.function.is_builder_function:
            name = asked.function.function_name or asked.function_data.function_name
            functions[name], image = server.function(asked)
            images.append(image)
            sent[name] = server.sent(asked)
    return {
        "client": modal.__version__,
        "status": status,
        "output": output,
        "warnings": [line for line in output.splitlines() if "warning" in line.lower() or "deprecat" in line.lower()],
        "app": server.app,
        "layers": server.chain(images[0]) if len(set(images)) == 1 else None,
        "functions": functions,
        "sent": sent,
    }


def load(path, builder):
    """What `modal deploy` of a file does, seen from a child."""
    with tempfile.TemporaryFile("w+") as told, tempfile.TemporaryFile("w+") as seen:
        child = os.fork()
        if not child:
            os.dup2(told.fileno(), 1)
            os.dup2(told.fileno(), 2)
            server = Server(builder)
            os.environ["MODAL_SERVER_URL"] = f"http://127.0.0.1:{serve(server)}"
            status = deploy(path)
            sys.stdout.flush()
            sys.stderr.flush()
            told.seek(0)
            json.dump(result(server, status, told.read()), seen, sort_keys=True)
            seen.flush()
            os._exit(0)
        os.waitpid(child, 0)
        told.seek(0)
        seen.seek(0)
        # A child that died has said why.
        return seen.read() or json.dumps({"status": 70, "output": told.read(), "warnings": []})


def main():
    options = argparse.ArgumentParser()
    options.add_argument("files", nargs="+")
    options.add_argument("--builder", default="2025.06", help="what the workspace is set to")
    options = options.parse_args()
    for path in options.files:
        print(load(str(pathlib.Path(path).resolve()), options.builder), flush=True)


if __name__ == "__main__":
    main()
