# A slip in a column of numbers is named; names that are numbers are found with the model's help.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { print "a,b"; for (i = 0; i < 60; i++) print i * 0.5 "," (i % 2) }' >good.csv
sed '31s/^[^,]*/foo/' good.csv >slip.csv
refuse 2 "slip.csv, line 31, column 'a': found 'foo', expected a number" --categorical -- "$NADE" train slip.csv -o model
only good.csv slip.csv
expect 0 "$NADE" train slip.csv --categorical a -o model "${network[@]}"

awk 'BEGIN { srand(1); print "2019,2020"; for (i = 0; i < 60; i++) print rand() "," rand() }' >years.csv
expect 0 "$NADE" train years.csv --header yes -o model "${network[@]}"
expect 0 "$NADE" score model years.csv
[ "$(wc -l <out)" = 61 ] || fail "the header was scored: $(head -n 3 out)"
"$NADE" sample model -n 5 --quiet | "$NADE" score model - --quiet >out
[ "$(wc -l <out)" = 6 ] || fail "samples do not read back: $(cat out)"

# Flags may be repeated, values may not.
expect 0 "$NADE" score model years.csv --quiet --quiet
refuse 2 'given twice' -- "$NADE" score model years.csv --seed 1 --seed 1
