# Numbers like -999 are missing cells, in training and wherever the model meets them, unless they are kept.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { srand(3); print "age,weight,grade"
    for (i = 0; i < 300; i++) print (i % 10 == 3 ? -999 : int(18 + 60 * rand())) "," 50 + 40 * rand() "," 1 + i % 5 }' >data.csv
expect 0 "$NADE" train data.csv -o model "${small[@]}"
holds err "'age' (-999 in 30 cells, 10 %)" "taken for missing cells" "--keep-sentinels" "30 cells missing in 1 column"
expect 0 "$NADE" info model
holds out "missing -999"
expect 0 "$NADE" sample model -n 300 --quiet
awk -F, 'NR > 1 && $1 < -100 { exit 1 }' out || fail "drawn: $(head -n 5 out)"

# It is marginalised, filled and refused as a condition.
printf 'age,weight,grade\n-999,70,2\n,70,2\n-999.0,70,2\n' >rows.csv
expect 0 "$NADE" score model rows.csv --quiet
[ "$(tail -n +2 out | sort -u | wc -l)" = 1 ] || fail "scores: $(cat out)"
expect 0 "$NADE" impute model rows.csv --quiet
grep -q -e -999 out && fail "impute: $(cat out)"
refuse 2 "'age': found -999, which training took for a missing cell" -- "$NADE" sample model --where age=-999
refuse 2 "--where: column 'age': found -999, which training took for a missing cell, expected a value" -- "$NADE" prob model --where age=-999
refuse 2 "--given: column 'age': found -999, which" -- "$NADE" prob model --where 'weight>70' --given 'age in {30,-999}'
expect 0 "$NADE" prob model --where 'age!=-999' --quiet

# What is missing takes no part in how numbers are written.
awk 'BEGIN { print "warm;plain;few"; for (i = 0; i < 400; i++) { t = i * 37 % 300
    printf "%s;%s;%s\n", i % 10 == 3 ? "-999" : int(t / 10) "," t % 10, i % 10 == 4 ? "-999" : int(t / 10) "." t % 10, i % 7 ? t "" : "5,5" } }' >warm.csv
expect 0 "$NADE" train warm.csv -o warm "${small[@]}"
holds err "'warm' (-999 in 40 cells" "'plain' (-999 in 40 cells" 'warm: real, like 1234,0'
expect 0 "$NADE" sample warm -n 60 --quiet
if tail -n +2 out | grep -Evq '^"-?[0-9]+,[0-9]",-?[0-9]+\.[0-9],'; then fail "drawn: $(head -n 8 out)"; fi
[ "$(wc -l <out)" = 61 ] || fail "drawn: $(wc -l <out)"

# Kept, it is a number as any other.
expect 0 "$NADE" train data.csv -o kept "${small[@]}" --keep-sentinels age
grep -q "missing cells" err && fail "kept: $(cat err)"
expect 0 "$NADE" sample kept -n 1 --where age=-999 --quiet
refuse 2 "--keep-sentinels: found 'height'" -- "$NADE" train data.csv -o other --keep-sentinels height

# Of ordered values too.
awk 'BEGIN { print "age,weight"; for (i = 0; i < 3000; i++) print (i % 10 == 3 ? -999 : 20 + i * 7 % 40) "," i * 13 % 17 + 0.5 }' >ages.csv
expect 0 "$NADE" train ages.csv -o ages "${small[@]}"
holds err "'age' (-999 in 300 cells, 10 %)"
expect 0 "$NADE" info ages
holds out "ordered      48 values from 16 to 63  missing -999"

# And of grades, which are labels.
awk 'BEGIN { print "grade,weight"; for (i = 0; i < 600; i++) print (i % 10 == 3 ? -999 : 1 + i * 7 % 5) "," i * 13 % 17 + 0.5 }' >grades.csv
expect 0 "$NADE" train grades.csv -o grades "${small[@]}"
holds err "'grade' (-999 in 60 cells, 10 %)"
expect 0 "$NADE" info grades
holds out "categorical  5 labels: 1, 2, 3, 4, 5  missing -999"
printf 'grade,weight\n-999,7.5\n,7.5\n-999.0,7.5\n' >rows.csv
expect 0 "$NADE" score grades rows.csv --quiet
[ "$(tail -n +2 out | sort -u | wc -l)" = 1 ] || fail "scores: $(cat out)"
expect 0 "$NADE" impute grades rows.csv --quiet
grep -q -e -999 out && fail "impute: $(cat out)"
refuse 2 "--where: column 'grade': found '-999', expected one of 1, 2, 3, 4, 5" -- "$NADE" sample grades --where grade=-999
expect 0 "$NADE" train grades.csv -o grades "${small[@]}" --keep-sentinels grade
expect 0 "$NADE" info grades
holds out "categorical  6 labels: -999, 1, 2, 3, 4, 5"
