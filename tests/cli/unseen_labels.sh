# score --unseen: a label that training has not seen is an error, or a missing cell with one warning for the whole table.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN {
    print "size,colour,flag"
    split("red green blue", colour, " ")
    for (i = 0; i < 300; i++) printf "%.2f,%s,%s\n", (i % 17) / 10, colour[i * 7 % 3 + 1], i % 2 ? "yes" : "no"
}' >data.csv
expect 0 "$NADE" train data.csv -o model "${small[@]}" --quiet
printf 'size,colour,flag\n0.5,red,yes\n0.5,pink,yes\n0.5,mauve,perhaps\n' >new.csv
printf 'size,colour,flag\n0.5,red,yes\n0.5,,yes\n0.5,?,\n' >holes.csv

refuse 2 'new.csv, line 3' "column 'colour'" "'pink'" 'or --unseen missing' -- "$NADE" score model new.csv
refuse 2 'new.csv, line 3' -- "$NADE" score model new.csv --unseen error
refuse 2 "--unseen: found 'drop'" -- "$NADE" score model new.csv --unseen drop

expect 0 "$NADE" score model holes.csv --quiet
mv out expected
expect 0 "$NADE" score model new.csv --unseen missing
cmp out expected || fail "unseen labels are not missing cells"
[ "$(grep -c warning err)" = 1 ] || fail "$(cat err)"
holds err '3 cells' "line 3, column 'colour': 'pink'"
expect 0 "$NADE" score model new.csv --unseen missing --quiet
[ ! -s err ] || fail "not quiet: $(cat err)"
expect 0 "$NADE" score model new.csv --unseen missing --json
holds err '"unseen":3'

# In a stream of many parts the warning comes once, wherever they are.
(cat data.csv && for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do tail -n +2 data.csv; done && echo 1,pink,yes && echo 1,teal,no) >long.csv
expect 0 "$NADE" score model - --unseen missing --orderings 1 <long.csv
[ "$(grep -c warning err)" = 1 ] || fail "$(cat err)"
holds err '2 cells' "line 4502, column 'colour': 'pink'"

# impute fills such cells, and says so once.
refuse 2 'new.csv, line 3' "column 'colour'" "'pink'" -- "$NADE" impute model new.csv
expect 0 "$NADE" impute model holes.csv --quiet
mv out expected
expect 0 "$NADE" impute model new.csv --unseen missing
cmp out expected || fail "unseen labels are not filled"
[ "$(grep -c warning err)" = 1 ] || fail "$(cat err)"
holds err '3 cells' "line 3, column 'colour': 'pink'"
expect 0 "$NADE" impute model - --unseen missing --json <long.csv
holds err '"unseen":2' "line 4502, column 'colour': 'pink'"

# Text in a number column is no label.
printf 'size,colour,flag\nbig,red,yes\n' >text.csv
refuse 2 'text.csv, line 2' "'big'" -- "$NADE" score model text.csv --unseen missing --header yes
only data.csv expected holes.csv long.csv model new.csv text.csv
