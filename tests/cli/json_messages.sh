# --json: stderr holds one JSON object a line and nothing else; info prints the description.
. "$(dirname "$0")/../support/checks.bash"

# lines FILE COUNT: so many lines, each of them JSON.
lines() {
    [ "$(wc -l <"$1")" = "$2" ] || fail "not $2 lines: $(cat "$1")"
    while read -r line; do
        printf '%s' "$line" | python3 -m json.tool >/dev/null || fail "not JSON: $line"
    done <"$1"
}

# value FILE EXPRESSION: a Python expression of the last line's object, named o.
value() {
    python3 -c 'import json, sys; o = json.loads(open(sys.argv[1]).readlines()[-1]); print(eval(sys.argv[2]))' "$1" "$2"
}

binary_data 200 1 >data.csv
expect 0 "$NADE" train data.csv -o model --json "${small[@]}"
lines err 1
[ "$(value err 'o["file"], o["iterations_done"], o["train_rows"] + o["valid_rows"], o["interrupted"]')" = \
    "('model', 2, 200, False)" ] || fail "$(cat err)"
[ "$(value err '[c["name"] for c in o["columns"]]')" = "['a', 'b', 'c', 'd']" ]
[ "$(value err '-5 < o["valid_log_density"] < 0')" = True ]

expect 0 "$NADE" train data.csv --dry-run --json "${small[@]}"
lines err 1
[ "$(value err 'o["parameters"] >= 484 and o["memory"] > 0')" = True ] || fail "$(cat err)"

expect 0 "$NADE" score model data.csv --json --quiet
lines err 1
python3 - <<'END'
import json, math
rows = [float(line) for line in open("out").readlines()[1:]]
o = json.load(open("err"))
assert o["rows"] == 200 and o["orderings"] == 8
assert math.isclose(o["mean"], math.fsum(rows) / 200, rel_tol=1e-12), o
deviation = math.sqrt(math.fsum((r - o["mean"]) ** 2 for r in rows) / 199 / 200)
assert math.isclose(o["standard_error"], deviation, rel_tol=1e-9), o
assert math.isclose(o["bits_per_cell"], -o["mean"] / math.log(2) / 4, rel_tol=1e-12), o
assert all(repr(float(text)) == repr(value) for text, value in zip(open("out").read().split()[1:], rows))
END
# Both forms of a number read back as the same double.
for line in 2 3 4 5 6 7 8 9; do
    sed -n "1p;${line}p" data.csv >row.csv
    expect 0 "$NADE" score model row.csv --json
    [ "$(value err "o['mean'] == float(open('out').read().split()[1])")" = True ] || fail "$(cat out err)"
done
expect 0 "$NADE" score model data.csv --json --orderings 1
[ "$(value err 'o["mean_spread"]')" = None ] || fail "$(cat err)"

cut -d, -f1-4 data.csv | awk -F, -v OFS=, '{ print $0, NR == 1 ? "extra" : NR }' >wide.csv
expect 0 "$NADE" score model wide.csv --json
lines err 2
holds err '{"warning":'

expect 0 "$NADE" info model --json
python3 - <<'END'
import json
o = json.load(open("out"))
assert [c["name"] for c in o["columns"]] == ["a", "b", "c", "d"]
assert o["architecture"]["hidden"] == [16, 16] and o["training"]["seed"] == 3
assert len(o["training"]["valid_loss"]) == 2
END

# Errors, wherever --json stands.
expect 2 "$NADE" info missing --json
lines err 1
[ "$(value err 'o["status"]')" = bad_input ] && [ "$(value err '"missing" in o["error"]')" = True ] || fail "$(cat err)"
expect 2 "$NADE" train --frobnicate --json
lines err 1
[ "$(value err 'o["status"]')" = bad_call ]
expect 2 "$NADE" frobnicate --json
lines err 1
expect 1 "$NADE" score model data.csv --json -o nowhere/scores
lines err 1
[ "$(value err 'o["status"]')" = no_output ]
expect 2 "$NADE" info "$(printf 'no\377such')" --json
lines err 1
