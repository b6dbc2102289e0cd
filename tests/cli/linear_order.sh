# One fixed ordering without a hidden layer: regressions on the columns before, by every verb that an ordering has.
. "$(dirname "$0")/../support/checks.bash"
binary_data 600 1 >train.csv
binary_data 200 2 >test.csv
awk 'BEGIN { print "a,b,c,d"; for (i = 0; i < 16; i++) print i % 2 "," int(i / 2) % 2 "," int(i / 4) % 2 "," int(i / 8) }' >all.csv
echo 3 0 2 1 >ordering

linear=(--order fixed --hidden 0 --ordering-file ordering --batch 50 --updates 100 --iterations 5 --lr 0.05 --seed 3)
expect 0 "$NADE" train train.csv -o model "${linear[@]}" --threads 1
expect 0 "$NADE" train train.csv -o again "${linear[@]}" --threads 3 --checkpoint part
cmp model again || fail "the number of threads changes the model"
expect 0 "$NADE" train train.csv -o again --resume part
cmp model again || fail "a resumed run differs"
rm part
expect 0 "$NADE" info model
holds out 'no hidden layer, each column a regression on those before it' 'fixed: 3, 0, 2, 1'
# 4 · 4 weights, of which those from later columns are zero, and 4 biases.
grep -qE 'parameters +20, those from later columns zero$' out || fail "number of parameters: $(cat out)"

expect 0 "$NADE" score model all.csv --header yes
awk 'NR > 1 { sum += exp($1) } END { exit !((sum - 1) ^ 2 < 1e-10) }' out || fail "the sum is not one"
expect 0 "$NADE" score model test.csv
cp out straight
awk '/gain over/ { exit !($NF > 0.4) }' err || fail "the model has learnt nothing: $(cat err)"
expect 0 "$NADE" score model test.csv --device reference
awk 'NR == FNR { x[FNR] = $1; next } FNR > 1 && (x[FNR] - $1) ^ 2 > 1e-10 { exit 1 }' straight out || fail "the reference differs"
expect 0 "$NADE" sample model -n 20 --seed 4
[ "$(wc -l <out)" = 21 ] || fail "samples: $(cat out)"
head -n 1 train.csv >holes.csv
echo 1,,0,1 >>holes.csv # the last column of the ordering
expect 0 "$NADE" impute model holes.csv -o filled.csv --method mode --header yes
grep -qE '^1,[01],0,1$' filled.csv || fail "filled: $(cat filled.csv)"
expect 0 "$NADE" predict model test.csv --of "$(head -n 1 train.csv | cut -d, -f2)"
holds err accuracy

# Only along one ordering.
refuse 2 '--hidden 0' 'without a fixed order' 'expected 1 or more units' -- "$NADE" train train.csv -o none --hidden 0
refuse 2 'one fixed ordering' -- "$NADE" score model test.csv --of "$(cut -d' ' -f2 ordering)"
refuse 2 'hidden layer 1 has 0 units' -- "$NADE" train train.csv -o none --hidden 5,0
refuse 2 'rescale' -- "$NADE" train train.csv -o none --order fixed --hidden 0 --rescale
only again all.csv filled.csv holes.csv model ordering straight test.csv train.csv
