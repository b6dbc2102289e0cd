# score --cells: sums to one over a column's recorded values; the density for columns without a step.
. "$(dirname "$0")/../support/checks.bash"

# x is recorded in steps of 0.1 and mostly 0.
awk 'BEGIN { print "x,k"; for (i = 0; i < 600; i++) printf "%.1f,%s\n", i % 3 ? 0 : (i * 7 % 41) / 2, i % 2 ? "u" : "v" }' >data.csv
expect 0 "$NADE" train data.csv -o model "${network[@]}" --iterations 5 --quiet --real x
awk 'BEGIN { print "x,k"; for (i = 0; i <= 20000; i++) printf "%.1f,u\n", i / 10 }' >grid.csv
expect 0 "$NADE" score model grid.csv --of x --given k --cells
[ "$(head -1 out)" = cell_score ]
holds err 'cell score in nats per row'
awk 'NR > 1 { sum += exp($1) * 0.1 } END { exit !(sum > 0.9999 && sum < 1.0001) }' out || fail "the cells do not sum to one"
# Without the option it is the density.
expect 0 "$NADE" score model grid.csv --of x --given k --quiet
[ "$(head -1 out)" = log_density ]

# Discrete columns are what they were.
expect 0 "$NADE" score model data.csv --of k --quiet
tail -n +2 out >plain
expect 0 "$NADE" score model data.csv --of k --cells --quiet
tail -n +2 out | cmp - plain
expect 0 "$NADE" score model data.csv --cells --json --spread
[ "$(head -1 out)" = cell_score,spread ]
holds err '"cell_score":true'
only data.csv grid.csv model plain
