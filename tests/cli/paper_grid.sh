# nade paper with several settings, killed and run again: the same figures and models as without, and no setting that
# had ended is trained again.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_STAND_IN:?a CUDA backend that computes on the CPU}"

binary_split data
cat >grid.json <<'JSON'
{"table": "mine", "data_set": "Bits", "title": "two layers", "kind": "split",
 "data": {"train": "train.csv", "valid": "valid.csv", "test": "test.csv"},
 "model": {"hidden": [12, 12]},
 "training": {"optimizer": "nag", "momentum": 0.9, "batch": 20, "iterations": 150, "updates": 40, "pretrain": 1,
              "lr": [0.0001, 0.05], "weight_decay": [0, 0.001]},
 "seeds": [0, 1], "orderings": [1, 8], "paper": {}}
JSON
paper=("$NADE" paper grid.json --data data)

# start RESULTS OPTION...: in the background, its messages in the file told.
start() {
    "${paper[@]}" --results "$@" 2>told &
    pid=$!
    trap 'kill -KILL "$pid" 2>/dev/null || true' EXIT
}

# wait_for FILE...: until all are there.
wait_for() {
    local file
    for file; do
        for _ in $(seq 4000); do
            if [ -e "$file" ]; then break; fi
            sleep 0.005
        done
    done
}

end() {
    kill -KILL $pid 2>/dev/null || fail "it was over before it could be killed: $(cat told)"
    wait $pid 2>/dev/null || true
    trap - EXIT
}

# same RESULTS: what whole/ holds, but for the seconds, where training went on from a checkpoint, and what a kill left half
# written.
same() {
    local seed
    python3 -c '
import sys
from paper_runs import runs
one, other = (list(runs(place).values()) for place in sys.argv[1:])
for result in one + other:
    for key in "seconds", "resumed", "device", "machine":
        result.pop(key, None)
assert one == other and len(one) == 2, (one, other)' "$1/grid" whole/grid
    [ "$(ls -A "$1/grid" | grep -v tmp | tr '\n' ' ')" = 'seed0.safetensors seed1.safetensors ' ] || fail "$(ls -A "$1/grid")"
    for seed in 0 1; do
        cmp "$1/grid/seed$seed.safetensors" whole/grid/seed$seed.safetensors || fail "another model in $1"
    done
}

expect 0 "${paper[@]}" --results whole
! grep -q resumed whole/grid.json || fail "a run from its beginning says that it was resumed"
python3 -c '
from paper_runs import run
grid = run("whole/grid", 0)["grid"]
assert len(grid) == 4 and len({g["valid"] for g in grid}) == 4, grid'

# One setting after the other, killed in the third.
start one --threads 1
wait_for one/grid/seed0-setting3.checkpoint
end
[ "$(ls -A one/grid | grep -v tmp | tr '\n' ' ')" = 'seed0-setting1.checkpoint seed0-setting2.checkpoint seed0-setting3.checkpoint ' ] || fail "$(ls -A one/grid)"
cp -r one kept
cp one/grid/seed0-setting1.checkpoint ended
expect 0 "${paper[@]}" --results one --threads 1
holds err 'grid: training 4 runs, 1 at a time, 3 from their checkpoints'
# Training has lines of progress, eleven for what begins; what had ended has none.
[ "$(grep -c '^grid seed 0 lr 0.0001 weight decay 0  ' err)" = 0 ] || fail "setting 1 was trained again: $(cat err)"
[ "$(grep -c '^grid seed 0 lr 0.0001 weight decay 0.001  ' err)" = 0 ] || fail "setting 2 was trained again: $(cat err)"
[ "$(grep -c '^grid seed 0 lr 0.05 weight decay 0.001  ' err)" = 11 ] || fail "setting 4 was not trained: $(cat err)"
same one
paper_run show one/grid 0 | grep '"resumed": true' >/dev/null || fail "it does not say that it went on from a checkpoint"
! paper_run show one/grid 1 | grep resumed >/dev/null || fail "the second seed says that it was resumed"

# All at a time on a device, whose place the CPU takes.
export NADE_CUDA_BACKEND=$NADE_STAND_IN
start device --device cuda
wait_for device/grid/seed0-setting{1,2,3,4}.checkpoint
end
! paper_run has device/grid 0 || fail "it was over before it could be killed"
expect 0 "${paper[@]}" --results device --device cuda
holds err 'grid: training 4 runs, 4 at a time, 4 from their checkpoints'
same device
export NADE_CUDA_BACKEND=

# Killed again and again, wherever it is.
RANDOM=5
for kills in $(seq 100); do
    start many
    sleep "0.$(printf '%03d' $((RANDOM % 300 + 50)))"
    kill -KILL $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    if grep -qs '"seed": 1' many/grid.json; then break; fi
done
[ "$kills" -gt 2 ] || fail "killed $kills times only"
expect 0 "${paper[@]}" --results many
same many

# The checkpoint of another setting is refused, and it says what to do.
cp ended kept/grid/seed0-setting2.checkpoint
refuse 2 weight_decay -- "${paper[@]}" --results kept --threads 1
holds err 'remove the checkpoint kept/grid/seed0-setting2.checkpoint'

# So is that of another form of the recipe, also where the recipe leaves the option out.
checkpoint_of() {
    mkdir -p "other/$1"
    sed "s/\"pretrain\"/\"$1\": $2, &/" grid.json >"other/$1/grid.json"
    "$NADE" paper "other/$1/grid.json" --data data --results "other/$1/results" --threads 1 2>told &
    pid=$!
    trap 'kill -KILL "$pid" 2>/dev/null || true' EXIT
    wait_for "other/$1/results/grid/seed0-setting1.checkpoint"
    end
    refuse 2 "another value of $1" -- "${paper[@]}" --results "other/$1/results" --threads 1
}
checkpoint_of initial_scale 2
checkpoint_of scaled_means true

# A seed's grid has its own runs only.
expect 0 "${paper[@]}" --results more --seeds 0,1,2
python3 -c '
from paper_runs import run
assert [len(run("more/grid", seed)["grid"]) for seed in range(3)] == [4, 1, 1]'
