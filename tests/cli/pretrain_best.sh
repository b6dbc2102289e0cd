# --pretrain-best on noise, of which the longer it is learnt the less is right: the model is what pretraining left, where
# without the option it is one of the full run's iterations.  Its record says so, and what else began otherwise.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { srand(5); for (i = 0; i < 200; i++) print int(2 * rand()) "," int(2 * rand()) "," int(2 * rand()) "," rand() }' \
    >noise.csv
train=("$NADE" train noise.csv --valid-fraction 0.5 --hidden 40,40,40 --pretrain 4 --iterations 5 --updates 40 --device cpu)

expect 0 "${train[@]}" --pretrain-best --scaled-means --initial-scale 1.5 -o best
holds err "best iteration 0 of 5"
expect 0 "$NADE" info best
holds out "iterations             5 of 5, best 0" "pretraining's best is better" "gradients of means are scaled" \
    "initial scale          1.5"

expect 0 "${train[@]}" -o last
expect 0 "$NADE" info last
for text in "best 0" "pretraining's best is better" "gradients of means are scaled"; do
    if grep -qF -e "$text" out; then fail "without the options, info says: $text"; fi
done

refuse 2 "initial-scale" "1000" -- "${train[@]}" --initial-scale 5000 -o model
