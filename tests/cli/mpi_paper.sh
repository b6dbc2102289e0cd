# nade paper over ranks: folds, settings and seeds are jobs of one rank each, with the figures and models of one process;
# a fold that fails is said and left out.
. "$(dirname "$0")/../support/checks.bash"

[ -e "$(dirname "$NADE")/libnade_mpi.so" ] || { echo "skipped: libnade_mpi.so was not built (make mpi)"; exit 77; }
mpirun --version 2>/dev/null | grep -q 'Open MPI' || { echo "skipped: there is no mpirun of Open MPI"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
ranks() {
    local count=$1
    shift
    mpirun --oversubscribe -n "$count" "$NADE" "$@"
}

# same NAME: the results of one process and of ranks, but for what they took.
same() {
    python3 - "$1" <<'PYTHON'
import sys
from paper_runs import runs
one, ranks = runs("one/" + sys.argv[1]), runs("ranks/" + sys.argv[1])
for run in (*one.values(), *ranks.values()):
    del run["seconds"]
assert one and one == ranks, (one, ranks)
PYTHON
}

paper() { # paper COUNT WORDS...: the same words by one process and by COUNT ranks
    local count=$1
    shift
    expect 0 "$NADE" paper "$@" --data . --results one --threads 1 -q
    expect 0 ranks "$count" paper "$@" --data . --results ranks --threads 1
    [ "$(grep -c 'not there' err)" = 0 ] || fail "$(cat err)"
}

real_data 66 5 >data.csv
awk 'BEGIN { printf "#"; for (i = 0; i < 99; i++) printf " fold row"; print ""; for (i = 0; i < 66; i++) print 1 + i % 3, i }' >folds.txt
folds='"kind": "folds", "seeds": [4, 5], "data": {"file": "data.csv", "folds": "folds.txt", "fold_count": 3}'
split='"kind": "split", "seeds": [0, 1, 2], "data": {"train": "train.csv", "valid": "valid.csv", "test": "test.csv"}'
head='"table": "mine", "data_set": "made", "title": "a test", "paper": {}'
training='"optimizer": "nag", "momentum": 0.9, "batch": 20, "iterations": 3, "updates": 20, "pretrain": 0'
echo "{$head, $folds, \"model\": {\"hidden\": [8], \"components\": 3}, \"orderings\": [1, 2], \"training\": {$training, \"lr\": [0.004, 0.001]}}" >folds.json
echo "{$head, $split, \"model\": {\"hidden\": [8]}, \"orderings\": [1, 2], \"training\": {$training, \"lr\": [0.05, 0.001], \"weight_decay\": [0, 0.001]}}" >grid.json
echo "{$head, $split, \"model\": {\"kind\": \"mixture\", \"components\": 3}}" >mixture.json
binary_data 60 1 >train.csv
binary_data 40 2 >valid.csv
binary_data 40 3 >test.csv
paper 2 folds.json
same folds
paper 3 grid.json mixture.json
same grid
same mixture
for model in one/grid/*; do cmp "$model" "ranks/${model#one/}" || fail "a model of ranks has other bytes"; done
[ "$(ls one/grid)" = "$(ls ranks/grid)" ] || fail "files are left: $(ls ranks/grid)"

# What is there is not made again, and told by the first rank.
cp ranks/folds.json before
expect 0 ranks 2 paper folds.json --data . --results ranks --threads 1
cmp before ranks/folds.json || fail "results were made again"
[ "$(grep -c 'was there already' err)" = 6 ] || fail "told $(cat err)"

