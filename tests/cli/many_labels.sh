# A column with more labels than the network has outputs for: rare labels are learnt together, scored and drawn apart.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { srand(4); print "town,kind,x"
    for (i = 0; i < 4000; i++) { t = i % 2 ? i % 30 : int(3000 * rand() ^ 2); print "town " t ",0" t % 300 "," t % 7 / 2 } }' >data.csv
expect 0 "$NADE" train data.csv -o model "${small[@]}"
expect 0 "$NADE" info model
holds out "town" "categorical" "labels: "
expect 0 "$NADE" sample model -n 500 --quiet
cp out drawn
expect 0 "$NADE" sample model -n 500 --quiet
cmp out drawn || fail "two samples of one seed differ"
cut -d, -f1 drawn | tail -n +2 | sort -u >towns
[ "$(comm -23 towns <(cut -d, -f1 data.csv | sort -u) | wc -l)" = 0 ] || fail "towns that are none"
[ "$(wc -l <towns)" -gt 40 ] || fail "few towns are drawn: $(wc -l <towns)"
expect 0 "$NADE" score model drawn --quiet
expect 0 "$NADE" score model drawn --per-column --quiet
rare=$(tail -n 1 towns)
expect 0 "$NADE" sample model -n 3 --quiet --where "town=$rare"
[ "$(grep -c "^$rare," out)" = 3 ] || fail "--where: $(cat out)"
printf 'town,kind,x\n,,1.5\n' >hole.csv
for method in draw mode; do
    expect 0 "$NADE" impute model hole.csv --method $method --quiet
    grep -q '^town [0-9]*,0[0-9]*,1.5$' out || fail "impute: $(cat out)"
done
printf 'town,kind,x\nnowhere,00,1.5\n' >unseen.csv
refuse 2 "found 'nowhere', expected one of the labels seen in training" -- "$NADE" score model unseen.csv
