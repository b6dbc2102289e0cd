# bench/measure with programs that only claim times, the page that bench/write-benchmarks makes of its result, and what
# bench/compare-results says of two; and that docs/benchmarks.md is up to date.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_SOURCE_DIR:?}"
python=${PYTHON:-python3}
"$python" -c '' 2>/dev/null || exit 77

mkdir tree tree/docs tree/src tree/src/inner programs
cp -r "$NADE_SOURCE_DIR/bench" tree
rm -rf tree/bench/results
echo 'int f(void);' >tree/src/inner/a.h
printf '#!/bin/sh\n' >tree/src/run
chmod 755 tree/src/run
for page in tree/docs/benchmarks.md tree/README.md; do
    printf 'above\n<!-- begin: written by bench/write-benchmarks -->\n<!-- end: written by bench/write-benchmarks -->\nbelow\n' >$page
done

# program NAME LINES: a stand-in.
program() {
    printf '#!/bin/sh\n%s\n' "$2" >programs/"$1"
    chmod 755 programs/"$1"
}
program updates 'case "$*" in
score*) echo "{\"rows_per_second_and_ordering\": 600000, \"processor_us\": 1}" ;;
train*bf16*) echo "{\"us_per_update\": 10}" ;;
*"--precision fp32"*) echo "no such precision" >&2; exit 1 ;;
*"--threads 1 "*) echo "{\"us_per_update\": 38, \"processor_us\": 24}" ;;
*) echo "{\"us_per_update\": 20, \"processor_us\": 24}" ;;
esac'
program parts 'echo "[{\"piece\": \"forward 0\", \"us\": 4, \"times\": 2}]"'
program python 'case "$*" in
*peer_torch.py\ cpu*)
    echo "\"2.0\""
    while read -r what name; do
        [ "$name" != wine2 ] || exit 3
        case $what in
        score) echo "{\"rows_per_second_and_ordering\": 200000, \"processor_us\": 5}" ;;
        *) echo "{\"us_per_update\": 30, \"processor_us\": 60}" ;;
        esac
    done
    exit 0 ;;
esac
cat <<END
{"at": ["version"], "is": "2.0"}
{"at": ["matrix_tflops", "tf32"], "is": 400}
{"at": ["cases", "uci1", "tf32", "graph_us"], "is": 60}
{"at": ["cases", "uci1", "tf32", "eager_us"], "is": 900}
{"at": ["cases", "uci1", "bf16", "graph_us"], "is": 50}
{"at": ["cases", "uci1", "bf16", "compiled_graph_us"], "is": 40}
{"at": ["cases", "uci1", "bf16", "rows_per_second_and_ordering"], "is": 200000}
END'
program nade 'exit 0'
program one_row 'echo "4 columns, 300 calls; a session opens in 1.000 ms"
echo "score  by itself          median    0.500 ms, worst    2.000 ms"
echo "score  in a session       median    0.250 ms, worst    1.000 ms"'
measure() {
    "$python" tree/bench/measure "$1" --cases "$2" --threads "${3:-2}" --seconds 0.001 --program programs/updates --python programs/python
}

# What fails is kept as such, and the status tells.
expect 1 measure gpu uci1
result=$(echo tree/bench/results/gpu-*.json)
holds "$result" '"failed": "no such precision"' '"us_per_update": 10' '"compiled_graph_us": 40'
holds out 'with failures'
holds err 'torch cases uci1 tf32 graph_us: 60'
expect 1 measure cpu wine2
holds tree/bench/results/cpu-*.json '"failed": "PyTorch ended"'
rm tree/bench/results/cpu-*.json
expect 0 measure cpu uci1

holds tree/bench/results/cpu-*.json '"score, in a session": 0.25'

# Sources are named as git names them.
if command -v git >/dev/null; then
    hash=$(cd tree && git init -q . && git add src && git write-tree --prefix=src/)
    holds "$result" "\"src\": \"$hash\""
    grep -q '"commit"' "$result" && fail "a commit that does not hold these sources"
    rm -rf tree/.git
fi

# The page: ours beside theirs at the same precision, at its best.
expect 0 "$python" tree/bench/write-benchmarks
holds tree/docs/benchmarks.md above below '| uci1 | tf32 | 20.0 | – | 1 % | 900 | 60 | – | 3.0 |' \
    '| uci1 | bf16 | 10.0 | – | – | – | 50 | 40 | 4.0 |' '| uci1 | fp32 | – | – | – | – | – | – | – |' \
    '| uci1 | bf16 | 600,000 | 200,000 | – | 3.0 |' '| uci1 | 20 | 20 | 1.00 | 30 | 30 | 1.50 | 600,000 | 200,000 | – | 3.0 |' '| uci1 | 38 | 20 | 1.90 |' 'All are reached.' '| score, by itself | score, in a session |' '| 0.500 | 0.250 |'
holds tree/README.md '3.0 at tf32, 4.0 at bf16 on one' '1.5 on 2 threads'
expect 0 "$python" tree/bench/write-benchmarks --check
sed -i 's/3\.0 at tf32/9.0 at tf32/' tree/README.md
expect 1 "$python" tree/bench/write-benchmarks --check
holds out 'README.md is not what bench/write-benchmarks writes'

# Of one thread the processor's time counts.
rm tree/bench/results/cpu-*.json
expect 0 measure cpu uci1 1
expect 0 "$python" tree/bench/write-benchmarks
holds tree/docs/benchmarks.md ', one thread' '| uci1 | 24 | 24 | 1.00 | 60 | 60 | 2.50 | 1,000,000 | 200,000 | – | 5.0 |'

# Three percent more time, or fewer rows, is worse; less time is not.
compare() {
    sed "$1" "$result" >other.json
    "$python" tree/bench/compare-results "$result" other.json
}
expect 0 compare 's/"us_per_update": 10/"us_per_update": 10.2/'
expect 1 compare 's/"us_per_update": 10/"us_per_update": 10.4/'
holds out 'uci1 bf16 train us_per_update: 10 before, 10.4 now, 4.0 % worse'
expect 0 compare 's/"us_per_update": 10/"us_per_update": 5/'
expect 1 compare 's/"rows_per_second_and_ordering": 600000/"rows_per_second_and_ordering": 500000/'
expect 1 compare 's/us_per_update/gone/'

# The pages in the tree.
expect 0 "$python" "$NADE_SOURCE_DIR/bench/write-benchmarks" --check
