# nade predict: the distributions agree with score and impute, the target may be absent, and the summary's figures are
# those that Python counts from what was written.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { s = 7; print "kind,size,flag,price"; for (i = 0; i < 500; i++) {
    s = (s * 16807) % 2147483647; u = s / 2147483647; s = (s * 16807) % 2147483647; v = s / 2147483647
    printf "%s,%.1f,%d,%.2f\n", (u < 0.3 ? "red" : u < 0.7 ? "green" : "blue"), 10 * u + 3 * v, (v < 0.4), 5 * u * u + v } }' >data.csv
expect 0 "$NADE" train data.csv -o model "${network[@]}" --iterations 6 --quiet
{ sed -n 1p data.csv; sed -n 100,160p data.csv; } >rows.csv

# Probabilities of labels are those of score, given the rest.
expect 0 "$NADE" predict model rows.csv --of kind -o said.csv
[ "$(sed -n 1p said.csv | tr , '\n' | sort | tr '\n' ' ')" = "kind kind=blue kind=green kind=red " ] || fail "$(cat said.csv)"
[ "$(wc -l <said.csv)" = 62 ] || fail "$(wc -l said.csv)"
for label in red green blue; do
    sed "2,\$s/^[a-z]*/$label/" rows.csv >all.csv
    expect 0 "$NADE" score model all.csv --of kind --given size,flag,price --quiet
    cp out "$label.scores"
done
cp err err.scores

# What score, impute and Python's own counting say.
expect 0 "$NADE" predict model rows.csv --of kind --json
cp err labels.json
expect 0 "$NADE" predict model rows.csv --of price --json -o price.csv
cp err numbers.json
sed '2,$s/,[^,]*$/,/' rows.csv >holes.csv
expect 0 "$NADE" impute model holes.csv --method mean --exact -o means.csv
expect 0 "$NADE" impute model holes.csv --method median --interval 0.9 -o medians.csv
expect 0 "$NADE" score model rows.csv --of price --given kind,size,flag --quiet -o price.scores
expect 0 "$NADE" predict model rows.csv --of price,kind --json -o both.csv
cp err both.json
expect 0 "$NADE" score model rows.csv --of price,kind --given size,flag --quiet -o both.scores
python3 - <<'END' || fail "figures differ"
import csv, json, math

def read(name):
    with open(name) as f:
        return list(csv.DictReader(f))

def close(what, a, b, within=1e-5):
    assert abs(a - b) <= within * (1 + abs(b)), (what, a, b)

rows, said = read("rows.csv"), read("said.csv")
scores = {label: [math.exp(float(r["log_density"])) for r in read(label + ".scores")] for label in ("red", "green", "blue")}
hits = loss = 0
for i, row in enumerate(said):
    shares = {label: float(row["kind=" + label]) for label in scores}
    close("sum", sum(shares.values()), 1, 1e-12)
    for label, p in shares.items():
        close(label, p, scores[label][i])
    assert row["kind"] == max(shares, key=shares.get)
    hits += row["kind"] == rows[i]["kind"]
    loss -= math.log(shares[rows[i]["kind"]])
areas = []
for label in scores:
    inside = [float(s["kind=" + label]) for s, r in zip(said, rows) if r["kind"] == label]
    outside = [float(s["kind=" + label]) for s, r in zip(said, rows) if r["kind"] != label]
    areas.append(sum((a > b) + 0.5 * (a == b) for a in inside for b in outside) / len(inside) / len(outside))
found = json.load(open("labels.json"))
assert found["rows"] == 61 and found["targets"][0]["truths"] == 61
close("log-loss", found["targets"][0]["log_loss"], loss / 61)
close("accuracy", found["targets"][0]["accuracy"], hits / 61)
close("area", found["targets"][0]["auc"], sum(areas) / 3)

price = read("price.csv")
assert list(price[0]) == ["price_mean", "price_median", "price_low", "price_high"]
squares = inside = distance = 0
for row, p, mean, median in zip(rows, price, read("means.csv"), read("medians.csv")):
    assert p["price_mean"] == mean["price"] and p["price_median"] == median["price"], (p, mean, median)
    truth = float(row["price"])
    squares += (float(p["price_mean"]) - truth) ** 2
    distance += abs(float(p["price_median"]) - truth)
    inside += float(p["price_low"]) <= truth <= float(p["price_high"])
found = json.load(open("numbers.json"))["targets"][0]
close("rmse", found["rmse"], math.sqrt(squares / 61))
close("mae", found["mae"], distance / 61)
close("coverage", found["coverage"], inside / 61)
close("log-loss", found["log_loss"], -sum(float(r["log_density"]) for r in read("price.scores")) / 61)
both = json.load(open("both.json"))
assert [t["name"] for t in both["targets"]] == ["kind", "price"]
close("joint", both["joint_log_loss"], -sum(float(r["log_density"]) for r in read("both.scores")) / 61)
assert read("both.csv")[0]["kind=red"] != said[0]["kind=red"], "price is predicted, not given"
END

# Combinations of labels: their sums are probabilities, their densities those of score over both orders, of members too.
printf '0,1,2,3\n2,1,0,3\n' >orders.txt
expect 0 "$NADE" train data.csv -o members "${network[@]}" --iterations 3 --members 2 --quiet
for model in model members; do
    for kind in red blue; do
        sed "2,\$s/^[a-z]*/$kind/; 2,\$s/^\([^,]*,[^,]*\),[01]/\1,1/" rows.csv >one.csv
        expect 0 "$NADE" score $model one.csv --of kind,flag --given size,price --ordering-file orders.txt --quiet -o "$kind-1.scores"
    done
    expect 0 "$NADE" predict $model rows.csv --of kind,flag --joint --quiet -o joint.csv
    python3 - <<'END' || fail "combinations of $model differ"
import csv, math
rows = list(csv.DictReader(open("joint.csv")))
for kind in ("red", "blue"):
    scores = [math.exp(float(r["log_density"])) for r in csv.DictReader(open(kind + "-1.scores"))]
    for row, score in zip(rows, scores):
        assert abs(float(row["kind=" + kind + " & flag=1"]) - score) < 1e-6, (row, score)
for row in rows:
    assert abs(sum(float(v) for k, v in row.items() if " & " in k) - 1) < 1e-6
END
done
refuse 2 "--joint: column 'price' is real, expected columns of labels" -- "$NADE" predict model rows.csv --of price,kind --joint
refuse 2 "--joint: --of has 1 column, expected 2 to 4" -- "$NADE" predict model rows.csv --of kind --joint

# The target may be absent, under its name and, in arrays, by its place; what is there is not looked at.
cut -d, -f1-3 rows.csv >lacking.csv
expect 0 "$NADE" predict model lacking.csv --of price
cmp -s out price.csv || fail "the truth changes the prediction"
holds err "price: its truth is not in the table"
expect 0 "$NADE" predict model - --of price --quiet <lacking.csv
cmp -s out price.csv || fail "standard input differs"
expect 0 "$NADE" predict model rows.csv --of price --given kind --quiet -o given.csv
cut -d, -f1 rows.csv >kinds.csv
expect 0 "$NADE" predict model kinds.csv --of price --given kind --quiet
cmp -s out given.csv || fail "columns that are neither given nor predicted are read"
expect 0 "$NADE" score model rows.csv --of price --given kind --quiet
cp out given.scores
expect 0 "$NADE" predict model rows.csv --of price --given kind --json
python3 -c 'import json; s = [float(x) for x in open("given.scores").read().split()[1:]]
assert abs(json.load(open("err"))["targets"][0]["log_loss"] + sum(s) / len(s)) < 1e-5'
sed 1d data.csv >bare.csv
expect 0 "$NADE" train bare.csv -o bare "${network[@]}" --iterations 1 --quiet --header no
sed 1d lacking.csv | expect 0 "$NADE" predict bare - --header no --of 3 --quiet
[ "$(sed -n 1p out)" = 3_mean,3_median,3_low,3_high ] || fail "$(head -n 1 out)"
[ "$(wc -l <out)" = 62 ] || fail "$(wc -l out)"

# Holes are marginalised; labels that training has not seen are refused or missing.
sed '3s/^[a-z]*/pink/; 4s/^[a-z]*//' rows.csv >odd.csv
refuse 2 "odd.csv, line 3, column 'kind': found 'pink'" "--unseen missing" -- "$NADE" predict model odd.csv --of price
expect 0 "$NADE" predict model odd.csv --of price --unseen missing -o odd.out
holds err "1 cell holds a value that training has not seen"
sed '3s/^[a-z]*//; 4s/^[a-z]*//' rows.csv >holed.csv
expect 0 "$NADE" predict model holed.csv --of price --quiet
cmp -s out odd.out || fail "an unseen label is evidence"

# Truths may be anything: what their column can't have is counted, and changes no prediction.
sed '3s/^[a-z]*/pink/; 4s/[^,]*$/-5/' rows.csv >foreign.csv
expect 0 "$NADE" predict model foreign.csv --of kind,price --json -o foreign.out
cp err foreign.json
cmp -s both.csv foreign.out || fail "the truth changes the prediction"
sed 3,4d rows.csv >known.csv
expect 0 "$NADE" predict model known.csv --of kind,price --json -o known.out
python3 - <<'END' || fail "figures of foreign truths: $(cat foreign.json err)"
import json
foreign, known = json.load(open("foreign.json")), json.load(open("err"))
assert "unseen" not in foreign
assert [(t["truths"], t["impossible"]) for t in foreign["targets"]] == [(61, 1), (61, 1)]
assert abs(foreign["joint_log_loss"] - known["joint_log_loss"]) < 1e-9
END
sed 3d rows.csv >known.csv
expect 0 "$NADE" predict model known.csv --of kind --json -o known.out
cp err known.json
sed '3s/^[a-z]*/pink/' rows.csv >foreign.csv
expect 0 "$NADE" predict model foreign.csv --of kind --json -o foreign.out
cp err foreign.json
sed '3s/[^,]*$/-5/' rows.csv >foreign.csv
expect 0 "$NADE" predict model known.csv --of price --json -o known.out
cp err known-price.json
expect 0 "$NADE" predict model foreign.csv --of price -o foreign.out
holds err "1 of them the column can't have, as training saw it: it has no part in the log-loss, the errors and the intervals"
expect 0 "$NADE" predict model foreign.csv --of price --json -o foreign.out
python3 - <<'END' || fail "figures of foreign truths"
import json
def both(a, b): return [json.load(open(name))["targets"][0] for name in (a, b)]
foreign, known = both("foreign.json", "known.json")
for key in ("log_loss", "auc"):
    assert abs(foreign[key] - known[key]) < 1e-9, (key, foreign, known)
assert abs(foreign["accuracy"] * 61 - known["accuracy"] * 60) < 1e-9, "no hit"
foreign, known = both("err", "known-price.json")
for key in ("log_loss", "rmse", "sd", "mae", "coverage"):
    assert abs(foreign[key] - known[key]) < 1e-9, (key, foreign, known)
END
sed '2,$s/[^,]*$/oops/' rows.csv >foreign.csv
expect 0 "$NADE" predict model foreign.csv --of price --json -o foreign.out
holds err '"truths":61,"impossible":61,"log_loss":null,"rmse":null' '"coverage":null'
expect 0 "$NADE" predict model foreign.csv --of price -o foreign.out
if grep -q "intervals  " err; then fail "$(cat err)"; fi
sed '3s/^[a-z]*/pink/; 5s/^\([^,]*,[^,]*\),[01]/\1,7/' rows.csv >foreign.csv
refuse 2 "foreign.csv, line 5, column 'flag': found '7', expected 0 or 1 (or --unseen missing" -- "$NADE" predict model foreign.csv --of kind
expect 0 "$NADE" predict model foreign.csv --of kind --unseen missing
holds err "1 cell holds a value that training has not seen and counts as missing: line 5, column 'flag': '7'" "1 of them the column can't have"

refuse 2 "--of is missing: expected the columns to predict" -- "$NADE" predict model rows.csv
refuse 2 "column 'kind' is in --of and in --given" -- "$NADE" predict model rows.csv --of kind --given kind
refuse 2 "--of: found 'colour'" -- "$NADE" predict model rows.csv --of colour
refuse 2 "has no columns 'size', 'flag', which the model expects: add them, with empty cells where nothing is known, or name those that it has with --given" -- \
    "$NADE" predict model kinds.csv --of price
refuse 2 "has no column 'price', which the model expects: add it, with empty cells where nothing is known" -- "$NADE" score model lacking.csv
if grep -q -- --given err; then fail "$(cat err)"; fi
expect 0 "$NADE" train data.csv -o fixed --order fixed --hidden 5 --iterations 1 --quiet
expect 0 "$NADE" predict fixed rows.csv --of price --quiet
refuse 2 "rows.csv, row 0, column 'size' is given but 'kind'" "fixed ordering" -- "$NADE" predict fixed rows.csv --of kind

# An interval of nearly everything has ends, the same for impute.
awk -F, -v OFS=, '{ if (NR > 1) $COLUMN = ""; print }' COLUMN="$(head -1 rows.csv | tr , '\n' | grep -nx price | cut -d: -f1)" rows.csv >unpriced.csv
expect 0 "$NADE" predict model unpriced.csv --of price --interval 0.9999999999999999 --quiet -o nearly.csv
expect 0 "$NADE" impute model unpriced.csv --method median --interval 0.9999999999999999 --quiet -o filled.csv
python3 - <<'END' || fail "$(cat nearly.csv)"
import csv
nearly, filled = (list(csv.DictReader(open(name))) for name in ("nearly.csv", "filled.csv"))
assert nearly and all(float(row["price_low"]) < float(row["price_high"]) for row in nearly)
assert [row["price_high"] for row in nearly] == [row["price_high"] for row in filled]
END

# No two columns under one name.
awk 'BEGIN { print "c,c=a,x,x_mean"; for (i = 0; i < 60; i++) print (i % 3 ? "a" : "b") "," (i % 2 ? "u" : "v") "," i * 7 % 11 / 10 "," (i % 5 ? "p" : "q") }' >names.csv
expect 0 "$NADE" train names.csv -o names "${network[@]}" --iterations 1 --real x --quiet
refuse 2 "'c' and 'c=a' would both be written under the name 'c=a'" -- "$NADE" predict names names.csv --of c,c=a
refuse 2 "'x' and 'x_mean' would both be written" -- "$NADE" predict names names.csv --of x,x_mean
expect 0 "$NADE" predict names names.csv --of c,x --quiet

# A model that is judged by as many rows as it was trained with says so; by others it does not.
for verb in "predict model data.csv --of kind" "check model data.csv --rows 500" "compare model independent data.csv"; do
    # shellcheck disable=SC2086  # several words on purpose
    expect 0 "$NADE" $verb
    holds err "model was trained with a table of as many rows (500)"
done
expect 0 "$NADE" predict model rows.csv --of kind
! grep -q "as many rows" err || fail "$(cat err)"

# Rows of later parts are named by their numbers in the table.
{ sed -n 1p data.csv; for i in 1 2 3 4 5 6 7 8 9; do sed 1d data.csv; done; } >many.csv
sed '4402s/,[^,]*,/,,/' many.csv >gap.csv
refuse 2 "gap.csv, row 4400, column" -- "$NADE" predict fixed gap.csv --of price -o gap.out
[ ! -e gap.out ] || fail "half an output"

# Columns that are neither asked for nor given are not needed, whatever their cells hold; those that are given are.
awk 'BEGIN { print "x,y,z"; for (i = 0; i < 100; i++) printf "%d.5,%d.25,%d.75\n", i % 50, i * 7 % 91, i % 37 }' >plain.csv
expect 0 "$NADE" train plain.csv -o plain "${small[@]}"
printf 'x,y,z\n1.5,2.25,1\n2.5,,2\n3.5,,3\n' >good.csv
expect 0 "$NADE" predict plain good.csv --of y --given x
mv out good.out
for z in oops '5 kg' 0:01:00 2024-01-01; do
    printf 'x,y,z\n1.5,2.25,%s\n2.5,,%s\n3.5,,%s\n' "$z" "${z/5/6}" "${z/5/7}" >bad.csv
    expect 0 "$NADE" predict plain bad.csv --of y --given x
    cmp out good.out || fail "$z: $(cat out)"
    refuse 2 "column 'z': found" -- "$NADE" predict plain bad.csv --of y
done
