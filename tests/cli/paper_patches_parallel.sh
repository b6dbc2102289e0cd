# nade paper with a recipe of patches: images to rows, fresh rows while training goes on, the test in parts.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_WRITE_JPEGS:?}"

mkdir train test
"$NADE_WRITE_JPEGS" train 5 24 0
"$NADE_WRITE_JPEGS" test 2 20 7

# recipe NAME RATES FRESH [SEEDS]
recipe() {
    cat >"$1.json" <<JSON
{"table": "mine", "data_set": "made", "title": "a test", "kind": "patches",
 "data": {"train": "train", "test": "test", "valid_images": 2, "side": 3, "pool": 300, "fresh": $3,
          "valid_rows": 60, "test_rows": 150},
 "model": {"hidden": [12, 12], "components": 2},
 "training": {"optimizer": "nag", "momentum": 0.9, "batch": 30, "iterations": 6, "updates": 20, "pretrain": 2,
              "lr": [$2]},
 "seeds": [${4:-0}], "orderings": [1, 2, 4], "paper": {"1": 2.5}}
JSON
}
paper() { expect 0 "$NADE" paper "$@" --data . --threads 2; }
# figures RESULTS/NAME SEED RESULTS/NAME SEED: their figures are the same.
figures() {
    python3 -c '
import sys
from paper_runs import run
results = [run(place, int(seed)) for place, seed in zip(sys.argv[1::2], sys.argv[2::2])]
for r in results[1:]:
    assert r["figures"] == results[0]["figures"] and r["valid"] == results[0]["valid"], results' "$@"
}

recipe one 0.01 100
paper one.json --results a
python3 - <<'PYTHON'
from paper_runs import run
r = run("a/one", 0)
assert r["test_rows"] == 150 and set(r["figures"]) == {"density"}, r
d = r["figures"]["density"]
assert set(d) == {"1", "2", "4"} and d["1"] < d["2"] < d["4"], r
assert r["updates"] == 20 * 8 and r["batch"] == 30 and r["chosen"]["lr"] == 0.01, r
PYTHON
expect 0 "$NADE" info a/one/seed0.safetensors
holds out 'Columns: 8' '300 for training, 60 for validation'

# The same again, whatever the thread that makes the rows does; also beside runs of other rates that share it.
paper one.json --results b
figures a/one 0 b/one 0
cmp a/one/seed0.safetensors b/one/seed0.safetensors || fail "another model"
recipe rates '0.00001, 0.01, 0.00002' 100
paper rates.json --results b
figures a/one 0 b/rates 0

# killed NAME CHECKPOINT: once that checkpoint is there, and run again.  The rows that it had have to be made again.
killed() {
    "$NADE" paper "$1.json" --data . --results b --threads 2 --quiet &
    pid=$!
    trap 'kill -KILL "$pid" 2>/dev/null || true' EXIT
    for _ in $(seq 3000); do
        [ ! -e "b/$1/$2" ] || break
        sleep 0.02
    done
    kill -KILL $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    trap - EXIT
    [ -e "b/$1/$2" ] || paper_run has "b/$1" 0 || fail "no checkpoint"
    paper "$1.json" --results b
    figures "a/$1" 0 "b/$1" 0
    cmp "a/$1/seed0.safetensors" "b/$1/seed0.safetensors" || fail "another model after a kill"
    [ -z "$(find b -name '*.checkpoint*')" ] || fail "a checkpoint is still there"
}
recipe long 0.01 100
recipe longs '0.00001, 0.01, 0.00002' 100
sed -i 's/"iterations": 6/"iterations": 80/' long.json longs.json
paper long.json longs.json --results a
figures a/long 0 a/longs 0
killed long seed0.checkpoint
# Of three rates, two at a time, the first two have ended when the third begins.
killed longs seed0-setting3.checkpoint

# Where all results are there, nothing else is needed.
mv train hidden
paper one.json --results a
holds err 'was there already'
mv hidden train

# Fresh rows matter.
recipe stale 0.01 0
paper stale.json --results b
! figures a/one 0 b/stale 0 2>/dev/null || fail "no fresh rows are used"

# Seeds share the patches and differ in all else.
recipe seeds 0.01 100 '0, 1'
paper seeds.json --results b
figures a/one 0 b/seeds 0
! figures a/one 0 b/seeds 1 2>/dev/null || fail "the seed has no effect"

sed 's/"valid_images": 2/"valid_images": 5/' one.json >none.json
refuse 2 'train' '5 images' -- "$NADE" paper none.json --data . --results c --quiet
rm -r test
refuse 2 'test' -- "$NADE" paper one.json --data . --results c --quiet
