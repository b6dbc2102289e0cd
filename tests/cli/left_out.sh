# Columns that number or name the rows, and empty ones, are left out; files with and without them are scored alike.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { srand(3); print ",name,x,y,nothing,zip"
    for (i = 0; i < 100; i++) printf "%d,person %d,%.2f,%.2f,,0%d\n", i * 3 % 1000, i, rand(), rand(), 1000 + i * 37 % 1999 }' >data.csv
expect 0 "$NADE" train data.csv -o model "${small[@]}"
holds err "'0' (numbers the rows), 'name' (names the rows), 'nothing' (empty), 'zip' (names the rows), left out" "--keep" \
    "100 rows, 2 columns: 2 real"
expect 0 "$NADE" info model
holds out "Left out: 0, name, nothing, zip"

expect 0 "$NADE" score model data.csv
grep -q "not in the model" err && fail "scored: $(cat err)"
cp out scores
cut -d, -f3,4 data.csv >two.csv
expect 0 "$NADE" score model two.csv
cmp out scores || fail "with and without the columns"
tail -n +2 data.csv >bare.csv
expect 0 "$NADE" score model bare.csv --header no
cmp out scores || fail "by position"
sed 's/$/,1/; 1s/,1$/,more/' data.csv >more.csv
expect 0 "$NADE" score model more.csv
holds err "column 'more' of more.csv is not in the model"
printf ',name,x,y,nothing,zip\n7,me,,0.5,,\n' >hole.csv
expect 0 "$NADE" impute model hole.csv --quiet
grep -qE '^7,me,[0-9.e-]+,0\.5,,$' out || fail "impute: $(cat out)"

# Who asks for one is told so.
refuse 2 "--of: column 'zip' was left out of training" -- "$NADE" score model data.csv --of x,zip
refuse 2 "column 'name' was left out" -- "$NADE" predict model data.csv --of name
refuse 2 "--where: column 'zip' was left out" -- "$NADE" sample model -n 1 --where zip=01000
refuse 2 "found 'zap'" -- "$NADE" score model data.csv --of x,zap

# Without names they have numbers.
expect 0 "$NADE" train bare.csv --header no -o nameless "${small[@]}"
expect 0 "$NADE" score nameless bare.csv --header no
expect 0 "$NADE" score nameless <(cut -d, -f3,4 bare.csv) --header no

# What is kept, or given a type, stays; what can't be used does not.
expect 0 "$NADE" train data.csv -o kept "${small[@]}" --keep 0,name --categorical zip
holds err "column 'nothing' (empty), left out" "100 rows, 5 columns"
refuse 2 "--keep: found 'height'" -- "$NADE" train data.csv -o other --keep height
cut -d, -f1 data.csv >alone.csv
expect 0 "$NADE" train alone.csv --header yes -o alone "${small[@]}"
