#!/usr/bin/env bash
# compute-sanitizer's memcheck, racecheck and initcheck over a small run of every verb on a CUDA device, over the gradients
# and validation losses of the whole table of plans, whose shapes the verbs do not reach, and over the networks that one
# block trains (cuda_small_block.cu).
#
#   NADE=build/nade PROGRAMS=build/tests tests/cuda/sanitize.sh
#
# TOOLS and PRECISIONS choose among them; PLANS=0 leaves the tables of plans out, which are most of the time.
# Tables are small, since a checked kernel is some hundred times slower.  Prints one line a step; ends with 1 when a tool
# found something or a command failed, and with 77 where compute-sanitizer is not installed.
set -u
nade=$(realpath "${NADE:-build/nade}")
programs=$(realpath "${PROGRAMS:-build/tests}")
sanitizer=$(PATH="$PATH:/usr/local/cuda/bin" command -v compute-sanitizer) || {
    echo "skipped: there is no compute-sanitizer"
    exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# A mixed table with holes, a binary one, and one with more columns than a tile.
awk 'BEGIN {
    srand(1)
    print "season,temperature,rain,visitors" >"mixed.csv"
    for (i = 0; i < 200; i++) {
        s = int(4 * rand())
        printf "%s,%.1f,%d,%d\n", (rand() < 0.2 ? "" : substr("abcd", s + 1, 1)), 10 * s + 5 * rand(), rand() < 0.4,
               100 * rand() >"mixed.csv"
    }
    for (i = 0; i < 150; i++)
        for (c = 0; c < 70; c++) printf "%d%s", rand() < 0.3, c < 69 ? "," : "\n" >"binary.csv"
}'

failures=0
step() { # step TOOL NAME PROGRAM ARGUMENTS...: runs one command under one tool
    local tool=$1 name=$2
    shift 2
    if "$sanitizer" --tool "$tool" --error-exitcode 99 --log-file "$tool.log" "$@" >out.log 2>&1; then
        echo "$tool, $name: clean"
    else
        echo "$tool, $name: FAILED ($?)"
        cat "$tool.log" out.log
        failures=$((failures + 1))
    fi
}

small=(--hidden 40,33 --iterations 2 --updates 4 --batch 50 --quiet)
check() { # check TOOL PRECISION: train, score, sample and impute
    local tool=$1 device=(--device cuda --precision "$2")
    step "$tool" "$2 train, mixed" "$nade" train mixed.csv -o mixed.safetensors "${small[@]}" "${device[@]}"
    step "$tool" "$2 train, binary" "$nade" train binary.csv -o binary.safetensors "${small[@]}" "${device[@]}"
    step "$tool" "$2 train, fixed order" "$nade" train binary.csv -o fixed.safetensors --order fixed --hidden 40 \
        --iterations 2 --updates 4 --batch 50 --quiet "${device[@]}"
    step "$tool" "$2 train, fixed order, rescaled" "$nade" train mixed.csv -o rescaled.safetensors --order fixed \
        --rescale --hidden 40 --iterations 2 --updates 4 --batch 50 --quiet "${device[@]}"
    for model in mixed binary fixed rescaled; do
        local table=binary.csv
        [[ $model = mixed || $model = rescaled ]] && table=mixed.csv
        step "$tool" "$2 score, $model" "$nade" score $model.safetensors $table --orderings 1 --quiet "${device[@]}"
        step "$tool" "$2 sample, $model" "$nade" sample $model.safetensors -n 40 --quiet "${device[@]}"
    done
    step "$tool" "$2 cells, mixed" "$nade" score mixed.safetensors mixed.csv --per-column --quiet "${device[@]}"
    step "$tool" "$2 impute, mixed" "$nade" impute mixed.safetensors mixed.csv --quiet "${device[@]}"
}

# The tools run side by side, each in a folder of its own: most of their time is the host's.
run_tool() { # run_tool TOOL: every step under one tool
    for precision in ${PRECISIONS:-tf32 bf16}; do
        check "$1" "$precision"
    done
    if [ "${PLANS:-1}" != 0 ]; then
        for test in 'test_gradients*' test_validation test_one_label_each; do
            NADE_REQUIRE_GPU=1 step "$1" "all plans, $test" "$programs/test_cuda_gradients" "$test"
        done
        NADE_REQUIRE_GPU=1 step "$1" "one block, test_one_block" "$programs/test_cuda_small" test_one_block
    fi
    [ "$failures" -eq 0 ]
}

running=()
tools=${TOOLS:-memcheck racecheck initcheck}
for tool in $tools; do
    mkdir "$tool"
    cp ./*.csv "$tool"
    (cd "$tool" && run_tool "$tool" >steps) &
    running[${#running[@]}]=$!
done
for process in "${running[@]}"; do wait "$process" || failures=$((failures + 1)); done
for tool in $tools; do cat "$tool/steps"; done
[ "$failures" -eq 0 ] && echo "compute-sanitizer: all clean"
[ "$failures" -eq 0 ]
