# --recipe paper: the paper's settings in place of the defaults, given options before it, one rate of five by validation.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { srand(3); print "a,b,c"
    for (i = 0; i < 200; i++) { a = rand() < 0.4; print a "," (rand() < (a ? 0.8 : 0.2)) "," (rand() < 0.5) } }' >table.csv

expect 0 "$NADE" train table.csv --recipe paper --hidden 8,7 --dry-run
# 100 iterations of 1000 updates, and 20 for the second layer's pretraining.
holds err "120000 updates"
holds err "each of 5 learning rates"

expect 0 "$NADE" train table.csv --recipe paper --hidden 8,7 --iterations 2 --updates 5 --lr 0.004 --momentum 0.8 -o model
expect 0 "$NADE" info model
for line in "nag" "learning rate          0.004" "momentum               0.8" "rows per update        100" \
    "updates per iteration  5"; do
    holds out "$line"
done

# The recipe is no more than its options.
expect 0 "$NADE" train table.csv --optimizer nag --momentum 0.8 --batch 100 --iterations 2 --updates 5 --lr 0.004 \
    --pretrain 20 --hidden 8,7 --components 10 --weight-decay 0 --average 0 --no-atoms --no-maps --no-cooldown -o same
cmp model same || fail "--recipe paper differs from the options it stands for"

expect 0 "$NADE" train table.csv --recipe paper --order fixed --hidden 6 --iterations 1 --updates 5 --json -o fixed
holds err '"rates":[{"lr":0.016' '"lr":6.75'

refuse 2 "--recipe and --resume can't be given together" -- "$NADE" train table.csv --recipe paper --resume checkpoint -o m
refuse 2 "cake" "paper" -- "$NADE" train table.csv --recipe cake -o m
