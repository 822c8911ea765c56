"""Registries on loopback: the real docker-registry, and one of our own with the features that it lacks: logins, tokens, the
referrers API of distribution-spec 1.1, and faults.

    with Real() as r: r.host                 "127.0.0.1:PORT"; raises Missing without docker-registry
    f = Fake(auth="bearer", referrers=True)  f.host; f.blobs, f.manifests, f.tags, f.requests
"""

import base64
import hashlib
import http.server
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
INDEX = "application/vnd.oci.image.index.v1+json"


# A message that forges lines of stackbuild and controls a terminal.
FORGED = ("no\n\nr.yaml:1:1: error[SB9999]: forged\r\n  help: run evil\x1b[31m\x1b]0;title\x07\u202e\x9b31m\x85error[SB9998]: forged"
          "\u2028error[SB9997]: forged\x0berror[SB9996]: forged")  # fmt: skip


class Missing(Exception):
    """docker-registry is not available; str() returns the reason."""


def search_path():
    """Returns PATH and library path with the files that `make engines` has unpacked."""
    env = dict(os.environ)
    build = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
    text = subprocess.run([os.path.join(ROOT, "ci", "engines"), os.path.join(build, "engines"), "env"], capture_output=True,
                          text=True, check=True).stdout
    for line in text.split("\n"):
        name, _, value = line.removeprefix("export ").partition("=")
        if value:
            env[name] = value
    return env


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Real:
    """Debian's docker-registry: distribution 2.8, no referrers API."""

    def __init__(self, htpasswd=None):
        self.env = search_path()
        program = shutil.which("docker-registry", path=self.env["PATH"])
        if not program:
            raise Missing("docker-registry is not installed")
        self.folder = tempfile.mkdtemp(prefix="stackbuild-registry-")
        self.host = f"127.0.0.1:{free_port()}"
        auth = f"auth: {{htpasswd: {{realm: test, path: {htpasswd}}}}}\n" if htpasswd else ""
        config = os.path.join(self.folder, "config.yml")
        with open(config, "w", encoding="utf-8") as f:
            f.write(f"version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\n"
                    f"storage: {{delete: {{enabled: true}}, filesystem: {{rootdirectory: {self.folder}/data}}}}\n"
                    f"http: {{addr: '{self.host}'}}\n{auth}")
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.child = subprocess.Popen([program, "serve", config], stdout=log, stderr=log, env=self.env)
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://{self.host}/v2/", timeout=5).close()
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.1)
        self.close()
        raise Missing("docker-registry does not answer")

    def close(self):
        self.child.terminate()
        self.child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()


class Fake:
    """auth: None, "basic", "bearer"; users: {name: password}; refresh: {identity token: user}; fault: name -> the fault there
    ("rot": one byte of every blob, "lie": another digest in the header, "gone": uploads end in 500 once,
    "short": a truncated manifest, a status ("429") for every manifest, "token-403": a status of the token server
    ("token-text": it answers with a page, "token-none": without a token), "realm": the token server is on another host,
    without TLS, "disguise": it is at `realm`, "elsewhere": blobs come from another origin, "away": uploads go to one).
    """

    def __init__(self, auth=None, referrers=False, users=None, refresh=None, fault=None, page=1000):
        self.auth, self.referrers, self.fault, self.page = auth, referrers, fault, page
        self.users, self.refresh = users or {}, refresh or {}
        self.blobs, self.manifests, self.tags, self.uploads = {}, {}, {}, {}
        self.requests, self.tokens = [], {}
        self.lock = threading.Lock()
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do(self):
                fake.handle(self)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_PATCH = do

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.host = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()

    # --- one request ---

    def handle(self, h):
        body = h.rfile.read(int(h.headers.get("Content-Length") or 0))
        url = urllib.parse.urlsplit(h.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        with self.lock:
            self.requests.append((h.command, h.path, h.headers.get("Authorization"), body))
            if url.path == "/token":
                return self.token(h, query, body)
            if url.path.startswith("/elsewhere/"):
                return self.answer(h, 200, self.blobs[url.path.rpartition("/")[2]])
            parts = url.path.split("/")
            kind = next((k for k in ("manifests", "blobs", "tags") if k in parts), None)
            if parts[1] != "v2" or not kind:
                return self.error(h, 404, "NAME_UNKNOWN")
            at = parts.index(kind)
            name, rest = "/".join(parts[2:at]), parts[at + 1:]
            push = h.command not in ("GET", "HEAD")
            if not self.allowed(h, name, "push" if push else "pull"):
                return None
            if self.fault == "forged":
                return self.error(h, 400, "UNKNOWN", FORGED)
            return getattr(self, "on_" + kind)(h, name, rest, query, body)

    def answer(self, h, status, body=b"", **headers):
        h.send_response(status)
        for k, v in headers.items():
            h.send_header(k.replace("_", "-"), v)
        h.send_header("Content-Length", str(len(body)))
        h.end_headers()
        if h.command != "HEAD":
            h.wfile.write(body)

    def error(self, h, status, code, message="", **headers):
        self.answer(h, status, json.dumps({"errors": [{"code": code, "message": message}]}).encode(), **headers)

    def user_of(self, header):
        if header and header.startswith("Basic "):
            user, _, password = base64.b64decode(header[6:]).decode().partition(":")
            if self.users.get(user) == password:
                return user
        return None

    def allowed(self, h, name, action):
        header = h.headers.get("Authorization")
        if not self.auth or self.fault == "away" and h.headers["Host"].startswith("localhost"):
            return True
        if self.auth == "basic":
            if self.user_of(header):
                return True
            self.error(h, 401, "UNAUTHORIZED", "authentication required", WWW_Authenticate='Basic realm="test, \\"quoted\\""')
            return False
        scope = f"repository:{name}:pull" + (",push" if action == "push" else "")
        granted = self.tokens.get((header or "")[7:], "")
        if granted.startswith(f"repository:{name}:") and action in granted.rpartition(":")[2].split(","):
            return True
        realm = f"http://{self.host}/token"
        if self.fault == "realm":
            realm = "http://registry.example/token"
        if self.fault == "disguise":
            realm = self.realm
        self.error(h, 401, "UNAUTHORIZED", "authentication required",
                   WWW_Authenticate=f'Bearer realm="{realm}",service="fake registry",scope="{scope}"')
        return False

    def token(self, h, query, body):
        if h.command == "POST":
            query = dict(urllib.parse.parse_qsl(body.decode()))
            user = self.refresh.get(query.get("refresh_token")) if query.get("grant_type") == "refresh_token" else None
        else:
            user = self.user_of(h.headers.get("Authorization"))
        if h.headers.get("Authorization") and not user or query.get("service") != "fake registry":
            return self.error(h, 401, "UNAUTHORIZED", "wrong password")
        if (self.fault or "").startswith("token-"):
            how = self.fault[len("token-"):]
            return self.answer(h, int(how) if how.isdigit() else 200, b"{}" if how == "none" else b"<html>welcome</html>")
        kind, name, actions = query["scope"].split(":")
        granted = [a for a in actions.split(",") if user or a == "pull" and name.startswith("public/")]
        token = f"t{len(self.tokens)}.{hashlib.sha256(str(query).encode()).hexdigest()[:8]}"
        self.tokens[token] = f"{kind}:{name}:{','.join(granted)}"
        key = "access_token" if h.command == "POST" else "token"
        return self.answer(h, 200, json.dumps({key: token, "expires_in": 60}).encode())

    # --- the API ---

    def on_tags(self, h, name, rest, query, body):
        tags = sorted(t for n, t in self.tags if n == name)
        tags = [t for t in tags if t > query.get("last", "")]
        here, more = tags[:self.page], tags[self.page:]
        link = {"Link": f'</v2/{name}/tags/list?n={self.page}&last={here[-1]}>; rel="next"'} if more else {}
        self.answer(h, 200, json.dumps({"name": name, "tags": here}).encode(), **link)

    def on_blobs(self, h, name, rest, query, body):
        if rest[0] == "uploads":
            return self.upload(h, name, rest, query, body)
        data = self.blobs.get(rest[0])
        if data is None:
            return self.error(h, 404, "BLOB_UNKNOWN", "blob unknown to registry")
        if self.fault == "rot":
            data = bytes([data[0] ^ 1]) + data[1:]
        if self.fault == "elsewhere" and h.command == "GET":
            port = self.server.server_address[1]
            return self.answer(h, 307, Location=f"http://localhost:{port}/elsewhere/{rest[0]}")
        return self.answer(h, 200, data, Docker_Content_Digest=rest[0])

    def upload(self, h, name, rest, query, body):
        if h.command == "POST":
            key = f"u{len(self.uploads)}"
            self.uploads[key] = b""
            away = f"http://localhost:{self.server.server_address[1]}" if self.fault == "away" else ""
            return self.answer(h, 202, Location=f"{away}/v2/{name}/blobs/uploads/{key}?_state=a%2Fb%3D")
        if query.get("_state") != "a/b=" or rest[1] not in self.uploads:
            return self.error(h, 404, "BLOB_UPLOAD_UNKNOWN")
        del self.uploads[rest[1]]
        if self.fault == "gone":
            self.fault = None
            return self.error(h, 500, "UNKNOWN")
        digest = "sha256:" + hashlib.sha256(body).hexdigest()
        if digest != query.get("digest"):
            return self.error(h, 400, "DIGEST_INVALID", "provided digest did not match uploaded content")
        self.blobs[digest] = body
        return self.answer(h, 201, Location=f"/v2/{name}/blobs/{digest}")

    def on_manifests(self, h, name, rest, query, body):
        ref = rest[0]
        if h.command == "PUT":
            return self.put_manifest(h, name, ref, body)
        digest = self.tags.get((name, ref), ref)
        if (name, digest) not in self.manifests:
            return self.error(h, 404, "MANIFEST_UNKNOWN", "manifest unknown")
        if h.command == "DELETE":
            del self.manifests[name, digest]
            return self.answer(h, 202)
        if self.fault and self.fault.isdigit():
            return self.error(h, int(self.fault), "UNKNOWN", "not now")
        data, media = self.manifests[name, digest]
        headers = {} if self.fault == "quiet" else {"Docker_Content_Digest": digest}
        if self.fault == "lie":
            headers["Docker_Content_Digest"] = "sha256:" + "0" * 64
        if self.fault == "rot":
            data += b" "
        if self.fault == "short":
            h.close_connection = True
            h.send_response(200)
            h.send_header("Content-Length", str(len(data) + 1))
            h.end_headers()
            h.wfile.write(data)
            return None
        return self.answer(h, 200, data, Content_Type=media + "; charset=utf-8", **headers)

    def put_manifest(self, h, name, ref, body):
        digest = "sha256:" + hashlib.sha256(body).hexdigest()
        manifest = json.loads(body)
        for b in [manifest["config"], *manifest["layers"]] if "config" in manifest else []:
            if b["digest"] not in self.blobs:
                return self.error(h, 404, "MANIFEST_BLOB_UNKNOWN", "blob unknown to registry")
        self.manifests[name, digest] = (body, h.headers.get("Content-Type"))
        if ":" not in ref:
            self.tags[name, ref] = digest
        headers = {}
        if self.referrers and "subject" in manifest:
            headers["OCI_Subject"] = manifest["subject"]["digest"]
        return self.answer(h, 201, Docker_Content_Digest=digest, **headers)
