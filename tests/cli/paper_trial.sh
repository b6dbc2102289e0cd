# nade paper --no-test: recipes of all kinds train and tell their validation figures, and look at no test row.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_WRITE_JPEGS:?}"

binary_split data
real_data 66 5 >data/real.csv
mkdir data/train data/test
"$NADE_WRITE_JPEGS" data/train 5 24 0
"$NADE_WRITE_JPEGS" data/test 2 20 7
split='"kind": "split", "data": {"train": "train.csv", "valid": "valid.csv", "test": "test.csv"}'
network='"model": {"hidden": [12, 12]}, "orderings": [1]'
training='"training": {"optimizer": "nag", "momentum": 0.9, "batch": 20, "iterations": 4, "updates": 20, "pretrain": 1, "lr": [0.0001, 0.05]}'
boltzmann='"training": {"steps": 1, "batch": 20, "iterations": 2, "updates": 20, "momentum": 0.5, "lr": [0.1]}'

# recipe NAME TEXT
recipe() {
    echo "{\"table\": \"mine\", \"data_set\": \"made\", \"title\": \"a test\", \"seeds\": [0], \"paper\": {\"1\": 1.5}, $2}" >"$1.json"
}
recipe grid "$split, $network, $training"
recipe machine "$split, \"model\": {\"rbm\": [6]}, $boltzmann"
recipe deep "$split, \"model\": {\"rbm\": [6, 5], \"first\": \"machine\"}, $boltzmann"
recipe folds "\"kind\": \"folds\", \"data\": {\"file\": \"real.csv\", \"fold_count\": 3}, $network, $training"
recipe patches '"kind": "patches", "model": {"kind": "mog", "components": 2},
    "data": {"train": "train", "test": "test", "valid_images": 2, "side": 3, "pool": 300, "fresh": 0, "valid_rows": 60, "test_rows": 150}'
names=(grid machine deep folds patches)
paper() { expect 0 "$NADE" paper "${names[@]/%/.json}" --data data "$@"; }

paper --results trial --no-test
for words in 'grid seed 0: ' 'machine seed 0: ' 'deep seed 0: ' 'folds seed 0 fold 3: ' 'patches seed 0: '; do
    grep -F "$words" err | grep -F ', test rows not scored' >one || fail "no line of a trial: $words: $(cat err)"
    grep -F paper one && fail "a trial is held to the paper: $(cat one)"
done
[ -z "$(ls trial | grep json)" ] || fail "a trial left results: $(ls trial)"

# With --json what is told has no figure but validation's; all seeds have what the first one chose.
paper --results seeds --no-test --json --seeds 0,1
python3 - <<'PYTHON'
import json
told = [json.loads(line) for line in open("err") if line.startswith("{")]
assert len(told) == 4 * 2 + 2 * 3, told
for one in told:
    assert not {"figures", "standard_error", "bound", "final"} & set(one) and one["valid"] and not one["was_there"], one
assert {one["chosen"]["lr"] for one in told if one["recipe"] == "grid"} == {0.05}, told
PYTHON

# The recipe itself makes what the trial made, networks from where its checkpoints end.
paper --results trial
holds err 'grid: training 2 runs, 2 at a time, 2 from their checkpoints' '(paper 1.50)'
paper --results whole
python3 - <<'PYTHON'
from paper_runs import runs
for name in "grid", "machine", "deep", "folds", "patches":
    one, other = (list(runs(place + "/" + name).values()) for place in ("trial", "whole"))
    assert len(one) == (3 if name == "folds" else 1), one
    for a, b in zip(one, other):
        assert a["figures"] == b["figures"] and a["valid"] == b["valid"], (a, b)
PYTHON
for name in grid machine deep patches; do cmp trial/$name/seed0.safetensors whole/$name/seed0.safetensors; done
# What is there is told as it is.
paper --results trial --no-test
[ "$(grep -c 'was there already$' err)" = 7 ] || fail "$(cat err)"
