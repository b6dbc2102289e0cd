# Mixtures (--kind mixture): what is trained says so, answers every verb exactly, is the same for any number of threads,
# finds its number of components, keeps the best so far; options of networks are refused.
. "$(dirname "$0")/../support/checks.bash"
python=${PYTHON:-/usr/bin/python3}

# Two groups of rows: numbers, one of them 0 in every third row, labels, yes or no, counts, days; and holes.
awk 'BEGIN { srand(5); print "size,cost,colour,good,visits,day"
    split("red green blue", colour, " ")
    for (i = 0; i < 900; i++) {
        g = rand() < 0.4; u = rand() + rand() + rand() - 1.5
        size = (g ? 3 : 0) + u; cost = i % 3 ? exp(g + rand() + rand()) : 0
        c = colour[1 + int((g ? rand() * rand() : sqrt(rand())) * 3)]
        v = int(-log(1 - rand()) * (g ? 3 : 20)); d = int(rand() * 50) + (g ? 0 : 60)
        day = sprintf("2021-%02d-%02d", 1 + int(d / 28), 1 + d % 28)
        line = sprintf("%.3f,%.2f,%s,%s,%d,%s", size, cost, c, (rand() < (g ? 0.9 : 0.2) ? "yes" : "no"), v, day)
        n = split(line, cell, ",")
        for (j = 1; j <= n; j++) printf "%s%s", (rand() < 0.07 ? "" : cell[j]), j < n ? "," : "\n"
    } }' >table.csv
few=(--kind mixture --components 4 --count visits)

# The plan, the run, the model.
expect 0 "$NADE" train table.csv "${few[@]}" --dry-run
holds err "mixture of 4 components, "
expect 0 "$NADE" train table.csv "${few[@]}" -o model
holds err "4 components  train " "mixture of 4 components, prior 1, the best of 3 fits, validation log density" "wrote model"
expect 0 "$NADE" info model
holds out "Model: mixture of 4 components" "Training: expectation maximisation" "visits                    count"
expect 0 "$NADE" info model --json
holds out '"architecture":{"kind":"mixture","components":4}' '"kind":"mixture"'
for threads in 1 2 3; do
    expect 0 "$NADE" train table.csv "${few[@]}" --threads $threads -o model.$threads
    cmp model model.$threads || fail "$threads threads give another model"
done
expect 0 "$NADE" train table.csv "${few[@]}" --seed 1 -o other
! cmp -s model other || fail "the seed changes nothing"

# Every ordering gives the same, and so does the chain rule.
expect 0 "$NADE" score model table.csv --orderings 1 -o one.csv
expect 0 "$NADE" score model table.csv --orderings 50 --seed 3 --spread -o many.csv
holds err "mean spread over orderings         0"
cut -d, -f1 many.csv | cmp - one.csv || fail "orderings change the density"
expect 0 "$NADE" score model table.csv --of size,colour -o part.csv
expect 0 "$NADE" score model table.csv --of cost,good,visits,day --given size,colour -o rest.csv
paste -d, one.csv part.csv rest.csv |
    awk -F, 'NR > 1 && ($1 - $2 - $3) ^ 2 > 1e-18 * (1 + $1 * $1) { print; bad = 1 } END { exit bad }' ||
    fail "a density is not what its parts are together"
expect 0 "$NADE" score model table.csv --per-column -o cells.csv
expect 0 "$NADE" score model table.csv --cells -o bins.csv

# Probabilities: what a number of labels have sums to one, and draws agree with what is exact.
for colour in red green blue; do
    expect 0 "$NADE" prob model --where colour=$colour --given 'size>2'
    sed -n 2p out
done >colours
awk -F, '{ sum += $1 } END { exit (sum - 1) ^ 2 > 1e-18 }' colours || fail "labels do not sum to one"
expect 0 "$NADE" sample model -n 4000 --where 'size>2' -o drawn.csv
for colour in red green blue; do grep -c "$colour" drawn.csv; done | paste -d, colours - |
    awk -F, '{ e = 4000 * $1; if (($3 - e) ^ 2 > 16 * e + 16) { print; bad = 1 } } END { exit bad }' ||
    fail "draws within a range have other labels"
awk -F, 'NR > 1 && $1 <= 2 { exit 1 }' drawn.csv || fail "a draw lies outside its range"

# The other verbs.
expect 0 "$NADE" impute model table.csv -o filled.csv
! grep -qE '(^|,)(,|$)' filled.csv || fail "a hole was left"
expect 0 "$NADE" impute model table.csv --method median --interval 0.9 -o median.csv
expect 0 "$NADE" predict model table.csv --of good,visits,day -o predicted.csv
holds err "accuracy" "share within 90 % intervals"
expect 0 "$NADE" check model table.csv
expect 0 "$NADE" outliers model table.csv -o odd.csv
expect 0 "$NADE" compare model independent table.csv
holds err "is better than independent"

# A predicted label is Bayes' rule on densities.
head -n 40 table.csv | awk -F, -v OFS=, 'NR == 1 || $3 != ""' >some.csv
for colour in red green blue; do
    awk -F, -v OFS=, -v c=$colour 'NR > 1 { $3 = c } { print }' some.csv >as.csv
    expect 0 "$NADE" score model as.csv -o $colour.csv
done
expect 0 "$NADE" predict model some.csv --of colour -o colour.csv
"$python" - <<'END'
import csv, math
scores = {c: [float(r["log_density"]) for r in csv.DictReader(open(c + ".csv"))] for c in ("red", "green", "blue")}
for i, row in enumerate(csv.DictReader(open("colour.csv"))):
    total = sum(math.exp(scores[c][i]) for c in scores)
    for c in scores:
        assert abs(float(row["colour=" + c]) - math.exp(scores[c][i]) / total) < 1e-9, (i, c)
END

# One component is independent columns: nothing is learnt of a cell from the others.
expect 0 "$NADE" train table.csv --kind mixture --components 1 -o alone
expect 0 "$NADE" score alone table.csv --of size -o size.csv
expect 0 "$NADE" score alone table.csv --of size --given colour,good,day -o given.csv
paste -d, size.csv given.csv | awk -F, 'NR > 1 && ($1 - $2) ^ 2 > 1e-20 { exit 1 }' || fail "one component has dependence"

# How many components: validation chooses, and more than one here.
expect 0 "$NADE" train table.csv --kind mixture --effort quick -o chosen
holds err "as many components as the validation rows want" "1 component  train" "2 components  train" "fits, validation"
best=$(awk '/ components?  train/ && $6 > most { most = $6; best = $1 } BEGIN { most = -1e9 } END { print best }' err)
holds err "mixture of $best components, prior "
expect 0 "$NADE" info chosen --json
"$python" -c 'import json; assert json.load(open("out"))["architecture"]["components"] > 1'
expect 0 "$NADE" train table.csv --kind mixture --effort quick --json -o chosen
"$python" -c 'import json; s = json.load(open("out")); assert s["components"] > 1 and s["iterations_done"] > 2, s'

# Holes are learnt as further columns.
expect 0 "$NADE" train table.csv "${few[@]}" --holes -o holes
expect 0 "$NADE" sample holes -n 2000 --holes -o with_holes.csv
awk -F, 'NR > 1 { for (i = 1; i <= 6; i++) empty += $i == "" } END { s = empty / 12000; exit s < 0.05 || s > 0.09 }' with_holes.csv ||
    fail "samples have too few or too many holes"

# What does not go together.
expect 2 "$NADE" train table.csv --kind mixture --members 2 -o bad
holds err "the option members is given, which is for networks, but the kind is mixture"
expect 2 "$NADE" train table.csv --kind mixture --hidden 20 -o bad
holds err "the option hidden is given"
expect 2 "$NADE" train table.csv --kind mixture --lr 0.1 -o bad
holds err "the option learning_rate is given"
expect 2 "$NADE" train table.csv --kind mixture --checkpoint file -o bad
holds err "the option checkpoint is given"
expect 2 "$NADE" train table.csv --kind mixture --valid-fraction 0 -o bad
holds err "the number of components is to be chosen, but no rows are held out: give --components, or rows to validate on"
expect 0 "$NADE" train table.csv "${few[@]}" --valid-fraction 0 -o all_rows
expect 2 "$NADE" train table.csv --kind mixtur -o bad
expect 2 "$NADE" train table.csv --kind mixture --components 1001 -o bad
[ ! -e bad ] || fail "a refused run wrote a model"
