# train --holes and sample --holes: rows are drawn with the table's missing cells.
. "$(dirname "$0")/../support/checks.bash"

# b is missing in a tenth of the rows where a is no and in half of those where it is yes; c is missing with it.
awk 'function draw() { state = (state * 16807) % 2147483647; return state / 2147483647 }
BEGIN {
    state = 7; for (i = 0; i < 20; i++) draw()
    print "a,b,c"
    for (i = 0; i < 1500; i++) {
        yes = draw() < 0.5; x = draw() * 9 + yes; y = draw() < 0.5 ? "p" : "q"; hole = draw() < (yes ? 0.5 : 0.1)
        print (yes ? "yes" : "no") "," (hole ? "" : sprintf("%.2f", x)) "," (hole ? "" : y)
    }
}' >data.csv
shares() { # of the rows with a as given: those that lack b, those that lack b or c alone
    awk -F, -v a="$1" 'NR > 1 && $1 == a { n++; holes += $2 == ""; alone += ($2 == "") != ($3 == "") }
        END { print holes / n, alone / n }' "$2"
}
expect 0 "$NADE" train data.csv -o model "${network[@]}" --iterations 25 --holes --device cpu
expect 0 "$NADE" sample model -n 4000 --holes --quiet
mv out drawn.csv
for a in no yes; do
    { shares "$a" data.csv; shares "$a" drawn.csv; } >out
    awk 'NR == 1 { expected = $1 } NR == 2 && ($1 < expected - 0.08 || $1 > expected + 0.08 || $2 > 0.06) { exit 1 }' out ||
        fail "of the rows where a is $a: $(cat out)"
done
head -1 drawn.csv | grep -qx 'a,b,c' || fail "$(head -1 drawn.csv)"

# What is drawn is data again; what is given, or within a range, is there.
expect 0 "$NADE" score model drawn.csv --quiet
expect 0 "$NADE" sample model -n 300 --holes --where 'b>4' --where c=p --quiet
awk -F, 'NR > 1 && ($2 == "" || $2 <= 4 || $3 != "p") { exit 1 }' out || fail "$(head out)"
expect 0 "$NADE" sample model -n 300 --quiet
awk -F, 'NR > 1 && ($2 == "" || $3 == "") { exit 1 }' out || fail "$(head out)"
expect 0 "$NADE" info model
holds out 'Holes: b ' ', c ' '% of the training rows'

# The columns of the data are all that anybody sees.
expect 0 "$NADE" info model --json
python3 -c 'import json; m = json.load(open("out")); assert [c["name"] for c in m["columns"]] == ["a", "b", "c"], m
assert m["holes"] is True and "missing_share" not in m["columns"][0] and 0.2 < m["columns"][1]["missing_share"] < 0.4, m'
printf '0,1,2\n' >order
expect 0 "$NADE" score model data.csv --ordering-file order --quiet
refuse 2 'expected 0 to 2' -- "$NADE" score model data.csv --ordering-file <(printf '0,1,2,3\n')

# The same bytes for the same seed and any number of threads.
for threads in 1 2; do
    expect 0 "$NADE" train data.csv -o "same$threads" "${small[@]}" --holes --device cpu --threads "$threads"
    expect 0 "$NADE" sample "same$threads" -n 300 --holes --device cpu --threads "$threads" -o "drawn$threads"
done
cmp same1 same2 && cmp drawn1 drawn2 || fail "threads change what holes are learnt or drawn"

# Where nothing was learnt of holes there are none to draw; where nothing was missing, none are drawn.
expect 0 "$NADE" train data.csv -o plain "${small[@]}" --device cpu --checkpoint other
refuse 2 holes -- "$NADE" train data.csv -o new --resume other --holes
refuse 2 "nade train --holes" -- "$NADE" sample plain --holes
refuse 2 "--holes" -- "$NADE" train data.csv -o new --holes --order fixed
refuse 2 "--png" -- "$NADE" sample model --holes --image 1x3 --png new
awk -F, 'NR == 1 || $2 != ""' data.csv >complete.csv
expect 0 "$NADE" train complete.csv -o complete "${small[@]}" --holes --device cpu
holds err 'no holes to learn'
expect 0 "$NADE" sample complete -n 200 --holes --quiet
awk -F, 'NR > 1 && ($2 == "" || $3 == "") { exit 1 }' out || fail "$(head out)"
only complete complete.csv data.csv drawn.csv drawn1 drawn2 model order other plain same1 same2
