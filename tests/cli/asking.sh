# Slips in verbs are understood; conditions may have blanks; intervals are of columns with holes, in the column's step.
. "$(dirname "$0")/../support/checks.bash"

refuse 2 "unknown verb 'trian'; did you mean train?" -- "$NADE" trian data.csv
refuse 2 "unknown verb 'smaple'; did you mean sample?" -- "$NADE" smaple
refuse 2 "unknown verb 'inpute'; did you mean impute?" -- "$NADE" help inpute
refuse 2 "unknown verb 'frobnicate'; the verbs are train" -- "$NADE" frobnicate

awk 'BEGIN { print "age,height,kind,the age"; for (i = 0; i < 300; i++) printf "%d.5,%d.25,%s,%d.5\n", 20 + i * 7 % 53, 150 + i % 40, i % 3 ? "red" : "blue", i % 71 }' >data.csv
expect 0 "$NADE" train data.csv -o model "${small[@]}" --json
holds out '"best_iteration"' '"columns"'
holds err '"best_iteration"'
[ "$(wc -l <out)" = 1 ] || fail "more than the summary: $(cat out)"
expect 0 "$NADE" sample model -n 3 --where 'age = 30.5' --where 'kind =red' --where '10 <= the age < 60' --quiet
tail -n +2 out | grep -Evq '^30.5,[0-9.]+,red,[1-5][0-9]' && fail "where: $(cat out)"
expect 0 "$NADE" sample model -n 3 --where '30 < age' --quiet
awk -F, 'NR > 1 && $1 <= 30 { exit 1 }' out || fail "where: $(cat out)"

printf 'age,height,kind,the age\n30.5,,red,5.5\n31.5,155.25,,6.5\n' >holes.csv
expect 0 "$NADE" impute model holes.csv --interval 0.9 --quiet
head -n 1 out | grep -qx 'age,height,kind,the age,height_low,height_high' || fail "intervals: $(head -n 1 out)"
tail -n +2 out | head -n 1 | grep -Eq ',[0-9]+\.25,[0-9]+\.25$' || fail "not in steps: $(cat out)"
expect 0 "$NADE" impute model holes.csv --interval 0.9 --exact --quiet
tail -n +2 out | head -n 1 | grep -Eq ',[0-9]+\.25,[0-9]+\.25$' && fail "rounded: $(cat out)"
expect 0 "$NADE" impute model - --interval 0.9 --quiet <holes.csv
head -n 1 out | grep -q 'age_low,age_high,height_low,height_high' || fail "from a pipe: $(head -n 1 out)"
