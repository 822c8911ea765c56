"""What every check stands on: its result as one line, and children under a time limit.

The program is templates/probe.py and the files beside this one, one after the other, read from
standard input: an image needs nothing of ours but Python 3.8.  Its first line is the JSON text of
what is expected.  Whatever may crash or hang runs in a child, which is the same program again.
"""
import base64
import ctypes
import hashlib
import os
import resource
import signal
import threading

TEXT_MAX = 1500       # characters of a text in a result
LINE_MAX = 48 * 1024  # bytes of a result: the reader's longest line is 64 KiB


def short(text, limit=TEXT_MAX):
    text = str(text)
    return text if len(text) <= limit else text[:limit - 3] + "..."


def listed(words, limit=4):
    """`a, b and 3 more`"""
    words = [str(w) for w in words]
    if len(words) <= limit:
        return ", ".join(words)
    return "%s and %d more" % (", ".join(words[:limit]), len(words) - limit)


class Check:
    """One check: problems are failures, `missing` says what could not be looked at."""

    def __init__(self, name):
        self.name = name
        self.start = time.monotonic()
        self.problems, self.missing, self.what, self.figures = [], [], "", {}

    def problem(self, text, subject=None, help=None):
        self.problems.append({"text": short(text), "subject": subject, "help": help})

    def not_run(self, why):
        if why not in self.missing:
            self.missing.append(why)

    def line(self):
        result = "failed" if self.problems else "not run" if self.missing else "passed"
        why = None
        if self.problems:
            why = self.problems[0]["text"]
            if len(self.problems) > 1:
                why += " (and %d more)" % (len(self.problems) - 1)
        elif self.missing:
            why = short(listed(self.missing))
        line = {"check": self.name, "result": result, "why": why, "what": short(self.what, 400),
                "figures": self.figures, "problems": self.problems[:16],
                "seconds": round(time.monotonic() - self.start, 3)}
        if len(json.dumps(line)) > LINE_MAX:
            line["figures"] = {"left_out": "too many to be written"}
        return line


class Reporter:
    """Lines for whoever started us: each after a token that nothing else here knows."""

    def __init__(self, token):
        self.token = token
        self.fd = os.dup(1)
        # What a site hook or a library prints is no result of ours.
        os.dup2(2, 1)

    def say(self, what):
        data = ("\n%s %s\n" % (self.token, json.dumps(what))).encode("ascii")
        while data:
            data = data[os.write(self.fd, data):]


# --- children

class Child:
    """How a child ended: `status` is ok, exit, signal or hang."""

    def __init__(self):
        self.status, self.code, self.signal = "hang", None, None
        self.text, self.results, self.seconds = "", [], 0.0
        self.library, self.frame = None, None

    def ok(self):
        return self.status == "ok"

    def last(self, key, default=None):
        for row in reversed(self.results):
            if key in row:
                return row[key]
        return default

    def line(self):
        """The last line of what it said: of a traceback the error itself."""
        lines = [x for x in self.text.strip().splitlines() if x.strip()]
        return short(lines[-1].strip(), 600) if lines else ""

    def why(self, doing, limit_s):
        if self.status == "hang":
            text = "%s: not done after %g s" % (doing, limit_s)
        elif self.status == "signal":
            text = "%s: ended by %s" % (doing, self.signal)
        else:
            return "%s: %s" % (doing, self.line() or "exit status %s" % self.code)
        if self.library:
            text += "; library mapped last: " + self.library
        if self.frame:
            text += "; in " + self.frame
        return text


def drain(pipe, tail, limit=16384):
    for block in iter(lambda: os.read(pipe, 65536), b""):
        tail.append(block)
        while len(tail) > 1 and sum(map(len, tail)) - len(tail[0]) > limit:
            tail.pop(0)
    os.close(pipe)


def mapped(pid, seen, order):
    """Shared libraries that a process has mapped since the last look, the newest last."""
    try:
        with open("/proc/%d/maps" % pid, errors="replace") as maps:
            new = []
            for line in maps:
                path = line.split(maxsplit=5)[5:]
                if path and ".so" in path[0] and path[0].strip() not in seen:
                    seen.add(path[0].strip())
                    new.append(path[0].strip())
            # Mappings grow downwards: of several new ones the lowest came last.
            order.extend(reversed(new))
    except OSError:
        pass


def memory_file(data):
    fd = os.memfd_create("stackbuild")
    with os.fdopen(os.dup(fd), "wb") as f:
        f.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


# Of a crash: `  File "x.py", line 3 in f` of faulthandler; of an error a traceback's last place.
FRAME = re.compile(r'^  File "([^"]+)", line (\d+)(?:,)? in ', re.MULTILINE)


def started(argv, entry_input, out, result_fd, env):
    def alone():
        # A crash is told by its signal; nobody wants the core.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return subprocess.Popen(argv, stdin=entry_input, stdout=out, stderr=out, cwd="/", env=env,
                            pass_fds=[result_fd], start_new_session=True, preexec_fn=alone)


def read_results(fd, limit=1 << 20):
    os.lseek(fd, 0, os.SEEK_SET)
    rows = []
    for line in os.read(fd, limit).decode("utf-8", "replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def run_child(entry, arg, limit_s, env=None):
    """Runs `entry`, a function of this program, in a new interpreter; it reports by tell()."""
    child, start, tail = Child(), time.monotonic(), []
    public = {k: v for k, v in EXPECTED.items() if k != "token"}
    stdin = memory_file((json.dumps(public) + "\n" + SOURCE).encode("ascii"))
    result = memory_file(b"")
    reader, writer = os.pipe()
    full = dict(os.environ if env is None else env, PYTHONDONTWRITEBYTECODE="1")
    argv = [sys.executable, "-X", "faulthandler", "-c", EXPECTED["boot"] % entry, str(result), json.dumps(arg)]
    seen, order = set(), []
    try:
        p = started(argv, stdin, writer, result, full)
    finally:
        os.close(writer)
        os.close(stdin)
    thread = threading.Thread(target=drain, args=(reader, tail), daemon=True)
    thread.start()
    while True:
        try:
            child.code = p.wait(0.1)
            break
        except subprocess.TimeoutExpired:
            mapped(p.pid, seen, order)
        if time.monotonic() - start > limit_s:
            break
    if child.code is None:
        mapped(p.pid, seen, order)
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except OSError:
        pass
    p.wait()
    thread.join(2)
    child.seconds = time.monotonic() - start
    child.text = b"".join(tail).decode("utf-8", "replace")
    child.results = read_results(result)
    os.close(result)
    how_ended(child, order)
    return child


def how_ended(child, order):
    if child.code is None:
        child.library = order[-1] if order else None
    elif child.code < 0:
        child.status = "signal"
        try:
            child.signal = signal.Signals(-child.code).name
        except ValueError:
            child.signal = "signal %d" % -child.code
        child.library = order[-1] if order else None
        places = [m for m in FRAME.findall(child.text) if m[0] != "<string>"]
        child.frame = "%s:%s" % places[0] if places else None
    else:
        child.status = "exit" if child.code else "ok"


def tell(**row):
    """In a child: one row for who started it."""
    data = (json.dumps(row) + "\n").encode("ascii")
    while data:
        data = data[os.write(int(sys.argv[1]), data):]


def child_arg():
    return json.loads(sys.argv[2])


EXPECTED = json.loads(EXPECT)
IMPORT_S = EXPECTED.get("import_timeout_s") or 60
