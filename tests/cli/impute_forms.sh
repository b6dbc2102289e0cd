# impute --draws M --form: stacked, long (R's mice) and wide tables hold the same draws; members take turns.
. "$(dirname "$0")/../support/checks.bash"
python=${PYTHON:-/usr/bin/python3}

"$python" - <<'END_PYTHON'
import random
draw = random.Random(2)
def table(name, rows, holes, end="\n", last=True):
    lines = ['size;"colour, or not";note;flag']
    for i in range(rows):
        colour, mean = draw.choice((("red", 1), ('"bl""ue; x"', 5), ("deep green", 9)))
        cells = [f"{mean + draw.gauss(0, 1):.1f}", colour, f"n{i % 7}" if i % 5 else "", draw.choice(("yes", "no"))]
        gone = [draw.random() < holes and c < 2 for c in range(4)]
        lines.append(";".join(draw.choice(("", "?", "NA")) if g else c for g, c in zip(gone, cells)))
    with open(name, "w", newline="") as file:
        file.write(end.join(lines) + (end if last else ""))
table("train.csv", 400, 0)
table("holes.csv", 50, 0.3, "\r\n", last=False)
END_PYTHON
expect 0 "$NADE" train train.csv -o model "${small[@]}" --drop note
expect 0 "$NADE" impute model holes.csv --draws 4 --seed 7 --quiet
cp out stacked
expect 0 "$NADE" impute model holes.csv --draws 4 --seed 7 --form stacked --quiet
cmp out stacked || fail "stacked is not the default"
for form in long wide; do
    expect 0 "$NADE" impute model holes.csv --draws 4 --seed 7 --form $form
    holds err '50 rows,'
    cp out $form
    expect 0 "$NADE" impute model holes.csv --draws 4 --seed 7 --form $form --threads 1 -o file --json
    cmp file $form
    holds err '"rows":50,' '"draws":4,'
done
"$python" - <<'END_PYTHON'
def rows(name):  # fields byte for byte
    text = open(name, newline="").read()
    lines, fields, field, quoted = [], [], "", False
    for ch in text + "\r\n":
        if ch == '"':
            quoted = not quoted
        if ch == ";" and not quoted or ch == "\n":
            fields.append(field.rstrip("\r"))
            field = ""
        else:
            field += ch
        if ch == "\n":
            lines.append(fields)
            fields = []
    return lines
text = {name: open(name, newline="").read() for name in ("holes.csv", "stacked", "long", "wide")}
for name, content in text.items():
    assert not content.endswith("\n") and content.count("\n") == content.count("\r\n"), name
given, stacked, long, wide = (rows(name) for name in text)
missing = [[c < 2 and cell in ("", "?", "NA") for c, cell in enumerate(row)] for row in given[1:]]
assert sum(map(sum, missing)) > 15 and len(stacked) == 201 and len(long) == 251 and len(wide) == 51
draws = [[stacked[1 + 4 * i + d][1:] for i in range(50)] for d in range(4)]
# Blocks of .imp, rows in the same order in each, holes of the first NA.
assert long[0] == [".imp", ".id"] + given[0]
for k, line in enumerate(long[1:]):
    imp, i = divmod(k, 50)
    assert line[:2] == [str(imp), str(i + 1)], line
    want = ["NA" if gone else cell for gone, cell in zip(missing[i], given[1 + i])] if imp == 0 else draws[imp - 1][i]
    assert line[2:] == want, (line, want)
# The table as it is, then each column that lacks cells, once for each draw.
assert wide[0] == given[0] + [f"size_{d}" for d in range(1, 5)] + [f'"colour, or not_{d}"' for d in range(1, 5)], wide[0]
for i, line in enumerate(wide[1:]):
    assert line[:4] == given[1 + i]
    assert line[4:] == [draws[d][i][c] for c in range(2) for d in range(4)], line
for d in range(4):
    for i in range(50):
        assert all(draws[d][i][c] == given[1 + i][c] for c in range(4) if not missing[i][c])
END_PYTHON

# From a pipe: wide columns of all of the model's; the long form can't be read again.
expect 0 "$NADE" impute model - --draws 2 --form wide --quiet <holes.csv
[ "$(head -n 1 out | tr -d '\r')" = 'size;"colour, or not";note;flag;size_1;size_2;"colour, or not_1";"colour, or not_2";flag_1;flag_2' ] || fail "$(head -n 1 out)"
expect 2 "$NADE" impute model - --draws 2 --form long <holes.csv
holds err 'standard input can be read only once' '--form long'
refuse 2 'none.csv' -- "$NADE" impute model none.csv --draws 2 --form long
refuse 2 '--form long' '--draws' -- "$NADE" impute model holes.csv --form long
refuse 2 '--form wide' '--interval' -- "$NADE" impute model holes.csv --form wide --draws 2 --interval 0.5
printf 'size;"colour, or not";flag;size_2\n1;red;yes;3\n' >named.csv
refuse 2 "'size_2'" '--form wide' -- "$NADE" impute model named.csv --form wide --draws 2
expect 0 "$NADE" impute model named.csv --form wide --draws 1
printf 'size;"colour, or not";flag;.id\n1;red;yes;3\n' >named.csv
refuse 2 "'.id'" '--form long' -- "$NADE" impute model named.csv --form long --draws 2

# Arrays, and rows beyond one part.
"$python" - <<'END_PYTHON'
import numpy as np
random = np.random.default_rng(3)
x = random.normal(size=(5000, 2)).round(2)
x[:, 1] += x[:, 0]
np.save("whole.npy", x[:400])
x[random.random(x.shape) < 0.2] = np.nan
np.save("holes.npy", x)
END_PYTHON
expect 0 "$NADE" train whole.npy -o array "${small[@]}" --members 3
expect 0 "$NADE" impute array holes.npy --draws 4 --form long
holds err "4 draws, of the model's 3 members in turn"
"$python" - <<'END_PYTHON'
import csv, numpy as np
rows, given = list(csv.reader(open("out"))), np.load("holes.npy")
assert len(rows) == 25000 and [r[0] for r in rows] == [str(i // 5000) for i in range(25000)]
assert [r[1] for r in rows] == [str(i % 5000 + 1) for i in range(25000)]
for imp in range(5):
    block = np.array([[np.nan if x == "NA" else float(x) for x in r[2:]] for r in rows[5000 * imp:5000 * (imp + 1)]])
    assert np.isnan(block).any() == (imp == 0) and np.array_equal(block[~np.isnan(given)], given[~np.isnan(given)])
END_PYTHON

# Draw r of a model with members is that of member r: the first draw is not what the mean of all gives.
expect 0 "$NADE" impute array holes.npy --quiet
cp out mean
expect 0 "$NADE" impute array holes.npy --draws 1 --quiet
cut -d, -f2- out | cmp - mean || fail "a single draw is of the mean of members"
expect 0 "$NADE" impute array holes.npy --draws 4 --json
holds err '"members":3'
! awk -F, '$1 == 0' out | cut -d, -f2- | cmp -s - mean || fail "members do not take turns"
