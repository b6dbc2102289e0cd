#!/usr/bin/env bash
# On a machine with a device: the tests notice every seeded fault of src/backend/cuda/cuda_fault.h.
#
#   [JOBS=n] tests/cuda/mutants.sh PROGRAMS OBJECTS [FAULT...]
#
# PROGRAMS is the folder of the test programs, OBJECTS that of the objects that `make cuda-mutants` built (BUILD/cuda_mutants),
# each OBJECTS/FAULT/libnade_cuda.so.  Of each fault the program that its line names must fail, and pass with the object that the
# programs find by themselves.  JOBS of them (1) run at a time.  Prints one line a fault, and what the program said; ends with 1 when
# one was not noticed.
set -u
cd "$(dirname "$0")/../.." || exit 1

# One fault, as this script calls itself by xargs: 0 where it was noticed, 1 where not, 2 where it could not be tried.
if [ "${1-}" = --one ]; then
    read -r programs objects fault program explanation <<<"${*:2}"
    object=$objects/$fault/libnade_cuda.so
    [ -e "$object" ] || { echo "$fault: there is no $object"; exit 2; }
    status=0
    if said=$(NADE_CUDA_BACKEND=$object "$programs/$program" 2>&1); then
        status=1
        noticed=SURVIVES
    else
        noticed=$(grep -m 1 -oE 'off by [^,]*|[0-9.e+-]+ != [0-9.e+-]+|[a-z_]+\.c:[0-9]+' <<<"$said")
    fi
    printf '%-26s %-22s %-28s %s\n' "$fault" "$program" "${noticed:-failed}" "$explanation"
    exit "$status"
fi

programs=$(realpath "${1:?which folder holds the test programs?}")
objects=$(realpath "${2:?which folder holds the objects?}")
shift 2
export NADE_REQUIRE_GPU=1

# Lines "FAULT_NAME = n, /* program: explanation */" as "FAULT_NAME program explanation".
faults=$(sed -n 's|^ *\(FAULT_CUDA_[A-Z_]*\) = [0-9]*, */\* \([a-z_]*\): \(.*\) \*/$|\1 \2 \3|p' src/backend/cuda/cuda_fault.h)
[ -n "$faults" ] || { echo "cuda_fault.h lists no faults" >&2; exit 2; }

for program in $(awk '{ print $2 }' <<<"$faults" | sort -u); do
    "$programs/$program" >/dev/null 2>&1 || { echo "$program fails without any fault"; exit 1; }
done

chosen=$(while read -r fault rest; do
    [ $# -eq 0 ] || [[ " $* " = *" $fault "* ]] || continue
    echo "$programs $objects $fault $rest"
done <<<"$faults")
[ -n "$chosen" ] || { echo "cuda_fault.h lists none of: $*" >&2; exit 2; }
xargs -d '\n' -P "${JOBS:-1}" -n 1 bash tests/cuda/mutants.sh --one <<<"$chosen" || { echo "Not all seeded faults were noticed."; exit 1; }
