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

# Rows without cells, few reference rows.
printf 'kind,weight,"food, daily",pet\n,,,\ncat,4,8,no\n bird ,4,8,no\n' >odd.csv
refuse 2 'bird' '--unseen' -- "$NADE" outliers model odd.csv --unseen error
expect 0 "$NADE" outliers model odd.csv --unseen missing --reference new.csv
holds err "1 cell holds a " "3 rows" "2 rows could be compared with fewer than 99 reference rows"
[ "$(sed -n 2p out)" = 0,1,,,, ] || fail "$(cat out)"
! sed -n 4p out | grep -q bird || fail "a cell that counts as missing is blamed"
expect 0 "$NADE" outliers model new.csv --reference odd.csv --unseen missing --quiet
refuse 2 'bird' -- "$NADE" outliers model new.csv --reference odd.csv --unseen error

# A value that its column can't have is no missing cell: density 0, and no cell is more to blame.
"$python" - <<'END_PYTHON'
import random
draw = random.Random(6)
with open("sales.csv", "w") as train, open("later.csv", "w") as later:
    for file, rows in ((train, 500), (later, 120)):
        file.write("amount,shop,visits,price\n")
        for i in range(rows):
            price = draw.choice((4.99, 9.99, 14.99, 19.99, 24.99))
            file.write(f"{draw.expovariate(0.02):.2f},{draw.choice('ABC')},{int(draw.expovariate(0.3))},{price}\n")
END_PYTHON
expect 0 "$NADE" train sales.csv -o sales "${small[@]}" --real amount --count visits --ordered price
cat >wrong.csv <<'END_ROWS'
amount,shop,visits,price
12.5,A,3,9.99
-500,A,3,9.99
12.5,"the ""new"", far one",3,9.99
12.5,A,-2,9.99
,"the ""new"", far one",,
-500,"the ""new"", far one",3,9.99
12.5,A,3,99.99
12.5,A,3,
END_ROWS
expect 0 "$NADE" outliers sales wrong.csv --reference later.csv --cells 2
holds err "8 rows" "a value the column can't have      6, the first: line 3, column 'amount': '-500'"
! grep -q missing err || fail "$(cat err)"
cp out wrong.out
"$python" - <<'END_PYTHON'
import csv
lines = list(csv.DictReader(open("wrong.out")))
label = 'the "new", far one'
blamed = {1: [("amount", "-500")], 2: [("shop", label)], 3: [("visits", "-2")], 4: [("shop", label)],
          5: [("amount", "-500"), ("shop", label)], 6: [("price", "99.99")]}
for i, line in enumerate(lines):
    if i not in blamed:
        assert float(line["log_density"]) > -100 and float(line["p_value"]) > 0.05, line
        continue
    assert line["log_density"] == "-inf" and float(line["p_value"]) == 1 / 121, line
    for k, (column, found) in enumerate(blamed[i]):
        s = "_2" if k else ""
        assert (line["column" + s], line["found" + s], line["tail" + s]) == (column, found, "0"), line
        assert line["expected" + s] in ("A", "B", "C") or 0 <= float(line["expected" + s]) < 200, line
    if i == 4:  # it has no other cell
        assert line["column_2"] == "", line
END_PYTHON
# Among the most unusual they are first, whatever else they hold, and the summary is JSON.
expect 0 "$NADE" outliers sales wrong.csv --reference later.csv --top 6 --json
[ "$(cut -d , -f 1 out | tr '\n' ' ')" = "row 1 2 3 4 5 6 " ] || fail "$(cat out)"
"$python" -c 'import json; s = json.load(open("err")); assert (s["impossible_rows"], s["unseen"], s["by"]) == (6, 7, "row"), s'
# Where the reference has such rows too, they count: among them one is as unusual as they are.
(cat later.csv && for _ in 1 2 3; do printf '5,Z,3,9.99\n'; done) >later_odd.csv
expect 0 "$NADE" outliers sales wrong.csv --reference later_odd.csv --quiet
"$python" - <<'END_PYTHON'
import csv
p = [float(line["p_value"]) for line in csv.DictReader(open("out"))]
assert all(abs(p[i] - 4 / 124) < 1e-12 for i in (1, 2, 3, 4, 5, 6)), p
END_PYTHON
# A long text is cut between characters.
printf 'amount,shop,visits,price\n1,%s,3,9.99\n' "$(printf 'é%.0s' $(seq 100))" >long_label.csv
expect 0 "$NADE" outliers sales long_label.csv --quiet
grep -q 'shop,é*…,' out && iconv -f UTF-8 -t UTF-8 out >copy && cmp copy out || fail "$(cat out)"

# By cell: the smallest tail times the number of cells; the summary by row counts such rows too.
"$python" - <<'END_PYTHON'
import random
draw = random.Random(7)
def table(name, rows, odd):
    with open(name, "w") as file:
        file.write(",".join(f"x{c}" for c in range(20)) + "\n")
        for i in range(rows):
            cells = [draw.gauss(0, 1) for _ in range(20)]
            if i < odd:
                cells[7] = 5.5
            file.write(",".join("" if draw.random() < 0.02 else f"{x:.3f}" for x in cells) + "\n")
table("wide.csv", 800, 0)
table("wide_new.csv", 50, 2)
END_PYTHON
expect 0 "$NADE" train wide.csv -o wide "${small[@]}"
expect 0 "$NADE" score wide wide_new.csv --per-column -o wide.cells --quiet
expect 0 "$NADE" outliers wide wide_new.csv --by cell --json
cp out by_cell.csv && cp err by_cell.json
expect 0 "$NADE" outliers wide wide_new.csv --by cell
holds err '50 rows, each by its least likely cell given the others, so p-values rest on the model' 'expected at most 0.5'
expect 0 "$NADE" outliers wide wide_new.csv --draws 200 -o by_row.csv
holds err 'a cell that unusual (--by cell)' 'expected at most 0.5'
cp err by_row.err
"$python" - <<'END_PYTHON'
import csv, json, re
lines, rows = list(csv.DictReader(open("by_cell.csv"))), list(csv.DictReader(open("by_row.csv")))
summary, few = json.load(open("by_cell.json")), 0
for line, row, cells in zip(lines, rows, csv.DictReader(open("wide.cells")), strict=True):
    tails = [float(x) for name, x in cells.items() if name.endswith("_tail") and x not in ("", "nan")]
    assert abs(float(line["p_value"]) - min(1, len(tails) * min(tails))) < 1e-12, (line, tails)
    assert {k: v for k, v in line.items() if k != "p_value"} == {k: v for k, v in row.items() if k != "p_value"}
    few += float(line["p_value"]) <= 0.01
assert summary["by"] == "cell" and summary["unusual"] == summary["unusual_by_cell"] == few >= 2, (summary, few)
assert re.search(r"a cell that unusual \(--by cell\) +" + str(few) + ",", open("by_row.err").read())
assert all(line["column"] == "x7" and float(line["p_value"]) < 0.01 for line in lines[:2]), lines[:2]
END_PYTHON
expect 0 "$NADE" outliers wide wide_new.csv --by cell --top 2 --quiet
[ "$(cut -d , -f 1 out | sort | tr '\n' ' ')" = "0 1 row " ] || fail "$(cat out)"
refuse 2 '--reference' '--by cell' -- "$NADE" outliers wide wide_new.csv --by cell --reference wide.csv
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
refuse 2 '--by cell' 'one fixed ordering' -- "$NADE" outliers fixed new.csv --by cell
# But what is impossible it need not guess.
expect 0 "$NADE" outliers fixed odd.csv --quiet
grep -q '^-inf,.*,kind,bird,,0$' out || fail "$(cat out)"
