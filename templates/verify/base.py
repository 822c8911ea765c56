"""The base of every check: its result as one line, and children under a time limit.

The program is templates/probe.py and the files beside this one, one after the other, read from
standard input: an image needs nothing of ours but Python 3.8.  Its first line is the JSON text of
what is expected.  Whatever may crash or hang runs in a child, which is the same program again.
"""
import base64
import ctypes
import hashlib
import marshal
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
    """One check: problems are failures, `missing` lists what could not be checked."""

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
        # The reader drops a line that is too long, and with it the failure.
        if len(json.dumps(line)) > LINE_MAX:
            line["figures"] = {"left_out": "too many to be written"}
        if len(json.dumps(line)) > LINE_MAX:
            line["why"], line["what"] = short(why or "", 300) or None, short(self.what, 100)
            line["problems"] = [{k: v and short(v, 300) for k, v in p.items()} for p in self.problems[:4]]
        return line


class Reporter:
    """Writes lines for the parent: each starts with a token that no other process knows."""

    def __init__(self, token):
        self.token = token
        self.fd = os.dup(1)
        # The output of a site hook or a library is not a result.
        os.dup2(2, 1)

    def say(self, what):
        # A path or a variable that is not UTF-8 has lone surrogates, which JSON cannot contain.
        data = ("\n%s %s\n" % (self.token, json.dumps(what, ensure_ascii=False))).encode("utf-8", "replace")
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
        """Returns the last line of its output: of a traceback, the error itself."""
        lines = [x for x in self.text.strip().splitlines() if x.strip()]
        return short(lines[-1].strip(), 600) if lines else ""

    def why(self, doing, limit_s):
        if self.status == "hang":
            text = "%s: not finished after %g s" % (doing, limit_s)
        elif self.status == "signal":
            text = "%s: %s ended it" % (doing, self.signal)
        else:
            return "%s: %s" % (doing, self.line() or "exit status %s, before it answered" % self.code)
        if self.library:
            text += "; library mapped last: " + self.library
        if self.frame:
            text += "; in " + self.frame
        return text


class Output:
    """The end of a child's output, and separately the messages of its loader (LD_DEBUG=files)."""

    LOADER = re.compile(rb"^ *\d+:\t")
    MAPPED = re.compile(rb"file=(\S+) \[\d+\];  generating link map")

    def __init__(self, pipe, limit=16384):
        self.pipe, self.limit = pipe, limit
        self.tail, self.library = b"", None
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        rest = b""
        for block in iter(lambda: os.read(self.pipe, 65536), b""):
            lines = (rest + block).splitlines(keepends=True)
            rest = b""
            if lines and not lines[-1].endswith(b"\n") and len(lines[-1]) < 65536:
                rest = lines.pop()
            self.take(lines)
        self.take([rest])
        os.close(self.pipe)

    def take(self, lines):
        kept = []
        for line in lines:
            if self.LOADER.match(line):
                m = self.MAPPED.search(line)
                if m:
                    self.library = m.group(1).decode(errors="replace")
            else:
                kept.append(line)
        self.tail = (self.tail + b"".join(kept))[-self.limit:]


def path_of(pid, library):
    """Returns the path of a mapped library, from its name."""
    try:
        with open("/proc/%d/maps" % pid, errors="replace") as maps:
            for line in maps:
                path = line.split(maxsplit=5)[5:]
                if path and os.path.basename(path[0].strip()) == os.path.basename(library):
                    return path[0].strip()
    except OSError:
        pass
    return library


def memory_file(data):
    fd = os.memfd_create("stackbuild")
    with os.fdopen(os.dup(fd), "wb") as f:
        f.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


# The place of a crash, ` File "x.py", line 3 in f` of faulthandler, or the last place of a traceback.
FRAME = re.compile(r'^  File "([^"]+)", line (\d+)(?:,)? in ', re.MULTILINE)


def started(argv, entry_input, out, result_fd, env):
    def alone():
        # The signal reports a crash; no core file is needed.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return subprocess.Popen(argv, stdin=entry_input, stdout=out, stderr=out, cwd="/", env=env,
                            pass_fds=[result_fd], start_new_session=True, preexec_fn=alone)


def read_results(fd, nonce, limit=1 << 20):
    """Returns the rows of tell(); the other lines come from the modules that the child loaded."""
    os.lseek(fd, 0, os.SEEK_SET)
    rows = []
    for line in os.read(fd, limit).decode("utf-8", "replace").splitlines():
        word, _, text = line.partition(" ")
        try:
            row = json.loads(text) if word == nonce else None
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def run_child(entry, arg, limit_s):
    """Runs `entry`, a function of this program, in a new interpreter; it reports by tell()."""
    child, start, nonce = Child(), time.monotonic(), os.urandom(16).hex()
    public = dict({k: v for k, v in EXPECTED.items() if k != "token"}, nonce=nonce)
    stdin = memory_file((json.dumps(public) + "\n").encode("ascii") + marshal.dumps(CODE))
    result = memory_file(b"")
    reader, writer = os.pipe()
    argv = [sys.executable, "-X", "faulthandler", "-c", EXPECTED["boot"] % entry, str(result), json.dumps(arg)]
    try:
        p = started(argv, stdin, writer, result, dict(os.environ, PYTHONDONTWRITEBYTECODE="1", LD_DEBUG="files"))
    finally:
        os.close(writer)
        os.close(stdin)
    output = Output(reader)
    try:
        child.code = p.wait(limit_s)
    except subprocess.TimeoutExpired:
        child.library = path_of(p.pid, output.library) if output.library else None
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except OSError:
        pass
    p.wait()
    output.thread.join(2)
    child.seconds = time.monotonic() - start
    child.text = output.tail.decode("utf-8", "replace")
    child.results = read_results(result, nonce)
    os.close(result)
    how_ended(child, output.library)
    return child


def how_ended(child, library):
    if child.code is None:
        return
    # The last row follows when the entry has returned: without it, the answer is incomplete.
    child.status = "ok" if child.code == 0 and child.last("end") else "exit"
    if child.code < 0:
        child.status, child.library = "signal", library
        try:
            child.signal = signal.Signals(-child.code).name
        except ValueError:
            child.signal = "signal %d" % -child.code
        places = [m for m in FRAME.findall(child.text) if m[0] not in ("<string>", "stackbuild-verify")]
        child.frame = "%s:%s" % places[0] if places else None


def tell(**row):
    """Writes one row for the parent, in a child."""
    data = ("\n%s %s\n" % (NONCE, json.dumps(row))).encode("ascii")
    while data:
        data = data[os.write(int(sys.argv[1]), data):]


def child_arg():
    return json.loads(sys.argv[2])


EXPECTED = json.loads(EXPECT)
# In a child: the prefix of its rows. Standard input contained it, so the code that is imported later gets an empty one.
NONCE = EXPECTED.pop("nonce", None)
if NONCE:
    EXPECT = None
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.set_inheritable(int(sys.argv[1]), False)
# Set in a child for its own libraries, not for processes that it starts.
os.environ.pop("LD_DEBUG", None)
IMPORT_S = EXPECTED.get("import_timeout_s") or 60
