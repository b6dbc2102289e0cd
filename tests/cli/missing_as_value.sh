# train --missing-as-value: absence is learnt, scored, conditioned on and drawn as a label of its own.
. "$(dirname "$0")/../support/checks.bash"

# a is absent half of the time, and b then is always no.
awk 'BEGIN {
    print "a,b,x"
    for (i = 0; i < 400; i++)
        printf "%s,%s,%.1f\n", i % 2 ? "" : (i % 4 ? "p" : "q"), i % 2 ? "no" : (i % 8 < 4 ? "no" : "yes"), i * 7 % 19 / 2
}' >data.csv
expect 0 "$NADE" train data.csv -o model "${network[@]}" --iterations 8 --missing-as-value a
holds err 'a: categorical' 'b: binary'
grep -q 'missing' err && fail "cells are missing in spite of --missing-as-value: $(cat err)"
expect 0 "$NADE" info model --json
python3 -c 'import json; c = json.load(open("out"))["columns"][0]; assert c["labels"] == ["", "p", "q"], c'

# The label has a density: half of the rows.
printf 'a\n\nNA\np\n' >absent.csv
expect 0 "$NADE" score model absent.csv --of a --header yes --quiet
awk 'NR == 2 && !($1 > -0.9 && $1 < -0.5) { exit 1 } NR == 3 && $1 != first { exit 1 } { first = $1 }' out || fail "$(cat out)"

# Samples write it as an empty cell, read back as the same label, and it can be given.
expect 0 "$NADE" sample model -n 300 --quiet
grep -q '"' out && fail "$(grep '"' out)"
awk -F, 'NR > 1 && $1 == "" { n++ } END { exit !(n > 100 && n < 200) }' out || fail "$(head out)"
mv out drawn.csv
expect 0 "$NADE" score model drawn.csv --quiet
expect 0 "$NADE" sample model -n 60 --where a= --quiet
awk -F, 'NR > 1 && $1 != "" { bad = 1 } NR > 1 && $2 == "yes" { yes++ } END { exit bad || !(yes < 12) }' out || fail "$(cat out)"
refuse 2 "one of nothing (a missing cell), p, q" -- "$NADE" sample model --where a=r

refuse 2 "--missing-as-value" nobody -- "$NADE" train data.csv -o new --missing-as-value nobody
awk 'BEGIN { print "y,z"; for (i = 0; i < 1200; i++) print i / 7 "," i % 2 }' >reals.csv
refuse 2 "column 'y' cannot be categorical" -- "$NADE" train reals.csv -o new --missing-as-value y
only absent.csv data.csv drawn.csv model reals.csv
