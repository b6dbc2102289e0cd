# A table of 0 and 1 with names: train, info, score; the densities of all states sum to one.
. "$(dirname "$0")/../support/checks.bash"

binary_data 600 1 >train.csv
binary_data 200 2 >test.csv

expect 0 "$NADE" train train.csv -o model "${network[@]}" --iterations 5 --log log.csv
[ ! -s out ] || fail "train writes to stdout"
holds err '4 columns: 4 binary' '  d: binary' 'iteration 5/5' 'validation log density' 'wrote model'
[ "$(grep -c '^iteration ' err)" = 5 ] || fail "not one line an iteration: $(cat err)"
[ "$(head -1 log.csv)" = iteration,updates,learning_rate,train_loss,valid_loss,best_valid_loss,best_iteration,seconds,stage ]
[ "$(wc -l <log.csv)" = 6 ] || fail "--log: $(cat log.csv)"
awk -F, 'NF != 9 || (NR > 1 && $1 != NR - 1) { exit 1 }' log.csv || fail "--log: $(cat log.csv)"

expect 0 "$NADE" info model
holds out 'Columns: 4' binary 'hidden layers of 16, 16 relu units' parameters 'seed' validation
[ ! -s err ] || fail "info has something to say: $(cat err)"
# Inputs 4 + 4 masks: (8 + 1) 16 + (16 + 1) 16 + (16 + 1) 4.
grep -qE 'parameters +484$' out || fail "number of parameters: $(cat out)"

expect 0 "$NADE" score model test.csv
[ "$(head -1 out)" = log_density ] || fail "header: $(head -1 out)"
[ "$(wc -l <out)" = 201 ] || fail "lines: $(wc -l <out)"
awk 'NR > 1 && !($1 <= 0 && $1 > -100) { exit 1 }' out || fail "scores out of range"
holds err '200 rows' mean 'standard error' 'mean of the 8 orderings' 'gain over independent marginals' 'bits per cell'
# Independent columns lack 0.37 nats of b given a and 0.69 of d given a and c.
awk '/gain over/ { exit !($NF > 0.9) }' err || fail "the model has learnt nothing: $(cat err)"
mean=$(awk 'NR > 1 { sum += $1 } END { printf "%.7g", sum / (NR - 1) }' out)
awk -v mean="$mean" '$1 == "mean" && NF == 2 { found = 1; exit !(($2 - mean) ^ 2 < 1e-9) } END { exit !found }' err ||
    fail "the mean is not the mean of the rows, $mean: $(cat err)"

# All 16 states.
awk 'BEGIN { print "a,b,c,d"; for (i = 0; i < 16; i++) print i % 2 "," int(i / 2) % 2 "," int(i / 4) % 2 "," int(i / 8) }' >all.csv
for how in '--orderings 1' '--orderings 8' '--orderings 3 --seed 9' '--device reference'; do
    # shellcheck disable=SC2086
    expect 0 "$NADE" score model all.csv $how --header yes
    awk 'NR > 1 { sum += exp($1) } END { exit !((sum - 1) ^ 2 < 1e-10) }' out || fail "the sum is not one with $how"
done

# Columns are found by name wherever they stand; extra ones are ignored with a warning.
awk -F, -v OFS=, '{ print $4, NR == 1 ? "extra" : NR, $3, $2, $1 }' test.csv >mixed.csv
expect 0 "$NADE" score model test.csv
cp out straight
expect 0 "$NADE" score model mixed.csv
cmp out straight || fail "columns are not matched by name"
holds err 'nade: warning: ' mixed.csv

# The same to a file; --spread; orderings from a file.
expect 0 "$NADE" score model test.csv -o scores.csv --quiet
cmp scores.csv straight
[ ! -s err ] || fail "--quiet is not quiet: $(cat err)"
expect 0 "$NADE" score model test.csv --spread
[ "$(head -1 out)" = log_density,spread ] || fail "header: $(head -1 out)"
cut -d, -f1 out | cmp - straight
awk -F, 'NR > 1 && !($2 >= 0) { exit 1 }' out || fail "spread"
printf '0 1 2 3\n3,2,1,0\n' >orders
expect 0 "$NADE" score model test.csv --ordering-file orders
holds err 'mean of the 2 orderings'
printf '0 1 2\n' >orders
refuse 2 orders -- "$NADE" score model test.csv --ordering-file orders
printf '0 1 2 2\n' >orders
refuse 2 orders -- "$NADE" score model test.csv --ordering-file orders

only all.csv log.csv mixed.csv model orders scores.csv straight test.csv train.csv

# Any columns given any others: the chain rule, and what is refused.
echo "0 2 1 3" >order
expect 0 "$NADE" score model test.csv --of a --quiet
cp out p_a
expect 0 "$NADE" score model test.csv --given a --ordering-file order --quiet
cp out p_rest
expect 0 "$NADE" score model test.csv --ordering-file order --quiet
paste -d, p_a p_rest out | awk -F, 'NR > 1 && ($1 + $2 - $3) ^ 2 > 1e-10 { exit 1 }' || fail "p(a) p(rest | a) is not p"
refuse 2 "column 'a' is in --of and in --given" -- "$NADE" score model test.csv --of a,b --given a
refuse 2 --of nobody -- "$NADE" score model test.csv --of nobody
refuse 2 'all columns are given' -- "$NADE" score model test.csv --given 0-3
