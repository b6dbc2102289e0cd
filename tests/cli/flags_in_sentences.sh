# The library's sentences name its options; the command's name the flags, and the column as the flag takes it.
. "$(dirname "$0")/../support/checks.bash"

binary_data 200 1 >data.csv
train() { "$NADE" train "$1" -o new --quiet "${small[@]}" "${@:2}"; }

expect 0 "$NADE" train data.csv -o model --quiet "${small[@]}" --checkpoint checkpoint
for flag in columns drop binary real categorical missing-as-value; do
    refuse 2 "--$flag: found 'x', expected the name or number of a column" -- train data.csv "--$flag" x
done
for flag in of given; do
    refuse 2 "--$flag: found 'x', expected the name or number of a column" -- "$NADE" score model data.csv "--$flag" x
done
refuse 2 'checkpoint, expected a model: nade train --resume goes on from it and writes one' -- "$NADE" info checkpoint

printf 'a,b,a\n1,2,3\n' >twins.csv
refuse 2 "columns 0 and 2 both have the name 'a', expected each once; leave one out with --drop 2" -- train twins.csv
awk 'BEGIN { print "a,b c"; for (i = 0; i < 60; i++) print i * 0.5 "," (i % 2 ? i "e299" : i / 7) }' >hole.csv
refuse 2 "column 'b c': found " "or leave the column out with --drop 'b c'" -- train hole.csv
expect 2 "$NADE" train hole.csv -o new --json
holds err '"error":' "--drop 'b c'"
sed -i '1s/b c/"b, c"/' hole.csv
expect 2 train hole.csv
eval "flags=($(grep -o -- '--drop .*' err))"
expect 0 train hole.csv "${flags[@]}"
awk 'BEGIN { print "name,x"; for (i = 0; i < 100200; i++) print "n" i "," i % 2 }' >names.csv
refuse 2 "column 'name': found text with more than 100000 different labels" 'leave the column out with --drop name' -- \
    train names.csv --keep name
head -n 150 names.csv >fewer.csv
expect 0 "$NADE" train fewer.csv -o new "${small[@]}" --keep name
holds err "nade: warning: fewer.csv, column 'name'" 'leave names of rows out with --drop'
rm new

awk 'BEGIN { print "kind,x"; for (i = 0; i < 60; i++) print "k" i % 3 "," i % 2 }' >kinds.csv
expect 0 train kinds.csv
printf 'kind,x\nk9,1\n' >unseen.csv
refuse 2 "unseen.csv, line 2, column 'kind': found 'k9'" '(or --unseen missing, which makes it a missing cell)' -- \
    "$NADE" score new unseen.csv

only checkpoint data.csv fewer.csv hole.csv kinds.csv model names.csv new twins.csv unseen.csv
