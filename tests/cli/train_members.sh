# --members: what it will take, who is trained, what each came to; every verb answers with the mean of the members.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { srand(5); print "a,b,c"
    for (i = 0; i < 160; i++) { a = rand() < 0.4; print a "," (rand() < (a ? 0.8 : 0.2)) "," (i % 9 ? rand() : "") } }' >table.csv
short=(--hidden 9 --components 3 --iterations 5 --updates 20 --device cpu --seed 7)

expect 0 "$NADE" train table.csv "${short[@]}" --members 3 --dry-run
holds err " parameters in 3 members; at most 300 updates"
expect 0 "$NADE" train table.csv "${short[@]}" --members 3 --dry-run --json
holds err '"members":3'

expect 0 "$NADE" train table.csv "${short[@]}" --members 3 --threads 2 --log log.csv -o model
holds err "member 1 of 3, iteration 5/5" "member 3 of 3, iteration 5/5" "validation log densities of 3 members -"
head -1 log.csv | grep -q ',stage,member$' || fail "the log's header is $(head -1 log.csv)"
awk -F, 'NR > 1 { seen[$10]++ } END { exit !(seen[1] == 5 && seen[2] == 5 && seen[3] == 5) }' log.csv ||
    fail "the log has other iterations: $(cat log.csv)"
expect 0 "$NADE" train table.csv "${short[@]}" --members 3 --threads 1 --quiet -o again
cmp model again || fail "the number of threads matters"
expect 0 "$NADE" info model
holds out " in 3 members" "members                best -"
expect 0 "$NADE" info model --json
holds out '"members":3' '"member_valid_loss":[' '"member_best_iteration":['

# The first is the model that is trained without members, whose file does not speak of them.
expect 0 "$NADE" train table.csv "${short[@]}" --quiet -o one
grep -q member one && fail "a model of one member speaks of members"
expect 0 "$NADE" train table.csv "${short[@]}" --members 1 --quiet -o one_member
cmp one one_member || fail "--members 1 is something else than none"

# Verbs: the same bytes for any threads; a range; fills; cells; probabilities.
for threads in 1 2; do
    expect 0 "$NADE" score model table.csv --orderings 4 --threads $threads -o scores.$threads
    expect 0 "$NADE" sample model -n 200 --where 'c<0.3' --threads $threads -o samples.$threads
    expect 0 "$NADE" impute model table.csv --method median --interval 0.9 --threads $threads -o filled.$threads
    expect 0 "$NADE" score model table.csv --per-column --threads $threads -o cells.$threads
done
for file in scores samples filled cells; do cmp $file.1 $file.2 || fail "$file: the number of threads matters"; done
awk -F, 'NR > 1 && !($3 < 0.3) { exit 1 }' samples.1 || fail "a sample lies outside of its range"
expect 0 "$NADE" prob model --where a=1 --draws 4000
awk -F, 'NR == 2 && !($1 > 0.2 && $1 < 0.6) { exit 1 }' out || fail "the probability is $(cat out)"

# Interrupted and resumed.
expect 0 "$NADE" train table.csv "${short[@]}" --members 3 --checkpoint checkpoint --log part.csv --time-limit 0.000001 -o part
expect 0 "$NADE" train table.csv --resume checkpoint --checkpoint checkpoint --log part.csv --device cpu -o resumed
cmp model resumed || fail "a resumed run ends in other bytes"
cut -d, -f1-7,9,10 log.csv >whole && cut -d, -f1-7,9,10 part.csv | cmp - whole || fail "the resumed run's log is $(cat part.csv)"

expect 0 "$NADE" train table.csv "${short[@]}" --members 2 --folds 3 -o folds
holds err "and each member's on all rows" "member 2 of 2, all rows, iteration" "2 members; the first:"

refuse 2 "--members: found '65'" "from 1 to 64" -- "$NADE" train table.csv --members 65 -o model
refuse 2 "--members" "pretraining is for a single one" -- "$NADE" train table.csv --members 2 --hidden 5,5 --pretrain 2 -o model
refuse 2 "--members" "several rates of --lr" -- "$NADE" train table.csv --members 2 --lr 0.1,0.01 -o model
refuse 2 "components in 64 members together" "--members" -- "$NADE" train table.csv --members 64 --components 70 -o model
