# What README.md says of the paper's figures is what the counts of docs/results-figures.md add up to.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_SOURCE_DIR:?}"

# counts WORDS: the sums over tables of passed, reached, density only, below, incomplete, not run.
counts() {
    sed -n "s/^| Table [1-4], $1 |//p" "$NADE_SOURCE_DIR/docs/results-figures.md" |
        awk -F'|' '{for (i = 1; i <= 6; i++) sum[i] += $i} END {print sum[1], sum[2], sum[3], sum[4], sum[5], sum[6]; exit NR != 4}'
}
read -r passed reached density below incomplete missing <<<"$(counts "the paper's recipe")"
own=$((passed + reached)) others=$((density + below + incomplete + missing))
read -r passed reached rest <<<"$(counts 'departures too')"
[ "$rest" = '0 0 0 0' ] || fail "with departures not all are reached or passed: $rest"
[ $((passed + reached)) = $((own + others)) ] || fail "the two lines count other figures"

sed -n '/^The paper has/,/^$/p' "$NADE_SOURCE_DIR/README.md" | tr '\n' ' ' >readme
holds readme "The paper has $((own + others)) figures for networks of all orderings" "own recipe $own of them are reached or passed" \
    "The other $others need a departure: $((density + below)) are below the paper without one, $((incomplete + missing)) have" \
    "With departures all $((own + others)) are reached"
