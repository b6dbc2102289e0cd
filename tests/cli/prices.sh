# Prices that all end alike: samples, fillings and ends of ranges do so too.
. "$(dirname "$0")/../support/checks.bash"

awk 'function draw() { state = (state * 16807) % 2147483647; return state / 2147483647 }
    BEGIN { state = 7; print "price,kind"
        for (i = 0; i < 600; i++) { k = draw() < 0.4; printf "%.2f,%s\n", int(exp(3 + k + sqrt(-2 * log(draw())) * cos(6.2832 * draw()))) + 0.99, k ? "new" : "old" } }' >data.csv
expect 0 "$NADE" train data.csv -o model "${network[@]}" --iterations 5
holds err 'price: real, from 0, in steps of 1 from 0.99'
expect 0 "$NADE" info model
holds out 'in steps of 1 from 0.99'

# ends FILE: all prices of a table end in 99 cents and lie above 0.
ends() {
    awk -F, 'NR > 1 && $1 !~ /^[0-9]+\.99$/ { bad = 1 } END { exit bad || NR < 2 }' "$1" || fail "$(cat "$1")"
}
expect 0 "$NADE" sample model -n 2000 --quiet
ends out
expect 0 "$NADE" sample model -n 500 --where '5<price<12.5' --quiet
ends out
awk -F, 'NR > 1 && ($1 < 5.99 || $1 > 11.99) { exit 1 }' out || fail "$(cat out)"
# A value between the steps is no price: it has no probability, and rows that are drawn with it are the caller's.
off="--where: column 'price': 12.5 is off its steps of 1 from 0.99: no row that the model draws has it"
for verb in "prob model" "sample model -n 2"; do
    expect 0 "$NADE" $verb --where price=12.50
    holds err "$off"
    expect 0 "$NADE" $verb --where 'price in {11.99,12.50}'
    holds err "$off"
    expect 0 "$NADE" $verb --where price=11.99 --where 'kind in {old,new}'
    if grep -q "off its" err; then fail "$(cat err)"; fi
done
expect 0 "$NADE" prob model --where kind=old --given price=12.5
holds err "--given: column 'price': 12.5 is off its steps"
expect 0 "$NADE" sample model -n 2 --where price=12.5 --exact
if grep -q "off its" err; then fail "$(cat err)"; fi
refuse 2 "no value of column 'price' lies between 5 and 5.5" -- "$NADE" sample model --where '5<=price<=5.5'
printf 'price,kind\n,new\n,old\n' >holes.csv
for method in draw mean median mode; do
    expect 0 "$NADE" impute model holes.csv --method $method --quiet
    ends out
done
expect 0 "$NADE" score model data.csv --cells --quiet
