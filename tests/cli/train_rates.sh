# train --lr with a list: each rate is trained as if alone, the best on the validation rows becomes the model.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_SOURCE_DIR:?}"

real_data 500 1 >data.csv
options=(--hidden 16,16 --components 3 --batch 50 --updates 60 --iterations 3 --seed 3)
train() { expect 0 "$NADE" train data.csv "${options[@]}" "$@"; }

for rate in 0.001 0.01 0.02; do
    train -o "alone.$rate" --lr $rate --log "log.$rate"
    grep -o 'validation log density [-0-9.]*' err >"valid.$rate"
done
best=0.02

# The place in the list does not matter.
for rates in 0.02,0.001,0.01 0.001,0.02,0.01 0.001,0.01,0.02; do
    train -o model --lr $rates --log log
    cmp model "alone.$best" || fail "--lr $rates gives another model than --lr $best"
done
"$NADE" info model | grep -q "$best" || fail "the training record does not hold the rate $best"

# Every iteration's line and every rate's result name the rate; one is marked.
[ "$(grep -c '^lr .*  iteration [123]/3 ' err)" = 9 ] || fail "not 9 lines of progress: $(cat err)"
for rate in 0.001 0.01 0.02; do
    holds err "lr $rate  best iteration" "$(cat valid.$rate)"
done
[ "$(grep -c '(chosen)$' err)" = 1 ] || fail "not one is chosen: $(cat err)"
grep -q "^lr $best  best iteration .* nats per row (chosen)$" err || fail "$best is not marked: $(cat err)"
grep -q "^lr $best  best iteration .*; wrote model$" err || fail "the last line does not name the rate: $(cat err)"

# The log has the rate first, and behind it, but for the time, the lines of the runs alone.
[ "$(head -1 log)" = "lr,$(head -1 log.0.01)" ] || fail "the log's header is $(head -1 log)"
for rate in 0.001 0.01 0.02; do
    sed -n "s/^$rate,//p" log | cut -d, -f1-7,9 >found
    sed 1d "log.$rate" | cut -d, -f1-7,9 | cmp - found || fail "the log of $rate is another"
done

# JSON: the same as a list.
train -o model --lr 0.01,1e5,0.02 --json
cmp model "alone.$best" || fail "a rate that diverges changes the choice"
python3 - err <<'PYTHON'
import json, sys
lines = open(sys.argv[1]).read().splitlines()
assert len(lines) == 1, lines
o = json.loads(lines[0])
assert o["lr"] == 0.02 and [r["lr"] for r in o["rates"]] == [0.01, 1e5, 0.02], o
assert [r["chosen"] for r in o["rates"]] == [False, False, True], o
assert [r["best_iteration"] > 0 for r in o["rates"]] == [True, False, True], o
assert o["rates"][2]["valid_log_density"] == o["valid_log_density"] > o["rates"][0]["valid_log_density"], o
assert o["rates"][1]["valid_log_density"] is None and "diverged" in o["rates"][1]["error"], o
assert o["rates"][0]["error"] is None and o["rates"][0]["iterations_done"] == 3, o
PYTHON
train -o model --lr 0.01 --json
! grep -q '"rates"' err || fail "one rate has a list: $(cat err)"

# A rate that diverges is named and dropped; when all do it is an error, and nothing is written.
train -o model --lr 1e5,0.01
holds err 'lr 100000  training diverged: the loss at update'
cmp model alone.0.01 || fail "the rate that is left gives another model"
rm model
refuse 1 'no learning rate of 2 is low enough; with 100000 training diverged' -- \
    "$NADE" train data.csv -o model "${options[@]}" --lr 1e6,1e5
[ ! -e model ] || fail "a model although all rates diverged"

# Warnings, the same for every rate, are given once.
sed 's/$/;7/; 1s/7$/z/' data.csv >constant.csv
expect 0 "$NADE" train constant.csv -o model "${options[@]}" --lr 0.01,0.02
[ "$(grep -c '^nade: warning' err)" = 1 ] || fail "not one warning: $(cat err)"

# A time limit is for all rates together, and each gets its share.
rm model
endless=(--hidden 16 --components 3 --batch 50 --updates 20 --iterations 1000000 --no-cooldown)
SECONDS=0
expect 0 "$NADE" train data.csv -o model "${endless[@]}" --lr 0.01,0.02,0.03 --time-limit 1.5 --json
[ $SECONDS -lt 15 ] || fail "a limit of 1.5 s took $SECONDS s"
python3 -c 'import json
o = json.load(open("err"))
done = [r["iterations_done"] for r in o["rates"]]
assert 30 * min(done) > max(done) and 1.4 < o["seconds"] < 10, o'

# Ctrl-C ends all; what has not begun is said so, and the best so far is saved.
set -m
"$NADE" train data.csv -o stopped "${endless[@]}" --lr 0.01,0.02 2>err &
pid=$!
trap 'kill -KILL "$pid" 2>/dev/null || true' EXIT
for _ in $(seq 300); do
    [ "$(grep -c iteration err)" -lt 3 ] || break
    sleep 0.1
done
kill -INT $pid
wait -f $pid || fail "SIGINT: exit status $?: $(cat err)"
trap - EXIT
holds err 'lr 0.01  best iteration' '(chosen)' 'lr 0.02  not trained' 'stopped early: best iteration' 'wrote stopped'
expect 0 "$NADE" score stopped data.csv --quiet

# What several rates can't be asked for.
several=(train data.csv -o never "${options[@]}" --lr 0.01,0.02)
refuse 2 '--checkpoint and several rates of --lr' 'one by one' -- "$NADE" "${several[@]}" --checkpoint c
refuse 2 '--resume and several rates of --lr' 'one by one' -- "$NADE" "${several[@]}" --resume alone.0.01
refuse 2 'no validation rows' '2 learning rates' -- "$NADE" "${several[@]}" --valid-fraction 0
refuse 2 'no validation rows' -- "$NADE" "${several[@]}" --valid-fraction 0 --dry-run
refuse 2 '--lr: found 0.01 twice' -- "$NADE" train data.csv -o never --lr 0.01,0.02,1e-2
refuse 2 '--lr: found 0 among several rates' -- "$NADE" train data.csv -o never --lr 0.01,0
refuse 2 'from 0 to 1e+06' -- "$NADE" train data.csv -o never --lr 0.01,1e7
expect 0 "$NADE" "${several[@]}" --dry-run
holds err 'for each of 2 learning rates, one after the other'
[ ! -e never ] && [ ! -e c ] || fail "a refused call has written a file"
