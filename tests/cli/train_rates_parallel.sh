# train --lr with a list on a device: the runs go side by side and end in the bytes of runs alone.  The device's place
# is taken by the CPU, so that this runs everywhere, and under ThreadSanitizer.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_STAND_IN:?a CUDA backend that computes on the CPU}"

real_data 300 1 >data.csv
options=(--hidden 16,16 --components 3 --batch 50 --updates 30 --iterations 3 --seed 3)
device=(env NADE_CUDA_BACKEND="$NADE_STAND_IN" "$NADE" train data.csv --device cuda)

for rate in 0.001 0.01 0.02; do
    expect 0 "$NADE" train data.csv "${options[@]}" -o "alone.$rate" --lr $rate --log "log.$rate"
done
expect 0 "${device[@]}" "${options[@]}" -o model --lr 0.01,0.02,1e5,0.001 --log log
holds err 'for each of 4 learning rates, side by side' 'lr 100000  training diverged' '; wrote model'
cmp model alone.0.02 || fail "side by side gives another model"
[ "$(grep -cE '^lr [0-9.]+  iteration [123]/3 .* left$' err)" = 9 ] || fail "lines are mixed up: $(cat err)"
for rate in 0.001 0.01 0.02; do
    sed -n "s/^$rate,//p" log | cut -d, -f1-7,9 >found
    sed 1d "log.$rate" | cut -d, -f1-7,9 | cmp - found || fail "side by side, $rate goes another way"
done

# They do go at the same time: endless runs, and one signal or limit ends all of them.
endless=(--hidden 16 --components 3 --batch 50 --updates 20 --iterations 1000000 --no-cooldown)
expect 0 "${device[@]}" "${endless[@]}" -o limited --lr 0.01,0.02 --time-limit 1 --json
python3 -c 'import json
o = json.load(open("err"))
assert all(r["iterations_done"] > 0 for r in o["rates"]) and o["device"] == "cuda" and 1 <= o["seconds"] < 20, o'
set -m
"${device[@]}" "${endless[@]}" -o stopped --lr 0.01,0.02 2>err &
pid=$!
trap 'kill -KILL "$pid" 2>/dev/null || true' EXIT
for _ in $(seq 600); do
    if grep -q '^lr 0.01  iteration' err && grep -q '^lr 0.02  iteration' err; then break; fi
    sleep 0.1
done
kill -INT $pid
wait -f $pid || fail "SIGINT: exit status $?: $(cat err)"
trap - EXIT
holds err 'lr 0.01  best iteration' 'lr 0.02  best iteration' 'stopped early: best iteration' 'wrote stopped'

refuse 1 'no learning rate of 2 is low enough; with 100000' -- \
    "${device[@]}" "${options[@]}" -o never --lr 1e6,1e5
[ ! -e never ] || fail "a model although all rates diverged"
