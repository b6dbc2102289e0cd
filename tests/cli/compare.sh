# nade compare: paired differences as counted from what nade score writes, and what it refuses.
. "$(dirname "$0")/../support/checks.bash"

# table ROWS SEED: a number, a label that follows from it, a flag, a number of few holes.
table() {
    awk -v rows="$1" -v x="$2" 'BEGIN { print "x,kind,flag,y"; for (i = 0; i < rows; i++) { x = (x * 16807) % 2147483647
        u = x / 2147483647; printf "%.1f,%s,%d,%s\n", 10 * u, (u < 0.3 ? "red" : u < 0.8 ? "green" : "blue"),
        (x % 3 == 0), (x % 11 == 0 ? "" : sprintf("%.2f", 3 * u + (x % 100) / 50)) } }'
}
table 300 5 >data.csv
table 80 77 >new.csv
expect 0 "$NADE" train data.csv -o a "${network[@]}" --iterations 6 --quiet
expect 0 "$NADE" train data.csv -o b "${network[@]}" --iterations 1 --quiet

# paired: the mean of column 1 less column 2 of stdin, and its standard error.
paired() {
    awk -F, '$1 != "" { d[++n] = $1 - $2; sum += $1 - $2; better += $1 > $2 }
        END { for (i in d) s += (d[i] - sum / n) ^ 2; printf "%.9g %.9g %d %d", sum / n, sqrt(s / (n - 1) / n), n, better }'
}
answer() { awk -F, 'NR == 2 { printf "%.9g %.9g", $1, $2 }' out; }
scores() { for model in a b; do "$NADE" score $model new.csv --quiet "$@" >"score.$model"; done; paste -d, score.a score.b | sed 1d; }

for options in "" "--cells" "--orderings 2 --seed 4" "--of x,y"; do
    read -r difference error rows better <<<"$(scores $options | paired)"
    expect 0 "$NADE" compare a b new.csv $options
    [ "$(answer)" = "$difference $error" ] || fail "$options: $(cat out), expected $difference $error"
    holds err "$rows rows" "rows on which A is better          $better of $rows"
    there=$(awk -F, 'NR == 2 { printf "%.17g %.17g", -$1, $2 }' out)
    expect 0 "$NADE" compare b a new.csv $options --quiet
    [ "$(awk -F, 'NR == 2 { printf "%.17g %.17g", $1, $2 }' out)" = "$there" ] || fail "the other way round: $(cat out), expected $there"
done
holds out difference,standard_error
expect 0 "$NADE" compare a b new.csv
holds err "a is better than b, by" "beyond two standard errors" "with --cells too"
expect 0 "$NADE" compare a b new.csv --cells
! grep -q "with --cells too" err || fail "$(cat err)"

# The same twice.
expect 0 "$NADE" compare a a new.csv --per-column
[ "$(sed 1d out | cut -d, -f3- | sort -u)" = 0,0,0 ] || fail "$(cat out)"
expect 0 "$NADE" compare a a new.csv
[ "$(sed 1d out)" = 0,0 ] || fail "$(cat out)"
holds err "no difference"

# By column: the cells' surprises of the two, and of independent columns what score calls the gain.
"$NADE" score a new.csv --per-column --quiet >cells.a
"$NADE" score b new.csv --per-column --quiet >cells.b
expect 0 "$NADE" compare a b new.csv --per-column
[ "$(head -1 out)" = column,cells,difference,standard_error,a_better ] || fail "$(cat out)"
for column in 1:x 3:kind 5:flag 7:y; do
    read -r difference error rows better <<<"$(paste -d, <(cut -d, -f${column%:*} cells.b) <(cut -d, -f${column%:*} cells.a) |
        sed 1d | paired)"
    awk -F, -v name="${column#*:}" -v d="$difference" -v e="$error" -v n="$rows" -v k="$better" '
        function far(u, v) { return (u - v) ^ 2 > 1e-12 }
        $1 == name { seen = 1; bad = far($3, d) || far($4, e) || $2 != n || $5 != k } END { exit !seen || bad }' out ||
        fail "${column#*:}: expected $rows cells, $difference +- $error, $better better: $(cat out)"
done
[ "$(awk -F, '$1 == "y" { print $2 < 80 }' out)" = 1 ] || fail "y has holes: $(cat out)"
expect 0 "$NADE" score a new.csv --json --quiet
gain=$(python3 -c 'import json; print("%.9g" % json.load(open("err"))["gain"])')
expect 0 "$NADE" compare a independent new.csv --json
python3 - "$gain" <<'END' || fail "$(cat out)"
import json, sys
found = json.load(open("out"))
assert "%.9g" % found["difference"] == sys.argv[1], (found, sys.argv)
assert found["rows"] == 80 and found["a_better"] + found["b_better"] == 80 and found["standard_error"] > 0
assert found["kind_b"] == "independent" and abs(found["mean_a"] - found["mean_b"] - found["difference"]) < 1e-12
END

# Gaussians and mixtures: fitted to the rows beside, or to others.
for kind in gaussian mixture; do
    expect 0 "$NADE" compare a $kind new.csv --per-column
    [ "$(wc -l <out)" = 5 ] || fail "$(cat out)"
    holds err "each fifth of the rows by a fit to the others"
    expect 0 "$NADE" compare a $kind new.csv --train data.csv
    holds err "fitted to the 300 rows of --train"
    cp out fitted
    expect 0 "$NADE" compare $kind a new.csv --train data.csv --quiet
    [ "$(awk -F, 'NR == 2 { printf "%.17g", -$1 }' out)" = "$(awk -F, 'NR == 2 { printf "%.17g", $1 }' fitted)" ] || fail "$(cat out fitted)"
done
# A mixture is that of --kind mixture, with the columns of the other side: of columns alone one component knows as much.
awk 'BEGIN { srand(8); print "amount,kind"; for (i = 0; i < 600; i++)
    printf "%.2f,%s\n", rand() < 0.4 ? 0 : exp(4 * rand() + 2 * rand()), rand() < 0.3 ? "red" : "blue" }' >amounts.csv
expect 0 "$NADE" train amounts.csv --kind mixture --components 1 --prior 1 -o alone --quiet
expect 0 "$NADE" compare alone mixture amounts.csv --train amounts.csv
awk -F, 'NR == 2 && $1 * $1 > 0.01 { exit 1 }' out || fail "$(cat out err)"

# Only the flag and its share in the training rows, with half a row more for each value: a sum by hand.
expect 0 "$NADE" compare a gaussian new.csv --of flag --train data.csv --json
python3 - <<'END' || fail "$(cat out)"
import csv, json, math
found = json.load(open("out"))
train, test = ([int(row["flag"]) for row in csv.DictReader(open(name))] for name in ("data.csv", "new.csv"))
share = (sum(train) + 0.5) / (len(train) + 1)
mean = sum(math.log(share if flag else 1 - share) for flag in test) / len(test)
assert abs(found["mean_b"] - mean) < 1e-12, (found, mean)
END

# One row; none.
head -2 new.csv >one.csv
expect 0 "$NADE" compare a b one.csv --json
grep -q '"standard_error":null' out || fail "$(cat out)"
expect 0 "$NADE" compare a b one.csv
sed 1d out | grep -qE '^-?[0-9.e-]+,$' || fail "$(cat out)"
holds err "1 row can't tell which is better"
refuse 2 "found 1 row to fit" "--train" -- "$NADE" compare a gaussian one.csv
expect 0 "$NADE" compare a mixture one.csv --train data.csv
printf 'x,kind,flag,y\n,,,\n' >empty.csv
expect 0 "$NADE" compare a independent empty.csv
[ "$(sed 1d out)" = , ] || fail "$(cat out)"
# A column without cells, and columns of one.
printf 'x,kind,flag,y\n1.5,red,0,\n' >holed.csv
expect 0 "$NADE" compare a b holed.csv --per-column
grep -qx 'y,0,,,0' out || fail "$(cat out)"
! grep -q nan out err || fail "$(cat out err)"
expect 0 "$NADE" compare a independent empty.csv
holds err "0 rows can't tell" "1 row without a cell to score is left out"

# What only one of them knows.
sed '3s/,[a-z]*,/,pink,/' new.csv >pink.csv
refuse 2 "pink" "--unseen missing" -- "$NADE" compare a b pink.csv
expect 0 "$NADE" compare a b pink.csv --unseen missing
holds err "79 rows" "1 row with a value that a model does not know is left out"
cut -d, -f1-3 data.csv >less.csv
expect 0 "$NADE" train less.csv -o c "${small[@]}" --quiet
refuse 2 "a has the column 'y', which c has not" "--of" -- "$NADE" compare a c new.csv
refuse 2 "a has the column 'y', which c has not" "--of" -- "$NADE" compare c a new.csv
expect 0 "$NADE" compare a c new.csv --of kind,x
awk -F, 'NR > 1 && NR % 9 == 0 { $1 = -999 } { print }' OFS=, data.csv >far.csv
expect 0 "$NADE" train far.csv -o d "${small[@]}" --quiet
expect 0 "$NADE" train far.csv -o e "${small[@]}" --keep-sentinels x --quiet
expect 0 "$NADE" compare d e far.csv
holds err "267 rows" "33 rows of which one model reads cells that are missing for the other are left out"

# A density and probabilities.
table 400 9 | awk -F, 'NR == 1 { print "n,m" } NR > 1 { print int($1) * 3 "," int(2 * $1) }' >counts.csv
expect 0 "$NADE" train counts.csv -o f "${small[@]}" --real n,m --quiet
expect 0 "$NADE" train counts.csv -o g "${small[@]}" --ordered n --real m --quiet
refuse 2 "column 'n' is real in f and ordered in g" "--cells" -- "$NADE" compare f g counts.csv
# n goes by threes: a density times 3 is the probability of a value.
"$NADE" score f counts.csv --cells --quiet >score.f
"$NADE" score g counts.csv --cells --quiet >score.g
read -r difference error rows better <<<"$(paste -d, score.f score.g | sed 1d | awk -F, '{ printf "%.17g,%s\n", $1 + log(3), $2 }' | paired)"
expect 0 "$NADE" compare f g counts.csv --cells
awk -F, -v d="$difference" -v e="$error" '
    function far(u, v) { return (u - v) ^ 2 > 1e-16 } NR == 2 { seen = !far($1, d) && !far($2, e) } END { exit !seen }' out ||
    fail "expected $difference $error: $(cat out)"
holds err "$rows rows" "rows on which A is better          $better of $rows"

refuse 2 "found no model file" -- "$NADE" compare gaussian mixture new.csv
refuse 2 "--train" "nothing is fitted" -- "$NADE" compare a b new.csv --train data.csv
refuse 2 "no-such" -- "$NADE" compare a no-such new.csv
refuse 2 "nobody" -- "$NADE" compare a b new.csv --of nobody
expect 0 "$NADE" train data.csv -o fixed --hidden 8 --components 3 --batch 50 --updates 100 --lr 0.01 --iterations 2 --order fixed --quiet
expect 0 "$NADE" compare a fixed new.csv
refuse 2 "fixed ordering" -- "$NADE" compare a fixed new.csv --per-column

# A file in place of stdout.
expect 0 "$NADE" compare a fixed new.csv --quiet
cp out said
expect 0 "$NADE" compare a fixed new.csv --quiet -o compared.csv
[ ! -s out ] && cmp -s compared.csv said || fail "$(cat out compared.csv)"
expect 0 "$NADE" compare a fixed new.csv --quiet --json -o compared.json
holds compared.json '"difference"'
refuse 2 "new.csv" -- "$NADE" compare a fixed new.csv -o new.csv
