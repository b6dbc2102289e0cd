# Ranks that mpirun has started: the bytes of one process, a rank that dies, another number of them, what they refuse.
. "$(dirname "$0")/../support/checks.bash"
. "$(dirname "$0")/../support/ranks.bash"

awk 'BEGIN { srand(5); print "a,b,c"
    for (i = 0; i < 300; i++) { a = rand() < 0.4; print a "," (rand() < (a ? 0.8 : 0.2)) "," (i % 9 ? rand() : "") } }' >table.csv
short=(--hidden 9,8 --components 3 --iterations 4 --updates 5 --batch 40 --device cpu --threads 1 --seed 7)

expect 0 "$NADE" train table.csv "${short[@]}" --json -o alone
expected=$(sed -n 's/.*"valid_log_density":\([-0-9.e]*\).*/\1/p' err)
for count in 1 4; do
    expect 0 ranks $count train table.csv "${short[@]}" --exact-sums --mpi on -q -o model
    cmp alone model || fail "$count ranks with exact sums end in other bytes"
    [ ! -s err ] || fail "--quiet is not: $(cat err)"
done
expect 0 ranks 2 train table.csv "${short[@]}" --json -o fast
[ "$(wc -l <err)" = 1 ] || fail "one rank is expected to speak: $(cat err)"
sed -n 's/.*"valid_log_density":\([-0-9.e]*\).*/\1/p' err |
    awk -v e="$expected" '{ d = $1 / e - 1; exit !(d < 1e-4 && d > -1e-4) }' || fail "far from $expected: $(cat err)"

# Rates are jobs of their own, with the bytes of one process.
"$NADE" train table.csv "${short[@]}" --lr 0.05,0.01,0.02 -q --log one.csv -o rates
expect 0 ranks 2 train table.csv "${short[@]}" --lr 0.05,0.01,0.02 -q --log two.csv -o spread
cmp rates spread || fail "rates that are spread over ranks end in other bytes"
[ "$(cut -d, -f1-8 one.csv | sort)" = "$(cut -d, -f1-8 two.csv | sort)" ] || fail "the log has other lines: $(cat two.csv)"

# So are candidates on trial and members, and networks of folds.
few=(table.csv --components 3 --iterations 3 --updates 5 --batch 40 --width 12 --device cpu --threads 1 --seed 7)
for jobs in "--effort best --valid-fraction 0.2" "--effort quick --members 3 --folds 3"; do
    expect 0 "$NADE" train "${few[@]}" $jobs -q --log one.csv -o one_by_one
    expect 0 ranks 2 train "${few[@]}" $jobs -q --log two.csv -o jobs
    cmp one_by_one jobs || fail "jobs end in other bytes: $jobs"
    [ "$(cut -d, -f1-7,9- one.csv | sort)" = "$(cut -d, -f1-7,9- two.csv | sort)" ] || fail "the log of jobs has other lines: $(cat two.csv)"
done

# Rows in order in one file, from the first rank alone.
"$NADE" score alone table.csv -q >scores
"$NADE" sample alone -n 30 -q >samples
expect 0 ranks 2 score alone table.csv -q
cmp out scores || fail "two ranks score otherwise"
expect 0 ranks 3 sample alone -n 30 -q -o rows
cmp rows samples || fail "three ranks sample otherwise"
[ ! -s out ] || fail "a rank wrote to stdout"

# A rank that dies ends all with a sentence; another number of them goes on from the checkpoint, to the same bytes.
long=(table.csv --hidden 60,60 --components 3 --iterations 150 --updates 8 --patience 0 --batch 200 --device cpu --threads 1 --exact-sums)
expect 0 "$NADE" train "${long[@]}" -q -o alone
mpirun --oversubscribe -n 1 "$NADE" train "${long[@]}" --checkpoint checkpoint -q -o never : \
    -n 1 bash -c 'echo $$ >pid; exec "$@"' bash "$NADE" train "${long[@]}" --checkpoint checkpoint -q -o never >out 2>err &
until [ -s checkpoint ]; do sleep 0.02; done
kill -9 "$(cat pid)"
wait $! && fail "a rank was killed and mpirun ended well"
holds err "--resume goes on from the last checkpoint"
[ ! -e never ] || fail "a run without all of its ranks wrote a model"
expect 0 ranks 4 train "${long[@]}" --resume checkpoint -q -o resumed
cmp alone resumed || fail "four ranks go on otherwise from the checkpoint of two"

# A signal that one rank has got, and Ctrl-C, which mpirun passes on to all: the best model so far is written.  From
# Ctrl-C on mpirun reads nothing, so iterations are long enough for their lines to fit into a pipe.
endless=(table.csv --hidden 9 --components 3 --iterations 1000000 --updates 10000 --patience 0 --no-cooldown --batch 40 --device cpu --threads 1)
python3 - "$NADE" "${endless[@]}" <<'PYTHON'
import os, signal, subprocess, sys, time
nade, *words = sys.argv[1:]
def begin(name):
    rank = [nade, "train", *words, "--log", name + ".csv", "-o", name]
    second = ["bash", "-c", 'echo $$ >rank1 && exec "$@"', "bash", *rank]
    return subprocess.Popen(["mpirun", "--oversubscribe", "--mca", "odls_base_sigkill_timeout", "4", "-n", "1", *rank, ":", "-n", "1",
                             *second], stderr=subprocess.PIPE, text=True)
def wait(name, process):
    while not (os.path.exists(name + ".csv") and open(name + ".csv").read().count("\n") > 3):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
process = begin("by_rank")
wait("by_rank", process)
os.kill(int(open("rank1").read()), signal.SIGINT)
told = process.communicate(timeout=100)[1]
assert process.returncode == 0 and "stopped early" in told, (process.returncode, told)
process = begin("by_mpirun")
wait("by_mpirun", process)
process.send_signal(signal.SIGINT)
told = process.communicate(timeout=100)[1]
assert "stopped early" in told, told
PYTHON
for model in by_rank by_mpirun; do
    expect 0 "$NADE" info $model
    holds out "Columns: 3"
done

# What can't begin.
apart() { # apart TEXT WORDS WORDS: ranks that were given these words refuse to begin
    expect 2 mpirun --oversubscribe -n 1 "$NADE" $2 : -n 1 "$NADE" $3
    holds err "$1 differs between rank 0 and rank 1"
}
apart "the option --where" "sample rates --where a=1" "sample rates --where a=0"
apart "the model" "predict rates table.csv --of a" "predict fast table.csv --of a"
# Another version: the same program under another name of its sources.
build=$(grep -aoE '[0-9]+\.[0-9]+\.[0-9]+-[0-9a-f]{12}' "$(dirname "$NADE")/libnade_mpi.so" | head -n 1)
[ -n "$build" ] || fail "libnade_mpi.so does not say of which sources it is"
mkdir other
for file in nade libnade_mpi.so; do LC_ALL=C sed "s/$build/${build%?????}other/g" "$(dirname "$NADE")/$file" >other/$file; done
chmod +x other/nade
expect 2 mpirun --oversubscribe -n 1 "$NADE" score alone table.csv -q : -n 1 other/nade score alone table.csv -q
holds err "the version of nade differs between rank 0 and rank 1"
expect 2 ranks 2 score alone - -q
holds err "standard input reaches the first of 2 ranks alone"

# Variables that no mpirun has set.
export OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2
refuse 1 "the environment tells of rank 1 of 2, but MPI of rank 0 of 1" -- "$NADE" train table.csv "${short[@]}" -o model
expect 0 "$NADE" info alone
holds out "Columns: 3"
export OMPI_COMM_WORLD_RANK=0 NADE_MPI_OBJECT=/nowhere/libnade_mpi.so
refuse 1 "this is one of several ranks" "/nowhere/libnade_mpi.so" -- "$NADE" train table.csv "${short[@]}" -o model
expect 0 "$NADE" train table.csv "${short[@]}" --mpi off -q -o model
