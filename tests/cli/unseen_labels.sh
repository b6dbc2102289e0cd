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

# impute leaves such cells as they are, fills others without them, and says so once.
refuse 2 'new.csv, line 3' "column 'colour'" "'pink'" 'or --unseen missing' -- "$NADE" impute model new.csv
expect 0 "$NADE" impute model new.csv --unseen missing
cmp out new.csv || fail "unseen labels are not left: $(cat out)"
printf 'size,colour,flag\n,red,yes\n,pink,yes\n' >beside.csv
printf 'size,colour,flag\n,red,yes\n,,yes\n' >without.csv
expect 0 "$NADE" impute model without.csv --quiet --method median --interval 0.5
mv out expected
expect 0 "$NADE" impute model beside.csv --unseen missing --method median --interval 0.5
[ "$(cut -d, -f1,4- out)" = "$(cut -d, -f1,4- expected)" ] || fail "an unseen label is evidence: $(cat out expected)"
[ "$(cut -d, -f2 out | tail -n 1)" = pink ] || fail "filled over: $(cat out)"
head -n 1 out | grep -qx 'size,colour,flag,size_low,size_high' || fail "intervals: $(head -n 1 out)"
expect 0 "$NADE" impute model new.csv --unseen missing
[ "$(grep -c warning err)" = 1 ] || fail "$(cat err)"
holds err '3 cells' "line 3, column 'colour': 'pink'"
expect 0 "$NADE" impute model - --unseen missing --json <long.csv
holds err '"unseen":2' "line 4502, column 'colour': 'pink'"

# Text in a number column is no label.
printf 'size,colour,flag\nbig,red,yes\n' >text.csv
refuse 2 'text.csv, line 2' "'big'" -- "$NADE" score model text.csv --unseen missing --header yes
only beside.csv data.csv expected holes.csv long.csv model new.csv text.csv without.csv
