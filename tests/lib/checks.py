"""BuildKit's build checks (`docker build --check`), for machines whose docker is too old to have them.

in      the text of a Dockerfile
out     [(line, rule, what)]; empty: clean.  Rules in EXPERIMENTAL are off in docker by default
source  https://docs.docker.com/reference/build-checks/, the rules of moby/buildkit
        frontend/dockerfile/linter/ruleset.go, including experimental ones
"""

import re

import dockerfile

# Every published rule; a rule that the text alone cannot break has the reason why it is not checked.
RULES = {
    "ConsistentInstructionCasing": "",
    "CopyIgnoredFile": "needs a .dockerignore: none is written",
    "DuplicateStageName": "",
    "ExposeInvalidFormat": "",
    "ExposeProtoCasing": "",
    "FromAsCasing": "",
    "FromPlatformFlagConstDisallowed": "",
    "InvalidBaseImagePlatform": "needs the base image",
    "InvalidDefaultArgInFrom": "",
    "InvalidDefinitionDescription": "",
    "JSONArgsRecommended": "",
    "LegacyKeyValueFormat": "",
    "MaintainerDeprecated": "",
    "MultipleInstructionsDisallowed": "",
    "NoEmptyContinuation": "",
    "RedundantTargetPlatform": "",
    "ReservedStageName": "",
    "SecretsUsedInArgOrEnv": "",
    "StageNameCasing": "",
    "UndefinedArgInFrom": "",
    "UndefinedVar": "",
    "WorkdirRelativePath": "",
}
EXPERIMENTAL = {"CopyIgnoredFile", "InvalidDefinitionDescription"}
SECRET = re.compile(r"(?i)(?:_|^)(?:apikey|auth|credentials?|key|password|pword|passwd|secret|token)(?:_|$)")
PUBLIC = re.compile(r"(?i)(?:_|^)public(?:_|$)")
VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)|([A-Za-z_][A-Za-z0-9_]*))")
# Variables that are defined without a line of the file: by images, and by BuildKit in FROM and after ARG.
GIVEN = {"PATH"}
PREDEFINED = {f"{a}{b}" for a in ("BUILD", "TARGET") for b in ("PLATFORM", "OS", "ARCH", "VARIANT")}


def check(text):
    found = []
    lines = text.split("\n")
    for n, line in enumerate(lines[:-1]):
        if re.search(r"\\[ \t]*$", line) and not line.lstrip().startswith("#") and not lines[n + 1].strip():
            found.append((n + 2, "NoEmptyContinuation", ""))
    if found:
        return found
    upper = True
    names, defined, arguments, workdir, seen = set(), set(), set(), False, {}
    inherited = {}
    for i in dockerfile.read(text):
        word = re.match(r"\s*(\S+)", lines[i.line - 1]).group(1)
        upper = upper and word.isupper()
        if not upper:
            found.append((i.line, "ConsistentInstructionCasing", word))

        def tell(rule, what, line=i.line):
            found.append((line, rule, what))

        above = lines[i.line - 2].strip() if i.line > 1 else ""
        if i.name in ("FROM", "ARG") and above.startswith("#"):
            # A description is the comment block directly above, and starts with the name.
            top = i.line - 2
            while top > 0 and lines[top - 1].strip().startswith("#"):
                top -= 1
            name = stage_name(i) if i.name == "FROM" else i.rest.split("=")[0].split()[0]
            if name and not re.match(rf"#\s*{re.escape(name)}\s", lines[top].strip() + " "):
                tell("InvalidDefinitionDescription", lines[top].strip())
        if i.name == "FROM":
            seen = {}
            words = i.rest.split()
            name = stage_name(i)
            if name:
                if name != name.lower():
                    tell("StageNameCasing", name)
                if name in names:
                    tell("DuplicateStageName", name)
                if name.lower() in ("scratch", "context"):
                    tell("ReservedStageName", name)
                if words[1] != ("AS" if word.isupper() else "as"):
                    tell("FromAsCasing", words[1])
                names.add(name)
            for v in variables(i.rest):
                if v not in arguments | PREDEFINED:
                    tell("UndefinedArgInFrom", v)
                elif v in arguments and not inherited.get(("arg", v)):
                    tell("InvalidDefaultArgInFrom", v)
            for f in i.flags:
                value = f.partition("=")[2]
                if f.startswith("--platform") and "$" not in value:
                    tell("FromPlatformFlagConstDisallowed", value)
                if f.startswith("--platform") and value in ("$TARGETPLATFORM", "${TARGETPLATFORM}"):
                    tell("RedundantTargetPlatform", value)
            defined, workdir = inherited.get(words[0], (set(), False))
            defined = set(defined)
            inherited[name] = (defined, workdir)
        elif i.name in ("CMD", "ENTRYPOINT"):
            if i.json is None:
                tell("JSONArgsRecommended", i.name)
        elif i.name == "MAINTAINER":
            tell("MaintainerDeprecated", "")
        elif i.name in ("ENV", "LABEL", "ARG"):
            if i.name != "ARG" and "=" not in dockerfile.raw_words(i.rest)[0]:
                tell("LegacyKeyValueFormat", i.rest)
                continue
            for w in dockerfile.raw_words(i.rest):
                key, eq, value = w.partition("=")
                for v in variables(value):
                    if v not in defined | GIVEN | PREDEFINED:
                        tell("UndefinedVar", v)
                if i.name != "LABEL":
                    if SECRET.search(key) and not PUBLIC.search(key):
                        tell("SecretsUsedInArgOrEnv", key)
                    if not names and i.name == "ARG":
                        arguments.add(key)
                        inherited[("arg", key)] = eq and value
                    defined.add(key)
        elif i.name == "WORKDIR":
            if not i.rest.startswith(("/", "$")) and not workdir:
                tell("WorkdirRelativePath", i.rest)
            workdir = True
        elif i.name == "EXPOSE":
            for w in i.rest.split():
                port, _, proto = w.partition("/")
                if proto != proto.lower():
                    tell("ExposeProtoCasing", w)
                if ":" in port:
                    tell("ExposeInvalidFormat", w)
        if i.name in ("COPY", "ADD", "WORKDIR", "USER"):
            for v in variables(i.rest):
                if v not in defined | GIVEN | PREDEFINED:
                    tell("UndefinedVar", v)
        if i.name in ("CMD", "ENTRYPOINT", "HEALTHCHECK"):
            if i.name in seen:
                tell("MultipleInstructionsDisallowed", i.name)
            seen[i.name] = True
    return found


def stage_name(i):
    words = i.rest.split()
    return words[2] if len(words) == 3 else None


def variables(text):
    """Returns the names that the builder would expand: not those in single quotes or after a backslash."""
    text = re.sub(r"\\.", "", text)
    text = re.sub(r"'[^']*'", "", text)
    return [a or b for a, b in VARIABLE.findall(text)]


# One text for each rule, which breaks only that rule.
EXAMPLES = {
    "ConsistentInstructionCasing": "FROM a\nrun x\n",
    "DuplicateStageName": "FROM a AS b\nFROM a AS b\n",
    "ExposeInvalidFormat": "FROM a\nEXPOSE 80:80\n",
    "ExposeProtoCasing": "FROM a\nEXPOSE 80/TCP\n",
    "FromAsCasing": "FROM a as b\n",
    "FromPlatformFlagConstDisallowed": "FROM --platform=linux/amd64 a\n",
    "InvalidDefaultArgInFrom": "ARG T\nFROM a:$T\n",
    "InvalidDefinitionDescription": "# something else\nFROM a AS b\n",
    "JSONArgsRecommended": "FROM a\nCMD run this\n",
    "LegacyKeyValueFormat": "FROM a\nENV A b\n",
    "MaintainerDeprecated": "FROM a\nMAINTAINER b\n",
    "MultipleInstructionsDisallowed": 'FROM a\nCMD ["a"]\nCMD ["b"]\n',
    "NoEmptyContinuation": "FROM a\nRUN x \\\n\n  y\n",
    "RedundantTargetPlatform": "FROM --platform=$TARGETPLATFORM a\n",
    "ReservedStageName": "FROM a AS scratch\n",
    "SecretsUsedInArgOrEnv": "FROM a\nENV API_TOKEN=x\n",
    "StageNameCasing": "FROM a AS Build\n",
    "UndefinedArgInFrom": "FROM a:$TAG\n",
    "UndefinedVar": "FROM a\nENV A=$B\n",
    "WorkdirRelativePath": "FROM a\nWORKDIR b\n",
}
