# The sentence that training ends with: what held-out rows have more than with independent columns and than with a mixture,
# which is the one that --kind mixture fits; where nothing was learnt; when there is no mixture; the model without it.
. "$(dirname "$0")/../support/checks.bash"
python=${PYTHON:-/usr/bin/python3}

# Two clusters within which the columns are independent; columns that all are; and numbers that follow the first.
awk 'BEGIN { srand(2); print "a,b,c,d,e,f"
    for (i = 0; i < 700; i++) { k = rand() < 0.4
        for (j = 0; j < 6; j++) printf "%d%s", rand() < 0.1 ? 1 - k : k, j < 5 ? "," : "\n" } }' >clusters.csv
awk 'BEGIN { srand(3); print "a,b,c,d"
    for (i = 0; i < 700; i++) print (rand() < 0.3) "," (rand() < 0.5) "," (rand() < 0.2) "," (rand() < 0.6) }' >free.csv
awk 'function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()) }
    BEGIN { srand(5); print "a,b,c,d"
    for (i = 0; i < 1500; i++) { a = normal(); printf "%.4f", a
        for (j = 0; j < 3; j++) printf ",%.4f%s", (j - 1.5) * a + 0.01 * normal(), j < 2 ? "" : "\n" } }' >smooth.csv
little=(--width 16 --updates 20 --device cpu --threads 1 --dropout 0)
short=("${little[@]}" --iterations 2)

# number KEY: of the summary that --json gave in err.
number() {
    "$python" -c 'import json, sys; print(json.loads(open("err").read().splitlines()[-1])[sys.argv[1]])' "$1"
}
# train_whole TABLE OPTION...: again while a busy machine leaves the mixture no time; the summary is in err.
train_whole() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        expect 0 "$NADE" train "$@" --json -o model
        [ "$(number mixture_cut)" = True ] || return 0
    done
    fail "no time for the mixture: $(cat err)"
}
# train_again TABLE OPTION...: the same without --json, for the sentence.
train_again() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        expect 0 "$NADE" train "$@" -o again
        grep -q "no time for more" err || return 0
    done
    fail "no time for the mixture: $(cat err)"
}
# difference A B: as the sentence writes it.
difference() { "$python" -c 'import sys; a, b = map(float, sys.argv[1:]); print("%.4g" % (a - b))' "$1" "$2"; }

# The mixture is the truth, and hardly trained a network is worse.
for folds in "" "--folds 3"; do
    train_whole clusters.csv "${short[@]}" $folds
    network=$(number valid_log_density) start=$(number start_log_density) mixture=$(number mixture_log_density)
    components=$(number mixture_components)
    expect 0 "$NADE" train clusters.csv --kind mixture --effort quick --prior 0.1 $folds --json -o mixture
    [ "$(number valid_log_density) $(number components)" = "$mixture $components" ] ||
        fail "another mixture than --kind mixture fits: $mixture of $components, $(cat err)"
    train_again clusters.csv "${short[@]}" $folds
    cmp model again || fail "the same options give another model"
    holds err "held-out rows have $(difference "$network" "$start") nats per row more than with independent columns, and \
$(difference "$mixture" "$network") less than with a mixture of $components components: nade train --kind mixture fits that one"
done

# Numbers that follow each other smoothly take more products than there are.
smooth=(smooth.csv --width 32 --updates 40 --iterations 20 --lr 0.01 --threads 1 --device cpu --dropout 0.1 --direct)
train_whole "${smooth[@]}"
network=$(number valid_log_density) start=$(number start_log_density) mixture=$(number mixture_log_density)
components=$(number mixture_components)
train_again "${smooth[@]}"
cmp model again || fail "the same options give another model"
holds err "held-out rows have $(difference "$network" "$start") nats per row more than with independent columns, and \
$(difference "$network" "$mixture") more than with a mixture of $components components"

# Nothing is there to be learnt.
expect 0 "$NADE" train free.csv "${short[@]}" --lr 3 --clip 0 --retries 0 --no-cooldown -o free
holds err "no iteration was better on held-out rows than independent columns; with these they have " " than with a mixture of "

# None is fitted.
for less in "--effort quick --iterations 3" "--valid-fraction 0 --iterations 3" \
    "--time-limit 0.000001 --iterations 1000000 --no-cooldown" "--no-compare --iterations 3"; do
    expect 0 "$NADE" train clusters.csv "${little[@]}" $less -o none
    ! grep -q "with a mixture" err || fail "$less: $(cat err)"
done
