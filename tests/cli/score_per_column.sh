# score --per-column: each cell given the rest of its row, as --of and --given say it; tails that rank cells.
. "$(dirname "$0")/../support/checks.bash"
python=${PYTHON:-/usr/bin/python3}

binary_data 400 1 >binary.csv
real_data 400 1 | tr ';' ',' | paste -d, - binary.csv >train.csv
expect 0 "$NADE" train train.csv -o model "${small[@]}"
awk -F, 'BEGIN { OFS = "," } NR > 1 && NR % 3 == 0 { $(1 + NR % 6) = "" } { print }' train.csv >rows.csv
expect 0 "$NADE" score model rows.csv --per-column
holds err '400 rows, mean of -log p of a cell given the rest of its row' '  x  ' '  d  '
cp out cells.csv
[ "$(head -n 1 cells.csv)" = x,x_tail,y,y_tail,a,a_tail,b,b_tail,c,c_tail,d,d_tail ] || fail "$(head -n 1 cells.csv)"
for column in x y a b c d; do
    rest=$(echo x,y,a,b,c,d | sed "s/$column//; s/,,/,/; s/^,//; s/,$//")
    expect 0 "$NADE" score model rows.csv --of $column --given "$rest" --quiet
    tail -n +2 out >$column.score
done
"$python" - <<'END'
import csv, math
given = list(csv.reader(open("rows.csv")))
cells = list(csv.DictReader(open("cells.csv")))
assert len(cells) == 400
for c, name in enumerate("x y a b c d".split()):
    scores = [float(s) for s in open(name + ".score")]
    for row, score, text in zip(cells, scores, given[1:]):
        if text[c] == "":
            assert row[name] == row[name + "_tail"] == "", row
            continue
        surprise, tail = float(row[name]), float(row[name + "_tail"])
        assert math.isclose(surprise, -score, rel_tol=1e-9, abs_tol=1e-9), (name, surprise, score)
        assert 0 < tail <= 1
        if name in "abcd":
            p = math.exp(score)
            assert math.isclose(tail, 1 if p >= 0.5 else p, rel_tol=1e-9), (p, tail)
END

# The same from standard input, in parts, for any number of threads; some columns; JSON.
cat rows.csv | expect 0 "$NADE" score model - --per-column --threads 1 -o file --quiet
cmp file cells.csv
(cat rows.csv && for _ in $(seq 12); do tail -n +2 rows.csv; done) >long.csv
expect 0 "$NADE" score model long.csv --per-column --quiet
[ "$(wc -l <out)" = 5201 ] && head -n 401 out | cmp - cells.csv && tail -n 400 out >last && tail -n 400 cells.csv | cmp - last
expect 0 "$NADE" score model rows.csv --per-column --of d --given a,c --json
[ "$(head -n 1 out)" = d,d_tail ]
"$python" -c 'import json; o = json.load(open("err")); assert o["rows"] == 400 and [c["name"] for c in o["columns"]] == ["d"], o'

# --of chooses what is shown, and the rest of the row is given all the same; with --given that alone, cell by cell.
expect 0 "$NADE" score model rows.csv --per-column --of d,y
holds err 'given the rest of its row'
cut -d, -f3,4,11,12 cells.csv | cmp - out || fail "--of changes what is given"
expect 0 "$NADE" score model rows.csv --per-column --of x,y --given a,c
holds err 'given the columns of --given'
cut -d, -f3 out >both
expect 0 "$NADE" score model rows.csv --of y --given a,c --quiet
paste -d, out both | awk -F, 'NR > 1 && $2 != "" { if (($1 + $2) ^ 2 > 1e-12) exit 1; n++ } END { exit n < 300 }' ||
    fail "--given is not what is given"
expect 0 "$NADE" score model rows.csv --per-column --given a,b,c,d --quiet
[ "$(head -n 1 out)" = x,x_tail,y,y_tail ]
cut -d, -f3 rows.csv | expect 2 "$NADE" score model - --per-column --of a
cut -d, -f3 rows.csv | expect 2 "$NADE" score model - --per-column --of y --given a
cut -d, -f2,3 rows.csv | expect 0 "$NADE" score model - --per-column --of y --given a

# A value out of its place is less likely than those it took the place of.
printf 'x,y,a,b,c,d\n-3,4,0,0,0,0\n-3,16,0,0,0,0\n-3,400,0,0,0,0\n' >odd.csv
expect 0 "$NADE" score model odd.csv --per-column --of y --given x,a,b,c,d --quiet
awk -F, 'NR == 2 { usual = $2 } NR == 3 { odd = $2 } NR == 4 { end = $2 } END { exit !(usual > 2 * odd && odd > end && end < 1e-6) }' out ||
    fail "tails: $(cat out)"

refuse 2 '--spread' -- "$NADE" score model rows.csv --per-column --spread
refuse 2 "'e'" -- "$NADE" score model rows.csv --per-column --of e
expect 0 "$NADE" train train.csv -o fixed --order fixed --hidden 8 --iterations 1 --updates 50
refuse 2 'one fixed ordering' -- "$NADE" score fixed rows.csv --per-column
