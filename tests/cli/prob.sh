# nade prob: the share of sampled rows in which an event happens, as counted in what nade sample writes.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { x = 5; print "x,kind,flag"; for (i = 0; i < 400; i++) { x = (x * 16807) % 2147483647; u = x / 2147483647
    printf "%.1f,%s,%d\n", 10 * u, (u < 0.3 ? "red" : u < 0.8 ? "green" : "blue"), (x % 3 == 0) } }' >data.csv
expect 0 "$NADE" train data.csv -o model "${network[@]}" --iterations 5 --quiet

# shares CONDITION: the share of the rows of `out` for which awk's CONDITION holds, and its standard error.
shares() {
    awk -F, "NR > 1 { n++; k += ($1) } END { p = k / n; printf \"%.12g %.12g\", p, sqrt(p * (1 - p) / n) }" out
}

# agree OPTIONS...: what prob says of them, as `shares` writes it; an exact answer within what 3000 draws can tell.
agree() {
    expect 0 "$NADE" prob model -n 3000 --seed 4 --quiet "$@"
    [ "$(sed -n 1p out)" = probability,standard_error ] || fail "$(cat out)"
    said=$(awk -F, 'NR == 2 { printf "%.12g %.12g", $1, $2 }' out)
    [ "$said" = "$counted" ] || echo "$said $counted" | awk '{ exit !($2 == 0 && ($1 - $3) ^ 2 < (4 * $4 + 0.02) ^ 2) }' ||
        fail "$*: prob says $said, the rows drawn say $counted"
}

# exactly VALUE OPTIONS...: what prob says is this, without error.
exactly() {
    expect 0 "$NADE" prob model --quiet "${@:2}"
    awk -F, -v wanted="$1" 'NR == 2 { exit !($2 == 0 && ($1 - wanted) ^ 2 < 1e-16) }' out || fail "$*: $(cat out)"
}

expect 0 "$NADE" sample model -n 3000 --seed 4 --quiet
counted=$(shares '$2 == "red"') && cp out rows && agree --where kind=red
cp rows out && counted=$(shares '$1 >= 2.5 && $1 < 5 && $3 == 1') && agree --where '2.5<=x<5' --where flag=1
cp rows out && counted=$(shares '$1 == 0.3') && agree --where x=0.3
expect 0 "$NADE" sample model -n 3000 --seed 4 --where 'x>=6' --where flag=0 --quiet
counted=$(shares '$2 == "blue"') && agree --where kind=blue --given 'x>=6' --given flag=0

# Exact ones are what score says of the values, given the rest or nothing, and add up.
score() { printf 'x,kind,flag\n%s\n' "$1" >one.csv && "$NADE" score model one.csv --quiet "${@:2}" | awk 'NR == 2 { printf "%.17g", exp($1) }'; }
red=$(score ,red,1 --of kind --given flag)
blue=$(score ,blue,1 --of kind --given flag)
exactly "$red" --where kind=red --given flag=1
exactly "$(awk "BEGIN { printf \"%.17g\", $red + $blue }")" --where 'kind in {red,blue}' --given flag=1
exactly "$(awk "BEGIN { printf \"%.17g\", 1 - $red }")" --where 'kind != red' --given flag=1
bin=$(score 3.1,,0 --of x --given flag --cells)
exactly "$(awk "BEGIN { printf \"%.17g\", $bin * 0.1 }")" --where x=3.1 --given flag=0
prob() { "$NADE" prob model --quiet "$@" | awk -F, 'NR == 2 { print $1 }'; }
below=$(prob --where 'x<3.1' --given flag=0)
above=$(prob --where 'x>3.1' --given flag=0)
exactly "$(awk "BEGIN { printf \"%.17g\", 1 - $below - $above }")" --where x=3.1 --given flag=0
exactly "$(awk "BEGIN { printf \"%.17g\", $below + $above }")" --where 'x != 3.1' --given flag=0
exactly "$below" --where 'x<=3.0' --given flag=0

# Far above, where 1 less what lies below is nothing, there is still something.
for far in 11 12 14 16 18 20 25 30; do
    below=$(prob --where "x<$far" --given flag=0)
    [ "$below" != 1 ] || break
done
[ "$below" = 1 ] || fail "x<$far: $below"
awk -v p="$(prob --where "x>=$far" --given flag=0)" 'BEGIN { exit !(p > 0 && p < 1e-12) }' || fail "x>=$far"

# What does not happen, and what always does, is said in words too.
expect 0 "$NADE" prob model -n 50 --where kind=red --given kind=red
awk -F, 'NR == 2 { exit !($1 == 1 && ($2 - sqrt(51 / 53) / 52) ^ 2 < 1e-20) }' out || fail "$(cat out)"
grep -q 'all of 50 draws: the probability is above 0.94 ' err || fail "$(cat err)"
expect 0 "$NADE" prob model -n 50 --where 'x>9' --given 'x<2' --json
grep -qE '^\{"probability":0,"standard_error":0\.01886[0-9]*,"draws":50,"seed":0\}$' out || fail "$(cat err out)"

refuse() {
    expect 2 "$NADE" prob model "${@:2}"
    grep -q -- "$1" err || fail "$*: $(cat err)"
}
refuse "--where is missing"
refuse "--where: column 'kind': found 'pink'" --where kind=pink
refuse "--given: column 'kind': found 'pink'" --where kind=red --given kind=pink
refuse "--where: column 'kind' is categorical" --where 'kind>3'

# A model of one ordering draws where its ordering has no exact answer.
expect 0 "$NADE" train data.csv -o fixed --order fixed --hidden 5 --iterations 1 --quiet
expect 0 "$NADE" prob fixed --where flag=1 --json -n 100
holds out '"draws":100'
expect 0 "$NADE" prob fixed --where 'x<5' --json
holds out '"standard_error":0,"draws":0'

# A file in place of stdout.
expect 0 "$NADE" prob fixed --where 'x<5' --quiet
cp out said
expect 0 "$NADE" prob fixed --where 'x<5' --quiet -o answer.csv
[ ! -s out ] && cmp -s answer.csv said || fail "$(cat out answer.csv)"
refuse "would be overwritten" --where 'x<5' -o model
