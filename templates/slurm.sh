{{! What `stackbuild render -t slurm` writes.  The names that may be used are listed in
    src/render/cluster.c, the template language in src/render/template.h. }}
#!/usr/bin/env bash
# {{stack|comment}}: the matrix as Slurm job arrays: wheels first, then the environments that need them
# {{generated|comment}}
#
#   ./slurm.sh [OPTION of sbatch ...]    submit all jobs, such as ./slurm.sh --partition=build --cpus-per-task=8
#
# Run it in the directory that the recipe's path is relative to, on a file system that all nodes share. If you submit
# again, finished jobs are skipped. A failed wheel cancels the jobs that need it.
#
# Environment variables:
#   STACKBUILD=PROGRAM   stackbuild on the nodes (default: stackbuild)
#   STORE=DIRECTORY      wheel store that all nodes share (default: {{out|comment}}/store)
#   OUT=DIRECTORY        directory of the environments (default: {{out|comment}})
#   CONTAINER=IMAGE      run the jobs in this image with Apptainer: a .sif file, or docker://NAME. It needs Python with
#                        venv, a compiler and nvcc. It sees this directory, HOME, OUT and STORE: STACKBUILD must be in one of them
{{#secrets}}
#   {{.|comment}}   a secret
{{/secrets}}
set -euo pipefail

recipe={{recipe|sh}}
out=${OUT:-{{out|sh}}}
store=${STORE:-$out/store}
stackbuild=("${STACKBUILD:-stackbuild}" build "$recipe" --engine venv --store "$store"{{#variant}} {{variant|sh}}{{/variant}})
# The extension, the directory and the cell of each wheel.
# shellcheck disable=SC2054  # names of cells have commas
wheels=(
{{#wheels}}
    {{step|sh}} {{id|sh}} {{#cell}}{{cell|sh}}{{/cell}}{{^cell}}''{{/cell}}
{{/wheels}}
)
# shellcheck disable=SC2054
cells=(
{{#cells}}
    {{#cell}}{{cell|sh}}{{/cell}}{{^cell}}''{{/cell}}
{{/cells}}
)

# In a job: one wheel or one cell.
if [ -n "${STACKBUILD_UNIT:-}" ] && [ -n "${CONTAINER:-}" ]; then
    mkdir -p "$store"
    stackbuild=(apptainer exec --bind "$PWD,$(realpath "$out"),$(realpath "$store")" "$CONTAINER" "${stackbuild[@]}")
fi
case ${STACKBUILD_UNIT:-} in
    wheel)
        i=$((SLURM_ARRAY_TASK_ID * 3))
        cell=${wheels[i + 2]}
        exec "${stackbuild[@]}" --wheel "${wheels[i]}" -o "$out/wheels/${wheels[i + 1]}" ${cell:+--cell "$cell"}
        ;;
    cell)
        cell=${cells[SLURM_ARRAY_TASK_ID]}
        exec "${stackbuild[@]}" -o "$out" ${cell:+--cell "$cell"}
        ;;
esac

mkdir -p "$out/slurm"
self=$(realpath "$0")
# submit NAME UNIT TASKS [OPTION of sbatch ...]: prints the number of the job.
submit() {
    local name=$1 unit=$2 tasks=$3
    shift 3
    STACKBUILD_UNIT=$unit sbatch --parsable --export=ALL --job-name="$name" --array="$tasks" --kill-on-invalid-dep=yes \
        --output="$out/slurm/$unit-%A-%a.log" "$@" "$self" | cut -d';' -f1
}

wheel_job=
{{#wheels}}
{{#last}}
wheel_job=$(submit {{stack|sh}}-wheels wheel 0-{{no|plain}} "$@")
echo "$wheel_job: $((${#wheels[@]} / 3)) wheels"
{{/last}}
{{/wheels}}
# group TASKS WHEELS [OPTION of sbatch ...]: cells that wait for the same wheels.
group() {
    local tasks=$1 needs=$2 after=() wheel job
    shift 2
    for wheel in $needs; do
        after+=("${wheel_job}_$wheel")
    done
    job=$(IFS=: && submit {{stack|sh}}-cells cell "$tasks" ${after[0]:+"--dependency=afterok:${after[*]}"} "$@")
    echo "$job: cells $tasks"
}
{{#groups}}
group {{cells|sh}} {{#wheels}}{{wheels|sh}}{{/wheels}}{{^wheels}}''{{/wheels}} "$@"
{{/groups}}
echo "squeue --me shows the jobs; their output is in $out/slurm"
