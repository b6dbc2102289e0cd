# outliers: p-values are ranks among reference rows with the same cells, blame is the least likely cell given the rest.
. "$(dirname "$0")/../support/checks.bash"
python=${PYTHON:-/usr/bin/python3}

"$python" - <<'END_PYTHON'
import random
draw = random.Random(5)
def table(name, rows, odd=0, holes=0.0):
    with open(name, "w") as file:
        file.write('kind,weight,"food, daily",pet\n')
        for i in range(rows):
            kind, mean = draw.choice((("cat", 4), ("dog", 20), ("fish, small", 1)))
            weight = mean * (1 + 0.2 * draw.gauss(0, 1))
            cells = [f'"{kind}"' if "," in kind else kind, f"{weight:.2f}", f"{2 * weight + draw.gauss(0, 1):.1f}",
                     draw.choice(("yes", "no", "no"))]
            if i < odd:
                cells[1] = f"{weight + 60:.2f}"
            file.write(",".join("" if draw.random() < holes else cell for cell in cells) + "\n")
table("train.csv", 600)
table("held.csv", 150, holes=0.05)
table("new.csv", 60, odd=4)
table("holed.csv", 60, odd=4, holes=0.25)
END_PYTHON
expect 0 "$NADE" train train.csv -o model "${small[@]}"

# Whole rows: log densities are score's, ranks are those among the whole rows of the reference.
expect 0 "$NADE" outliers model new.csv --reference held.csv --seed 3
holds err '60 rows, each by its rank among 150 of held.csv' 'p-value of at most 0.01' 'expected 0.6' '10 % false discoveries'
cp out all.csv
[ "$(head -n 1 all.csv)" = log_density,p_value,column,found,expected,tail ] || fail "$(head -n 1 all.csv)"
expect 0 "$NADE" outliers model holed.csv --reference held.csv --seed 3 --cells 2
cp out holed.out
[ "$(head -n 1 out)" = log_density,p_value,column,found,expected,tail,column_2,found_2,expected_2,tail_2 ]
for part in new holed; do
    expect 0 "$NADE" score model $part.csv --seed 3 -o $part.score --quiet
    expect 0 "$NADE" score model $part.csv --per-column -o $part.cells --quiet
done
"$python" - "$NADE" <<'END_PYTHON'
import csv, subprocess, sys
names = ["kind", "weight", "food, daily", "pet"]
def rows(name):
    return list(csv.reader(open(name, newline="")))[1:]
def write(name, table):
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([names] + table)
def score(table):
    write("asked.csv", table)
    run = subprocess.run([sys.argv[1], "score", "model", "asked.csv", "--seed", "3", "--quiet"], capture_output=True, text=True, check=True)
    return [float(x) for x in run.stdout.split()[1:]]
held, ranked = rows("held.csv"), {}
def reference(present):
    if present not in ranked:
        covering = [r for r in held if all(r[c] for c in present)]
        ranked[present] = score([[x if c in present else "" for c, x in enumerate(r)] for r in covering])
    return ranked[present]
expected = []
for part, found in (("new.csv", "all.csv"), ("holed.csv", "holed.out")):
    data, lines = rows(part), list(csv.DictReader(open(found)))
    densities = [float(x) for x in open(part.replace("csv", "score")).read().split()[1:]]
    cells = list(csv.DictReader(open(part.replace("csv", "cells"))))
    assert len(data) == len(lines) == len(densities) == 60
    for i, line in enumerate(lines):
        assert float(line["log_density"]) == densities[i]
        present = tuple(c for c in range(4) if data[i][c])
        others = reference(present)
        p = (1 + sum(o <= densities[i] for o in others)) / (1 + len(others))
        assert abs(float(line["p_value"]) - p) < 1e-12, (i, line, p)
        tails = sorted((float(cells[i][names[c] + "_tail"]), names[c]) for c in present)
        for k in range(2 if part == "holed.csv" else 1):
            s = "_2" if k else ""
            if k >= len(tails):
                assert line["column" + s] == line["found" + s] == line["expected" + s] == line["tail" + s] == ""
                continue
            assert (float(line["tail" + s]), line["column" + s]) == tails[k], (line, tails)
            value = data[i][names.index(line["column" + s])]
            assert line["found" + s] == value or float(line["found" + s]) == float(value)
            expected.append(([x if names[c] != line["column" + s] else "" for c, x in enumerate(data[i])],
                             names.index(line["column" + s]), line["expected" + s]))
    if part == "new.csv":
        assert all(lines[i]["column"] in ("weight", "food, daily") and float(lines[i]["p_value"]) < 0.02 for i in range(4)), lines[:4]
write("asked.csv", [row for row, _, _ in expected])
run = subprocess.run([sys.argv[1], "impute", "model", "asked.csv", "--method", "median", "--quiet"], capture_output=True, text=True, check=True)
for filled, (_, c, text) in zip(list(csv.reader(run.stdout.splitlines()))[1:], expected):
    assert filled[c] == text, (filled, c, text)
END_PYTHON

# A row's line does not depend on the rows beside it, the number of threads, or how the table comes.
(head -n 1 holed.csv && sed -n '41,61p' holed.csv) >some.csv
expect 0 "$NADE" outliers model some.csv --reference held.csv --seed 3 --cells 2 --threads 1 --quiet
tail -n +2 out >some && tail -n 21 holed.out | cmp - some || fail "neighbours matter"
(cat new.csv && for _ in $(seq 80); do tail -n +2 new.csv; done) >long.csv
expect 0 "$NADE" outliers model - --reference held.csv --seed 3 -o file --quiet <long.csv
[ "$(wc -l <file)" = 4861 ] && tail -n 60 file >last && tail -n 60 all.csv | cmp - last || fail "parts matter"

# The most unusual rows, first of all the worst, with their numbers.
expect 0 "$NADE" outliers model new.csv --reference held.csv --seed 3 --top 7 --quiet
[ "$(head -n 1 out)" = row,log_density,p_value,column,found,expected,tail ]
"$python" - <<'END_PYTHON'
import csv
lines, top = list(csv.DictReader(open("all.csv"))), list(csv.DictReader(open("out")))
wanted = sorted(range(60), key=lambda i: float(lines[i]["log_density"]))[:7]
assert [int(t["row"]) for t in top] == wanted and set(wanted) >= {0, 1, 2, 3}, top
for t in top:
    row = t.pop("row")
    assert t == lines[int(row)]
END_PYTHON

# Without a reference, rows drawn from the model: such rows themselves have p-values that are spread evenly.
expect 0 "$NADE" sample model -n 2000 --orderings 8 --seed 1 -o drawn.csv --quiet
expect 0 "$NADE" outliers model drawn.csv --draws 1000 --seed 1 --json
"$python" - <<'END_PYTHON'
import csv, json
summary = json.load(open("err"))
p = [float(line["p_value"]) for line in csv.DictReader(open("out"))][1000:]
for level in (0.05, 0.2, 0.5, 0.8):
    share = sum(x <= level for x in p) / len(p)
    assert abs(share - level) < 5 * (2 * level * (1 - level) / 1000) ** 0.5, (level, share)
assert summary["rows"] == 2000 and summary["reference"] == "model" and summary["reference_rows"] == 1000, summary
assert summary["expected_unusual"] == 20 and summary["unusual"] < 60 and "discoveries" in summary, summary
END_PYTHON
expect 0 "$NADE" outliers model new.csv --seed 1
holds err 'among 2000 drawn from the model, so p-values rest on it'
cp out first
expect 0 "$NADE" outliers model new.csv --seed 1 --threads 1 --quiet
cmp out first

# Rows without cells, few reference rows, labels that training has not seen.
printf 'kind,weight,"food, daily",pet\n,,,\ncat,4,8,no\nbird,4,8,no\n' >odd.csv
refuse 2 'bird' '--unseen' -- "$NADE" outliers model odd.csv
expect 0 "$NADE" outliers model odd.csv --unseen missing --reference new.csv
holds err "1 cell holds a label" "3 rows" "2 rows could be compared with fewer than 99 reference rows"
[ "$(sed -n 2p out)" = 0,1,,,, ] || fail "$(cat out)"
! sed -n 4p out | grep -q bird || fail "a cell that counts as missing is blamed"
expect 0 "$NADE" outliers model new.csv --reference odd.csv --unseen missing --quiet
refuse 2 'bird' -- "$NADE" outliers model new.csv --reference odd.csv
head -n 1 new.csv >empty.csv
refuse 2 'empty.csv' 'rows' -- "$NADE" outliers model new.csv --reference empty.csv
expect 2 "$NADE" outliers model - --reference - <new.csv
holds err 'both standard input'
refuse 2 '--draws' '--reference' -- "$NADE" outliers model new.csv --reference held.csv --draws 5
refuse 2 'none.csv' -- "$NADE" outliers model new.csv --reference none.csv
refuse 2 -- "$NADE" outliers model new.csv --reference held.csv -o held.csv

# A model of one ordering knows rows, not cells.
expect 0 "$NADE" train train.csv -o fixed --order fixed --hidden 8 --iterations 1 --updates 50 --quiet
expect 0 "$NADE" outliers fixed new.csv --reference train.csv
holds err 'one fixed ordering'
awk -F, 'NR > 1 && ($1 == "" || $2 == "" || $3 $4 $5 $6 != "") { exit 1 }' out || fail "$(head -n 3 out)"
