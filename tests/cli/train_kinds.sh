# Every activation and optimiser, clipping and averages: what is trained says so, is read, scored and drawn from, and goes on from
# a checkpoint to the same bytes.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { srand(5); print "a,b,c"
    for (i = 0; i < 200; i++) { a = rand() < 0.4; print a "," (rand() < (a ? 0.8 : 0.2)) "," (i % 9 ? rand() : "") } }' >table.csv
small=(--hidden "9,8" --iterations 2 --updates 20 --device cpu)

for activation in relu sigmoid tanh gelu silu; do
    expect 0 "$NADE" train table.csv "${small[@]}" --activation $activation -o $activation
    expect 0 "$NADE" info $activation
    holds out "9, 8 $activation units"
    expect 0 "$NADE" score $activation table.csv --device reference -o exact.csv
    expect 0 "$NADE" score $activation table.csv --device cpu -o scores.csv
    paste -d, exact.csv scores.csv | awk -F, 'NR > 1 && ($1 - $2) ^ 2 > 1e-8 { exit 1 }' ||
        fail "the CPU's scores with $activation are not the reference's"
    expect 0 "$NADE" sample $activation -n 3 --device cpu
done
cmp -s gelu silu && fail "two activations give one model"

for optimizer in nag adam lion; do
    expect 0 "$NADE" train table.csv "${small[@]}" --optimizer $optimizer -o $optimizer
    expect 0 "$NADE" info $optimizer
    holds out "Training: $optimizer"
done
expect 0 "$NADE" train table.csv "${small[@]}" --optimizer lion --lr 0.0002 -o same
cmp lion same || fail "lion's usual rate is not 0.0002"

# A bound that no gradient reaches changes nothing but the record, one that all do changes the model.
expect 0 "$NADE" train table.csv "${small[@]}" --clip 0 -o plain
cmp plain adam || fail "--clip 0 is not the default"
expect 0 "$NADE" train table.csv "${small[@]}" --optimizer nag --clip 1e9 -o high
expect 0 "$NADE" train table.csv "${small[@]}" --optimizer nag --clip 0.01 -o low
expect 0 "$NADE" score nag table.csv --device cpu -o nag.csv
expect 0 "$NADE" score high table.csv --device cpu -o high.csv
expect 0 "$NADE" score low table.csv --device cpu -o low.csv
cmp nag.csv high.csv || fail "a bound that is never reached changes the model"
cmp -s nag.csv low.csv && fail "a low bound changes nothing"
expect 0 "$NADE" info low
holds out "clip                   0.01"
expect 0 "$NADE" info nag
grep -q clip out && fail "info names a clip where there is none"

expect 0 "$NADE" train table.csv "${small[@]}" --optimizer nag --clip 0.01 --checkpoint whole -o low
expect 0 "$NADE" train table.csv --resume whole --device cpu -o resumed
cmp low resumed || fail "a resumed run with --clip ends in another model"
refuse 2 "another value of clip" -- "$NADE" train table.csv --resume whole --clip 0.02 --device cpu -o resumed
refuse 2 "--clip: found '-1'" "from 0 to 1e+12" -- "$NADE" train table.csv --clip -1 -o model

# An average is another model, says so, and goes on from a checkpoint.
expect 0 "$NADE" train table.csv "${small[@]}" --average 0.999 -o usual
cmp usual adam || fail "--average 0.999 is not the default"
expect 0 "$NADE" train table.csv "${small[@]}" --average 0.95 --checkpoint whole -o averaged
cmp -s averaged adam && fail "an average changes nothing"
expect 0 "$NADE" info averaged
holds out "average                0.95"
expect 0 "$NADE" train table.csv --resume whole --device cpu -o resumed
cmp averaged resumed || fail "a resumed run with --average ends in another model"
refuse 2 "--average: found '1'" "from 0 to 0.999999" -- "$NADE" train table.csv --average 1 -o model

# The model of independent columns as iteration 0: stopped there a model gains nothing over them, of any kind.
short=(--iterations 2 --updates 20 --device cpu)
for kind in "--hidden 9,8" "--hidden 9 --order fixed" "--hidden 9,8 --pretrain 1"; do
    # shellcheck disable=SC2086  # words on purpose
    expect 0 "$NADE" train table.csv "${short[@]}" $kind --start marginals --log log.csv -o begun
    [ "$(sed -n 2p log.csv | cut -d, -f1,2,4)" = 0,0,nan ] || fail "the log does not begin with iteration 0: $(cat log.csv)"
    holds err "iteration 0/" "before the first update"
    expect 0 "$NADE" info begun
    holds out "validation             start -" "start                  marginals"
    # shellcheck disable=SC2086
    expect 0 "$NADE" train table.csv "${short[@]}" $kind --start marginals --time-limit 1e-9 -o begun
    holds err "best iteration 0 of 0, what it began with"
    expect 0 "$NADE" score begun table.csv --device cpu --json -o scores.csv
    python3 - err <<'PY' || fail "the start is not independent columns: $(cat err)"
import json, sys
sys.exit(abs(json.load(open(sys.argv[1]))["gain"]) > 1e-5)
PY
done

# differs MODEL OTHER TABLE: the densities are not the same (files differ by what they record of options alone).
differs() {
    expect 0 "$NADE" score "$1" "$3" --device cpu --quiet -o one.csv
    expect 0 "$NADE" score "$2" "$3" --device cpu --quiet -o other.csv
    ! cmp -s one.csv other.csv
}

# How d is drawn: another model of the same kind, which goes on from a checkpoint.
expect 0 "$NADE" train table.csv "${small[@]}" --stratify --checkpoint whole -o even
differs even adam table.csv || fail "stratified draws are those of each row by itself"
expect 0 "$NADE" info even
holds out "stratify               1"
expect 0 "$NADE" train table.csv --resume whole --device cpu -o resumed
cmp even resumed || fail "a resumed run with --stratify ends in another model"

# Orderings to focus on: likewise, and none where the order is fixed.
expect 0 "$NADE" train table.csv "${small[@]}" --focus 4 --checkpoint whole -o focused
differs focused adam table.csv || fail "the focus changes nothing"
expect 0 "$NADE" info focused
holds out "focus                  4"
expect 0 "$NADE" train table.csv --resume whole --device cpu -o resumed
cmp focused resumed || fail "a resumed run with --focus ends in another model"
refuse 2 "focus on some orderings (--focus)" "the order is fixed" -- "$NADE" train table.csv --order fixed --focus 4 -o none

# Rows drawn beside those of the table: likewise, for any threads; refused where nothing can be drawn.
awk 'BEGIN { srand(6); print "a,b"; for (i = 0; i < 80; i++) { a = rand(); print a "," a + rand() } }' >pairs.csv
expect 0 "$NADE" train pairs.csv "${small[@]}" -o pairs
expect 0 "$NADE" train pairs.csv "${small[@]}" --augment 3 --threads 2 --checkpoint whole -o drawn
differs drawn pairs pairs.csv || fail "drawn rows change nothing"
expect 0 "$NADE" info drawn
holds out "augment                3"
expect 0 "$NADE" train pairs.csv "${small[@]}" --augment 3 --threads 1 -o again
cmp drawn again || fail "with drawn rows the number of threads matters"
expect 0 "$NADE" train pairs.csv --resume whole --device cpu -o resumed
cmp drawn resumed || fail "a resumed run with --augment ends in another model"
expect 0 "$NADE" train table.csv "${small[@]}" --augment 3 --dry-run --json
drawn=$(sed -n 's/.*"memory":\([0-9]*\).*/\1/p' err)
expect 0 "$NADE" train table.csv "${small[@]}" --dry-run --json
[ "$drawn" -gt "$(sed -n 's/.*"memory":\([0-9]*\).*/\1/p' err)" ] || fail "drawn rows take no memory: $(cat err)"
refuse 2 "rows are to be drawn for training (--augment)" "(--holes)" -- "$NADE" train table.csv --holes --augment 3 -o none
awk 'BEGIN { srand(2); for (c = 0; c < 121; c++) printf "%sc%d", c ? "," : "", c; print ""
    for (i = 0; i < 30; i++) { for (c = 0; c < 121; c++) printf "%s%.3f", c ? "," : "", rand(); print "" } }' >wide.csv
refuse 2 "(--augment), but there are 30 rows and 121 columns of numbers, expected at most 120" -- "$NADE" train wide.csv --augment 1 -o none
awk 'BEGIN { print "a,b"; for (i = 0; i < 10000; i++) print i % 7 "," i % 5 + i % 7 / 10 }' >long.csv
refuse 2 "rows drawn beside its own (--augment)" -- "$NADE" train long.csv --map --augment 3 -o none
refuse 2 "--augment: found '1001', expected a whole number from 0 to 1000" -- "$NADE" train table.csv --augment 1001 -o none

# The course of the rate: what is said of it, and a run that is resumed.
expect 0 "$NADE" train table.csv "${small[@]}" --schedule linear --warmup 0 -o plain
cmp plain adam || fail "a linear fall without a rise is not the default"
expect 0 "$NADE" train table.csv "${small[@]}" --schedule cosine --warmup 10 --checkpoint whole --log log.csv -o waved
expect 0 "$NADE" info waved
holds out "schedule               cosine" "warmup                 10"
expect 0 "$NADE" train table.csv --resume whole --device cpu -o resumed
cmp waved resumed || fail "a resumed run with --schedule ends in another model"
# Of 40 updates the last of each iteration: 9 of the fall's 30 are done, then 29.
awk -F, 'NR > 1 { done = NR == 2 ? 9 : 29; rate = 0.0005 * (1 + cos(3.141592653589793 * done / 30))
    if (($3 - rate) ^ 2 > 1e-20) exit 1 }' log.csv || fail "the rates of the log are not those of a cosine: $(cat log.csv)"
refuse 2 "--schedule: found 'wave'" "linear or cosine" -- "$NADE" train table.csv --schedule wave -o model

# A rate with which losses are not finite: an error, or a lower rate and a warning for each time.
wild=(--hidden "9,8" --iterations 3 --updates 30 --device cpu --optimizer nag --lr 100000)
refuse 1 "training diverged: the loss at update" -- "$NADE" train table.csv "${wild[@]}" -o model
expect 0 "$NADE" train table.csv "${wild[@]}" --retries 20 --checkpoint whole -o tamed
holds err "warning: the loss at update" "goes back to iteration 0, its best, and on with a third of the learning rate"
expect 0 "$NADE" info tamed
holds out "tried again            " "retries                20"
expect 0 "$NADE" train table.csv --resume whole --device cpu -o resumed
cmp tamed resumed || fail "a resumed run with --retries ends in another model"
