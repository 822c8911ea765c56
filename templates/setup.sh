{{! What `stackbuild render -t script` writes.  The names that may be used are listed in
    src/render/script.c, the template language in src/render/template.h. }}
#!/usr/bin/env bash
{{#title}}
# {{.|comment}}
{{/title}}
{{#generated}}
# {{.|comment}}
{{/generated}}
#
#   ./setup.sh [DIRECTORY]       create or complete the environment (default: venv, beside this script)
#   DIRECTORY/run COMMAND ...    run a command in it
#
# Run the script again after a failure or a change: it skips the steps that are finished. It uses files in stackbuild/
# {{#cell}}of the directory above{{/cell}}{{^cell}}beside it{{/cell}}; `stackbuild render RECIPE -t script -o OUT` writes the script and these files.
#
# Environment variables:
{{#python}}
#   PYTHON=/path/to/python{{python|comment}}   use this interpreter
{{/python}}
{{#compiles}}
#   MAX_JOBS=4                   compilers that run at the same time (default: as many as memory allows)
{{/compiles}}
{{#secret_names}}
#   SECRETS=DIRECTORY            directory with a file for each secret (default: /run/secrets): {{secret_names|comment}}
{{/secret_names}}
{{#app}}
#   APP=DIRECTORY                the application, with its {{app|comment}} (default: the current directory)
{{/app}}
{{#own_code}}
#   APP=DIRECTORY                the recipe's directory, with your own code: {{own_code|comment}} (default: the current directory)
{{/own_code}}
{{#apt_why}}
#   STACKBUILD_APT=no            do not install system packages with apt-get (and sudo)
{{/apt_why}}
#   STACKBUILD_UNTIL=STEP        stop after this step; `steps` below lists them
#   STACKBUILD_MARKS=1           print a line when a step starts and ends, for a program that reads them
{{#compiles}}
#   STACKBUILD_WHEELS=DIRECTORY  install the wheels in DIRECTORY/STEP/ instead of compiling; save new wheels there
#   STACKBUILD_INPUTS=DIRECTORY  write the inputs of each wheel to DIRECTORY/STEP.json
{{/compiles}}
{{#base}}
# A host replaces `base`: {{base|comment}}
{{/base}}
{{#runtime}}
# A script has no second stage: `runtime.base` is not used: {{runtime|comment}}
{{/runtime}}
{{#user}}
# Commands run as the user who runs the script, not as `user`: {{user|comment}}
{{/user}}
# shellcheck disable=SC2016  # single quotes keep values of the recipe as they are
set -euo pipefail

name={{name|sh}}
steps=({{#apt_why}}apt {{/apt_why}}python{{#steps}} {{id|sh}}{{/steps}}{{#compiles}}
    inputs{{/compiles}}{{#compiled}} {{id|sh}}{{/compiled}}{{#last}} {{id|sh}}{{/last}})
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$here{{#cell}}/..{{/cell}} # the output directory of `stackbuild render`
log() { printf '%s: %s\n' "$name" "$*"; }
fail() { log "error: $*" >&2; exit 1; }

files=({{#helpers}}{{^first}}
    {{/first}}{{.|text}}{{/helpers}})
for file in "${files[@]}"; do
    [ -f "$out/$file" ] || fail "there is no file $out/$file: run \`stackbuild render RECIPE -t script -o OUT\` again"
done
until=${STACKBUILD_UNTIL:-}
[[ -z $until || " ${steps[*]} " == *" $until "* ]] || fail "there is no step $until; the steps are: ${steps[*]}"

mkdir -p "${1:-$here/venv}"
venv=$(cd "${1:-$here/venv}" && pwd)
share=$venv/share/stackbuild
python=$venv/bin/python
if [ -n "$(ls -A "$venv")" ] && [ ! -e "$venv/.stackbuild" ] && [ ! -d "$share" ]; then
    fail "$venv has files that this script did not write: name another directory"
fi
exec 9>> "$venv/.stackbuild"
if command -v flock > /dev/null && ! flock -n 9; then
    log "waiting for another run of setup.sh that uses $venv"
    flock 9
fi
mkdir -p "$share/done"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONNOUSERSITE=1 PIP_NO_INPUT=1
export PIP_RETRIES="${PIP_RETRIES:-8}" PIP_RESUME_RETRIES="${PIP_RESUME_RETRIES:-8}"
unset PYTHONPATH PYTHONHOME
{{#reads_app}}
app=${APP:-$PWD}
{{/reads_app}}
{{#secret_names}}
secrets=${SECRETS:-/run/secrets}
unset SECRETS
secret() { [ -r "$secrets/$1" ] || fail "there is no file $secrets/$1: set SECRETS to its directory"; }
{{/secret_names}}

# A step is finished if the file $share/done/STEP holds the digest of what it does, or STACKBUILD_SKIP names it.
is_done() { [[ " ${STACKBUILD_SKIP:-} " == *" $1 "* || $(cat "$share/done/$1" 2> /dev/null) == "$2" ]]; }
mark() { [ -z "${STACKBUILD_MARKS:-}" ] || echo "stackbuild-step $1 $2"; }
reached() {
    if [ "$until" = "$1" ]; then
        log "stopped after $1, as STACKBUILD_UNTIL asks"
        exit 0
    fi
}
# todo STEP [DIGEST]: start a step, unless it is finished. Without a digest, the step runs every time.
todo() {
    if [ $# = 2 ] && is_done "$1" "$2"; then
        mark cached "$1"
        reached "$1"
        return 1
    fi
    start "$@"
}
start() {
    step=$1 digest=${2:-}{{#extensions}} src=$share/src/$1 wheels=$share/wheels/$1{{/extensions}}
    log "$step"
    mark start "$step"
    if [ -e "$share/begun" ]; then
        # A step was interrupted, and pip counts a partly installed package as installed. Remove such packages:
        # pip adds INSTALLER to the list of files, RECORD, when all of them are in place.
        for info in "$venv"/lib/python*/site-packages/*.dist-info; do
            grep -qs '/INSTALLER,' "$info/RECORD" || rm -rf "$info"
        done
    fi
    echo "$step" > "$share/begun"
}
finish() {
    [ -z "$digest" ] || echo "$digest" > "$share/done/$step"
    rm -f "$share/begun"
    mark 'done' "$step"
    reached "$step"
}
{{#extensions}}
fresh() { rm -rf "$1" && mkdir -p "$1"; }
{{/extensions}}
{{#own_code}}

# Own code: STACKBUILD_OWN/STEP is its directory without the ignored files; otherwise, git lists its files.
code_files() {
    local path
    {
        { [ -z "${STACKBUILD_OWN:-}" ] && git ls-files -coz --exclude-standard 2> /dev/null; } ||
            find . \( -name .git -o -name __pycache__ \) -prune -o ! -type d -print0
    } | LC_ALL=C sort -z | while IFS= read -r -d '' path; do
        [ ! -e "$path" ] && [ ! -L "$path" ] || printf '%s\0' "$path"
    done
}
# code_pack STEP DIRECTORY: write an archive of its files; equal files give equal bytes.
code_pack() {
    if [ -n "${STACKBUILD_OWN:-}" ]; then cd "$STACKBUILD_OWN/$1"; else cd "$app/$2"; fi || return
    code_files | tar -c --null -T - --sort=name --mtime=@946684800 --owner=0 --group=0 --numeric-owner --mode=u+rw,go=
}
# own_key STEP DIGEST DIRECTORY: the digest of the step with those of its files, and of the other files that its last
# compile read.
own_key() {
    local code others
    code=$(code_pack "$1" "$3" | sha256sum) || return
    others=$(sed -n 's/^[0-9a-f]*  \//\//p' "$share/wheels/$1/built.txt" 2> /dev/null | xargs -r -d '\n' sha256sum 2>&1) || true
    echo "$2-$(echo "$code$others" | sha256sum | cut -c1-16)"
}
declare -A own_keys
{{/own_code}}
{{#compiles}}

store=${STACKBUILD_WHEELS:+$(realpath -m "$STACKBUILD_WHEELS")}
inputs=${STACKBUILD_INPUTS:+$(realpath -m "$STACKBUILD_INPUTS")}
[ "$until" != inputs ] || [ -n "$inputs" ] || fail "STACKBUILD_UNTIL=inputs needs STACKBUILD_INPUTS=DIRECTORY"
# saved STEP DIGEST: succeeds if the wheel directory has a wheel, from a store or from this step.
saved() {
    [ -n "$store" ] && compgen -G "$store/$1/*.whl" > /dev/null &&
        [ "$(cat "$store/$1/.step" 2> /dev/null || echo "$2")" = "$2" ]
}
fetch() {
    if ! is_done "$step.source" "$digest"; then
        fresh "$src"
        "fetch_$step"
        echo "$digest" > "$share/done/$step.source"
    fi
}
# read_inputs STEP DIGEST: write the inputs of the wheel, if it must be compiled.
read_inputs() {
    if is_done "$1" "$2" || saved "$1" "$2"; then
        return
    fi
    start "$1" "$2"
    fetch
    mkdir -p "$inputs"
    "settings_$1" "$python" "$share/inputs.py" "$share/$1.plan.json" "$src" "$inputs/$1.json"
    rm -f "$share/begun"
    mark 'done' "$1"
}
# Copy or compile the wheel of this step into $wheels.
make_wheel() {
    fresh "$wheels"
    if saved "$step" "$digest"; then
        log "$step: the wheel comes from $store/$step"
        cp "$store/$step"/*.whl "$wheels"
{{#own_code}}
        [ ! -e "$store/$step/built.txt" ] || cp "$store/$step/built.txt" "$wheels"
{{/own_code}}
        return
    fi
    fetch
    # An interrupted compile leaves partial files: the next run fetches the source again.
    rm -f "$share/done/$step.source"
    "compile_$step"
    if [ -n "$store" ]; then
        fresh "$store/.new"
        echo "$digest" > "$store/.new/.step"
        cp "$wheels"/*.whl "$store/.new"
{{#own_code}}
        [ ! -e "$wheels/built.txt" ] || cp "$wheels/built.txt" "$store/.new"
{{/own_code}}
        rm -rf "${store:?}/$step"
        mv "$store/.new" "$store/$step"
    fi
}
{{/compiles}}

mark cached base
if grep -qi microsoft /proc/version && [[ $venv == /mnt/[a-z]/* ]]; then
    log "note: $venv is on a Windows drive, where importing torch can hang under WSL2"
    log "note: use a directory of Linux instead, such as ./setup.sh ~/$name"
fi
{{#apt_why}}

# need PACKAGE ...: install the packages of Debian or Ubuntu that are missing.
need() {
    local missing=() package sudo=()
    if ! command -v dpkg-query > /dev/null; then
        log "note: this is neither Debian nor Ubuntu; install yourself what they call $*"
        return
    fi
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null | grep -qx installed || missing+=("$package")
    done
    if [ ${#missing[@]} -gt 0 ] && [ "${STACKBUILD_APT:-}" = no ]; then
        log "note: STACKBUILD_APT=no leaves out these system packages, which are missing: ${missing[*]}"
    elif [ ${#missing[@]} -gt 0 ]; then
        log "installing system packages: ${missing[*]}"
        if [ "$(id -u)" != 0 ]; then
            command -v sudo > /dev/null || fail "run as root: apt-get install ${missing[*]}"
            sudo=(sudo)
        fi
        "${sudo[@]}" apt-get update
        "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y --no-install-recommends "${missing[@]}"
    fi
}

# apt: {{apt_why|comment}}
if todo apt; then
{{#apt}}
    {{apt|code}}
{{/apt}}
    finish
fi
{{/apt_why}}
{{#cuda}}

# The CUDA toolkit of this host: nvcc must have the major version of the CUDA that torch was built with, {{cuda|comment}}.
for directory in "${CUDA_HOME:-}" /usr/local/cuda-{{cuda|plain}} /usr/local/cuda; do
    if [ -n "$directory" ] && [ -x "$directory/bin/nvcc" ]; then
        export CUDA_HOME=$directory PATH=$directory/bin:$PATH
        break
    fi
done
nvcc=$(nvcc --version 2> /dev/null | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p') || true
case $nvcc in
    {{cuda|plain}}) ;;
    {{cuda_major|plain}}.*) log "note: nvcc is CUDA $nvcc, torch was built with CUDA {{cuda|plain}}" ;;
{{#compiles}}
    '') fail "there is no nvcc: install CUDA {{cuda|plain}}, or set CUDA_HOME" ;;
    *) fail "nvcc is CUDA $nvcc, but torch was built with CUDA {{cuda|plain}}: the major versions must be equal" ;;
{{/compiles}}
{{^compiles}}
    *) nvcc= ;;
{{/compiles}}
esac
{{/cuda}}

{{#host_python}}
# python: the first Python {{host_python|comment}} that can make an environment{{#compiles}} and has its headers{{/compiles}}{{#python_commands}}; otherwise a download{{/python_commands}}
find_python() {
    local p test='import ensurepip, os, sys, sysconfig, venv
assert "%d.%d" % sys.version_info[:2] == "{{host_python|plain}}"{{#compiles}}
assert os.path.exists(sysconfig.get_path("include") + "/Python.h"){{/compiles}}'
    for p in "${PYTHON:-}" python{{host_python|plain}} python3; do
        "$p" -c "$test" 2> /dev/null && command -v "$p" && return
    done
    return 1
}
{{/host_python}}
{{^host_python}}
# python: the environment that all packages are installed in
{{/host_python}}
if todo python {{python_key|sh}}; then
    rm -rf "${venv:?}"/*
    mkdir -p "$share/done"
{{#host_python}}
    if found=$(find_python); then
        "$found" -m venv "$venv"
    else
{{#python_apt}}
        {{python_apt|code}}
{{/python_apt}}
{{#python_commands}}
        {{python_commands|code}}
{{/python_commands}}
{{^python_commands}}
        found=$(find_python) || fail "there is no Python {{host_python|plain}} with venv: install it, or set PYTHON"
        "$found" -m venv "$venv"
{{/python_commands}}
    fi
{{/host_python}}
{{^host_python}}
{{#python_apt}}
    {{python_apt|code}}
{{/python_apt}}
    {{python_commands|code}}
{{/host_python}}
    finish
fi
install -m 755 "${files[@]/#/$out/}" "$share"
{{#steps}}

# {{id|comment}}: {{#remarks}}{{^first}}
#   {{/first}}{{.|comment}}{{/remarks}}
if todo {{id|sh}} {{key|sh}}; then
{{#downloads}}
    fresh "$src"
    fresh "$wheels"
{{/downloads}}
{{#replaces}}
    # pip would keep another build of the same version.
    if [ -e "$share/done/{{id|plain}}" ]; then
        "$python" -m pip uninstall -q -y {{replaces|code}}
        rm -f "$share/done/{{id|plain}}"
    fi
{{/replaces}}
    {{commands|code}}
    finish
fi
{{/steps}}
{{#compiled}}

# {{id|comment}}: {{#remarks}}{{^first}}
#   {{/first}}{{.|comment}}{{/remarks}}
fetch_{{id|plain}}() {
    {{fetch|code}}
}
settings_{{id|plain}}() {
    {{settings|code}}
}
compile_{{id|plain}}() {
    {{compile|code}}
}
{{#own}}
own_keys[{{id|plain}}]=$(own_key {{id|plain}} {{key|sh}} {{own|sh}}) || fail "set APP to the recipe's directory, which has the code of {{id|plain}}"
{{/own}}
{{/compiled}}
{{#compiles}}

# Write the inputs of the wheels, before any of them is compiled.
if [ -n "$inputs" ]; then
{{#compiled}}
    read_inputs {{id|plain}} {{#own}}"${own_keys[{{id|plain}}]}"{{/own}}{{^own}}{{key|sh}}{{/own}}
{{/compiled}}
fi
reached inputs
{{/compiles}}
{{#compiled}}

if todo {{id|sh}} {{#own}}"${own_keys[{{id|plain}}]}"{{/own}}{{^own}}{{key|sh}}{{/own}}; then
    make_wheel
    {{commands|code}}
{{#own}}
    digest=$(own_key {{id|plain}} {{key|sh}} {{own|sh}})
{{/own}}
    finish
fi
{{/compiled}}
{{#last}}

# {{id|comment}}: {{#remarks}}{{.|comment}}{{/remarks}}
if todo {{id|sh}}; then
{{#commands}}
    {{commands|code}}
{{/commands}}
{{#smoke}}
{{#guarded}}
    if [ -n "$nvcc" ]; then
        {{smoke|code}}
    else
        log "smoke.cu is not compiled: there is no nvcc of CUDA {{cuda_major|plain}}"
    fi
{{/guarded}}
{{^guarded}}
    {{smoke|code}}
{{/guarded}}
{{/smoke}}
{{#probe}}
    {{probe|code}} ||
        fail "the environment differs from the plan: remove $share/done and run the script again"
{{/probe}}
    finish
fi
{{/last}}

# The launcher sets the number of threads of each process to 1 unless a variable says otherwise, since data loaders
# start many processes.{{#torch}} It adds torch's libraries, for extensions that are loaded before torch.{{/torch}}
{
    cat << 'END_OF_RUN'
#!/usr/bin/env bash
set -euo pipefail
VIRTUAL_ENV=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export VIRTUAL_ENV PATH=$VIRTUAL_ENV/bin:$PATH
{{#torch}}
lib=$(echo "$VIRTUAL_ENV"/lib/python*/site-packages/torch/lib)
export LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
{{/torch}}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
export MKL_NUM_THREADS=${MKL_NUM_THREADS:-1}
END_OF_RUN
{{#environment}}
    printf 'export %q\n' {{name|plain}}={{value|sh}}
{{/environment}}
    echo 'exec "$@"'
} > "$venv/run.new"
chmod 755 "$venv/run.new"
mv "$venv/run.new" "$venv/run"

log "ready: $venv/run{{^command}} python ...{{/command}}"{{#command}} {{.|sh}}{{/command}}
