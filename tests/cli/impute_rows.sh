# impute writes the table back with its holes filled: observed bytes as they were, draws fixed by (seed, row, draw) alone.
. "$(dirname "$0")/../support/checks.bash"
python=${PYTHON:-/usr/bin/python3}

awk 'BEGIN {
    print "size,\"colour, or not\",flag,grade"
    split("red|deep green|\"bl\"\"ue, x\"", colour, "|")
    for (i = 0; i < 400; i++) {
        k = (i * 7 + int(i / 5)) % 3
        printf "%.1f,%s,%s,%d\n", k + (i % 17) / 10, colour[k + 1], i % 2 ? "yes" : "no", 1 + i % 5
    }
}' >train.csv
expect 0 "$NADE" train train.csv -o model "${small[@]}"

# Quotes, blanks, CRLF, other columns in between, another order, another separator; duplicate rows; all and none missing.
printf '%s\r\n' 'id;flag; "colour, or not" ;note;size;"grade"' \
    'a;yes;"bl""ue, x";"1;2";?;NA' \
    'b;;  deep green ;" keep ";1.30;' \
    'b;;  deep green ;" keep ";1.30;' \
    'c;no;"red";"two' \
    'lines";2.0;3' \
    'd;?;?;;?;?' >holes.csv
expect 0 "$NADE" impute model holes.csv --seed 4
holds err 'not in the model' '5 rows, 10 missing cells filled in 4 of them'
cp out filled
"$python" - <<'END'
import re
lines = open("filled", newline="").read().split("\r\n")
assert lines[0] == 'id;flag; "colour, or not" ;note;size;"grade"', lines
number, label = r"-?\d+(\.\d)?", '(red|deep green|"bl""ue, x")'
assert re.fullmatch(r'a;yes;"bl""ue, x";"1;2";' + number + ";[1-5]", lines[1]), lines
assert re.fullmatch(r'b;(yes|no);  deep green ;" keep ";1\.30;[1-5]', lines[2]), lines
assert re.fullmatch(r'b;(yes|no);  deep green ;" keep ";1\.30;[1-5]', lines[3]), lines
assert lines[4:6] == ['c;no;"red";"two', 'lines";2.0;3'], lines
assert re.fullmatch("d;(yes|no);" + label + ";;" + number + ";[1-5]", lines[6]), lines
assert lines[7] == "" and len(lines) == 8, lines
END
# Lines end as they did, the last one perhaps not at all; between its draws there is an end.
printf 'size;grade;flag;"colour, or not"\n1.0;2;yes;red\r\n1.1;3;no;red\r1.2;4;no;red' >ends.csv
expect 0 "$NADE" impute model ends.csv
cmp out ends.csv || fail "a table without holes is not copied"
expect 0 "$NADE" impute model ends.csv --draws 2
printf '%b' 'draw;size;grade;flag;"colour, or not"\n0;1.0;2;yes;red\r\n1;1.0;2;yes;red\r\n' \
    '0;1.1;3;no;red\r1;1.1;3;no;red\r0;1.2;4;no;red\n1;1.2;4;no;red' | cmp - out || fail "$(od -c out)"
# What was filled reads back.
expect 0 "$NADE" score model filled --quiet

# The same bytes for any number of threads, from standard input, into a file; another seed, other draws.
for threads in 1 3; do
    expect 0 "$NADE" impute model - --seed 4 --threads $threads -o file --quiet <holes.csv
    cmp file filled && [ ! -s err ] && [ ! -s out ] || fail "$threads threads"
done
expect 0 "$NADE" impute model holes.csv --seed 5 --quiet
! cmp -s out filled || fail "the seed has no effect"

# Draws: draw r of row i is the same alone, among others, in other parts; duplicate rows differ somewhere.
expect 0 "$NADE" impute model holes.csv --seed 4 --draws 40 --json
[ "$(cat err | tail -n 1)" = '{"rows":5,"rows_with_holes":4,"cells":10,"method":"draw","draws":40,"seed":4,"device":"cpu"}' ] || fail "$(cat err)"
"$python" - <<'END'
import csv
rows = list(csv.reader(open("out", newline=""), delimiter=";"))
single = list(csv.reader(open("filled", newline=""), delimiter=";"))
assert rows[0][0] == "draw" and rows[0][1:] == single[0]
assert [r[0] for r in rows[1:]] == [str(d) for _ in range(5) for d in range(40)]
for i in range(5):
    assert rows[1 + 40 * i][1:] == single[1 + i]
assert [r[1:] for r in rows[41:81]] != [r[1:] for r in rows[81:121]], "duplicate rows are filled alike"
assert len({tuple(r[1:]) for r in rows[41:81]}) > 4
assert len({tuple(r[1:]) for r in rows[121:161]}) == 1
END
real_data 9001 5 | awk -F';' 'BEGIN { OFS = ";" } NR > 1 && NR % 3 { $(1 + NR % 2) = "" } { print }' >long.csv
real_data 300 1 >real.csv
expect 0 "$NADE" train real.csv -o real "${small[@]}"
expect 0 "$NADE" impute real long.csv --quiet
cp out whole
[ "$(wc -l <whole)" = 9002 ]
(head -n 1 long.csv && sed -n '4090,4110p' long.csv) >few.csv
expect 0 "$NADE" impute real long.csv --quiet --draws 600
awk -F';' 'BEGIN { OFS = ";" } NR == 1 || $1 == 0 { sub(/^[^;]*;/, ""); print }' out | cmp - whole || fail "parts matter"
awk -F';' 'NR == FNR { split($0, a, ";"); x[FNR] = a[1]; y[FNR] = a[2]; next }
    (x[FNR] != "" && x[FNR] != $1) || (y[FNR] != "" && y[FNR] != $2) || $1 !~ /^-?[0-9]+(\.[0-9][0-9]?[0-9]?)?$/ && FNR > 1 { exit 1 }' \
    long.csv whole || fail "observed cells or steps"

# Arrays come out as CSV, by position, without names.
"$python" - <<'END'
import numpy as np
rows = np.genfromtxt("few.csv", delimiter=";", skip_header=1)
np.save("few.npy", rows)
END
tail -n +2 few.csv >bare.csv
expect 0 "$NADE" impute real bare.csv --quiet --header no --delimiter ';'
tr ';' ',' <out >bare
expect 0 "$NADE" impute real few.npy --quiet
"$python" -c 'import csv
a, b = ([[float(x) for x in r] for r in csv.reader(open(f))] for f in ("bare", "out"))
assert a == b and len(a) == 21, (a, b)'

# Points and intervals.
for method in mean median mode; do
    expect 0 "$NADE" impute real few.csv --quiet --method $method --interval 0.9
    cp out $method
    "$python" - $method <<'END'
import csv, sys
given = list(csv.reader(open("few.csv"), delimiter=";"))
rows = list(csv.reader(open(sys.argv[1]), delimiter=";"))
assert rows[0] == ["x", "y", "x_low", "x_high", "y_low", "y_high"], rows[0]
holes = 0
for g, r in zip(given[1:], rows[1:]):
    for c in range(2):
        low, high = r[2 + 2 * c:4 + 2 * c]
        if g[c]:
            assert r[c] == g[c] and low == high == "", r
        else:
            holes += 1
            assert float(low) < float(high), r
            assert sys.argv[1] == "mode" or float(low) < float(r[c]) < float(high), r
assert holes > 5
END
done
! cmp -s mean median && ! cmp -s mean mode || fail "methods agree"
expect 0 "$NADE" impute model holes.csv --quiet --method mean
grep -qE '^b;(yes|no);' out || fail "$(cat out)"

# What is refused.
refuse 2 "--draws" -- "$NADE" impute real few.csv --draws 3 --method mean
refuse 2 "--interval" -- "$NADE" impute real few.csv --interval 1
refuse 2 "--method" "maen" -- "$NADE" impute real few.csv --method maen
refuse 2 "few.csv" "has no columns 'size'" -- "$NADE" impute model few.csv
sed '2s/yes/perhaps/' holes.csv >bad.csv
refuse 2 "bad.csv, line 2, column 'flag'" "'perhaps'" -- "$NADE" impute model bad.csv --quiet
refuse 2 "absent.csv" -- "$NADE" impute real absent.csv
refuse 1 "nowhere/out" -- "$NADE" impute real few.csv -o nowhere/out
refuse 2 "few.csv" -- "$NADE" impute real few.csv -o few.csv
rm -f file
(cat long.csv && echo '1;2;3') >bad.csv
refuse 2 'bad.csv, line 9003' -- "$NADE" impute real bad.csv --quiet -o file
[ ! -e file ] || fail "a broken table left a file"
expect 0 "$NADE" train real.csv -o fixed --order fixed --hidden 8 --iterations 1 --updates 50
printf 'x;y\n;1\n' >first.csv
refuse 2 'first.csv, row 0, ' "'y' is given but 'x'" 'fixed ordering' -- "$NADE" impute fixed first.csv
printf 'x;y\n1;\n' >last.csv
expect 0 "$NADE" impute fixed last.csv --method median
expect 1 bash -c '"$NADE" impute real long.csv >/dev/full'
expect 0 bash -c '"$NADE" impute real long.csv --draws 100 2>quiet_err | head -n 1'
[ ! -s quiet_err ] || fail "$(cat quiet_err)"

# Added columns never have the name of one that is there.
printf 'x;y;draw\n1;;7\n' >draw.csv
refuse 2 'draw.csv' "'draw'" '--draws' -- "$NADE" impute real draw.csv --draws 2
printf 'x;y_high;y\n1;;\n' >high.csv
refuse 2 'high.csv' "'y_high'" '--interval' -- "$NADE" impute real high.csv --interval 0.5
expect 0 "$NADE" impute real high.csv --draws 2 --quiet
