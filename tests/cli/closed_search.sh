# What validation chooses of kinds that are no networks: the strength of the prior, and in folds all that is open.
. "$(dirname "$0")/../support/checks.bash"
python=${PYTHON:-/usr/bin/python3}

# Four narrow clusters want a weak prior, many components for few rows of ten columns a strong one.
awk 'function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()) }
    BEGIN { srand(3); print "a,b,c"
    for (i = 0; i < 600; i++) { k = int(4 * rand())
        printf "%.5f,%.5f,%.5f\n", (k % 2) + 0.02 * normal(), (k > 1) + 0.02 * normal(), (k % 3 > 0) + 0.02 * normal() } }' >narrow.csv
awk 'function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()) }
    BEGIN { srand(4); for (j = 1; j <= 10; j++) printf "c%d%s", j, j < 10 ? "," : "\n"
    for (i = 0; i < 300; i++) { z = normal(); s = rand() < 0.5 ? 1 : -1
        for (j = 1; j <= 10; j++) printf "%.5f%s", s * (j % 3) + z * (j % 2 ? 1 : -0.5) + normal(), j < 10 ? "," : "\n" } }' >few.csv

# recorded MODEL KEY: of its training record.
recorded() {
    "$NADE" info "$1" --json >described
    "$python" -c 'import json, sys; print(json.load(open("described"))["training"].get(sys.argv[1], 0))' "$2"
}
mean() { awk 'NR > 1 { sum += $1 } END { printf "%.9f\n", sum / (NR - 1) }' "$1"; }

expect 0 "$NADE" train narrow.csv --kind mixture --no-maps -o narrow
holds err "60 validation rows" "  prior 1  " "  prior 0.1  " "mixture of 4 components, prior 0.01, the best of"
[ "$(recorded narrow prior)" = 0.01 ] || fail "the record has another prior than was chosen"
expect 0 "$NADE" train narrow.csv --kind mog -o narrow
holds err "  prior 2  " "  prior 0.2  " " components, prior 0, the best of"

# The record is enough: components, factors and prior of a search that are given make the same model.
components=$("$NADE" info narrow --json | sed 's/.*"kind":"mog","components":\([0-9]*\).*/\1/')
expect 0 "$NADE" train narrow.csv --kind mog --components "$components" --prior 0 -o again
expect 0 "$NADE" score narrow narrow.csv -o narrow.scores
expect 0 "$NADE" score again narrow.csv -o again.scores
cmp narrow.scores again.scores || fail "what was chosen, given, makes another model"

# Four clusters, each a plane in eight columns: two factors with few components are worse than one with many, until there
# are four.  The numbers of components are tried anew for each number of factors, or it would end there.
awk 'function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()) }
    BEGIN { srand(6)
    for (i = 0; i < 16 * 4; i++) load[i] = normal()
    for (i = 0; i < 8 * 4; i++) centre[i] = 6 * normal()
    for (j = 0; j < 8; j++) printf "c%d%s", j, j < 7 ? "," : "\n"
    for (i = 0; i < 1200; i++) { k = i % 4; y = normal(); z = normal()
        for (j = 0; j < 8; j++) {
            at = 8 * k + j
            printf "%.4f%s", centre[at] + y * load[2 * at] + z * load[2 * at + 1] + 0.1 * normal(), j < 7 ? "," : "\n" } } }' >planes.csv
expect 0 "$NADE" train planes.csv --kind mfa --prior 0 --effort quick -o planes
expect 0 "$NADE" info planes --json
holds out '"kind":"mfa","components":4,"factors":2'

# Few rows are validated in folds, which choose; the model is of all rows.
for kind in mixture mog mfa; do
    expect 0 "$NADE" train few.csv --kind $kind -o $kind
    holds err "300 training rows, each of which validates in one of 5 folds" "fits, now of all rows"
    [ "$(recorded $kind folds) $(recorded $kind train_rows) $(recorded $kind valid_rows)" = "5 300 300" ] ||
        fail "$kind: the record tells of other folds or rows"
done
expect 0 "$NADE" train few.csv --kind mog --threads 3 -o threads
cmp mog threads || fail "threads change what folds choose"
expect 0 "$NADE" info mog
holds out "300 for training, each for validation in one of the folds"
[ "$(recorded mfa prior)" != 0 ] || fail "few rows of many columns got no prior"

# It is fitted to all of them, for as many rounds as were best: here more than one.
expect 0 "$NADE" train few.csv --kind mixture --folds 3 --components 8 --prior 1 -o folds
expect 0 "$NADE" train few.csv --kind mixture --components 8 --prior 1 --valid-fraction 0 --iterations 1 -o one
for model in folds one; do expect 0 "$NADE" score $model few.csv -o $model.scores; done
awk -v a="$(mean folds.scores)" -v b="$(mean one.scores)" 'BEGIN { exit !(a > b + 1e-6) }' ||
    fail "after the folds all rows were fitted for less than two rounds"

# What speaks against folds, and what has none.
expect 0 "$NADE" train few.csv --kind mog --effort quick -o quick
holds err "270 training rows, 30 validation rows"
expect 0 "$NADE" train few.csv --kind mog --valid-fraction 0.2 -o fifth
holds err "240 training rows, 60 validation rows"
expect 0 "$NADE" train few.csv --kind gaussian -o gaussian
holds err "300 training rows, 0 validation rows"
expect 0 "$NADE" train few.csv --kind mog --components 3 --valid-fraction 0 -o all
holds err "mog of 3 components, prior 0,"
expect 0 "$NADE" train few.csv --kind mixture --components 3 --valid-fraction 0 -o all
holds err "mixture of 3 components, prior 1,"
refuse 2 "--folds is given" "the kind gaussian has nothing" -- "$NADE" train few.csv --kind gaussian --folds 3 -o no
refuse 2 "--prior is given" "the kind is gaussian" -- "$NADE" train few.csv --kind gaussian --prior 1 -o no
refuse 2 "--prior is given" "the kind is network" -- "$NADE" train few.csv --prior 1 -o no
refuse 2 "--factors is given" "the kind is network" -- "$NADE" train few.csv --factors 1 -o no
refuse 2 "--prior: found '-1', expected a number from 0" -- "$NADE" train few.csv --kind mog --prior -1 -o no
[ ! -e no ] || fail "a refused call leaves a model"
