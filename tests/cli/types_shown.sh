# What train says of each column: a line for each of few, paragraphs for many that are alike, types alone of very many kinds.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { srand(5); print "town,size,flag"; for (i = 0; i < 300; i++) print (i % 9 ? "t" i % 4 : "") "," rand() - rand() "," i % 2 }' >few.csv
expect 0 "$NADE" train few.csv -o model "${small[@]}"
holds err '300 rows, 3 columns: 1 real, 1 binary, 1 categorical' '34 cells missing in 1 column'
printf '  %s\n' 'town: categorical, 4 labels, 34 missing' 'size: real' 'flag: binary' >expected
grep '^  ' err | cmp -s - expected || fail "$(cat err)"

# 40 columns, every fifth of labels, the last one alone of its kind: all names are there, runs as first to last, in lines of 100.
awk 'BEGIN { srand(5); for (c = 0; c < 39; c++) printf "column_%02d,", c; print "rest"
    for (i = 0; i < 100; i++) {
        for (c = 0; c < 39; c++) printf "%s,", c % 5 == 4 ? "k" i % 3 : i % 2
        print i % 6 * 2.5 } }' >many.csv
expect 0 "$NADE" train many.csv --dry-run
cat >expected <<END
  binary (32 columns): column_00 to column_03, column_05 to column_08, column_10 to column_13,
    column_15 to column_18, column_20 to column_23, column_25 to column_28, column_30 to column_33,
    column_35 to column_38
  categorical, 3 labels (7 columns): column_04, column_09, column_14, column_19, column_24,
    column_29, column_34
  rest: real, from 0, 6 values of their own
END
grep '^  ' err | cmp -s - expected || fail "$(cat err)"

# 60 columns of as many kinds: their types, and all kinds where that is all that is asked for.
awk 'BEGIN { for (c = 0; c < 60; c++) printf "%sc%d", c ? "," : "", c; print ""
    for (i = 0; i < 250; i++) for (c = 0; c < 60; c++) printf "%s%s", c % 2 ? "k" i % (c + 3) : i * 7 % (c + 30) / 4, c < 59 ? "," : "\n" }' >kinds.csv
expect 0 "$NADE" train kinds.csv -o model "${network[@]}" --iterations 1
grep -qE '^  real \((2[0-9]|30) columns\): c0' err || fail "$(cat err)"
grep -qE '^  categorical \(30 columns\): c1, c3, c5' err || fail "$(cat err)"
holds err 'nade info tells more of each'
expect 0 "$NADE" train kinds.csv --dry-run
holds err 'c1: categorical, 4 labels' 'c59: categorical, 62 labels'
only expected few.csv kinds.csv many.csv model
