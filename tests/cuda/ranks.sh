#!/usr/bin/env bash
# tests/cuda/ranks.sh BUILD [RANKS]
#
# Ranks on a machine with a CUDA device, with more ranks than devices too: each takes the device of its place on the
# host, and jobs, candidates, members and rates, end in the bytes of one process.  Needs `make cuda mpi` in BUILD and an
# mpirun of Open MPI; exits with 77 where something is missing.
set -eu
build=$(realpath "$1")
count=${2:-2}
nade=$build/nade
fail() { echo "$0: $*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }
[ -e "$build/libnade_mpi.so" ] || skip "libnade_mpi.so was not built (make mpi)"
mpirun --version 2>/dev/null | grep -q 'Open MPI' || skip "there is no mpirun of Open MPI"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
ranks() { timeout 120 mpirun --oversubscribe -n "$count" "$nade" "$@"; }

awk 'BEGIN { srand(5); print "a,b,c,d"
    for (i = 0; i < 2000; i++) { a = rand() < 0.4; print a "," (rand() < (a ? 0.8 : 0.2)) "," (a + rand()) "," (i % 7 ? rand() : "") } }' >table.csv
train=(train table.csv --device cuda --iterations 6 --updates 20 --seed 7)
"$nade" "${train[@]}" --effort quick -q -o probe || skip "there is no CUDA device that trains"

# One device a rank, by its place; where there are fewer, several ranks have one.
devices=$(ls /dev | grep -cE '^nvidia[0-9]+$' || true)
[ "$devices" -gt 0 ] || skip "there is no /dev/nvidia0"

for words in "--effort quick --members 3" "--effort best" "--lr 0.002,0.001,0.0005 --effort quick" "--effort quick"; do
    "$nade" "${train[@]}" $words -q -o alone
    ranks "${train[@]}" $words -q -o several 2>err || fail "$count ranks fail with $words: $(cat err)"
    cmp alone several || fail "$count ranks end in other bytes with $words"
    echo "$count ranks on $devices device(s), $words: the bytes of one process"
done
"$nade" score alone table.csv --device cuda -q >one.csv
ranks score alone table.csv --device cuda -q >ranks.csv
cmp one.csv ranks.csv || fail "$count ranks score otherwise"
echo "$count ranks score as one process"
