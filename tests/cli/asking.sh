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
refuse 2 "unknown option --whree; did you mean --where?" -- "$NADE" sample model '--whree=age<30'
refuse 2 "--of: found 'Heihgt', but there is no such column; did you mean 'height'?" -- "$NADE" score model data.csv --of Heihgt
refuse 2 "there is no model file 'gausian'; did you mean gaussian?" -- "$NADE" compare model gausian data.csv
refuse 2 "data.csv is not a safetensors file" "expected a model that nade train wrote" -- "$NADE" score data.csv model
expect 0 "$NADE" sample model -n 3 --where 'age = 30.5' --where 'kind =red' --where '10 <= the age < 60' --quiet
tail -n +2 out | grep -Evq '^30.5,[0-9.]+,red,[1-5][0-9]' && fail "where: $(cat out)"
expect 0 "$NADE" sample model -n 3 --where '30 < age' --quiet
awk -F, 'NR > 1 && $1 <= 30 { exit 1 }' out || fail "where: $(cat out)"

# Values that are excluded or listed: draws, probabilities, and what they are given.
expect 0 "$NADE" sample model -n 200 --where 'kind != red' --where 'age in {30.5, 37.5}' --quiet
tail -n +2 out | grep -Evq '^(30|37)\.5,[0-9.]+,blue,' && fail "sets: $(head -n 4 out)"
[ "$(wc -l <out)" = 201 ] || fail "sets: $(wc -l <out) lines"
mv out first
expect 0 "$NADE" sample model -n 200 --where 'kind != red' --where 'age in {30.5, 37.5}' --quiet
cmp out first || fail "another time others"
expect 0 "$NADE" prob model --where 'kind!=red' --json --quiet
other=$(sed 's/.*"probability":\([0-9.e-]*\).*/\1/' out)
expect 0 "$NADE" prob model --where 'kind in {blue}' --json --quiet
[ "$(sed 's/.*"probability":\([0-9.e-]*\).*/\1/' out)" = "$other" ] || fail "not the same event: $(cat out) $other"
expect 0 "$NADE" prob model --where 'kind=blue' --given 'kind != red' --quiet
holds out '1,9.997' # every draw, so that the error is not 0
refuse 2 "column 'kind': found 'green', expected one of blue, red" -- "$NADE" sample model --where 'kind in {blue,green}'
refuse 2 "the conditions are too unlikely" -- "$NADE" sample model --where 'kind != red' --where 'kind in {red}'

printf 'age,height,kind,the age\n30.5,,red,5.5\n31.5,155.25,,6.5\n' >holes.csv
expect 0 "$NADE" impute model holes.csv --interval 0.9 --quiet
head -n 1 out | grep -qx 'age,height,kind,the age,height_low,height_high' || fail "intervals: $(head -n 1 out)"
tail -n +2 out | head -n 1 | grep -Eq ',[0-9]+\.25,[0-9]+\.25$' || fail "not in steps: $(cat out)"
expect 0 "$NADE" impute model holes.csv --interval 0.9 --exact --quiet
tail -n +2 out | head -n 1 | grep -Eq ',[0-9]+\.25,[0-9]+\.25$' && fail "rounded: $(cat out)"
expect 0 "$NADE" impute model - --interval 0.9 --quiet <holes.csv
head -n 1 out | grep -q 'age_low,age_high,height_low,height_high' || fail "from a pipe: $(head -n 1 out)"
