# nade check: cells that the model drew itself pass, shifted and spread ones are named; what it writes and refuses.
. "$(dirname "$0")/../support/checks.bash"

# table ROWS SEED: x, y that follows x in whole numbers, a label and a flag that depend on x; some holes in x.
table() {
    awk -v rows="$1" -v state="$2" '
        function draw() { state = (state * 16807) % 2147483647; return state / 2147483647 }
        function normal() { return sqrt(-2 * log(draw())) * cos(6.283185307179586 * draw()) }
        BEGIN { print "x,y,kind,flag"; for (i = 0; i < rows; i++) { x = normal()
            printf "%s,%.0f,%s,%d\n", draw() < 0.05 ? "" : sprintf("%.2f", x), 20 + 4 * x + 2 * normal(),
                x + normal() < 0 ? "low" : draw() < 0.5 ? "mid" : "high", (x + normal() > 0) } }'
}
table 600 11 >data.csv
table 250 99 >new.csv
expect 0 "$NADE" train data.csv -o model "${network[@]}" --real y --iterations 8 --quiet

# figures PYTHON: what a check as JSON in `out` must be, with `found` as its object and `column` by name.
figures() {
    python3 -c "
import json, math
found = json.load(open('out'))
column = {c['name']: c for c in found['columns']}
$1" || fail "$1: $(cat out)"
}

# y, and kind, drawn by the model given the rest of each row: whatever the model, it is calibrated there.
for name in y kind; do
    : >p
    for seed in 1 2 3 4 5 6 7 8; do
        awk -F, -v OFS=, -v c="$name" 'NR > 1 { $(c == "y" ? 2 : 3) = "" } { print }' new.csv >hollow.csv
        # Holes of x stay holes: filling them too would draw y given what is not in the row.
        grep -v '^,' hollow.csv >full.csv
        expect 0 "$NADE" impute model full.csv --seed $seed -o drawn.csv --quiet
        expect 0 "$NADE" check model drawn.csv --seed $seed --json
        figures "assert column['$name']['calibrated'], column['$name']
open('p', 'a').write('%r\n' % column['$name']['p_value'])"
    done
    awk -v least="$([ $name = y ] && echo 0.25 || echo 0.3)" '{ sum += $1 } END { exit !(NR == 8 && sum / NR > least && sum / NR < 0.95) }' p ||
        fail "$name: p-values of right distributions: $(cat p)"
done

# Shifted by a deviation, and twice as far from what is expected.
awk -F, -v OFS=, 'NR > 1 { $2 += 3 } { print }' drawn.csv >shifted.csv
expect 0 "$NADE" check model shifted.csv --png places.png
holds err "y: values are higher than expected:" "not calibrated" "a right model fails"
! grep -q "at random" err || fail "no cell is missing: $(cat err)"
[ "$(head -c 4 places.png | tail -c 3)" = PNG ] || fail "no picture"
[ "$(head -1 out)" = column,cells,p_value,distance,inside_50,inside_80,inside_90,inside_95,hits,expected_hits,gain,standard_error ] ||
    fail "$(cat out)"
[ "$(cut -d, -f1 out | tr '\n' ' ')" = "column x y kind flag " ] || fail "$(cat out)"
expect 0 "$NADE" check model shifted.csv --json
figures "assert not found['good'] and not column['y']['calibrated'] and 'higher' in column['y']['fault']
assert 'not calibrated' in found['verdict'] and column['y']['p_value'] < 1e-6
assert sum(column['y']['histogram']) == column['y']['cells'] and len(column['y']['histogram']) == 20
assert 'intervals' in column['x'] and 'hits' in column['kind'] and 'hits' in column['flag']
assert len(found['worst_rows']) == 5 and found['worst_rows'][0]['column'] in column
assert [w['log_density'] for w in found['worst_rows']] == sorted(w['log_density'] for w in found['worst_rows'])"
# The cells that it blames are those that outliers blames.
cp out checked.json
expect 0 "$NADE" outliers model shifted.csv --draws 100
/usr/bin/python3 -c "
import csv, json
rows = list(csv.DictReader(open('out')))
for worst in json.load(open('checked.json'))['worst_rows']:
    blamed = rows[worst['row']]
    assert (worst['column'], float(worst['tail'])) == (blamed['column'], float(blamed['tail'])), (worst, blamed)" || fail "check and outliers blame different cells"
awk -F, -v OFS=, 'NR > 1 && $1 != "" { middle = 20 + 4 * $1; $2 = int(middle + 2.5 * ($2 - middle) + 1000.5) - 1000 } { print }' new.csv >spread.csv
expect 0 "$NADE" check model spread.csv
holds err "y: intervals are too narrow:"
awk -F, -v OFS=, 'NR > 1 && NR % 3 == 0 { $3 = "low" } { print }' new.csv >lower.csv
expect 0 "$NADE" check model lower.csv
holds err "kind: label low is in" "1 % of such tables, if their cells are missing completely at random"

# Figures that score has too; rows with holes, and rows that count.
expect 0 "$NADE" score model new.csv --json --quiet
cp err score.json
expect 0 "$NADE" check model new.csv --json
figures "score = json.load(open('score.json'))
for mine, theirs in (('mean', 'mean'), ('standard_error', 'standard_error'), ('gain', 'gain'), ('mean_spread', 'mean_spread')):
    assert abs(found[mine] - score[theirs]) < 1e-9, (mine, found[mine], score[theirs])
assert found['rows'] == 250 and column['x']['cells'] < 250 and column['y']['cells'] == 250
for interval in column['y']['intervals']:
    level = interval['level']
    assert abs(interval['standard_error'] - math.sqrt(level * (1 - level) / 250)) < 1e-12"
expect 0 "$NADE" compare model independent new.csv --per-column --quiet
cp out gains
expect 0 "$NADE" check model new.csv --quiet
[ "$(cut -d, -f1,11,12 out | sed 1d)" = "$(cut -d, -f1,3,4 gains | sed 1d)" ] || fail "gains differ: $(cat out gains)"
cp out once
expect 0 "$NADE" check model new.csv --quiet --threads 1
cmp out once
expect 0 "$NADE" check model new.csv --rows 40 --json
figures "assert found['rows'] == 40"

# Too few rows; labels that are new; one fixed ordering.
head -2 new.csv >one.csv
expect 0 "$NADE" check model one.csv
holds err "1 row can't tell"
! grep -q nan out err || fail "$(cat out err)"
sed '3s/,[a-z]*,/,pink,/' new.csv >pink.csv
refuse 2 "pink" "--unseen" -- "$NADE" check model pink.csv
expect 0 "$NADE" check model pink.csv --unseen missing
holds err "1 cell holds a value that training has not seen"
expect 0 "$NADE" train data.csv -o fixed --hidden 8 --components 3 --batch 50 --updates 50 --iterations 2 --lr 0.01 --order fixed --quiet
sed '/^,/d' new.csv >whole.csv
expect 0 "$NADE" check fixed whole.csv
holds err "one ordering only; the energy test finds no difference between samples and rows;"
[ "$(wc -l <out)" = 1 ] || fail "$(cat out)"
refuse 2 "--png" "fixed ordering" -- "$NADE" check fixed whole.csv --png no.png
[ ! -e no.png ] || fail "a picture in spite of an error"
refuse 2 "no-such.csv" -- "$NADE" check model no-such.csv
refuse 2 "new.csv" -- "$NADE" check model new.csv --png new.csv

# A file in place of stdout.
expect 0 "$NADE" check model new.csv --quiet
cp out said
expect 0 "$NADE" check model new.csv --quiet -o checked.csv
[ ! -s out ] && cmp -s checked.csv said || fail "$(cat out checked.csv)"
expect 0 "$NADE" check model new.csv --quiet --json -o checked.json
holds checked.json '"verdict"'
refuse 2 "new.csv" -- "$NADE" check model new.csv -o new.csv
