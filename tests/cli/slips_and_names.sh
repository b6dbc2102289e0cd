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

printf '2020,2019\n0.5,\n' >hole.csv
expect 0 "$NADE" impute model hole.csv --method mean --quiet
cp out told
expect 0 "$NADE" impute model hole.csv --method mean --quiet --header yes
cmp -s out told || fail "a header of numbers was filled as a row: $(cat told)"
refuse 2 '--cells' '--per-column' -- "$NADE" score model years.csv --cells --per-column

# Of the ranges one is drawn exactly, whatever is given besides.
expect 0 "$NADE" sample model -n 5 --where 2019=0.5 --where '2019<=0.9' --where '2020>=3' --quiet
[ "$(wc -l <out)" = 6 ] || fail "the range on a given column came in the way: $(cat err)"

# A column that the model does not know may hold anything, and comes back from impute as it was.
awk 'BEGIN { print "id,2019,2020"; for (i = 0; i < 1500; i++) print i * 3 + 0.5 "," i / 1500 ","; print "A17,0.5,0.5"; print "inf,0.5,0.5" }' >extra.csv
expect 0 "$NADE" score model extra.csv --quiet
[ "$(wc -l <out)" = 1503 ] || fail "extra columns"
expect 0 "$NADE" impute model extra.csv --quiet
cmp -s <(cut -d, -f1,2 out) <(cut -d, -f1,2 extra.csv) || fail "impute changed what was there"

# A column that is not there is asked for, and may be empty.
printf '2019\n0.5\n' >half.csv
refuse 2 "half.csv has no column '2020', which the model expects: add it" -- "$NADE" score model half.csv --header yes
printf '2019,2020\n0.5,\n' >half.csv
expect 0 "$NADE" score model half.csv --header yes --quiet

# Flags may be repeated, values may not.
expect 0 "$NADE" score model years.csv --quiet --quiet
refuse 2 'given twice' -- "$NADE" score model years.csv --seed 1 --seed 1
