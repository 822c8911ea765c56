{{! What `stackbuild render -t script` writes.  The names that may be used are listed in
    src/render/script.c, the template language in src/render/template.h. }}
#!/usr/bin/env bash
# {{name|comment}}, as a virtual environment on this machine (Linux, or WSL2)
{{#contents}}
#   {{.|comment}}
{{/contents}}
#
#   ./setup.sh [FOLDER]        makes FOLDER, or completes it (default: venv, beside this script)
#   FOLDER/run COMMAND ...     runs a command in it
#
# Run it again after an interruption or a change: what is done already is not done again.
{{#compiles}}
# As many compilers run at once as memory allows; MAX_JOBS=4 ./setup.sh says how many.
{{/compiles}}
{{#python}}
# PYTHON=/path/to/python{{python|comment}} ./setup.sh takes that interpreter.
{{/python}}
{{#secrets}}
# SECRETS=FOLDER ./setup.sh finds the file {{.|comment}} there (without it: in /run/secrets).
{{/secrets}}
{{#app}}
# app: is installed from the folder that the script is called in, or from APP=FOLDER.
{{/app}}
# STACKBUILD_UNTIL=STEP ./setup.sh ends after that step: {{#ids}}{{.|comment}}{{^last}}, {{/last}}{{/ids}}.
{{#compiles}}
# STACKBUILD_WHEELS=FOLDER takes an extension from FOLDER/NAME/*.whl, if its wheel is there, and
# puts there what it compiles.
# STACKBUILD_INPUTS=FOLDER writes what each of these wheels depends on to FOLDER/NAME.json, before
# any is compiled; with STACKBUILD_UNTIL=inputs nothing is.
{{/compiles}}
# STACKBUILD_MARKS=1 prints lines for a program that follows it: stackbuild-step start STEP, and
# stackbuild-step done STEP or stackbuild-step cached STEP.
{{#unused}}
# Not used here: {{.|comment}}
{{/unused}}
#
# Made by stackbuild: change the recipe, not this file.
# Recipe {{digest|comment}}
#
# shellcheck disable=SC2016
#   SC2016  values of the recipe are quoted so that nothing in them is expanded
set -euo pipefail

name={{name|sh}}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf '%s: %s\n' "$name" "$*"; }
fail() {
    say "$*" >&2
    exit 1
}

until=${STACKBUILD_UNTIL:-}
case $until in
    ''{{#ids}} | {{.|sh}}{{/ids}}{{#compiles}} | inputs{{/compiles}}) ;;
    *) fail "there is no step $until" ;;
esac

mkdir -p "${1:-$here/venv}"
venv=$(cd "${1:-$here/venv}" && pwd)
share=$venv/share/stackbuild
python=$venv/bin/python
lock=$venv/.stackbuild
if [ -n "$(ls -A "$venv")" ] && [ ! -e "$lock" ] && [ ! -d "$share" ]; then
    fail "$venv is not empty, and not from this script: name another folder"
fi
exec 9>> "$lock"
if command -v flock > /dev/null && ! flock -n 9; then
    say "waits for another setup.sh, or for what it started, at work on $venv"
    flock 9
fi
mkdir -p "$share/done"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{{#has_secrets}}
secrets=${SECRETS:-/run/secrets}
{{/has_secrets}}
{{#app}}
app=${APP:-$PWD}
{{/app}}
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONNOUSERSITE=1
unset PYTHONPATH PYTHONHOME

# Where a step is, for a program that follows it.
mark() {
    if [ -n "${STACKBUILD_MARKS:-}" ]; then
        printf 'stackbuild-step %s %s\n' "$@"
    fi
}
# A package whose installation was cut off counts for pip as installed: it is forgotten, so that
# pip installs it again.  pip adds INSTALLER to RECORD when all the rest is there.
forget_halves() {
    local info
    for info in "$venv"/lib/python*/site-packages/*.dist-info; do
        if [ -d "$info" ] && ! grep -q '/INSTALLER,' "$info/RECORD" 2> /dev/null; then
            rm -rf "$info"
        fi
    done
}
# Whether a step is done as it is written here.
is_done() { [ "$(cat "$share/done/$1" 2> /dev/null)" = "$2" ]; }
# Whether a step is still to be done.
todo() {
    if is_done "$1" "$2"; then
        mark cached "$1"
        return 1
    fi
    again "$1"
}
again() {
    say "$1"
    mark start "$1"
    if [ -e "$share/begun" ]; then
        forget_halves
    fi
    echo "$1" > "$share/begun"
}
finished() {
    if [ $# = 2 ]; then
        echo "$2" > "$share/done/$1"
    fi
    rm -f "$share/begun"
    mark 'done' "$1"
}
# Whether this is where the caller wants it to end.
ends() {
    if [ "$until" = "$1" ]; then
        say "ended after $1, as STACKBUILD_UNTIL says"
        exit 0
    fi
}
{{#compiles}}

# The wheels and the inputs of what is compiled.
folder() { if [ -n "$1" ]; then mkdir -p "$1" && (cd "$1" && pwd); fi; }
wheels=$(folder "${STACKBUILD_WHEELS:-}")
inputs=$(folder "${STACKBUILD_INPUTS:-}")
if [ "$until" = inputs ] && [ -z "$inputs" ]; then
    fail "STACKBUILD_UNTIL=inputs: STACKBUILD_INPUTS names the folder where they go"
fi
# Whether an extension's wheel is in $wheels: one from somewhere else, or one that this step made.
at_hand() {
    local wheel
    for wheel in "$wheels/$1"/*.whl; do
        if [ -n "$wheels" ] && [ -f "$wheel" ]; then
            [ "$(cat "$wheels/$1/.step" 2> /dev/null || echo "$2")" = "$2" ]
            return
        fi
    done
    return 1
}
# Puts a wheel there: whole, or not at all.
keep() {
    local wheel
    if [ -n "$wheels" ]; then
        rm -rf "${wheels:?}/$1"
        mkdir -p "$wheels/$1"
        echo "$2" > "$wheels/$1/.step"
        for wheel in "$share/wheels/$1"/*.whl; do
            cp "$wheel" "$wheels/$1/.new"
            mv "$wheels/$1/.new" "$wheels/$1/${wheel##*/}"
        done
    fi
}
{{/compiles}}

# The machine is what other targets call the base.
mark cached base
if grep -qi microsoft /proc/version && [[ $venv == /mnt/[a-z]/* ]]; then
    say "note: $venv lies on a Windows drive, where importing torch can hang under WSL2:"
    say "note: better give a folder of Linux, such as ./setup.sh ~/$name"
fi
{{#packages}}

# Installs those of the packages of Debian or Ubuntu that are missing, and says so.
need() {
    local missing=() package sudo=()
    if ! command -v dpkg-query > /dev/null; then
        say "neither Debian nor Ubuntu: what they call $* must be there"
        return
    fi
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" = installed ] ||
            missing+=("$package")
    done
    if [ ${#missing[@]} = 0 ]; then
        return
    fi
    say "packages of the system that are missing: ${missing[*]}"
    if [ "$(id -u)" != 0 ]; then
        command -v sudo > /dev/null || fail "install them: apt-get install ${missing[*]}"
        sudo=(sudo)
    fi
    "${sudo[@]}" apt-get update
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "${missing[@]}"
}
{{/packages}}
{{#packages}}

# apt: {{apt_why|comment}}
mark start apt
{{#apt}}
{{#first}}
need{{/first}} {{.|sh}}{{#last}}
{{/last}}
{{/apt}}
mark 'done' apt
ends apt
{{/packages}}
{{#cuda_host}}

# The CUDA toolkit of this machine: extensions are compiled with it, for a torch made with {{cuda_host|comment}}.
want={{cuda_host|sh}}
for folder in "${CUDA_HOME:-}" "/usr/local/cuda-$want" /usr/local/cuda; do
    if [ -n "$folder" ] && [ -x "$folder/bin/nvcc" ]; then
        export CUDA_HOME=$folder PATH=$folder/bin:$PATH
        break
    fi
done
{{#compiles}}
command -v nvcc > /dev/null || fail "there is no nvcc: install CUDA $want, or set CUDA_HOME"
{{/compiles}}
if command -v nvcc > /dev/null; then
    have=$(nvcc --version | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p')
    if [ "${have%%.*}" != "${want%%.*}" ]; then
        {{#compiles}}fail{{/compiles}}{{^compiles}}say{{/compiles}} "nvcc here is CUDA $have, torch is made with $want: the first number must agree"
    elif [ "$have" != "$want" ]; then
        say "note: nvcc here is CUDA $have, torch is made with $want"
    fi
fi
{{/cuda_host}}
{{#sources}}

source_{{id|plain}}() {
    if is_done {{id|plain}}.source {{key|sh}}; then
        return
    fi
    rm -rf {{src|code}}
    mkdir -p {{src|code}}
{{#secrets}}
    [ -r "$secrets"/{{.|sh}} ] || fail "there is no file $secrets/"{{.|sh}}
{{/secrets}}
{{#fetches}}
    {{command|code}}
{{/fetches}}
    echo {{key|sh}} > "$share/done/{{id|plain}}.source"
}
inputs_{{id|plain}}() {
    if is_done {{id|plain}} {{key|sh}} || at_hand {{id|plain}} {{key|sh}}; then
        return
    fi
    again {{id|plain}}
    source_{{id|plain}}
{{#files}}
    cat > {{path|code}} << '{{end|plain}}'
{{text|code}}
{{end|plain}}
{{/files}}
{{#inputs}}
    {{command|code}}
{{/inputs}}
    finished {{id|plain}}
}
{{/sources}}
{{#steps}}
{{#reads}}

# What the wheels depend on, before any of them is compiled.
if [ -n "$inputs" ]; then
{{#reader}}
    cat > {{path|code}} << '{{end|plain}}'
{{text|code}}
{{end|plain}}
{{/reader}}
{{#sources}}
    inputs_{{id|plain}}
{{/sources}}
fi
ends inputs
{{/reads}}

# {{id|comment}}: {{#remarks}}{{^first}}
#   {{/first}}{{.|comment}}{{/remarks}}
{{#host_python}}
# An interpreter of that series that can make an environment{{#compiles}}, and has its headers{{/compiles}}.
find_python() {
    local p
    for p in "${PYTHON:-}" python{{.|plain}} python3; do
        if "$p" - {{.|sh}} 2> /dev/null << 'END_OF_TEST'
import ensurepip, os, sys, sysconfig, venv
assert "%d.%d" % sys.version_info[:2] == sys.argv[1]
{{#compiles}}
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
{{/compiles}}
END_OF_TEST
        then
            command -v "$p"
            return
        fi
    done
    return 1
}
{{/host_python}}
if {{#always}}again {{id|sh}}{{/always}}{{^always}}todo {{id|sh}} {{key|sh}}{{/always}}; then
{{#starts}}
    rm -rf "${venv:?}"/*
    mkdir -p "$share/done"
{{/starts}}
{{#folders}}
    rm -rf {{folder|code}}
    mkdir -p {{folder|code}}
{{/folders}}
{{#files}}
    cat > {{path|code}} << '{{end|plain}}'
{{text|code}}
{{end|plain}}
{{#executable}}
    chmod 755 {{path|code}}
{{/executable}}
{{/files}}
{{#secrets}}
    [ -r "$secrets"/{{.|sh}} ] || fail "there is no file $secrets/"{{.|sh}}
{{/secrets}}
{{#host_python}}
    if found=$(find_python); then
        "$found" -m venv "$venv"
    else
{{#python_apt}}
{{#first}}
        need{{/first}} {{.|sh}}{{#last}}
{{/last}}
{{/python_apt}}
{{#commands}}
        {{command|code}}
{{/commands}}
{{^commands}}
        found=$(find_python) || fail "there is no Python {{.|plain}} with venv here: install it, or set PYTHON"
        "$found" -m venv "$venv"
{{/commands}}
    fi
{{/host_python}}
{{#compiled}}
    rm -rf {{wheels|code}}
    mkdir -p {{wheels|code}}
    if at_hand {{id|plain}} {{key|sh}}; then
        say "{{id|plain}}: its wheel is in $wheels"
        cp "$wheels/{{id|plain}}"/*.whl {{wheels|code}}
    else
        source_{{id|plain}}
        # A compile that is cut off leaves half-made files: its source is fetched again.
        rm -f "$share/done/{{id|plain}}.source"
{{#commands}}
{{#remarks}}
        # {{.|comment}}
{{/remarks}}
        {{command|code}}
{{/commands}}
        keep {{id|plain}} {{key|sh}}
    fi
{{#installs}}
    {{command|code}}
{{/installs}}
{{/compiled}}
{{^compiled}}
{{^host_python}}
{{#replaces}}
{{#first}}
    # pip would take another build of the same version for this one.
    if [ -e "$share/done/{{id|plain}}" ]; then
        "$python" -m pip uninstall -q -y{{/first}} {{.|sh}}{{#last}}
        rm -f "$share/done/{{id|plain}}"
    fi
{{/last}}
{{/replaces}}
{{#starts}}
{{#python_apt}}
{{#first}}
    need{{/first}} {{.|sh}}{{#last}}
{{/last}}
{{/python_apt}}
{{/starts}}
{{#commands}}
{{#remarks}}
    # {{.|comment}}
{{/remarks}}
{{#smoke}}
    if ! command -v nvcc > /dev/null; then
        say "smoke.cu is not compiled: there is no nvcc here"
{{^compiles}}
{{#cuda_host}}
    elif [ "${have%%.*}" != "${want%%.*}" ]; then
        say "smoke.cu is not compiled: it needs the nvcc of torch's CUDA"
{{/cuda_host}}
{{/compiles}}
    else
        {{command|code}}
    fi
{{/smoke}}
{{#probe}}
    {{command|code}} ||
        fail "not as planned; without $share/done, every step is done again"
{{/probe}}
{{#plain}}
    {{command|code}}
{{/plain}}
{{/commands}}
{{/host_python}}
{{/compiled}}
    finished {{id|sh}}{{^always}} {{key|sh}}{{/always}}
fi
ends {{id|sh}}
{{/steps}}

# The launcher: torch's libraries for extensions that are loaded before torch, and one thread
# a process where the environment does not say otherwise (data loaders start many processes).
{
    cat << 'END_OF_RUN'
#!/usr/bin/env bash
# run COMMAND ...: in this environment
set -euo pipefail
VIRTUAL_ENV=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export VIRTUAL_ENV PATH=$VIRTUAL_ENV/bin:$PATH
for lib in "$VIRTUAL_ENV"/lib/python*/site-packages/torch/lib; do
    if [ -d "$lib" ]; then
        export LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    fi
done
END_OF_RUN
{{#environment}}
    printf 'export %q\n' {{name|plain}}={{value|sh}}
{{/environment}}
    cat << 'END_OF_RUN'
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
export MKL_NUM_THREADS=${MKL_NUM_THREADS:-1}
exec "$@"
END_OF_RUN
} > "$venv/run.new"
chmod 755 "$venv/run.new"
mv "$venv/run.new" "$venv/run"

say "ready: $venv/run{{^command}} python ...{{/command}}"{{#command}} {{.|sh}}{{/command}}
