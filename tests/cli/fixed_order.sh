# One fixed ordering: train along it, see it in info, score along it whatever is asked, refuse another.
. "$(dirname "$0")/../support/checks.bash"
binary_data 600 1 >train.csv
binary_data 200 2 >test.csv
awk 'BEGIN { print "a,b,c,d"; for (i = 0; i < 16; i++) print i % 2 "," int(i / 2) % 2 "," int(i / 4) % 2 "," int(i / 8) }' >all.csv
echo 3 0 2 1 >ordering

fixed=(--order fixed --hidden 70 --batch 50 --updates 100 --iterations 5 --lr 0.05 --seed 3)
expect 0 "$NADE" train train.csv -o natural "${fixed[@]}"
expect 0 "$NADE" train train.csv -o model "${fixed[@]}" --ordering-file ordering --threads 1
expect 0 "$NADE" train train.csv -o again "${fixed[@]}" --ordering-file ordering --threads 3
cmp model again || fail "the number of threads changes the model"
expect 0 "$NADE" info natural
holds out 'fixed: 0, 1, 2, 3'
expect 0 "$NADE" info model
holds out 'fixed: 3, 0, 2, 1' 'hidden layers of 70 relu units'
grep -qE 'input masks +no$' out || fail "masks: $(cat out)"
# (4 + 1) 70 + (70 + 1) 4: no inputs for masks.
grep -qE 'parameters +634$' out || fail "number of parameters: $(cat out)"

expect 0 "$NADE" score model all.csv --header yes
awk 'NR > 1 { sum += exp($1) } END { exit !((sum - 1) ^ 2 < 1e-10) }' out || fail "the sum is not one"
expect 0 "$NADE" score model test.csv
cp out straight
awk '/gain over/ { exit !($NF > 0.9) }' err || fail "the model has learnt nothing: $(cat err)"
for how in '--orderings 1' '--orderings 16 --seed 9' '--ordering-file ordering'; do
    # shellcheck disable=SC2086
    expect 0 "$NADE" score model test.csv $how
    cmp out straight || fail "the scores change with $how"
done

echo 0 1 2 3 >other
refuse 2 'one fixed ordering' -- "$NADE" score model test.csv --ordering-file other
refuse 2 'one fixed ordering' "'$(head -n 1 train.csv | cut -d, -f$(($(cut -d' ' -f1 ordering) + 1)))' comes before" -- \
    "$NADE" score model test.csv --of "$(cut -d' ' -f2 ordering)"
refuse 2 'hidden' -- "$NADE" train train.csv -o none --order fixed --hidden 5,5
refuse 2 'hidden' -- "$NADE" train train.csv -o none --order fixed --hidden 500,500
refuse 2 'the order is not fixed' -- "$NADE" train train.csv -o none --rescale

# With a factor for each position: four parameters more, and again a density.
expect 0 "$NADE" train train.csv -o rescaled "${fixed[@]}" --ordering-file ordering --rescale
expect 0 "$NADE" info rescaled
holds out 'a factor for each position'
grep -qE 'parameters +638$' out || fail "number of parameters: $(cat out)"
expect 0 "$NADE" score rescaled all.csv --header yes
awk 'NR > 1 { sum += exp($1) } END { exit !((sum - 1) ^ 2 < 1e-10) }' out || fail "the sum is not one with factors"
expect 0 "$NADE" train train.csv -o again "${fixed[@]}" --ordering-file ordering --rescale --checkpoint part --threads 3
cmp rescaled again || fail "the number of threads changes the model with factors"
expect 0 "$NADE" train train.csv -o again --resume part
cmp rescaled again || fail "a resumed run with factors differs"
expect 0 "$NADE" sample rescaled -n 20 --seed 4
rm part

echo 0 1 2 2 >other
refuse 2 other -- "$NADE" train train.csv -o none --order fixed --ordering-file other
only again all.csv model natural ordering other rescaled straight test.csv train.csv
