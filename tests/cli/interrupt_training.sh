# Ctrl-C and SIGTERM end training with the best model so far saved, exit 0; a second one ends it at once.
. "$(dirname "$0")/../support/checks.bash"
set -m # without job control a shell lets its background jobs ignore SIGINT

pid=
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true' EXIT # nothing goes on when a check fails
binary_data 400 1 >data.csv
endless=(--hidden 16 --batch 50 --iterations 1000000 --updates 50 --patience 0 --lr 0.01)

# wait_for_iterations FILE: until three have ended.
wait_for_iterations() {
    for _ in $(seq 300); do
        [ "$(grep -c '^iteration ' "$1")" -lt 3 ] || return 0
        sleep 0.1
    done
    fail "training does not get anywhere: $(cat "$1")"
}

for signal in INT TERM; do
    : >err
    "$NADE" train data.csv -o "model.$signal" "${endless[@]}" 2>err &
    pid=$!
    wait_for_iterations err
    kill -"$signal" $pid
    status=0
    wait -f $pid || status=$?
    [ $status = 0 ] || fail "SIG$signal: exit status $status: $(cat err)"
    holds err 'stopped early: best iteration' "wrote model.$signal"
    expect 0 "$NADE" score "model.$signal" data.csv
    expect 0 "$NADE" info "model.$signal"
done

# Two signals: stopped meanwhile, the process gets both before it can act on the first.
"$NADE" train data.csv -o never "${endless[@]}" --threads 1 2>err &
pid=$!
wait_for_iterations err
kill -STOP $pid
kill -INT $pid
kill -TERM $pid
kill -CONT $pid
status=0
wait -f $pid || status=$?
[ $status != 147 ] || { status=0 && wait -f $pid || status=$?; } # that it was stopped is what bash may tell first
[ $status = 130 ] || [ $status = 143 ] || fail "two signals: exit status $status: $(cat err)"
pid=
[ ! -e never ] || fail "a run that was ended at once has written its model"

expect 0 "$NADE" train data.csv -o limited "${endless[@]}" --time-limit 1
holds err 'wrote limited'
only data.csv limited model.INT model.TERM
