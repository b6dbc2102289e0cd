# nade paper with a recipe of folds on a device: all folds and seeds go side by side, and results are those of one fold after the
# other.  The device's place is taken by the CPU, so that this runs everywhere, and under ThreadSanitizer.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_STAND_IN:?a CUDA backend that computes on the CPU}"

real_data 60 5 >data.csv
# recipe NAME ITERATIONS RATES
recipe() {
    cat >"$1.json" <<JSON
{"table": "mine", "data_set": "made", "title": "a test", "kind": "folds", "seeds": [4, 9],
 "data": {"file": "data.csv", "fold_count": 3},
 "model": {"hidden": [8], "components": 2},
 "training": {"optimizer": "nag", "momentum": 0.9, "batch": 20, "iterations": $2, "updates": 20, "pretrain": 0, "lr": [$3]},
 "orderings": [1, 2], "paper": {"1": 2.5}}
JSON
}
device=(env NADE_CUDA_BACKEND="$NADE_STAND_IN" "$NADE" paper --device cuda --data . --threads 4)
# same FOLDER OTHER: results are equal but for how long they took and where.
same() {
    python3 - "$@" <<'PYTHON'
import json, sys
from paper_runs import runs
one, other = map(runs, sys.argv[1:])
assert list(one) == list(other) == [(seed, fold) for seed in (4, 9) for fold in (1, 2, 3)], (list(one), list(other))
seen = set()
for results in zip(one.values(), other.values()):
    for result in results:
        assert result.pop("seconds").keys() == {"train", "score"}, result
        del result["device"], result["precision"]
    assert json.dumps(results[0]) == json.dumps(results[1]), results
    seen.add(results[0]["figures"]["density"]["1"])
assert len(seen) == 6, seen
PYTHON
}

recipe folds 4 '0.001, 0.02'
expect 0 "$NADE" paper folds.json --data . --results alone --threads 4
tail -n 2 err >means
expect 0 "${device[@]}" folds.json --results abreast
same alone/folds abreast/folds
# Lines of six folds on stderr, each whole: eight for training, one for the result; then the means.
whole='^folds(: training [12] runs?, [12] at a time| seed [49] fold [123] lr 0[.0-9]+  iteration [1-4]/4  .* left'
whole="$whole| seed [49] fold [123], all rows  iteration [1-4]/4  .* left"
whole="$whole| seed [49] fold [123]: -?[.0-9]+ \(paper 2\.50\) with 1 ordering, .* s for scoring| seed [49], mean of 3 folds: .*)\$"
! grep -vE "$whole" err || fail "lines are mixed up: $(cat err)"
[ "$(grep -cE '^folds seed [49] fold [123]: ' err)" = 6 ] || fail "not a line for each fold: $(cat err)"
tail -n 2 err | cmp - means || fail "other means: $(cat err)"

# What is there is not made again, and with --json all else is an object each.
paper_run drop abreast/folds 4 2
paper_run drop abreast/folds 9 3
expect 0 "${device[@]}" folds.json --results abreast --json
same alone/folds abreast/folds
python3 - <<'PYTHON'
import json
objects = [json.loads(line) for line in open("err")]
made = {(o["seed"], o["fold"]) for o in objects if o.get("was_there") is False}
assert made == {(4, 2), (9, 3)} and len(objects) == 8, objects
PYTHON

# A fold that fails does not end one that has begun.  x is zero but in fold 1, so that weights on it reach the outputs in the
# training of the other folds only, and a decay that makes them grow (rate times decay is above 2) lets these diverge.
awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) print (i % 3 ? 0 : i + 1) "," i * 37 % 61 }' >edge.csv
awk 'BEGIN { for (i = 0; i < 60; i++) print 1 + i % 3, i }' >folds.txt
recipe edge 2 0.02
sed -i 's/"data.csv"/"edge.csv", "folds": "folds.txt"/; s/"components": 2/&, "order": "fixed"/; s/\[1, 2\]/[1]/
    s/"momentum": 0.9/"momentum": 0, "weight_decay": [200]/' edge.json
expect 1 "${device[@]}" edge.json --results partly --seeds 4
holds err 'edge seed 4 fold 1: ' 'nade: training diverged' failed
! grep -q 'edge seed 4 fold 1 failed' err || fail "a fold that is done is said to have failed: $(cat err)"
python3 -c 'from paper_runs import runs
assert list(runs("partly/edge")) == [(4, 1)]' || fail "other results: $(cat partly/edge.json)"

# They do go at the same time: each of six endless folds has its line, and one signal ends them all with one sentence.
recipe endless 1000000 0.001
set -m
"${device[@]}" endless.json --results endless 2>err &
pid=$!
trap 'kill -KILL "$pid" 2>/dev/null || true' EXIT
for _ in $(seq 600); do
    [ "$(grep -c '^endless: training 1 run' err)" -lt 6 ] || break
    sleep 0.1
done
sleep 0.2
kill -INT $pid
status=0
wait -f $pid || status=$?
trap - EXIT
[ $status = 1 ] || fail "SIGINT: exit status $status: $(cat err)"
[ "$(grep -c '^endless: training 1 run' err)" = 6 ] || fail "the folds did not go at the same time: $(cat err)"
[ "$(grep -c '^nade: stopped by a signal' err)" = 1 ] || fail "not one sentence: $(cat err)"
[ -z "$(find endless -type f)" ] || fail "results of folds that were stopped: $(find endless -type f)"
