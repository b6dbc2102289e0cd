# Training killed with SIGKILL at 20 random moments and resumed gives the same bytes as training left alone; the model
# file is at every moment absent, old or whole.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { srand(3); print "a,b,c,d"; for (i = 0; i < 400; i++) { x = rand(); print (x < 0.5) "," x * 10 "," int(x * 4) "," (rand() < x) } }' >data.csv
train=("$NADE" train data.csv --hidden 40,30,20 --components 4 --batch 50 --iterations 8 --updates 60 --pretrain 2 --quiet)

"${train[@]}" -o whole --log whole.csv
RANDOM=11
kills=0
for round in $(seq 200); do
    resume=()
    [ ! -e checkpoint ] || resume=(--resume checkpoint)
    "${train[@]}" -o model --checkpoint checkpoint --log log.csv "${resume[@]}" &
    sleep "0.$(printf '%03d' $((RANDOM % 250 + 10)))"
    if kill -KILL $! 2>/dev/null; then kills=$((kills + 1)); fi
    wait $! 2>/dev/null || true
    if [ -e model ]; then
        cmp -s model whole || fail "the resumed model differs after $kills kills"
        "$NADE" info model >info.txt || fail "a torn model"
        # The same log, but for the seconds.
        cmp -s <(cut -d, -f1-7,9 log.csv) <(cut -d, -f1-7,9 whole.csv) || fail "the log differs: $(cat log.csv)"
        rm -f model checkpoint log.csv
        [ "$kills" -lt 20 ] || break
    fi
done
[ "$kills" -ge 20 ] || fail "only $kills kills"

# A finished run resumed is the same again, and says so.
"${train[@]}" -o model --checkpoint checkpoint
"$NADE" train data.csv -o again --resume checkpoint 2>err
cmp -s again model || fail "a finished run resumed differs"
holds err 'best iteration' ' of 8'
refuse 2 'checkpoint is a checkpoint, expected a model' '--resume' -- "$NADE" info checkpoint
# What else would be overwritten, or is not a checkpoint of these rows.
refuse 2 data.csv -- "$NADE" train data.csv -o model --checkpoint data.csv
echo 1 >rows
refuse 2 rows -- "$NADE" train data.csv --rows rows -o rows
head -n 300 data.csv >fewer.csv
refuse 2 'other training rows' -- "$NADE" train fewer.csv -o other --resume checkpoint --quiet
refuse 2 seed -- "$NADE" train data.csv -o other --resume checkpoint --seed 9 --quiet
# An option that is given must be the checkpoint's, even where it is the default.
"$NADE" train data.csv -o again --resume checkpoint --batch 50 --components 4 --hidden 40,30,20 --lr 0 --quiet
cmp -s again model || fail "a finished run resumed with its own options differs"
refuse 2 batch -- "$NADE" train data.csv -o other --resume checkpoint --batch 100 --quiet
refuse 2 hidden -- "$NADE" train data.csv -o other --resume checkpoint --hidden 500,500 --quiet
refuse 2 pretrain -- "$NADE" train data.csv -o other --resume checkpoint --pretrain 0 --dry-run --quiet
