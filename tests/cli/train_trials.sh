# --effort: what will be tried, a line for each trial, what goes on and what it is worth; a log of the chosen one alone; the
# same bytes for any threads and as with the chosen options given; Ctrl-C; folds of few rows; what needs less memory.
. "$(dirname "$0")/../support/checks.bash"

# a and b are free, c is their parity, d their product, e a label that follows a.
awk 'BEGIN { srand(5); print "a,b,c,d,e"
    for (i = 0; i < 700; i++) { a = rand() < 0.5; b = rand() < 0.5; print a "," b "," (a + b) % 2 "," a * b "," (rand() < 0.8 ? "xy" : "zw") a } }' >table.csv
little=(--width 16 --updates 20 --device cpu)
short=("${little[@]}" --iterations 16 --lr 0.01)

expect 0 "$NADE" train table.csv "${short[@]}" --dry-run
holds err "at most 820 updates" "the best of 5 networks on trial"
expect 0 "$NADE" train table.csv "${short[@]}" --dry-run --json
holds err '"trials":5'
expect 0 "$NADE" train table.csv "${short[@]}" --effort quick --dry-run
holds err "at most 320 updates"

expect 0 "$NADE" train table.csv "${short[@]}" --threads 2 --log log.csv -o model
holds err "iteration 0/16  valid" "trial 1 of 5, iteration 1/16" "trial 1 of 5: dropout 0: validation -" "after 5 iterations" \
    "trial 2 of 5: dropout 0.2: validation -" "trial 4 of 5: dropout 0.5, direct path: validation -" \
    "trial 1 goes on: dropout 0" "chosen of 5 trials: dropout 0; held-out rows have " "more than with independent columns"
[ "$(grep -c ': validation' err)" = 5 ] || fail "not a line for each trial of each rung: $(cat err)"
awk -F, 'NR > 1 && $1 != NR - 2 { wrong = 1 } END { exit wrong || NR != 18 }' log.csv ||
    fail "the log has other iterations than those of the chosen trial: $(cat log.csv)"
expect 0 "$NADE" train table.csv "${short[@]}" --threads 1 --quiet -o again
[ ! -s err ] || fail "$(cat err)"
cmp model again || fail "the number of threads matters"
expect 0 "$NADE" train table.csv "${short[@]}" --effort quick --dropout 0 --log quick.csv -o quick
! grep -q trial err || fail "trials in spite of quick: $(cat err)"
holds err "held-out rows have "
cmp <(cut -d, -f1-7,9 log.csv) <(cut -d, -f1-7,9 quick.csv) || fail "trials change the run"
expect 0 "$NADE" score model table.csv --device cpu -o scores.csv
expect 0 "$NADE" score quick table.csv --device cpu -o quick_scores.csv
cmp scores.csv quick_scores.csv || fail "trials change the model"
expect 0 "$NADE" info quick
holds out "effort                 quick"
expect 0 "$NADE" train table.csv "${short[@]}" --json -o json
holds err '"trials":5' '"chosen":{"dropout":0.0,"direct":false,"width":16,"weight_decay":0.1' '"longer_would_help":'

# With what is given; nothing is left to try where both are.
expect 0 "$NADE" train table.csv "${short[@]}" --dropout 0.1 -o given
holds err "trial 2 of 2: dropout 0.1, direct path: validation"
expect 0 "$NADE" train table.csv "${short[@]}" --dropout 0.1 --direct --dry-run
! grep -q trial err || fail "$(cat err)"
expect 0 "$NADE" train table.csv "${short[@]}" --effort best --dry-run
holds err "the best of 9 networks on trial"
expect 0 "$NADE" train table.csv "${little[@]}" --iterations 16 --lr 0.01,0.001 --log rates.csv -o rates
holds err "lr 0.01  trial 1 of 5: dropout 0: validation" "lr 0.001  trial" "(chosen)"
[ "$(wc -l <rates.csv)" = 35 ] || fail "the log has not the two chosen trials: $(cat rates.csv)"

# The last of all iterations was the best; a run that ended by itself had enough.
expect 0 "$NADE" train table.csv "${little[@]}" --lr 0.01 --iterations 4 -o longer
holds err "the last iteration was the best: longer may help, try --iterations 8"

# Few rows: trials in folds.
head -n 101 table.csv >few.csv
expect 0 "$NADE" train few.csv "${little[@]}" --iterations 8 -o few
holds err "one of 5 folds" "trial 1 of 5, iteration" "all rows, iteration" "chosen of 5 trials: "
expect 0 "$NADE" train few.csv "${short[@]}" --effort quick -o few
! grep -q fold err || fail "folds in spite of quick: $(cat err)"

# SIGTERM, as Ctrl-C, while something is on trial.
pid=
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true' EXIT
: >err
"$NADE" train table.csv "${little[@]}" --iterations 100000 --no-cooldown --log cut.csv -o cut 2>err &
pid=$!
for _ in $(seq 300); do
    ! grep -q 'trial 1 of 5, iteration 3' err || break
    sleep 0.1
done
kill -TERM $pid
wait $pid || fail "$(cat err)"
holds err "trial 1 goes on" "stopped early"
[ "$(wc -l <cut.csv)" -ge 4 ] || fail "the log lacks what was chosen: $(cat cut.csv)"

refuse 1 "smaller --width or --batch, or less --effort, need less" -- "$NADE" train table.csv --max-memory 12M -o none --quiet
refuse 2 "--effort: found 'most'" "quick, normal or best" -- "$NADE" train table.csv --effort most -o none
