# Blanks, bars and comments: what is read so comes back so from impute; arrays are chosen by name.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { print "# cars"; for (i = 0; i < 60; i++) printf "  %d.5   %d  \"%s\"\n", i * 7 % 13, i * 3 % 17, i % 2 ? "ford pinto" : "amc" }' >cars.txt
expect 0 "$NADE" train cars.txt -o model "${small[@]}"
holds err "60 rows, 3 columns"
printf '  1.50   NA  "amc"\n  2.5   16 ?\n' >holes.txt
expect 0 "$NADE" impute model holes.txt --quiet
head -n 1 out | grep -Eq '^  1\.50 +[0-9.]+  "amc"$' || fail "blanks: $(cat out)"
tail -n 1 out | grep -Eq '^  2\.5   16 (amc|"ford pinto")$' || fail "blanks: $(cat out)"
expect 0 "$NADE" score model holes.txt --delimiter blank --quiet
refuse 2 "the delimiter is 'e'" -- "$NADE" train cars.txt -o other --delimiter e

printf 'a|b\r\n1.5|x|y\r\n' >uneven.txt
refuse 2 "line 2: found 3 fields, expected 2" -- "$NADE" train uneven.txt -o other
awk 'BEGIN { print "a|b\r"; for (i = 0; i < 60; i++) printf "%d.5|%s\r\n", i * 7 % 13, i % 3 ? "x,y" : "z" }' >bars.txt
expect 0 "$NADE" train bars.txt -o bars "${small[@]}"
printf 'a|b\r\n1.50|\r\n|x,y\r\n' >holes.txt
expect 0 "$NADE" impute bars holes.txt --quiet
grep -Eqx $'1\\.50\\|("x,y"|z)\r' out && grep -Eqx $'[0-9.]+\\|x,y\r' out || fail "bars: $(cat -A out)"

expect 0 "$NADE" train "$NADE_SOURCE_DIR/tests/awkward/arrays.npz" --array test --dry-run "${small[@]}"
holds err "2 rows, 2 columns"
refuse 2 "holds 0 arrays called 'other', expected one of train, test" -- "$NADE" train "$NADE_SOURCE_DIR/tests/awkward/arrays.npz" --array other --dry-run
refuse 2 "or name one with --array" -- "$NADE" train "$NADE_SOURCE_DIR/tests/awkward/arrays.npz" --dry-run
refuse 2 "this is an Excel workbook: save it as CSV" -- "$NADE" train "$NADE_SOURCE_DIR/tests/awkward/workbook.xlsx" --dry-run
