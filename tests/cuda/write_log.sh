#!/usr/bin/env bash
# Runs the CUDA backend's tests on a device and writes what they printed, with the hash of the sources they tested.
#
#   tests/cuda/write_log.sh FOLDER [LOG]   FOLDER holds the test programs; LOG is docs/cuda-test-log.txt unless named
#
# The log has no date and no name of a machine.  SANITIZE=1 adds compute-sanitizer (sanitize.sh, with $NADE
# and the programs of FOLDER).
set -u
cd "$(dirname "$0")/../.." || exit 1

programs=${1:?which folder holds the test programs?}
log=${2:-docs/cuda-test-log.txt}

{
    echo "The CUDA backend's tests, as tests/cuda/write_log.sh ran them."
    echo "sources: $(tools/check-evidence --hash)"
    echo "device: $(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader |
        sed 's/, /, driver /; s/, \([0-9.]*\)$/, compute capability \1/')"
    echo "CUDA: $(nvidia-smi | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p') (driver)"
} >"$log"

failed=0
run() { # run NAME COMMAND...: its whole output goes to the log
    local name=$1
    shift
    echo >>"$log"
    echo "== $name" >>"$log"
    "$@" >>"$log" 2>&1
    local code=$?
    echo "== $name: $([ $code -eq 0 ] && echo passed || echo "FAILED ($code)")" >>"$log"
    [ $code -eq 0 ] || failed=$((failed + 1))
}

for program in "$programs"/test_cuda_*; do
    [ -x "$program" ] && run "$(basename "$program")" env NADE_REQUIRE_GPU=1 "$program"
done
[ "${SANITIZE:-0}" = 1 ] && run compute-sanitizer env PROGRAMS="$programs" bash tests/cuda/sanitize.sh
echo >>"$log"
[ $failed -eq 0 ] && echo "all passed" >>"$log" || echo "$failed FAILED" >>"$log"
grep -E '^(== .*: |sources|device|all passed|[0-9]+ FAILED)' "$log"
[ $failed -eq 0 ]
