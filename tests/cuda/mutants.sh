#!/usr/bin/env bash
# On a machine with a device: the tests notice every seeded fault of src/backend/cuda/cuda_fault.h.
#
#   tests/cuda/mutants.sh PROGRAMS OBJECTS [FAULT...]
#
# PROGRAMS is the folder of the test programs, OBJECTS that of the objects that `make cuda-mutants` built (BUILD/cuda_mutants),
# each OBJECTS/FAULT/libnade_cuda.so.  Of each fault the program that its line names must fail, and pass with the object that the
# programs find by themselves.  Prints one line a fault, and what the program said; ends with 1 when one was not noticed.
set -u
cd "$(dirname "$0")/../.." || exit 1
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

survivors=0
while read -r fault program explanation; do
    [ $# -eq 0 ] || [[ " $* " = *" $fault "* ]] || continue
    object=$objects/$fault/libnade_cuda.so
    [ -e "$object" ] || { echo "$fault: there is no $object"; exit 2; }
    if said=$(NADE_CUDA_BACKEND=$object "$programs/$program" 2>&1); then
        survivors=$((survivors + 1))
        noticed=SURVIVES
    else
        noticed=$(grep -m 1 -oE 'off by [^,]*|[0-9.e+-]+ != [0-9.e+-]+|[a-z_]+\.c:[0-9]+' <<<"$said")
    fi
    printf '%-26s %-22s %-28s %s\n' "$fault" "$program" "${noticed:-failed}" "$explanation"
done <<<"$faults"
[ "$survivors" -eq 0 ] || { echo "$survivors seeded faults were not noticed."; exit 1; }
