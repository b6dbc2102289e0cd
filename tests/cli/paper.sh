# nade paper: recipes from files, end to end on data made here; resuming, and what is refused.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_STAND_IN:?a CUDA backend that computes on the CPU}"

binary_split data

# recipe NAME LR ITERATIONS MORE: a small one; MORE is put before its last keys.
recipe() {
    cat >"$1.json" <<EOF
{"table": "mine", "data_set": "Bits", "title": "two layers", "kind": "split",
 "data": {"train": "train.csv", "valid": "valid.csv", "test": "test.csv"},
 "model": {"hidden": [12, 12]},
 "training": {"optimizer": "nag", "momentum": 0.9, "batch": 20, "iterations": $3, "updates": 40, "pretrain": 1, "lr": $2},
 ${4-}"seeds": [0, 1], "orderings": [1, 8, 16], "paper": {"1": -2.5, "16": -2.4}}
EOF
}

# The list.
expect 0 "$NADE" paper
holds out table1 table2 table3 table4 quick adult-1hl 'Adult' mnist-2hl
expect 0 "$NADE" paper --json
python3 -c 'import json
assert any(r["name"] == "adult-1hl" and r["table"] == "table1" for r in json.load(open("out")))'

# A grid: the best rate of the first seed is the second's too.
recipe grid '[0.05, 0.0001]' 3
expect 0 "$NADE" paper grid.json --data data
[ "$(grep -cE '^grid seed [01]: .*\(paper -2\.50\) with 1 ordering, .*\(paper -2\.40\) with 16 orderings; ' err)" = 2 ] || fail "$(cat err)"
only data grid.json nade-results
[ "$(ls -A nade-results nade-results/grid | tr '\n' ' ')" = 'nade-results: grid grid.json  nade-results/grid: seed0.safetensors seed1.safetensors ' ] ||
    fail "$(ls -A nade-results nade-results/grid)"

# The figures are those of nade score.  The second eight of sixteen orderings follow from the first and from all.
for k in 8 16; do
    "$NADE" score nade-results/grid/seed0.safetensors data/test.csv --orderings $k --json -o score.$k 2>summary.$k
done
python3 - <<'EOF'
import json, math
from paper_runs import run
first, second = (run("nade-results/grid", seed) for seed in (0, 1))
assert [g["lr"] for g in first["grid"]] == [0.05, 0.0001] and first["chosen"]["lr"] == 0.05 == second["chosen"]["lr"], first
assert first["valid"] == max(g["valid"] for g in first["grid"]) and len(second["grid"]) == 1
assert (first["recipe"], first["seed"], second["seed"], first["test_rows"]) == ("grid", 0, 1, 90)
assert first["updates"] == (1 + 3) * 40 and first["batch"] == 20 and set(first["seconds"]) == {"train", "score"}
assert first["device"] == "cpu" and first["precision"] == "fp32" and first["version"] and first["commit"]
assert first["machine"].split()[-1].startswith("thread")
figures, curve = first["figures"]["density"], first["curve"]
assert list(figures) == ["1", "8", "16"] and list(curve) == ["1", "2", "4", "8", "16"], first
summary = json.load(open("summary.16"))
near = lambda a, b: abs(a - b) < 1e-9
assert near(figures["16"], summary["mean"]) and near(curve["1"], summary["mean_ordering"]), (figures, summary)
assert near(first["standard_error"]["16"], summary["standard_error"]), (first, summary)
assert curve["1"] <= curve["2"] <= curve["4"] <= curve["8"] <= curve["16"] and figures["1"] != curve["1"]
eight, all_ = ([float(x) for x in open(f"score.{k}").read().split()[1:]] for k in (8, 16))
other = [math.log(2 * math.exp(a) - math.exp(e)) for e, a in zip(eight, all_)]
assert near(figures["8"], sum(eight + other) / 180), (figures, sum(eight + other) / 180)
EOF

# What is there is not made again, and needs no data; another seed takes what was chosen.
cp -r nade-results before
expect 0 "$NADE" paper grid.json
[ "$(grep -c 'was there already$' err)" = 2 ] || fail "$(cat err)"
diff -r before nade-results
expect 0 "$NADE" paper grid.json --data data --seeds 1,2 --json
python3 -c 'import json
told = [json.loads(line) for line in open("err")]
assert [(t["seed"], t["was_there"]) for t in told] == [(1, True), (2, False)], told
assert told[1]["chosen"]["lr"] == 0.05 and told[1]["paper"]["1"] == -2.5'
# The other runs stay as they are, byte for byte, whatever digits they have.
sed -i '0,/"valid": [-.0-9]*/s//"valid": -1.2345678901234567/; 0,/"train": [.0-9]*/s//"train": 1.0/' nade-results/grid.json
cp nade-results/grid.json before.json
expect 0 "$NADE" paper grid.json --data data --seeds 3
paper_run has nade-results/grid 3
cmp <(head -c "$(($(stat -c %s before.json) - 20))" before.json) <(head -c "$(($(stat -c %s before.json) - 20))" nade-results/grid.json)
holds nade-results/grid.json '"valid": -1.2345678901234567,' '"train": 1.0,'
# Several processes add to one file.
for seed in 4 5 6 7; do "$NADE" paper grid.json --data data --seeds $seed --quiet & done
wait
for seed in 0 1 2 3 4 5 6 7; do paper_run has nade-results/grid $seed || fail "seed $seed is lost"; done
# What another form of the recipe made is not taken for this one's.
recipe grid '[0.05, 0.0001]' 4
refuse 2 'grid.json, seed 0: the run was made by another form of the recipe grid' -- "$NADE" paper grid.json --data data
recipe grid '[0.05, 0.0001]' 3
# Numbers with more digits than a result has make no other form of it.
recipe digits '[0.0011000000000000001]' 1
expect 0 "$NADE" paper digits.json --data data --seeds 0
expect 0 "$NADE" paper digits.json --data data --seeds 0
holds err 'was there already'
# The same bytes whatever the threads.
for s in 0 1; do cp nade-results/grid/seed$s.safetensors model$s; done
expect 0 "$NADE" paper grid.json --data data --results one --threads 1 --quiet
[ ! -s err ] || fail "--quiet says: $(cat err)"
for s in 0 1; do cmp model$s one/grid/seed$s.safetensors; done

# On a device, whose place the CPU takes: all at a time, and the result names it.
expect 0 env NADE_CUDA_BACKEND="$NADE_STAND_IN" "$NADE" paper grid.json --data data --results device --device cuda
for s in 0 1; do cmp model$s device/grid/seed$s.safetensors; done
holds device/grid.json '"device": "cuda: stand-in"'

# Killed and run again: the same model as without, and the checkpoint is gone.
recipe single '[0.02]' 60
expect 0 "$NADE" paper single.json --data data --results whole --seeds 4
set -m
"$NADE" paper single.json --data data --seeds 4 2>err &
pid=$!
trap 'kill -KILL "$pid" 2>/dev/null || true' EXIT
for _ in $(seq 2000); do
    if [ -e nade-results/single/seed4.checkpoint ]; then break; fi
    sleep 0.005
done
kill -KILL $pid 2>/dev/null || fail "it was over before it could be killed"
wait -f $pid || true
[ -e nade-results/single/seed4.checkpoint ] && ! paper_run has nade-results/single 4 || fail "$(ls nade-results/single)"
cp nade-results/single/seed4.checkpoint checkpoint
expect 0 "$NADE" paper single.json --data data --seeds 4
holds err 'single: training 1 run, 1 at a time, 1 from its checkpoint'
cmp nade-results/single/seed4.safetensors whole/single/seed4.safetensors
paper_run show nade-results/single 4 | grep '"resumed": true' >/dev/null || fail "it does not say that it went on from a checkpoint"
! grep -q resumed whole/single.json || fail "a run from its beginning says that it was resumed"
[ "$(ls -A nade-results/single | tr '\n' ' ')" = 'seed4.safetensors ' ] || fail "$(ls -A nade-results/single)"

# A checkpoint of another recipe is refused, and it says what to do.
cp checkpoint nade-results/single/seed5.checkpoint
refuse 2 'seed' -- "$NADE" paper single.json --data data --seeds 5
holds err 'remove the checkpoint nade-results/single/seed5.checkpoint'
rm nade-results/single/seed5.checkpoint
# So is one of the recipe before it was changed to what is usual elsewhere.
cp checkpoint nade-results/single/seed4.checkpoint
paper_run drop nade-results/single 4
sed -i 's/"pretrain": 1/"pretrain": 0/' single.json
refuse 2 'another value of pretrain' -- "$NADE" paper single.json --data data --seeds 4
rm nade-results/single/seed4.checkpoint

# Ctrl-C: nothing half done is left as a result.
recipe long '[0.02]' 1000000
"$NADE" paper long.json --data data --seeds 0 2>err &
pid=$!
for _ in $(seq 600); do
    if [ -e nade-results/long/seed0.checkpoint ]; then break; fi
    sleep 0.05
done
kill -INT $pid
status=0
wait -f $pid || status=$?
trap - EXIT
[ "$status" = 1 ] || fail "SIGINT: exit status $status: $(cat err)"
holds err 'nade: stopped by a signal'
[ "$(ls -A nade-results/long)" = seed0.checkpoint ] || fail "$(ls -A nade-results/long)"

# A seed that diverges, as about half do at such a rate, is named, and costs no other seed its result.
mkdir real
for part in train valid test; do real_data 200 ${#part} >real/$part.csv; done
recipe wild '[20000]' 3
expect 1 "$NADE" paper wild.json --data real --seeds 0,1,2,3,4,5,6,7,8,9,10,11
holds err 'nade: recipe wild with seed ' 'training diverged'
first=$(sed -n 's/^nade: recipe wild with seed \([0-9]*\): .*/\1/p' err)
later=$(python3 -c 'import sys; from paper_runs import runs
print(sum(seed > int(sys.argv[1]) for seed, _ in runs("nade-results/wild")))' "$first")
[ "$later" -gt 0 ] || fail "no result of a seed after $first: $(ls nade-results/wild)"

# Bad calls.
refuse 2 "'nonsense' is no recipe" -- "$NADE" paper nonsense --data data
refuse 2 '--data is missing' -- "$NADE" paper adult-1hl
refuse 2 'data/adult/train.npy.gz is not there' adult-1hl docs/data.md -- "$NADE" paper adult-1hl --data data
refuse 2 --seeds -- "$NADE" paper grid.json --data data --seeds x
refuse 2 '--seeds: found 1 twice' -- "$NADE" paper grid.json --data data --seeds 1,0,1
refuse 2 'recipe nothere: unable to open nothere.json' -- "$NADE" paper nothere.json --data data
touch file
refuse 1 "folder file can't be written to: Not a directory" -- "$NADE" paper long.json --data data --results file
mkdir taken
touch taken/long
refuse 1 "folder taken/long can't be written to" -- "$NADE" paper long.json --data data --results taken
for content in nothing '{"recipe": "grid", "runs": {}}' '{"recipe": "other", "runs": []}'; do
    mkdir -p odd
    echo "$content" >odd/grid.json
    refuse 2 'odd/grid.json holds no results of the recipe grid' -- "$NADE" paper grid.json --data data --results odd --seeds 77
    [ "$(cat odd/grid.json)" = "$content" ] || fail "a file that is no result was changed"
done
echo '{"recipe": "grid", "runs": [{"figures": {"density": {"1": 2}}}]}' >odd/grid.json
refuse 2 'odd/grid.json, run 0: has no seed, expected a whole number' -- "$NADE" paper grid.json --data data --results odd --seeds 0
# That results can't be written is found before training, which would be long.
ln -s nowhere/long.json odd/long.json
refuse 1 'odd/long.json could not be' -- "$NADE" paper long.json --data data --results odd
# Results beside the recipe would take its own name: it stays what it is.
cp grid.json kept.json
refuse 2 './grid.json holds no results' -- "$NADE" paper grid.json --data data --results .
cmp grid.json kept.json
rm kept.json
mv data/test.csv test.csv
cut -d, -f1-3 test.csv >data/test.csv
refuse 2 'test.csv has 3 columns, expected 4' -- "$NADE" paper grid.json --data data --seeds 88
# What the test rows do not have in common with the training rows is found before any training.
sed '1s/^[^,]*/another/' test.csv >data/test.csv
refuse 2 "data/test.csv has no column '" -- "$NADE" paper grid.json --data data --seeds 88
[ "$(wc -l <err)" = 1 ] || fail "found out after training: $(cat err)"
sed '2s/^[^,]*/7/' test.csv >data/test.csv
refuse 2 'data/test.csv, line 2, column ' "found '7'" -- "$NADE" paper grid.json --data data --seeds 88
[ "$(wc -l <err)" = 1 ] || fail "found out after training: $(cat err)"
mv test.csv data/test.csv
refuse 2 '-o is for the pictures' -- "$NADE" paper grid.json --data data -o pictures
refuse 2 'data/ is a folder, expected a recipe file' -- "$NADE" paper data/ --data data
# The name becomes a folder's: not the one above, nor one that is not seen.
for name in ...json ..json .hidden.json ./.json ./..; do
    [ -e "$name" ] || cp single.json "$name"
    case $name in
    ./..) refuse 2 'is a folder' -- "$NADE" paper "$name" --data data --results dots ;;
    *) refuse 2 'does not begin with a dot' -- "$NADE" paper "$name" --data data --results dots ;;
    esac
    [ "$name" = ./.. ] || rm -f "$name"
done
[ ! -e dots ] && [ ! -e seed0.safetensors ] || fail 'results in a wrong place'

# A result without a figure that the recipe asks for is none; one that is not finite is not told as a number.
cp nade-results/grid.json kept.json
sed -i '0,/"8": /s//"7": /' nade-results/grid.json
refuse 2 'grid.json, seed 0: the run lacks figures of the recipe grid' -- "$NADE" paper grid.json --data data
sed '0,/"8": [-.0-9]*/s//"8": null/' kept.json >nade-results/grid.json
expect 0 "$NADE" paper grid.json --seeds 0
holds err ', not finite with 8 orderings'
cp kept.json nade-results/grid.json
# With one number of orderings, it is told unless it is 1.
sed 's/\[1, 8, 16\]/[3]/' grid.json >three.json
expect 0 "$NADE" paper three.json --data data --seeds 0
holds err ' with 3 orderings; '

# Bad recipes: the sentence has the recipe's name and the key.
refuse_recipe() {
    local text=$1
    shift
    sed "$@" grid.json >bad.json
    cmp -s grid.json bad.json && fail "sed $* changes nothing"
    refuse 2 'recipe bad: ' "$text" -- "$NADE" paper bad.json --data data
}
refuse_recipe 'the key training.lrr has no meaning here' 's/"lr"/"lrr"/'
refuse_recipe 'the key seeds is missing' 's/"seeds": [^]]*], //'
refuse_recipe 'kind must be split, folds or patches' 's/"split"/"spilt"/'
refuse_recipe 'training.batch must be a whole number from 1' 's/"batch": 20/"batch": 0/'
refuse_recipe 'training.batch must be a whole number from 1' 's/"batch": 20/"batch": "20"/'
refuse_recipe 'training.momentum must be a number from 0' 's/"momentum": 0.9/"momentum": 1.5/'
refuse_recipe 'training.lr must be a list' 's/"lr": [^]]*]/"lr": 0.01/'
refuse_recipe 'training.lr must be a list without repetitions' 's/0.0001/0.05/'
refuse_recipe 'model.hidden must be a list' 's/\[12, 12\]/[]/'
refuse_recipe 'model.hidden must be one layer' 's/"model": {/&"order": "fixed", /'
refuse_recipe 'orderings must be [1]' 's/"hidden": \[12, 12\]/"hidden": [12], "order": "fixed"/'
closed() { refuse_recipe "$1" -e "s/\"hidden\": \[12, 12\]/$2/" -e "${3-/\"training\"/d}" -e 's/"orderings": [^]]*], //'; }
closed 'model.kind must be mixture, gaussian, mog or mfa' '"kind": "network"'
closed 'model.factors must be' '"kind": "mfa", "factors": 0'
closed 'key training.optimizer' '"kind": "mixture"' 's/^$//'
refuse_recipe 'data.test must be a text' 's/"test.csv"/3/'
refuse_recipe 'paper must be numbers of orderings' 's/"16": -2.4/"all": -2.4/'
refuse_recipe 'line 2' '1s/,$//'
