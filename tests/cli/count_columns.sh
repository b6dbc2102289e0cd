# Columns of counts: trained, scored, drawn, filled and asked for by ranges; whole numbers everywhere.
. "$(dirname "$0")/../support/checks.bash"

# Zeros in a third of the rows, else a long tail that is longer where the label is b; now and then a hole.
awk 'function draw() { state = (state * 16807) % 2147483647; return state / 2147483647 }
    BEGIN { state = 11; print "kind,visits"
        for (i = 0; i < 400; i++) {
            kind = draw() < 0.5 ? "a" : "b"; k = draw() < 0.33 ? 0 : int(-log(1 - draw()) * (kind == "a" ? 2 : 12))
            print kind "," (i % 29 == 3 ? "" : k) } }' >data.csv
expect 0 "$NADE" train data.csv -o model --count visits "${network[@]}" --iterations 5 --device cpu
holds err "visits: count"
expect 0 "$NADE" info model
grep -qE '^ +1  visits +count +[0-9.]+ +[0-9.]+  of log\(1 \+ count\)$' out || fail "$(cat out)"

# A word of a types file is the same, and so is the reference's arithmetic, nearly.
echo visits,count >types
expect 0 "$NADE" train data.csv -o same --types types "${network[@]}" --iterations 5 --device cpu --quiet
cmp -s model same || fail "the option and the file differ"
expect 0 "$NADE" score model data.csv -o fast --device cpu --quiet
expect 0 "$NADE" score model data.csv -o exact --device reference --quiet
paste fast exact | awk 'NR > 1 { d = $1 - $2; n++; if (d > 1e-4 || d < -1e-4) bad = 1 } END { exit bad || n != 400 }' ||
    fail "CPU and reference differ: $(paste fast exact)"

# Samples are whole numbers, longer tails come with b, and a range holds just its counts.
expect 0 "$NADE" sample model -n 300 --quiet
awk -F, 'NR > 1 && $2 !~ /^[0-9]+$/ { bad = 1 } { n[$1]++; sum[$1] += $2 }
    END { exit bad || !(sum["b"] / n["b"] > 2 * sum["a"] / n["a"]) }' out || fail "$(cat out)"
expect 0 "$NADE" sample model -n 200 --where '2<visits<5.5' --quiet
[ "$(awk -F, 'NR > 1 { print $2 }' out | sort -u | tr '\n' ' ')" = "3 4 5 " ] || fail "$(sort -u out)"
expect 0 "$NADE" sample model -n 200 --where 'visits>=25' --quiet
awk -F, 'NR > 1 && $2 < 25 { bad = 1 } { n += $1 == "b" } END { exit bad || !(n > 150) }' out || fail "$(cat out)"
expect 0 "$NADE" sample model -n 5 --where visits=3 --quiet
[ "$(awk -F, 'NR > 1 { print $2 }' out | sort -u)" = 3 ] || fail "$(cat out)"
refuse 2 "no value of column 'visits' lies between 3.2 and 3.8" -- "$NADE" sample model --where '3.2<=visits<=3.8'
refuse 2 "column 'visits': found '2.5', expected a whole number from 0 on" -- "$NADE" sample model --where visits=2.5
refuse 2 "column 'visits': found 100001, expected a whole number from 0 to 100000" -- "$NADE" sample model --where visits=100001
for count in 2.5 -1; do
    refuse 2 "--where: column 'visits': found '$count', expected a whole number from 0 on" -- "$NADE" prob model --where visits=$count
done
refuse 2 "--where: column 'kind': found 'c', expected one of a, b" -- "$NADE" prob model --where kind=c
refuse 2 "--where: column 'visits': found 'many', expected a number" -- "$NADE" prob model --where 'visits<many'

# Holes are filled by counts; a mean may be asked for exactly; intervals end at counts.
for method in draw mean median mode; do
    expect 0 "$NADE" impute model data.csv --method $method --interval 0.8 --quiet
    awk -F, 'NR > 1 && $2 !~ /^[0-9]+$/ { bad = 1 } $3 != "" && NR > 1 { holes++; if ($3 !~ /^[0-9]+$/ || $4 < $3) bad = 1 }
        END { exit bad || holes != 14 }' out || fail "$method: $(cat out)"
done
expect 0 "$NADE" impute model data.csv --method mean --exact --quiet
grep -qE '^[ab],[0-9]+\.[0-9]+$' out || fail "no mean is exact: $(cat out)"
expect 0 "$NADE" score model data.csv --per-column --quiet

# What is no count is refused where it stands.
printf 'kind,visits\na,3\nb,2.5\n' >fraction.csv
refuse 2 "fraction.csv, line 3, column 'visits': found '2.5', expected a whole number from 0 to 100000" -- \
    "$NADE" score model fraction.csv
refuse 2 "column 'visits' cannot be count: it holds numbers that are negative or not whole, expected counts; line 3 has '2.5'" -- \
    "$NADE" train fraction.csv -o other --count visits
refuse 2 "column 'kind' cannot be count: it holds text, expected numbers; line 2 has 'a'" -- "$NADE" train data.csv -o other --count kind
refuse 2 "--count and --real both name column 'visits', expected one type for a column" -- \
    "$NADE" train data.csv -o other --count visits --real 1
expect 0 "$NADE" train data.csv -o other --count visits --categorical kind --types types --dry-run
printf 'n\n3\n100001\n2\n' >large.csv
refuse 2 "large.csv, line 3, column 'n': found 100001, expected a count of at most 100000" -- \
    "$NADE" train large.csv -o other --count n
