# Real columns that repeat single values: shown in words, probabilities of their own, exact draws; and --no-atoms.
. "$(dirname "$0")/../support/checks.bash"

# gain is 0 in four rows of five, and 500 or more else; hours is 40 in half of the rows; age repeats nothing.
awk 'BEGIN {
    state = 7; print "age,gain,hours,kind"
    for (i = 0; i < 800; i++) {
        for (j = 0; j < 3; j++) { state = (state * 16807) % 2147483647; u[j] = state / 2147483647 }
        rich = u[0] < 0.2
        printf "%.2f,%d,%d,%s\n", 20 + 60 * u[1], rich ? 500 + 300 * u[2] + 0.5 : 0, \
            i % 2 ? 40 : 10 + 60 * u[2], rich ? "rich" : i % 3 ? "poor" : "none"
    }
}' >data.csv
expect 0 "$NADE" train data.csv -o model "${network[@]}" --iterations 12
holds err 'gain: real, from 0, 1 value of its own (0)' 'hours: real, 1 value of its own (40)'
expect 0 "$NADE" train data.csv --dry-run
holds err 'gain: real, from 0, 1 value of its own (0)' 'hours: real, 1 value of its own (40)'
expect 0 "$NADE" info model
grep -qE 'gain +real .* 1  from 0, 1 value of its own \(0\)$' out || fail "the atom is not shown: $(cat out)"
! grep -E '^ *[0-9]+ +age ' out | grep -q 'own' || fail "an atom of age: $(cat out)"

# Exactly 0 as often as in the data, and nothing scattered around it; the same with --exact.
for exact in '' --exact; do
    expect 0 "$NADE" sample model -n 4000 --quiet $exact
    awk -F, 'NR > 1 { zeros += $2 == "0"; near += $2 != 0 && $2 < 300; forties += $3 == "40" }
        END { exit !(zeros > 3000 && zeros < 3400 && near < 20 && forties > 1800 && forties < 2400) }' out ||
        fail "draws $exact: $(awk -F, '{ print $2 }' out | sort -n | uniq -c | head)"
done
expect 0 "$NADE" sample model -n 300 --quiet --exact --where 'gain>0'
awk -F, 'NR > 1 && !($2 > 0) { exit 1 }' out || fail "gain>0 draws 0"
expect 0 "$NADE" sample model -n 300 --quiet --exact --where 'gain<=0' --where 'gain>=0'
awk -F, 'NR > 1 && $2 != "0" { exit 1 }' out || fail "gain between 0 and 0"

# Filled cells and the ends of intervals are the value itself.
printf 'age,gain,hours,kind\n33,,40,poor\n' >hole.csv
expect 0 "$NADE" impute model hole.csv --method median --interval 0.5 --quiet
holds out '33,0,40,poor,0,0'

# Without atoms: none in words, none in the model.
expect 0 "$NADE" train data.csv -o plain "${small[@]}" --no-atoms
! grep -q ' own' err || fail "atoms in spite of --no-atoms: $(cat err)"
expect 0 "$NADE" info plain --json
! grep -q atoms out || fail "atoms in spite of --no-atoms"

# A checkpoint keeps the choice.
expect 0 "$NADE" train data.csv -o first "${small[@]}" --no-atoms --checkpoint checkpoint --quiet
expect 0 "$NADE" train data.csv -o resumed "${small[@]}" --resume checkpoint --quiet
cmp plain resumed
expect 0 "$NADE" train data.csv -o first "${small[@]}" --checkpoint checkpoint --quiet
expect 0 "$NADE" train data.csv -o resumed "${small[@]}" --resume checkpoint --quiet
cmp first resumed
refuse 2 'another value of atoms' -- "$NADE" train data.csv -o resumed --resume checkpoint --no-atoms --quiet

only checkpoint data.csv first hole.csv model plain resumed
