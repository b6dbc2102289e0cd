# Residual networks: what is trained says so, is read, scored, filled in and drawn from, is the same for any number of
# threads and goes on from a checkpoint to the same bytes; options that do not go together are refused.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { srand(5); print "a,b,c"
    for (i = 0; i < 300; i++) { a = rand() < 0.4; print a "," (rand() < (a ? 0.8 : 0.2)) "," (i % 9 ? a + rand() : "") } }' >table.csv
small=(--direct --effort quick --blocks 2 --width 21 --dropout 0.25 --direct-decay 0.1 --iterations 3 --updates 20)

expect 0 "$NADE" train table.csv "${small[@]}" --dry-run --device cpu
holds err "6 inputs, 62 outputs"
for threads in 1 2 3; do
    expect 0 "$NADE" train table.csv "${small[@]}" --threads $threads -o model.$threads
done
cmp model.1 model.2 || fail "two threads give another model"
cmp model.1 model.3 || fail "three threads give another model"
expect 0 "$NADE" info model.1
holds out "Network: residual, 2 blocks of 21 units"
holds out "direct path            yes"
holds out "dropout                0.25"
holds out "direct-decay           0.1"
# 6·21+21 of the input, 4·(21·21+21) of the blocks, 62·21+62 of the output, 3·42 of the norms, 62·6 of the direct path.
holds out "parameters             3857"
expect 0 "$NADE" info model.1 --json
holds out '"kind":"residual","width":21,"blocks":2,"direct":true'

expect 0 "$NADE" score model.1 table.csv --device reference -o exact.csv
expect 0 "$NADE" score model.1 table.csv --device cpu -o scores.csv
paste -d, exact.csv scores.csv | awk -F, 'NR > 1 && ($1 - $2) ^ 2 > 1e-8 { exit 1 }' ||
    fail "the CPU's scores are not the reference's"
expect 0 "$NADE" impute model.1 table.csv -o filled.csv
expect 0 "$NADE" sample model.1 -n 5 --where a=1
[ "$(wc -l <out)" = 6 ] || fail "not five rows"

expect 0 "$NADE" train table.csv "${small[@]:1}" -o without
expect 0 "$NADE" info without
holds out "direct path            no"
expect 0 "$NADE" train table.csv --effort quick --blocks 2 --direct --width 21 --direct-decay 0.1 --iterations 3 --updates 20 -o whole
! cmp -s whole model.1 || fail "dropout changes nothing"

expect 0 "$NADE" train table.csv "${small[@]}" --checkpoint checkpoint -o model
cmp model model.1 || fail "a checkpoint changes the model"
expect 0 "$NADE" train table.csv --resume checkpoint -o resumed
cmp resumed model.1 || fail "a resumed run gives another model"
expect 2 "$NADE" train table.csv --resume checkpoint --hidden 500,500 -o other
holds err "another value of hidden"

expect 2 "$NADE" train table.csv --blocks 2 --hidden 9 -o other
holds err "hidden layers (--hidden) and blocks (--blocks) are both given, expected one of them"
expect 2 "$NADE" train table.csv --dropout 0.1 --hidden 9 -o other
holds err "dropout is given, which is for residual networks, together with hidden layers (--hidden)"
expect 2 "$NADE" train table.csv --blocks 2 --order fixed -o other
holds err "(--blocks) is asked for with a fixed order"
expect 2 "$NADE" train table.csv --blocks 32 -o other
holds err "expected a whole number from 1 to 31"
expect 2 "$NADE" train table.csv --blocks 1 --recipe paper -o other
holds err "pretraining (--pretrain) is asked for"
