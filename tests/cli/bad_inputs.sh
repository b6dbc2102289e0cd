# Broken files: exit 2, one sentence that says where, and nothing left behind.
. "$(dirname "$0")/../support/checks.bash"

binary_data 200 1 >data.csv
"$NADE" train data.csv -o model --quiet "${small[@]}"
train() { "$NADE" train "$1" -o new --quiet "${small[@]}"; }

refuse 2 missing.csv -- train missing.csv
refuse 2 missing.csv -- "$NADE" score model missing.csv
refuse 2 missing -- "$NADE" score missing data.csv
refuse 2 missing -- "$NADE" info missing
refuse 2 missing.csv -- "$NADE" train data.csv -o new --quiet --valid missing.csv
refuse 2 missing.txt -- "$NADE" train data.csv -o new --quiet --types missing.txt
# A line without an end is refused before it has taken memory, and is not the end of the file.
refuse 2 /dev/zero 'line 1' 'zero byte' -- "$NADE" train data.csv -o new --quiet --types /dev/zero
{ head -c 200000 /dev/zero | tr '\0' a; echo; } >long.txt
refuse 2 long.txt 'line 1' 131072 -- "$NADE" train data.csv -o new --quiet --types long.txt
rm long.txt

: >empty.csv
refuse 2 empty.csv -- train empty.csv
echo a,b,c,d >norows.csv
refuse 2 norows.csv -- "$NADE" train norows.csv -o new --quiet --header yes
refuse 2 norows.csv -- "$NADE" score model norows.csv --header yes --quiet
printf 'a,b\n0,1\n1,0,1\n0,0\n' >ragged.csv
refuse 2 ragged.csv 'line 3' -- train ragged.csv
printf 'a,a\n0,1\n1,0\n' >twins.csv
refuse 2 twins.csv "a" -- train twins.csv
(echo x,y && awk 'BEGIN { for (i = 0; i < 50; i++) print i / 7 "," i / 3 }' && echo inf,1) >inf.csv
refuse 2 inf.csv 'line 52' x -- train inf.csv
mkdir folder
refuse 2 folder -- train folder
rmdir folder
head -c 40 /dev/zero >zeros.csv
refuse 2 zeros.csv -- train zeros.csv
gzip -c data.csv | head -c 60 >cut.csv.gz
refuse 2 cut.csv.gz -- train cut.csv.gz
printf '\223NUMPY\001\000v\000{' >cut.npy
refuse 2 cut.npy -- train cut.npy

# A model and data that do not belong together.
real_data 50 1 >real.csv
"$NADE" train real.csv -o real_model --quiet "${small[@]}"
refuse 2 real.csv -- "$NADE" score model real.csv --quiet
(echo 'x;y' && echo '1.5;big') >text.csv
refuse 2 text.csv y big -- "$NADE" score real_model text.csv --quiet --header yes
(head -3 data.csv && echo 0,1,2,1) >value.csv
refuse 2 value.csv c 2 -- "$NADE" score model value.csv --quiet
cut -d, -f1-3 data.csv >narrow.csv
refuse 2 narrow.csv d -- "$NADE" score model narrow.csv --quiet

# A model file cut anywhere, or no model at all.
size=$(stat -c %s model)
for keep in 0 7 8 100 $((size / 2)) $((size - 1)); do
    head -c "$keep" model >cut_model
    refuse 2 cut_model -- "$NADE" info cut_model
    refuse 2 cut_model -- "$NADE" score cut_model data.csv
done
(cat model && echo) >cut_model
refuse 2 cut_model -- "$NADE" info cut_model
refuse 2 data.csv -- "$NADE" score data.csv data.csv

# A training record that lacks counts, or whose best iteration is none of those it had: what is not known is not shown.
for change in train_rows/train_rowz best_iteration/best_iteratiox '\(best_iteration..:\)[0-9]/\17'; do
    LC_ALL=C sed "s/$change/" model >cut_model
    ! cmp -s model cut_model || fail "nothing changed: $change"
    expect 0 "$NADE" info cut_model
    ! grep -qw nan out || fail "$change: $(cat out)"
done

only cut.csv.gz cut.npy cut_model data.csv empty.csv inf.csv model narrow.csv norows.csv ragged.csv real.csv real_model \
    text.csv twins.csv value.csv zeros.csv
