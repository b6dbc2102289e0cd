# Same seed, same bytes: models and scores, for any number of threads; another seed, another model.
. "$(dirname "$0")/../support/checks.bash"

binary_data 500 1 >data.csv
real_data 500 1 >real.csv
for kind in data real; do
    for count in 1 2 3; do
        expect 0 "$NADE" train $kind.csv -o $kind.$count --quiet --threads $count "${small[@]}"
        expect 0 "$NADE" score $kind.1 $kind.csv --quiet --threads $count --spread
        mv out scores.$kind.$count
    done
    cmp $kind.1 $kind.2 || fail "two threads give another model"
    cmp $kind.1 $kind.3 || fail "three threads give another model"
    cmp scores.$kind.1 scores.$kind.2 || fail "two threads give other scores"
    cmp scores.$kind.1 scores.$kind.3 || fail "three threads give other scores"
done
expect 0 "$NADE" train data.csv -o again --quiet "${small[@]}" --log log --time-limit 1000
cmp data.1 again || fail "a second run gives another model"
expect 0 "$NADE" train data.csv -o other --quiet --hidden 16,16 --batch 50 --iterations 2 --updates 100 --seed 4
! cmp -s data.1 other || fail "another seed gives the same model"

# A row's score does not depend on the rows beside it.
(head -1 data.csv && sed -n 7p data.csv) >one.csv
expect 0 "$NADE" score data.1 one.csv --quiet --spread --header yes
[ "$(sed -n 2p out)" = "$(sed -n 7p scores.data.1)" ] || fail "a row alone has another score"
