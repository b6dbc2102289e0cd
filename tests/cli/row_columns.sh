# --weights, --groups, --split-by, --bootstrap: what is said of them, what they change, what is refused; models pass over
# their columns.
. "$(dirname "$0")/../support/checks.bash"

# Two coins, equal sides three times as heavy; patients of 4 rows; days of which many have several rows.
awk 'BEGIN { srand(3); print "a,weight,b,patient,day,c"
    for (i = 0; i < 1200; i++) { a = rand() < 0.5; b = rand() < 0.5
        printf "%d,%s,%d,p%d,2022-%02d-%02d,%.3f\n", a, a == b ? "1.5" : "0.5", b, i / 4, 1 + i / 100, 1 + i % 28, rand() } }' >table.csv
short=(--hidden 9 --components 3 --iterations 8 --updates 100 --lr 0.01 --device cpu --seed 7)
plain=(--drop patient,day,c)

# What is said before anything is done.
expect 0 "$NADE" train table.csv --device cpu --weights weight --groups patient --drop day --dry-run
holds err "1200 rows, 3 columns" "  weight: left out, weighs the rows" "  patient: left out, says which rows stay together" \
    "1080 training rows, 120 validation rows" "rows count as much as column weight says: 4320 copies of the training rows" \
    "rows with the same value of column patient stay together: 300 groups"
expect 0 "$NADE" train table.csv --device cpu --split-by day --drop patient,weight --dry-run
holds err "  day: left out, says which rows are held out" "validation rows are those with the greatest values of column day"
expect 0 "$NADE" train table.csv --device cpu --weights weight --groups patient --drop day --dry-run --json
holds err '"weights":"weight","copies":4320,"groups":"patient","group_count":300'
expect 0 "$NADE" train table.csv --device cpu --split-by day --dry-run --json
holds err '"split_by":"day"'

# Equal sides have probability 3/4, with weights.
expect 0 "$NADE" train table.csv "${short[@]}" "${plain[@]}" --weights weight --quiet -o model
expect 0 "$NADE" prob model --where a=1 --given b=1 --draws 20000
awk -F, 'NR == 2 && !($1 > 0.68 && $1 < 0.82) { exit 1 }' out || fail "the probability is $(cat out)"
expect 0 "$NADE" score model table.csv -o scores
[ -s err ] && grep -q weight err && fail "the column of weights is news: $(cat err)"
expect 0 "$NADE" info model
holds out "Left out: weight (weights of the rows)" "1080 for training, 120 for validation"

# --columns need not name it; a number does as well; a validation table has one too.
expect 0 "$NADE" train table.csv "${short[@]}" --columns a,b --weights 1 --quiet -o same
expect 0 "$NADE" score same table.csv -o same_scores
cmp scores same_scores || fail "--columns changes the weights"
head -400 table.csv >valid.csv
expect 0 "$NADE" train table.csv "${short[@]}" --columns a,b --weights weight --valid valid.csv --groups patient -o with_valid
holds err "1200 training rows, 399 validation rows"
cut -d, -f1,3- valid.csv >no_weights.csv
refuse 2 "--weights of no_weights.csv: found 'weight'" -- "$NADE" train table.csv "${plain[@]}" --weights weight --valid no_weights.csv -o model

# Whole weights are numbers of copies: the table with its rows repeated gives the same network.
awk -F, 'NR == 1 { print "a,b,w" > "counts.csv"; print "a,b" > "repeated.csv"; next }
    NR < 400 { w = NR % 4; print $1 "," $3 "," w > "counts.csv"; for (; w > 0; w--) print $1 "," $3 > "repeated.csv" }' table.csv
fixed=("${short[@]}" --quiet --valid-fraction 0)
expect 0 "$NADE" train counts.csv "${fixed[@]}" --weights w -o counts
expect 0 "$NADE" train repeated.csv "${fixed[@]}" -o repeated
expect 0 "$NADE" score counts repeated.csv -o counts.scores
expect 0 "$NADE" score repeated repeated.csv -o repeated.scores
cmp counts.scores repeated.scores || fail "a weight of 2 is something else than the row twice"
expect 0 "$NADE" train counts.csv --device cpu --weights w --valid-fraction 0.1 --dry-run
holds err "rows count as often as column w says"

# Folds keep groups together; several rates; members with samples of their own, for any number of threads.
expect 0 "$NADE" train table.csv "${short[@]}" --drop day,c --weights weight --groups patient --folds 3 -o folds
holds err "validates in one of 3 folds" "300 groups"
expect 0 "$NADE" train table.csv --hidden 9 --iterations 2 --updates 20 --device cpu "${plain[@]}" --weights weight --lr 0.01,0.001 -o rates
run=(--hidden 9 --components 3 --iterations 5 --updates 20 --device cpu --drop day,c --weights weight --groups patient
    --members 3 --bootstrap)
for threads in 1 2; do
    expect 0 "$NADE" train table.csv "${run[@]}" --threads $threads -o members.$threads
done
holds err "in 3 members, each on a sample of its own"
cmp members.1 members.2 || fail "the number of threads matters"

# Interrupted and resumed, with the same weights.
expect 0 "$NADE" train table.csv "${run[@]}" --checkpoint checkpoint --time-limit 0.000001 --quiet -o part
expect 0 "$NADE" train table.csv --drop day,c --weights weight --groups patient --resume checkpoint --device cpu --quiet -o resumed
cmp members.1 resumed || fail "a resumed run ends in other bytes"
refuse 2 "checkpoint was made with other training rows" -- \
    "$NADE" train table.csv --drop day,c,weight --groups patient --resume checkpoint --device cpu -o resumed
sed '2s/\.5/.75/; 3s/\.5/9.5/' table.csv >heavier.csv
refuse 2 "checkpoint was made with other training rows" -- \
    "$NADE" train heavier.csv --drop day,c --weights weight --groups patient --resume checkpoint --device cpu -o resumed

# Refusals, each with the flag.
sed '5s/,[0-9.]*,/,,/' table.csv >hole.csv
refuse 2 "hole.csv, line 5, column 'weight': found no value, expected a weight of 0 or more" -- "$NADE" train hole.csv --weights weight -o model
refuse 2 "line 2, column 'patient': found 'p0', expected a weight" -- "$NADE" train table.csv --weights patient -o model
refuse 2 "line 2, column 'patient': found 'p0', expected a number or a date" -- "$NADE" train table.csv --split-by patient -o model
refuse 2 "--groups of table.csv: found 'none'" -- "$NADE" train table.csv --groups none -o model
refuse 2 "--weights of table.csv: found 'a,b', which is 2 columns, expected one" -- "$NADE" train table.csv --weights a,b -o model
refuse 2 "--split-by and --valid can't be given together" -- "$NADE" train table.csv --split-by day --valid valid.csv -o model
refuse 2 "--split-by, 'day', says which rows are held out, but --groups says which stay together" -- \
    "$NADE" train table.csv --split-by day --groups patient -o model
refuse 2 "3 folds are asked for (--folds), but --split-by says which rows are held out" -- \
    "$NADE" train table.csv --split-by day --folds 3 -o model
refuse 2 "(--bootstrap) are asked for, expected at least 2 of them (--members)" -- "$NADE" train table.csv --bootstrap -o model
refuse 2 "counts.csv, column 'w': the rows are of 4 groups, expected at least 20, since groups stay together" -- \
    "$NADE" train counts.csv --groups w --folds 20 --device cpu -o model
