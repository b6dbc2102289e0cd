# Real columns, and a table of all types with holes: train, info, score.
. "$(dirname "$0")/../support/checks.bash"

real_data 800 1 >train.csv
real_data 100 2 >valid.csv
expect 0 "$NADE" train train.csv --valid valid.csv -o model "${network[@]}" --iterations 6
holds err '800 rows, 2 columns: 2 real' '800 training rows, 100 validation rows'
expect 0 "$NADE" score model valid.csv
[ "$(wc -l <out)" = 101 ]
awk 'NR > 1 && !($1 < 50 && $1 > -1000) { exit 1 }' out || fail "scores out of range"
awk '/gain over/ { exit !($NF > 0.5) }' err || fail "the model has learnt nothing: $(cat err)"
! grep -q 'bits per cell' err || fail "bits per cell of real columns"
expect 0 "$NADE" info model
grep -qE 'x +real .* 0\.001  mapped$' out || fail "the recording step is not shown: $(cat out)"
# Inputs 2 + 2 masks, outputs 2 * 9: (4 + 1) 16 + (16 + 1) 16 + (16 + 1) 18.
grep -qE 'parameters +658$' out || fail "number of parameters: $(cat out)"

# A change of units moves every log density by the logarithm of its factor.
awk -F';' -v OFS=';' 'NR == 1 { print; next } { printf "%.3f;%.1f\n", $1, 100 * $2 }' train.csv >cent.csv
awk -F';' -v OFS=';' 'NR == 1 { print; next } { printf "%.3f;%.1f\n", $1, 100 * $2 }' valid.csv >cent_valid.csv
expect 0 "$NADE" score model valid.csv --quiet
cp out first
expect 0 "$NADE" train cent.csv --valid cent_valid.csv -o cent_model "${network[@]}" --iterations 6 --quiet
expect 0 "$NADE" score cent_model cent_valid.csv --quiet
paste -d' ' first out | awk 'NR > 1 && !(($1 - $2 - log(100)) ^ 2 < 0.01) { exit 1 }' || fail "densities depend on units"

# All types, missing cells, a type given by hand, a column left out.
awk 'BEGIN {
    print "id,size,colour,flag,grade"
    split("red green blue", colour, " ")
    for (i = 0; i < 400; i++) {
        k = (i * 7 + int(i / 5)) % 3
        printf "row%d,%s,%s,%s,%d\n", i, i % 11 == 0 ? "NA" : k + (i % 17) / 10, i % 13 == 0 ? "" : colour[k + 1], \
            i % 2 ? "yes" : "no", 1 + i % 5
    }
}' >mixed.csv
expect 0 "$NADE" train mixed.csv --drop id -o mixed_model "${small[@]}"
holds err 'size: real' 'flag: binary' 'colour: categorical' 'grade: categorical' 'cells missing in 2 columns'
expect 0 "$NADE" train mixed.csv --drop id --real grade --dry-run
holds err 'size: real' 'grade: real' 'colour: categorical'
printf '# by hand\n\ngrade,real\nsize, real\n' >types
expect 0 "$NADE" train mixed.csv --drop id --types types --dry-run
holds err 'size: real' 'grade: real'
expect 0 "$NADE" train mixed.csv --columns flag,1-2 --dry-run
holds err '3 columns'
printf 'grade,rael\n' >types
refuse 2 'types, line 1' "'grade,rael'" 'binary, real, categorical, count, ordered or date' -- "$NADE" train mixed.csv --drop id --types types --dry-run
printf 'size,real\nnosuch,real\n' >types
refuse 2 'types, line 2' nosuch -- "$NADE" train mixed.csv --drop id --types types --dry-run
printf 'grade,real\nsize,real\ncolour,real\nflag,binary\n' >types
refuse 2 'types, line 3' colour 'cannot be real' -- "$NADE" train mixed.csv --drop id --types types --dry-run
printf 'grade,real\nsize,real\ngrade,categorical\n' >types # the last line counts
expect 0 "$NADE" train mixed.csv --drop id --types types --dry-run
holds err 'size: real' 'colour: categorical' 'grade: categorical'
refuse 2 colour -- "$NADE" train mixed.csv --drop id --real colour --dry-run
expect 0 "$NADE" score mixed_model mixed.csv
[ "$(wc -l <out)" = 401 ]
awk 'NR > 1 && !($1 < 100 && $1 > -1000) { exit 1 }' out || fail "scores out of range"
expect 0 "$NADE" info mixed_model
holds out '3 labels: ' red 'adam'

only cent.csv cent_model cent_valid.csv first mixed.csv mixed_model model train.csv types valid.csv
