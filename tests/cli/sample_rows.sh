# Samples are data: they read back through score, are the same bytes for any number of threads and any block, and follow
# the mixture that score scores.
. "$(dirname "$0")/../support/checks.bash"

# Every kind of column, a name and labels that need quotes.
awk 'BEGIN {
    print "size,\"colour, or not\",flag,grade,on"
    split("red|deep green|\"bl\"\"ue; x\"", colour, "|")
    for (i = 0; i < 400; i++) {
        k = (i * 7 + int(i / 5)) % 3
        printf "%.1f,%s,%s,%d,%d\n", k + (i % 17) / 10, colour[k + 1], i % 2 ? "yes" : "no", 1 + i % 5, i % 4 == 0
    }
}' >mixed.csv
expect 0 "$NADE" train mixed.csv -o mixed "${small[@]}"
expect 0 "$NADE" sample mixed -n 500 --seed 4
holds err '500 rows drawn'
cp out rows.csv
[ "$(wc -l <rows.csv)" = 501 ]
[ "$(head -n 1 rows.csv)" = "$(head -n 1 mixed.csv)" ] || fail "header: $(head -n 1 rows.csv)"
grep -qE '^-?[0-9.]+,"bl""ue; x",(yes|no),[1-5],[01]$' rows.csv || fail "no blue row: $(head rows.csv)"
awk -F, 'NR > 1 && $1 !~ /^-?[0-9]+(\.[0-9])?$/ { exit 1 }' rows.csv || fail "not rounded to the recording step"
expect 0 "$NADE" score mixed rows.csv --json
python3 - <<'END'
import json
o = json.load(open("err"))
assert o["rows"] == 500 and o["mean"] > -20 and o["gain"] > -0.5, o
END

# The same bytes for any number of threads and into a file; a longer sample begins with the shorter one.
for threads in 1 2 5; do
    expect 0 "$NADE" sample mixed -n 500 --seed 4 --threads $threads
    cmp out rows.csv || fail "$threads threads"
done
expect 0 "$NADE" sample mixed -n 500 --seed 4 -o file.csv --quiet
cmp file.csv rows.csv && [ ! -s out ] && [ ! -s err ]
expect 0 "$NADE" sample mixed -n 7 --seed 4
head -n 8 rows.csv | cmp - out || fail "7 rows are not the first 7 of 500"
expect 0 "$NADE" sample mixed -n 500 --seed 5
! cmp -s out rows.csv || fail "the seed has no effect"
expect 0 "$NADE" sample mixed
[ "$(wc -l <out)" = 11 ] || fail "not 10 rows by default"
expect 0 "$NADE" sample mixed -n 2 --json --orderings 3
[ "$(cat err)" = '{"rows":2,"orderings":3,"seed":0,"device":"cpu"}' ] || fail "$(cat err)"

# Frequencies against densities, with drawn orderings and with given ones.
binary_data 500 1 >binary.csv
expect 0 "$NADE" train binary.csv -o binary "${network[@]}" --iterations 3
printf '2 0 1 3\n3 1 0 2\n' >orders
states=$(printf '%s\n' a,b,c,d {0,1},{0,1},{0,1},{0,1})
echo "$states" >states.csv
for mixture in "--orderings 3" "--ordering-file orders"; do
    # shellcheck disable=SC2086  # two words
    expect 0 "$NADE" score binary states.csv --quiet $mixture
    paste -d, states.csv out >scores
    # shellcheck disable=SC2086
    expect 0 "$NADE" sample binary -n 20000 --quiet $mixture
    python3 - "$mixture" <<'END'
import collections, math, sys
counts = collections.Counter(line.strip() for line in open("out").readlines()[1:])
assert sum(counts.values()) == 20000
total = square = 0
for line in open("scores").readlines()[1:]:
    state, score = line.strip().rsplit(",", 1)
    expected = 20000 * math.exp(float(score))
    total += expected
    square += (counts.pop(state, 0) - expected) ** 2 / expected
assert not counts and abs(total - 20000) < 1, (counts, total)
assert square < 44.3, (sys.argv, square)  # chi-square, 15 degrees of freedom, 1e-4
END
done

# Data without names: no header, read back by position.
tail -n +2 binary.csv >bare.csv
expect 0 "$NADE" train bare.csv -o bare "${small[@]}"
expect 0 "$NADE" sample bare -n 50 -o bare_rows.csv
[ "$(wc -l <bare_rows.csv)" = 50 ]
expect 0 "$NADE" score bare bare_rows.csv

# A closed pipe ends it quietly, and nothing is left of a file that can't be written.
expect 0 bash -c '"$NADE" sample binary -n 100000000 2>quiet_err | head -n 1'
[ ! -s quiet_err ] || fail "$(cat quiet_err)"
refuse 1 'nowhere/rows.csv' -- "$NADE" sample binary -o nowhere/rows.csv
expect 1 bash -c '"$NADE" sample binary -n 10000 >/dev/full'
holds err 'stdout could not be written'
