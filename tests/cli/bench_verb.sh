# nade bench: figures for a table, a model, and without either; that they are there and go together.
. "$(dirname "$0")/../support/checks.bash"

binary_data 600 1 >data.csv
real_data 300 1 >real.csv
expect 0 "$NADE" train real.csv -o model --quiet "${small[@]}"
bench() { expect 0 "$NADE" bench --seconds 0.05 --threads 1 --device cpu "$@"; }

bench data.csv
holds out 'reading ' ' MB/s' '600 rows, 4 columns' 'cpu, 1 thread' ' updates a second of 50 rows' 'GFLOP/s' 'nade train would take ' \
    'minutes:seconds' ' rows a second with 8 orderings' 'sampling '
[ ! -s err ] || fail "words on stderr: $(cat err)"

# Figures as numbers that agree with each other; with K orderings scoring takes longer.
bench data.csv --json
python3 - <<'END'
import json
answer = json.load(open("out"))
[device] = answer["devices"]
training = device["training"]
assert answer["threads"] == 1 and answer["orderings"] == 8 and device["device"] == "cpu"
assert answer["reading"]["rows"] == 600 and answer["reading"]["bytes"] > 4800 and answer["reading"]["seconds"] > 0
assert 0 < training["soonest_seconds"] <= training["latest_seconds"]
flops = 6e-9 * training["parameters"] * training["batch"] * training["updates_a_second"]
assert abs(flops / training["products_gflops"] - 1) < 1e-9
assert 0 < device["row_median_seconds"] <= device["row_99th_seconds"]
assert device["rows_scored_a_second"] > 0 and device["rows_drawn_a_second"] > 0
END

bench model
holds out 'scoring '
! grep -q 'training\|reading' out || fail 'a model is trained'
bench model real.csv --orderings 2 --json
holds out '"orderings":2' '"rows_scored_a_second":'
bench --json
holds out '"training":'

refuse 2 'data.csv is no model, expected one before the table' -- "$NADE" bench data.csv data.csv
refuse 2 'found 3 files' -- "$NADE" bench model data.csv data.csv
refuse 2 'standard input' -- "$NADE" bench -
refuse 2 'nothing could not be opened' -- "$NADE" bench nothing
refuse 2 "has no columns 'x', 'y'" -- "$NADE" bench model data.csv
only data.csv real.csv model
