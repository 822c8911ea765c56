"""A package index on loopback with all features (JSON and HTML pages, .metadata files, ranges, ETags), or with faults.

    with Index(folder) as i: i.url("json")      "http://127.0.0.1:PORT/json"; i.asked: the requests

The first part of a path selects the behaviour, with "+" between several words: "json", "html", "html+noranges", a status ("403")
and the faults.  The wheels are those of `folder`; NAME-VERSION.yanked next to them contains a reason.
"""

import hashlib
import html
import http.server
import json
import os
import threading
import time
import urllib.parse
import zipfile

import registry


def metadata_of(path):
    with zipfile.ZipFile(path) as z:
        for name in z.namelist():
            if name.endswith(".dist-info/METADATA"):
                return z.read(name)
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        index = self.server.index
        _, how, *rest = self.path.split("?")[0].split("/")
        words = how.split("+")
        headers = {k.lower(): v for k, v in self.headers.items()}
        index.asked.append((self.server.server_port, self.path, headers))
        try:
            for word in words:
                if word.isdigit():
                    return self.answer(int(word))
                fault = getattr(self, "fault_" + word, None)
                if fault and fault(words, rest):
                    return
            self.serve(words, rest)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.server.index.sent += len(body)

    def serve(self, words, rest):
        index = self.server.index
        if len(rest) == 2 and not rest[1]:
            return self.page(words, rest[0])
        name = urllib.parse.unquote(rest[-1]).removesuffix(".metadata")
        path = os.path.join(index.folder, name)
        if rest[0] != "files" or not os.path.exists(path):
            return self.answer(404)
        if rest[-1].endswith(".metadata"):
            body = metadata_of(path)
            return self.answer(200, b"Oops: " + body if "digest" in words else body)
        with open(path, "rb") as f:
            data = f.read()
        asked = self.headers.get("Range")
        if not asked or "noranges" in words:
            return self.answer(200, b"Oops: " + data if "digest" in words else data)
        first, _, last = asked.removeprefix("bytes=").partition("-")
        begin = int(first) if first else max(0, len(data) - int(last))
        end = min(int(last) + 1, len(data)) if first and last else len(data)
        index.ranges += 1
        if "later200" in words and index.ranges > 1:
            return self.answer(200, bytes(8 << 20))
        if "longer" in words and index.ranges > 1:
            end = min(begin + (8 << 20), len(data))
        said, size = begin, len(data)
        if "wrongrange" in words:
            said += 1
        if "grows" in words:
            index.growth += 1
            size += index.growth
        self.answer(206, data[begin:end], Content_Range=f"bytes {said}-{said + end - begin - 1}/{size}")

    def page(self, words, package):
        index = self.server.index
        files = [f for f in sorted(os.listdir(index.folder)) if f.split("-")[0].replace("_", "-").lower() == package]
        files = [f for f in files if f.endswith((".whl", ".tar.gz"))]
        if not files:
            return self.answer(404)
        rows = [self.row(words, f) for f in files]
        kind = "text/html; charset=utf-8"
        if "json" in words:
            kind = "application/vnd.pypi.simple.v1+json"
            body = json.dumps({"meta": {"api-version": "2.0" if "version2" in words else "1.1"}, "name": package, "files": rows})
        else:
            body = "<!DOCTYPE html><html><head><title>Links</title></head><body>\n<!-- <a href='no-1.0.whl'>no</a> -->\n"
            body += "".join(self.anchor(r) for r in rows) + "</body></html>"
        etag = '"%s"' % hashlib.sha256(body.encode()).hexdigest()[:16]
        if self.headers.get("If-None-Match") == etag:
            return self.answer(304)
        self.answer(200, body.encode(), Content_Type=kind, ETag=etag)

    def row(self, words, name):
        index = self.server.index
        path = os.path.join(index.folder, name)
        with open(path, "rb") as f:
            data = f.read()
        row = {"filename": name, "url": f"../files/{name}", "hashes": {"sha256": hashlib.sha256(data).hexdigest()}, "yanked": False,
               "size": len(data), "upload-time": "2026-0%s-01T10:00:00.000000Z" % (len(name) % 9 + 1), "requires-python": ">=3.8"}  # fmt: skip
        stem = "-".join(name.removesuffix(".tar.gz").split("-")[:2])
        if os.path.exists(os.path.join(index.folder, stem + ".yanked")):
            with open(os.path.join(index.folder, stem + ".yanked"), encoding="utf-8") as f:
                row["yanked"] = f.read() or True
        if "metadata" in words and name.endswith(".whl"):
            row["core-metadata"] = {"sha256": hashlib.sha256(metadata_of(path)).hexdigest()}
        return row

    def anchor(self, row):
        quote = lambda s: html.escape(s, quote=True)  # noqa: E731
        more = f' data-requires-python="{quote(row["requires-python"])}"'
        if row["yanked"]:
            more += f" data-yanked='{quote(row['yanked'] if row['yanked'] is not True else '')}'"
        if "core-metadata" in row:
            more += f' data-core-metadata="sha256={row["core-metadata"]["sha256"]}"'
        return f'<a  href="{quote(row["url"])}#sha256={row["hashes"]["sha256"]}"{more}>{quote(row["filename"])}</a><br/>\n'

    # --- faults; true: that was the answer ---

    def fault_slow(self, words, rest):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        for _ in range(600):
            self.wfile.write(b"x")
            self.wfile.flush()
            time.sleep(0.1)
        return True

    def fault_silent(self, words, rest):
        self.server.index.stop.wait(60)
        self.close_connection = True
        return True

    def fault_cut(self, words, rest):
        self.answer(200, b'{"meta": {"api-version": "1.0"}, "files": [', Content_Type="application/json", Content_Length="90000")
        self.close_connection = True
        return True

    def fault_half(self, words, rest):
        self.answer(200, b'{"meta": {"api-version": "1.0"}, "files": [', Content_Type="application/json")
        return True

    def fault_loop(self, words, rest):
        self.answer(302, Location=self.path + "x/")
        return True

    def fault_tofile(self, words, rest):
        self.answer(302, Location="file:///etc/passwd")
        return True

    def fault_elsewhere(self, words, rest):
        other = self.server.index.other.server_port
        if self.server.server_port == other:
            return False
        self.answer(302, Location=f"http://127.0.0.1:{other}{self.path}")
        return True

    def fault_forged(self, words, rest):
        """A refusal with a message of registry.FORGED: as the error of a git host, or as a page."""
        text = registry.FORGED.encode()
        if rest[-2:] == ["info", "refs"]:
            text = b"001e# service=git-upload-pack\n0000%04xERR %s" % (len(text) + 8, text)
            self.answer(200, text, Content_Type="application/x-git-upload-pack-advertisement")
        else:
            self.answer(403, text, Content_Type="text/plain")
        return True

    def fault_login(self, words, rest):
        self.answer(200, b"<html><body><h1>Welcome</h1><a href='/login'>Log in</a><form></form></body></html>", Content_Type="text/html")
        return True

    def fault_text(self, words, rest):
        self.answer(200, b"hello", Content_Type="text/plain")
        return True

    def fault_huge(self, words, rest):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        if "unsaid" not in words:
            self.send_header("Content-Length", str(50 << 20))
        self.end_headers()
        self.close_connection = True
        for _ in range(50):
            self.wfile.write(b'<a href="x-1.0.tar.gz">' * (2**20 // 23))
        return True

    def fault_refused(self, words, rest):
        self.answer(401, WWW_Authenticate="Basic")
        return True

    def fault_busy(self, words, rest):
        self.answer(500)
        return True


class Index:
    def __init__(self, folder):
        self.folder, self.asked, self.stop = folder, [], threading.Event()
        self.sent = self.growth = self.ranges = 0
        self.servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(2)]
        self.other = self.servers[1]
        for s in self.servers:
            s.daemon_threads, s.index = True, self
            threading.Thread(target=s.serve_forever, daemon=True).start()

    def url(self, how, user=""):
        return f"http://{user}127.0.0.1:{self.servers[0].server_port}/{how}"

    def forget(self):
        self.asked, self.sent, self.ranges = [], 0, 0

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.stop.set()
        for s in self.servers:
            s.shutdown()
