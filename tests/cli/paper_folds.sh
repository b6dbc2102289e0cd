# nade paper with a recipe of folds: which rows are tested, learnt from and new; the grid, the final run and where it
# stops or diverges; the four figures; the Gaussian.
. "$(dirname "$0")/../support/checks.bash"

# 66 rows in three folds of 22: row i is in fold 1 + i mod 3, and every sixth row is the row before it once more.
real_data 66 5 | awk -F';' -v OFS=';' '
    NR == 1 { print "label", $0; next }
    (NR - 2) % 6 != 5 { kept = $0 }
    { print "row" NR, kept }' >data.csv
awk 'BEGIN { printf "#"; for (i = 0; i < 99; i++) printf " fold row"; print ""; for (i = 0; i < 66; i++) print 1 + i % 3, i }' >folds.txt
data='"file": "data.csv", "drop": "label", "folds": "folds.txt", "fold_count": 3'
head='"table": "mine", "data_set": "made", "title": "a test", "kind": "folds", "seeds": [4], "paper": {}'
paper() { expect 0 "$NADE" paper "$@" --data . --results results --threads 2; }

# ---- the Gaussian, against two columns' closed form --------------------------------------------------------------
echo "{$head, \"data\": {$data}, \"model\": {\"kind\": \"gaussian\"}}" >gauss.json
paper gauss.json
python3 - <<'PYTHON'
from paper_runs import run
import json, math
rows = [tuple(map(float, l.split(";")[1:])) for l in open("data.csv").read().split()[1:]]
for fold in (1, 2, 3):
    train = [r for i, r in enumerate(rows) if 1 + i % 3 != fold]
    test = [r for i, r in enumerate(rows) if 1 + i % 3 == fold]
    n = len(train)
    mean = [sum(r[c] for r in train) / n for c in (0, 1)]
    sd = [math.sqrt(sum((r[c] - mean[c]) ** 2 for r in train) / n) for c in (0, 1)]
    unit = lambda r: [(r[c] - mean[c]) / sd[c] for c in (0, 1)]
    rho = sum(unit(r)[0] * unit(r)[1] for r in train) / n
    def log_density(r):
        a, b = unit(r)
        own = 1 + 0.001 ** 2  # the floor's square is added to each variance
        left = own * own - rho * rho
        q = (own * a * a - 2 * rho * a * b + own * b * b) / left
        return -math.log(2 * math.pi) - 0.5 * math.log(left) - 0.5 * q
    new = [r for r in test if r not in train]
    result = run("results/gauss", 4, fold)
    assert len(test) == 22 == result["test_rows"] and len(new) == (22 if fold == 1 else 11), (test, new)
    assert result["new_rows"] == len(new), result
    assert set(result["figures"]) == {"density", "density_new_rows", "cells", "cells_new_rows"}, result
    assert result["chosen"] == {"components": 1} and "updates" not in result and "grid" not in result, result
    for name, some in ("density", test), ("density_new_rows", new):
        wanted = sum(map(log_density, some)) / len(some)
        assert abs(result["figures"][name]["1"] - wanted) < 2e-5, (fold, name, result, wanted)
    spread = [log_density(r) for r in test]
    middle = sum(spread) / 22
    error = math.sqrt(sum((s - middle) ** 2 for s in spread) / 21 / 22)
    assert abs(result["standard_error"]["1"] - error) < 2e-5, (result, error)
    assert result["seed"] == 4 and result["fold"] == fold and "curve" not in result, result
    assert (result["device"], result["precision"]) == ("cpu", "fp64"), result
PYTHON

# The mean over folds is told when all are there, again and with --json too.
python3 - >mean <<'PYTHON'
from paper_runs import run
import json, statistics
each = [run("results/gauss", 4, fold)["figures"]["density"]["1"] for fold in (1, 2, 3)]
print("gauss seed 4, mean of 3 folds: %.3f ± %.3f" % (statistics.fmean(each), statistics.stdev(each) / 3 ** 0.5))
PYTHON
[ "$(tail -n 1 err)" = "$(cat mean)" ] || fail "told $(tail -n 1 err), expected $(cat mean)"
paper gauss.json
[ "$(tail -n 1 err)" = "$(cat mean)" ] || fail "told later $(tail -n 1 err), expected $(cat mean)"
paper gauss.json --json
python3 - <<'PYTHON'
import json, statistics
*units, means = [json.loads(line) for line in open("err")]
assert len(units) == 3 and means["folds"] == 3 and means["seed"] == 4 and "was_there" not in means, means
for score in "density", "density_new_rows":
    wanted = statistics.fmean(unit["figures"][score]["1"] for unit in units)
    assert abs(means["figures"][score]["1"] - wanted) < 1e-12, (means, wanted)
assert set(means["standard_error"]) == {"1"}, means
PYTHON

# ---- factor analysers: the final fit, of all rows, ends where that of the validation rows did -----------------------
echo "{$head, \"data\": {$data, \"run_folds\": [2]}, \"model\": {\"kind\": \"mfa\", \"components\": 2, \"factors\": 1}}" >mfa.json
paper mfa.json
python3 - <<'PYTHON'
from paper_runs import run
result, one = run("results/mfa", 4, 2), run("results/gauss", 4, 2)
assert result["chosen"] == {"components": 2, "factors": 1}, result
assert result["figures"]["density"]["1"] > one["figures"]["density"]["1"] + 0.1, (result["figures"], one["figures"])
assert result["final"]["train"] > result["final"]["stop_train"], result
PYTHON

# ---- networks ----------------------------------------------------------------------------------------------------
network='"model": {"hidden": [8, 7], "components": 3}, "orderings": [1, 2, 16]'
training='"optimizer": "nag", "momentum": 0.9, "batch": 20, "pretrain": 2, "updates": 40'
grid='"lr": [0.001, 0.004], "weight_decay": [0.01, 0]' # calm enough that rounding does not decide where a run stops
echo "{$head, \"data\": {$data}, $network, \"training\": {$training, \"iterations\": 12, $grid}}" >grid.json
echo "{$head, \"data\": {$data, \"run_folds\": [2]}, $network, \"training\": {$training, \"iterations\": 1, $grid}}" >one.json
paper grid.json one.json
python3 -c '
from paper_runs import runs
assert list(runs("results/grid")) == [(4, 1), (4, 2), (4, 3)] and list(runs("results/one")) == [(4, 2)]'
[ -z "$(ls results/grid results/one | grep -v ':$')" ] || fail "other files: $(ls results/grid results/one)"

# The rows that fold 2 learns from, shuffled as paper/fold_split.h says; the first ninth validates.
python3 - <<'PYTHON'
seed, fold, mask = 4, 2, 2 ** 64 - 1
state = seed << 32 | fold
def draw():
    global state
    state = (state + 0x9E3779B97F4A7C15) & mask
    z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
    return z ^ z >> 31
lines = [l.split(";", 1)[1] for l in open("data.csv").read().split()]
rows = [i for i in range(66) if 1 + i % 3 != fold]
for left in range(len(rows), 1, -1):
    at = (draw() >> 32) * left >> 32
    rows[left - 1], rows[at] = rows[at], rows[left - 1]
parts = {"train": rows, "valid": rows[:4], "fit": rows[4:], "test": range(1, 66, 3)}
for name, part in parts.items():
    open(name + ".csv", "w").write("\n".join([lines[0]] + [lines[1 + i] for i in part]) + "\n")
open("valid_rows", "w").writelines(f"{i}\n" for i in parts["valid"])
PYTHON

options=(--hidden 8,7 --components 3 --optimizer nag --momentum 0.9 --batch 20 --pretrain 2 --updates 40 --seed 4
    --patience 0 --average 0 --no-atoms --real x,y --quiet)
# chosen RECIPE: sets rate and decay of fold 2.
chosen() {
    rate=$(python3 -c "from paper_runs import run; print(run('results/$1', 4, 2)['chosen']['lr'])")
    decay=$(python3 -c "from paper_runs import run; print(run('results/$1', 4, 2)['chosen']['weight_decay'])")
}

# The chosen run by hand, and the run on all rows with it: it is to stop where its loss first falls below.
chosen grid
for part in fit train; do
    valid=(--valid valid.csv)
    [ $part = fit ] || valid=(--valid-fraction 0)
    expect 0 "$NADE" train $part.csv "${valid[@]}" "${options[@]}" --iterations 12 --lr "$rate" --weight-decay "$decay" \
        --log $part.log -o $part.model
done
python3 - <<'PYTHON'
from paper_runs import run
import csv, json
result = run("results/grid", 4, 2)
log = {part: [r for r in csv.DictReader(open(part + ".log")) if r["stage"] == "1"] for part in ("fit", "train")}
loss = lambda part: [float(r["train_loss"]) for r in log[part]]
valid = [-float(r["valid_loss"]) for r in log["fit"]]
best = valid.index(max(valid))
assert result["chosen"]["iteration"] == best + 1, (result, valid)
assert abs(result["valid"] - max(valid)) < 1e-9, (result, valid)
assert max(g["valid"] for g in result["grid"]) == result["valid"] and len(result["grid"]) == 4, result
stop = loss("fit")[best]
below = [i for i, l in enumerate(loss("train")) if l < stop]
iteration = below[0] + 1 if below else 12
assert 0 < iteration < 12, (stop, loss("train"))   # else the rule is not seen
final = result["final"]
assert final["iteration"] == iteration and abs(final["stop_train"] + stop) < 1e-9, (final, stop, loss("train"))
assert abs(final["train"] + loss("train")[iteration - 1]) < 1e-9, final
assert result["updates"] == 40 * (2 + iteration) and result["batch"] == 20, result
PYTHON

# With a single iteration the final model is known: its scores are the figures, in units of deviation 1.
chosen one
expect 0 "$NADE" train train.csv --valid-fraction 0 "${options[@]}" --iterations 1 --lr "$rate" --weight-decay "$decay" -o final
expect 0 "$NADE" info final --json
cp out info 2>/dev/null
[ -s info ] || cp err info
# Rows of the test that occur in training, a line each: 1 for a new one.
awk 'NR == FNR { known[$0]; next } FNR > 1 { print !($0 in known) }' train.csv test.csv >new
for kind in density cells; do
    cells=()
    [ $kind = density ] || cells=(--cells)
    expect 0 "$NADE" score final test.csv --orderings 16 --seed 0 "${cells[@]}" --quiet
    sed 1d out >$kind.scores
done
python3 - <<'PYTHON'
from paper_runs import run
import json, math
result = run("results/one", 4, 2)
info = json.load(open("info"))
shift = sum(math.log(c["sd"]) for c in info["columns"])
new = [l == "1\n" for l in open("new")]
assert result["new_rows"] == sum(new) and 0 < sum(new) < 22, (result, new)
assert set(result["figures"]) == {"density", "density_new_rows", "cells", "cells_new_rows"}, result
for kind in "density", "cells":
    score = [float(l) + shift for l in open(kind + ".scores")]
    some = [s for s, n in zip(score, new) if n]
    for name, part in (kind, score), (kind + "_new_rows", some):
        figure = result["figures"][name]
        assert set(figure) == {"1", "2", "16"}, figure
        assert abs(figure["16"] - sum(part) / len(part)) < 1e-9, (name, figure, sum(part) / len(part))
        assert figure["1"] < figure["2"] < figure["16"], figure
assert result["figures"]["density"]["16"] != result["figures"]["cells"]["16"], result
assert result["seconds"]["train"] > 0 and result["seconds"]["score"] > 0, result
PYTHON

# A fixed order has one ordering, and so one figure of each kind.
fixed='"model": {"hidden": [6], "order": "fixed", "components": 2, "rescale": true}, "orderings": [1]'
echo "{$head, \"data\": {$data, \"run_folds\": [2]}, $fixed, \"training\": {${training/'"pretrain": 2'/'"pretrain": 0'}, \"iterations\": 1, $grid}}" >fixed.json
paper fixed.json
chosen fixed
expect 0 "$NADE" train train.csv --valid-fraction 0 --order fixed --rescale --hidden 6 --components 2 --optimizer nag --momentum 0.9 \
    --batch 20 --updates 40 --seed 4 --patience 0 --average 0 --no-atoms --real x,y --quiet --iterations 1 --lr "$rate" \
    --weight-decay "$decay" -o fixed_model
expect 0 "$NADE" score fixed_model test.csv --quiet
sed 1d out >fixed.scores
python3 - <<'PYTHON'
from paper_runs import run
import json, math
result, info = run("results/fixed", 4, 2), json.load(open("info"))
score = [float(l) for l in open("fixed.scores")]
wanted = sum(score) / len(score) + sum(math.log(c["sd"]) for c in info["columns"])
assert set(result["figures"]) == {"density", "density_new_rows", "cells", "cells_new_rows"} and "curve" not in result, result
assert all(set(f) == {"1"} for f in result["figures"].values()), result
assert abs(result["figures"]["density"]["1"] - wanted) < 1e-9, (result, wanted)
PYTHON

# ---- a final run that diverges -------------------------------------------------------------------------------------
# x is zero but in the validation rows of fold 2, where it is so small that a grid which has seen zeros alone takes it for zero too.
# On all rows it has deviation 1.  So the weights on it reach the outputs in the final run only, and a decay that makes them grow,
# as it does where rate times decay is above 2, ends that run alone.
awk 'NR == FNR { tiny[$1]; next } FNR == 1 { print "x;y"; next }
    { split($0, cell, ";"); print (FNR - 2 in tiny ? FNR "e-100" : 0) ";" cell[3] }' valid_rows data.csv >edge.csv
# edge NAME RATES: a recipe whose rates above 0.01 are such.
edge() {
    local small='"hidden": [6], "order": "fixed", "components": 2'
    echo "{$head, \"data\": {\"file\": \"edge.csv\", \"folds\": \"folds.txt\", \"fold_count\": 3, \"run_folds\": [2]}, \"model\": {$small},
        \"orderings\": [1], \"training\": {\"optimizer\": \"nag\", \"momentum\": 0, \"batch\": 20, \"pretrain\": 0, \"updates\": 50,
        \"iterations\": 3, \"lr\": $2, \"weight_decay\": [200]}}" >"$1.json"
}
edge edge '[0.000001, 0.018, 0.02, 0.001]'
edge alone '[0.001]'
edge wild '[0.018, 0.02]'
paper edge.json
holds err 'edge seed 4 fold 2, all rows  with lr 0.02 and weight decay 200 training diverged: the loss at update' \
    'edge seed 4 fold 2, all rows  with lr 0.018 and weight decay 200 training diverged: the loss at update' 'trying the next best setting'
paper alone.json
python3 - <<'PYTHON'
from paper_runs import run
import json
edge, alone = (run(f"results/{name}", 4, 2) for name in ("edge", "alone"))
assert all(run["valid"] is not None for run in edge["grid"]), edge   # else the final run is not what diverges
best = sorted(edge["grid"], key=lambda run: -run["valid"])
assert {run["lr"] for run in best[:2]} == {0.018, 0.02} and best[2]["lr"] == 0.001, best
assert edge["final"].pop("passed_over") == [
    {"lr": run["lr"], "weight_decay": 200, "reason": "diverged"} for run in best[:2]], edge
# All else is as if the rate that is left had been the only one.
assert edge["chosen"] == {key: best[2][key] for key in ("lr", "weight_decay", "iteration")}, edge
assert all(figure["1"] is not None for figure in edge["figures"].values()), edge
for result in edge, alone:
    for key in "recipe", "made_from", "grid", "seconds": result.pop(key)
assert edge == alone, (edge, alone)
PYTHON
paper_run drop results/edge 4 2
paper edge.json --json
python3 -c 'import json; (o,) = map(json.loads, open("err")); assert len(o["final"]["passed_over"]) == 2, o'
refuse 1 'training diverged: the loss at update' -- "$NADE" paper wild.json --data . --results results --threads 2 --quiet
! paper_run has results/wild 4 2 || fail "a result although all final runs diverged"

# ---- going on, and shuffled folds ----------------------------------------------------------------------------------
cp -r results before
paper_run drop results/grid 4 3
paper grid.json
python3 -c 'from paper_runs import run
assert run("results/grid", 4, 2) == run("before/grid", 4, 2)' || fail "a result that was there is made again"
python3 -c '
from paper_runs import run
a, b = run("results/grid", 4, 3), run("before/grid", 4, 3)
a.pop("seconds"), b.pop("seconds")
assert a == b, (a, b)'
# Without a file of folds they are as equal as can be; another seed validates with other rows.
echo "{$head, \"data\": {\"file\": \"data.csv\", \"columns\": \"x,y\", \"fold_count\": 4}, \"model\": {\"kind\": \"gaussian\"}}" >shuffled.json
paper shuffled.json
python3 -c '
from paper_runs import run
rows = [run("results/shuffled", 4, f)["test_rows"] for f in (1, 2, 3, 4)]
assert sorted(rows) == [16, 16, 17, 17], rows'

# ---- what is refused -----------------------------------------------------------------------------------------------
refuse_folds() {
    local texts=("$@")
    refuse 2 "${texts[@]}" -- "$NADE" paper gauss.json --data . --results other --quiet
}
sed '$d' folds.txt >short && cp folds.txt good
cp short folds.txt && refuse_folds 'row 65' 'in no fold'
{ cat short; echo '4 65'; } >folds.txt && refuse_folds 'line 67' "'4 65'" 'a fold of 1 to 3'
{ cat short; echo '1 64'; } >folds.txt && refuse_folds 'line 67' "'1 64'" 'that no other line has'
{ cat short; echo '1 -1'; } >folds.txt && refuse_folds 'line 67' "'1 -1'" 'a row of 0 to 65'
{ cat short; echo '1 65 7'; } >folds.txt && refuse_folds 'line 67' "'1 65 7'"
sed 's/^3/2/' good >folds.txt && refuse_folds 'fold 3 of 3 has 0 of 66 rows'
rm folds.txt && refuse_folds 'folds.txt is not there'
cp good folds.txt
sed 's/"pretrain": 2/"pretrain": 2, "pretrain_best": true/' one.json >best.json
refuse 2 'recipe best: training.pretrain_best must be left out or false in a recipe of kind folds' -- \
    "$NADE" paper best.json --data . --results other --quiet
sed 's/"label"/"nosuch"/' gauss.json >drop.json
refuse 2 "recipe drop, file ./data.csv: data.drop: found 'nosuch', expected the name or number of a column" -- \
    "$NADE" paper drop.json --data . --results other --quiet
sed 's/"drop": "label"/"columns": "x,7"/' gauss.json >drop.json
refuse 2 'recipe drop, file ./data.csv: data.columns: found column number 7, expected 0 to 2' -- \
    "$NADE" paper drop.json --data . --results other --quiet
sed 's/"drop": "label", //' gauss.json >drop.json
refuse 2 label -- "$NADE" paper drop.json --data . --results other --quiet
sed -i '3s/;[^;]*/;NA/' data.csv
refuse_folds "column 'x' has 1 missing cell"
awk 'BEGIN { print "label;x;y"; for (i = 0; i < 66; i++) print "a;" i ";" 2 * i }' >data.csv
expect 0 "$NADE" paper gauss.json --data . --results dependent --quiet # its floor gives it a density
