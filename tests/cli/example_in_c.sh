# examples/score_lines.c: each row by itself in a session has the number that nade score prints.
. "$(dirname "$0")/../support/checks.bash"
awk 'BEGIN { print "x,y,z"; for (i = 0; i < 40; i++) print i % 7 + i / 100 "," i / 3 "," i % 2 }' >data.csv
expect 0 "$NADE" train data.csv -o model --hidden 4 --iterations 1 --updates 2 --quiet
expect 0 "$NADE" score model data.csv -o scores.csv --quiet
tail -n +2 scores.csv >expected
expect 0 "$NADE_SCORE_LINES" model <data.csv
# Numbers may be written with more digits than they need.
paste out expected | awk '$1 != $2 { bad = 1 } END { exit bad || NR != 40 }' || fail "other numbers: $(paste out expected | head -3)"
expect 1 "$NADE_SCORE_LINES" nowhere <data.csv
holds err nowhere
