# Shared by the scripts of tests/cli.  Each runs in an empty folder of its own with the command in $NADE.
set -eu
: "${NADE:?the path of the command}"

fail() {
    echo "$0: $*" >&2
    exit 1
}

# expect STATUS COMMAND...: runs it with its output in the files out and err, and checks the exit status.
expect() {
    local wanted=$1 status=0
    shift
    "$@" >out 2>err || status=$?
    [ "$status" = "$wanted" ] || fail "exit status $status, expected $wanted: $*: $(cat err)"
}

# holds FILE TEXT...: each text occurs in the file.
holds() {
    local file=$1 text
    shift
    for text; do
        grep -qF -e "$text" "$file" || fail "'$text' is not in $file: $(cat "$file")"
    done
}

# refuse STATUS TEXT... -- COMMAND...: it fails with one sentence on stderr that holds each text, and writes no data.
refuse() {
    local wanted=$1 texts=()
    shift
    while [ "$1" != -- ]; do
        texts+=("$1")
        shift
    done
    shift
    expect "$wanted" "$@"
    [ ! -s out ] || fail "data in spite of an error: $*"
    [ "$(grep -c '^nade: ' err)" = 1 ] || fail "not one sentence: $*: $(cat err)"
    holds err "${texts[@]}"
}

# Modules of tests/support for scripts in Python.
PYTHONPATH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1

# paper_run show|has|drop RESULTS/NAME SEED [FOLD]: a run among the results of nade paper.
paper_run() { python3 "$PYTHONPATH/paper_runs.py" "$@"; }

# only FILE...: the folder holds these files and nothing else (out and err apart).
only() {
    local found wanted
    found=$(ls -A | grep -vxE 'out|err' | sort | tr '\n' ' ')
    wanted=$(printf '%s\n' "$@" | sort | tr '\n' ' ')
    [ "$found" = "$wanted" ] || fail "the folder holds $found, expected $wanted"
}

# binary_data ROWS SEED: a table of 0 and 1; b repeats a most of the time, d is the parity of a and c.
binary_data() {
    awk -v rows="$1" -v seed="$2" '
        function draw() { state = (state * 16807) % 2147483647; return state / 2147483647 }
        BEGIN {
            state = seed + 1; for (i = 0; i < 20; i++) draw()
            print "a,b,c,d"
            for (i = 0; i < rows; i++) {
                a = draw() < 0.5; b = draw() < 0.9 ? a : 1 - a; c = draw() < 0.3
                print a "," b "," c "," (a + c) % 2
            }
        }'
}

# binary_split FOLDER: train.csv, valid.csv and test.csv of such rows in a new folder.
binary_split() {
    mkdir "$1"
    binary_data 300 1 >"$1/train.csv"
    binary_data 80 2 >"$1/valid.csv"
    binary_data 90 3 >"$1/test.csv"
}

# real_data ROWS SEED: x with two humps, y close to 2 x + 10, both with three decimals.
real_data() {
    awk -v rows="$1" -v seed="$2" '
        function draw() { state = (state * 16807) % 2147483647; return state / 2147483647 }
        function normal() { return sqrt(-2 * log(draw())) * cos(6.283185307179586 * draw()) }
        BEGIN {
            state = seed + 1; for (i = 0; i < 20; i++) draw()
            print "x;y"
            for (i = 0; i < rows; i++) {
                x = (draw() < 0.5 ? -3 : 3) + normal()
                printf "%.3f;%.3f\n", x, 2 * x + 10 + 0.5 * normal()
            }
        }'
}

# A network small enough for tests, and a run short enough for those that do not ask what it has learnt.
network=(--hidden 16,16 --components 3 --batch 50 --updates 100 --seed 3 --lr 0.01)
small=("${network[@]}" --iterations 2)
