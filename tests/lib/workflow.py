"""Runs a GitHub workflow like a runner: jobs in the order of `needs`, each step's `run` by `bash -e`, with the environment,
expressions and conditions of the file.  The caller replaces the actions.

    machine = lambda job: an object with
        box                      a directory; the workspace is box/work
        execute(script, env)     the script's exit status and output, in the workspace
        action(name, given)      runs `uses: NAME` with its inputs
    Workflow(path, contexts, machine).run()    the log; raises Failed with the log
"""

import os
import re

WORD = re.compile(r"\s*('(?:[^']|'')*'|&&|\|\||[=!]=|[()]|[\w.-]+)")


class Failed(Exception):
    """A failed job; the text is its log."""


def evaluate(text, contexts):
    """Returns the value of an expression. An unknown context is an error; a name in a known context may be missing."""
    words = WORD.findall(text)
    if WORD.sub("", text).strip():
        raise ValueError(f"not an expression: {text}")

    def value():
        word = words.pop(0)
        if word == "(":
            inner = either()
            words.pop(0)
            return inner
        if word[0] == "'":
            return word[1:-1].replace("''", "'")
        if words[:2] == ["(", ")"]:
            del words[:2]
            return contexts["functions"][word]
        first, *rest = word.split(".")
        at = contexts[first]
        for name in rest:
            at = (at or {}).get(name)
        return at

    def equal():
        left = value()
        while words[:1] in (["=="], ["!="]):
            wanted = words.pop(0) == "=="
            left = ((left or "").lower() == (value() or "").lower()) == wanted
        return left

    def both():
        left = equal()
        while words[:1] == ["&&"]:
            words.pop(0)
            right = equal()
            left = left and right
        return left

    def either():
        left = both()
        while words[:1] == ["||"]:
            words.pop(0)
            right = both()
            left = left or right
        return left

    return either()


def expand(text, contexts):
    """Returns a text with the values of its expressions."""
    say = lambda v: {None: "", True: "true", False: "false"}.get(v, v)
    return re.sub(r"\$\{\{(.*?)\}\}", lambda m: say(evaluate(m[1], contexts)), str(text))


class Workflow:
    def __init__(self, path, contexts, machine):
        import yaml

        with open(path, encoding="utf-8") as f:
            self.file = yaml.safe_load(f)
        self.contexts, self.machine = contexts, machine

    def run(self):
        log, waiting, over = "", dict(self.file["jobs"]), set()
        while waiting:
            name = next(n for n, j in waiting.items() if {j["needs"]} <= over) if over else next(n for n, j in waiting.items() if "needs" not in j)
            job = waiting.pop(name)
            for cell in job.get("strategy", {}).get("matrix", {}).get("include", [{}]):
                log += self.run_job(name, job, {**self.contexts, "matrix": cell})
            over.add(name)
        return log

    def run_job(self, name, job, contexts):
        machine, log, good = self.machine(name), "", True
        # The file's own env may use only github, vars and secrets.
        env = {k: expand(v, self.contexts) for k, v in self.file.get("env", {}).items()}
        env.update({k: expand(v, contexts) for k, v in job.get("env", {}).items()})
        expand(job["runs-on"], contexts)
        temp = os.path.join(machine.box, "temp")
        os.makedirs(temp)
        paths = os.path.join(temp, "path")
        open(paths, "w", encoding="utf-8").close()
        env.update(CI="true", GITHUB_ACTIONS="true", GITHUB_PATH=paths, RUNNER_TEMP=temp, RUNNER_ENVIRONMENT="github-hosted", RUNNER_OS="Linux")
        for step in job["steps"]:
            condition = step.get("if", "success()")
            states = {"success": good, "failure": not good, "always": True}
            if not evaluate(condition, {**contexts, "functions": states}) or not (good or "(" in condition):
                continue
            if "uses" in step:
                machine.action(step["uses"], {k: expand(v, contexts) for k, v in step.get("with", {}).items()})
                continue
            with open(paths, encoding="utf-8") as f:
                before = [line.strip() for line in f if line.strip()][::-1]
            own = {k: expand(v, contexts) for k, v in step.get("env", {}).items()}
            status, out = machine.execute(step["run"], {**env, **own}, before)
            log += f"--- {name}: {step.get('name', 'run')}\n{out}"
            good = good and status == 0
        if not good:
            raise Failed(log)
        return log
