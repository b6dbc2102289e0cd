# --folds: what it will take, which part runs, what is chosen, the same bytes for any threads, and what is refused.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { srand(5); print "a,b,c"
    for (i = 0; i < 120; i++) { a = rand() < 0.4; print a "," (rand() < (a ? 0.8 : 0.2)) "," (i % 9 ? rand() : "") } }' >table.csv
short=(--hidden 9 --iterations 6 --updates 20 --device cpu --start marginals)

expect 0 "$NADE" train table.csv "${short[@]}" --folds 4 --dry-run
holds err "120 training rows, each of which validates in one of 4 folds: 4 runs, and one on all rows" "at most 600 updates"
expect 0 "$NADE" train table.csv "${short[@]}" --folds 4 --dry-run --json
holds err '"folds":4'

expect 0 "$NADE" train table.csv "${short[@]}" --folds 4 --threads 2 --log log.csv -o model
holds err "4 folds, iteration 6/6" "all rows, iteration 1/" "all rows for as long as was best in 4 folds: best iteration "
best=$(sed -n 's/.*folds: best iteration \([0-9]*\) of 6.*/\1/p' err)
awk -F, -v best="$best" 'NR > 1 && $9 == 0 { folds++ } NR > 1 && $9 == 1 { all++ }
    END { exit !(folds == 7 && all == best) }' log.csv || fail "the log has other iterations: $(cat log.csv)"
expect 0 "$NADE" info model
holds out "folds                  4" "120 for training, each for validation in one of the folds" "iterations             6 of 6, best $best"
expect 0 "$NADE" train table.csv "${short[@]}" --folds 4 --threads 1 --quiet -o again
cmp model again || fail "the number of threads matters"
expect 0 "$NADE" score model table.csv --device cpu -o scores.csv

# Folds that the clock ended: what was best may be so for want of time, and no fewer iterations than were asked for help.
expect 0 "$NADE" train table.csv --hidden 9 --updates 20 --iterations 1000000 --device cpu --lr 1e-6 --folds 3 --time-limit 1.5 -o cut
holds err "stopped early: all rows for as long as was best in 3 folds"
! grep -q "try --iterations" err || fail "fewer iterations than were asked for are advised: $(cat err)"

# A file of who has none says nothing of them.
expect 0 "$NADE" train table.csv "${short[@]}" -o without
expect 0 "$NADE" info without
! grep -q fold out || fail "folds where there are none: $(cat out)"

# One rate of several by the folds' mean.
expect 0 "$NADE" train table.csv "${short[@]}" --folds 3 --lr 0.01,0.0001 -o rates
holds err "lr 0.01  3 folds, iteration" "(chosen)"

refuse 2 "--folds" "there is a validation table" -- "$NADE" train table.csv --folds 4 --valid table.csv -o model
refuse 2 "--folds" "in no checkpoint" -- "$NADE" train table.csv --folds 4 --checkpoint c -o model
refuse 2 "--folds: found '1'" "from 2 to 100" -- "$NADE" train table.csv --folds 1 -o model
refuse 2 "expected at least two for each of 100 folds" -- "$NADE" train table.csv --folds 100 -o model
