# nade paper: recipes of restricted Boltzmann machines and deep belief networks, whose figures say what they are.
. "$(dirname "$0")/../support/checks.bash"

binary_split data

# recipe NAME LAYERS ESTIMATE MORE: a small one.
recipe() {
    cat >"$1.json" <<EOF
{"table": "mine", "data_set": "Bits", "title": "RBM", "kind": "split",
 "data": {"train": "train.csv", "valid": "valid.csv", "test": "test.csv"},
 "model": {"rbm": $2},
 "training": {"steps": 2, "persistent": true, "batch": 20, "iterations": 4, "updates": 30, "momentum": 0.5, "lr": [0.2, 0.0001]},
 "estimate": $3, "seeds": [0], "paper": {"1": -2.5}}
EOF
}

# density FOLDER RECIPE: the exact mean test log density of the machine that was left, by the definition.
cat >density.py <<'EOF'
import json, math, struct, sys
import itertools
def tensors(path):
    raw = open(path, "rb").read()
    (size,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + size])
    assert "estimates" in header.pop("__metadata__")["nade-paper"]
    get = lambda t: struct.unpack(f"<{(t['data_offsets'][1] - t['data_offsets'][0]) // 4}f",
                                  raw[8 + size + t["data_offsets"][0]:8 + size + t["data_offsets"][1]])
    return {name: get(t) for name, t in header.items()}, {name: t["shape"] for name, t in header.items()}
def rows(path):
    return [[int(cell) for cell in line.split(",")] for line in open(path).read().split()[1:]]
def log_weight(t, v, hidden):
    x = list(t["layer.0.hidden_bias"])
    for i, bit in enumerate(v):
        if bit:
            x = [a + w for a, w in zip(x, t["layer.0.weight"][i * hidden:(i + 1) * hidden])]
    return sum(a for a, bit in zip(t["layer.0.visible_bias"], v) if bit) + sum(math.log1p(math.exp(a)) for a in x)
def density(model, test):
    t, shapes = tensors(model)
    columns, hidden = shapes["layer.0.weight"]
    log_z = math.log(sum(math.exp(log_weight(t, v, hidden)) for v in itertools.product((0, 1), repeat=columns)))
    found = [log_weight(t, v, hidden) - log_z for v in rows(test)]
    return sum(found) / len(found)
def deep_density(model, test):
    t, shapes = tensors(model)
    columns, middle = shapes["layer.0.weight"]
    upper = {name.replace("layer.1", "layer.0"): values for name, values in t.items() if "layer.1" in name}
    states = list(itertools.product((0, 1), repeat=middle))
    weights = [math.exp(log_weight(upper, h, shapes["layer.1.weight"][1])) for h in states]
    def given(v, h):
        x = [a + sum(w for w, bit in zip(t["layer.0.weight"][i * middle:], h) if bit) for i, a in enumerate(t["layer.0.visible_bias"])]
        return math.prod(1 / (1 + math.exp(-a if bit else a)) for a, bit in zip(x, v))
    found = [math.log(sum(w * given(v, h) for w, h in zip(weights, states)) / sum(weights)) for v in rows(test)]
    return sum(found) / len(found), sum(found[::3]) / len(found[::3])
EOF

# One machine: exact, and what the definition gives.
recipe one '[6]' '{"samples": 25, "sample_steps": 20}'
expect 0 "$NADE" paper one.json --data data
holds err 'one seed 0: ' '(paper -2.50), exact; ' ', log Z exact'
[ "$(ls -A nade-results/one | tr '\n' ' ')" = 'seed0-samples.csv seed0.safetensors ' ] || fail "$(ls -A nade-results/one)"
[ "$(wc -l <nade-results/one/seed0-samples.csv)" = 25 ] || fail 'samples'
grep -qvE '^[01](,[01]){3}$' nade-results/one/seed0-samples.csv && fail 'samples are not zeros and ones'
python3 - <<'EOF'
from density import density
from paper_runs import run
r = run("nade-results/one", 0)
assert r["what"] == "exact" and r["log_z"]["by"] == "sum over all states" and "standard_error" not in r["log_z"], r
assert abs(r["figures"]["density"]["1"] - density("nade-results/one/seed0.safetensors", "data/test.csv")) < 1e-5, r
assert abs(r["valid"] - density("nade-results/one/seed0.safetensors", "data/valid.csv")) < 1e-5, r
assert r["chosen"]["lr"] == 0.2 and len(r["grid"]) == 2 and r["valid"] == max(g["valid"] for g in r["grid"]), r
assert r["updates"] == 120 and r["batch"] == 20 and r["test_rows"] == 90 and r["device"] == "cpu" and "curve" not in r, r
assert r["grid"][0]["iteration"] > 1, "the best iteration of four is the first"
EOF
# What is there is not made again; the same bytes whatever the threads.
expect 0 "$NADE" paper one.json
holds err 'exact; was there already'
for threads in 1 3; do
    expect 0 "$NADE" paper one.json --data data --results threads$threads --threads $threads --quiet
    cmp nade-results/one/seed0.safetensors threads$threads/one/seed0.safetensors
    cmp nade-results/one/seed0-samples.csv threads$threads/one/seed0-samples.csv
done

# Both layers large: log Z is an estimate, which every output says.  On copies of the columns, so that there are enough.
mkdir wide
for part in train valid test; do
    python3 -c 'import sys
lines = open(sys.argv[1]).read().split()
print(",".join(f"c{i}" for i in range(28)))
for line in lines[1:]: print(",".join([line] * 7))' data/$part.csv >wide/$part.csv
done
recipe many '[26]' '{"chains": 20, "temperatures": [20, 20, 40]}'
expect 0 "$NADE" paper many.json --data wide
holds err 'an estimate: log Z is one; standard error of log Z by AIS ' ', log Z estimated by AIS'
expect 0 "$NADE" paper many.json --data wide --results again --json
python3 - <<'EOF'
import json
from paper_runs import run
r = run("nade-results/many", 0)
assert r["what"].startswith("an estimate") and r["log_z"]["by"] == "AIS" and r["log_z"]["chains"] == 20, r
assert r["log_z"]["low"] is None or r["log_z"]["low"] < r["log_z"]["value"] < r["log_z"]["high"], r
assert all(g["iteration"] == 4 for g in r["grid"]), "AIS chose an iteration"
told = json.loads(open("err").read().splitlines()[-1])
assert told["what"] == r["what"] and abs(told["log_z"]["value"] - r["log_z"]["value"]) < 1e-9, told
EOF

# Two layers: bounds of all test rows, estimates of some.
recipe deep '[5, 4]' '{"draws": 50, "length": 20, "rows": 30, "samples": 5}'
expect 0 "$NADE" paper deep.json --data data --threads 2
holds err 'an estimate: logs of unbiased estimates' 'lower bound '
expect 0 "$NADE" paper deep.json --data data --results one-thread --threads 1 --quiet
cmp nade-results/deep/seed0.safetensors one-thread/deep/seed0.safetensors
python3 - <<'EOF'
from density import deep_density, tensors
from paper_runs import run
r, s = run("nade-results/deep", 0), run("one-thread/deep", 0)
assert r["test_rows"] == 30 and r["updates"] == 240 and r["figures"] == s["figures"] and r["bound"] == s["bound"], (r, s)
assert r["log_z"]["by"] == "sum over all states" and r["what"].startswith("an estimate"), r
figure, (exact, of_some) = r["figures"]["density"]["1"], deep_density("nade-results/deep/seed0.safetensors", "data/test.csv")
assert r["bound"] < figure and abs(figure - exact) < 0.02 < abs(of_some - exact), (r["bound"], figure, exact, of_some)
assert tensors("nade-results/deep/seed0.safetensors")[1]["layer.1.weight"] == [5, 4]
EOF

# Two layers of which another recipe left the first: taken as it is, or refused.
sed -e 's/\[5, 4\]/[6, 5], "first": "one"/' -e 's/"steps": 2/&, "first_steps": 1, "centered": true, "turned": true/' deep.json >second.json
expect 0 "$NADE" paper second.json --data data
holds err 'second seed 0: '
python3 - <<'EOF'
from density import tensors
from paper_runs import run
one, two = (tensors(f"nade-results/{name}/seed0.safetensors") for name in ("one", "second"))
assert all(two[0][name] == values for name, values in one[0].items()) and two[1]["layer.1.weight"] == [6, 5], two[1]
assert run("nade-results/second", 0)["updates"] == 120
EOF
refuse_first() {
    refuse 2 "$1/one/seed0.safetensors: no machine of 4 visible and 6 hidden units, expected what the recipe one leaves" \
        'run that first' -- "$NADE" paper second.json --data data --results "$1"
}
refuse_first nowhere
mkdir -p cut/one long/one wider/one
head -c -4 nade-results/one/seed0.safetensors >cut/one/seed0.safetensors
refuse_first cut
(cat nade-results/one/seed0.safetensors && echo) >long/one/seed0.safetensors
refuse_first long
cp nade-results/many/seed0.safetensors wider/one
refuse_first wider

# What is refused.
refuse_recipe() {
    local text=$1
    shift
    sed "$@" one.json >bad.json
    cmp -s one.json bad.json && fail "sed $* changes nothing"
    refuse 2 'recipe bad: ' "$text" -- "$NADE" paper bad.json --data data
}
refuse_recipe 'model.rbm must be a list of one or two numbers' 's/\[6\]/[6, 5, 4]/'
refuse_recipe 'estimate.temperatures must be a list of three numbers' 's/"samples": 25/"temperatures": [5]/'
refuse_recipe 'training.steps must be a whole number from 1' 's/"steps": 2/"steps": 0/'
refuse_recipe 'model.first must be the name of a recipe, of a model of two layers' 's/\[6\]/&, "first": "other"/'
refuse_recipe 'model.first must be the name of a recipe' 's/\[6\]/[6, 5], "first": "..\/one"/'
refuse_recipe 'training.turned must be false for a model of one layer' 's/"steps"/"turned": true, &/'
refuse_recipe 'training.first_steps must be no more than training.steps' 's/"steps"/"first_steps": 3, &/'
refuse_recipe 'the key orderings has no meaning here' 's/"seeds"/"orderings": [1], &/'
refuse_recipe 'the key training.optimizer has no meaning here' 's/"steps"/"optimizer": "nag", &/'
refuse_recipe 'the key training.momentum is missing' 's/"momentum": 0.5, //'
sed 's/0.2, 0.0001/1e6/' one.json >wild.json
refuse 1 'recipe wild: training diverged with every setting' -- "$NADE" paper wild.json --data data
mkdir real
for part in train valid test; do real_data 40 ${#part} >real/$part.csv; done
refuse 2 'train.csv, column ' 'expected zeros and ones' -- "$NADE" paper one.json --data real --results other
cp -r data holes
sed -i '2s/^[01]//' holes/test.csv
refuse 2 'test.csv, row 0, column 0: the cell is missing' -- "$NADE" paper one.json --data holes --results other
