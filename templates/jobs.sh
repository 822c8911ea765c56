#!/bin/sh
# jobs MIB [BUILDS]: how many compilers may run at once, when each takes MIB of memory and
# BUILDS builds run beside each other.  At most one a processor, at least one.
mib=${1:-2048} builds=${2:-1}
free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
# A container may have less than the machine; "max" and 2^63 mean that it has not.
for file in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
    limit=$(cat "$file" 2>/dev/null) || continue
    case $limit in
    max | ????????????????*) continue ;;
    esac
    limit=$((limit / 1048576))
    [ "$limit" -lt "$free" ] && free=$limit
done
jobs=$((free / mib / builds))
[ "$jobs" -gt "$(nproc)" ] && jobs=$(nproc)
[ "$jobs" -lt 1 ] && jobs=1
echo "$jobs"
