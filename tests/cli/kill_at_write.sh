# A resumed run goes on with the log of the run before it, and fails here at the very first byte that it writes to a
# file, and at every later one: the size limit is zero.  No line that the checkpoint knows may be lost.
. "$(dirname "$0")/../support/checks.bash"

binary_data 200 1 >data.csv
train=("$NADE" train data.csv --hidden 12,8,6 --batch 20 --iterations 3 --updates 20 --pretrain 2 --quiet)
resume=("${train[@]}" -o model --resume checkpoint --checkpoint checkpoint --log log.csv)

# same_log FILE LINES: the first lines of whole.csv, but for the seconds, and nothing else.
same_log() {
    cmp -s <(cut -d, -f1-7,9 "$1") <(head -n "$2" whole.csv | cut -d, -f1-7,9) || fail "$1 is not $2 lines: $(cat "$1")"
}

fail_at_first_write() {
    local status
    (ulimit -f 0 && exec "${resume[@]}") 2>&1 | cat >err
    status=${PIPESTATUS[0]}
    [ "$status" = 1 ] || fail "exit status $status, expected 1: $(cat err)"
    holds err 'File too large'
    only checkpoint data.csv log.csv part whole whole.csv
}

# 2 + 2 iterations of pretraining and 3 of the full run.
"${train[@]}" -o whole --log whole.csv
same_log whole.csv 8

# Stopped in the middle: the checkpoint knows the first iteration.  The time is up when that ends.
"${train[@]}" -o part --checkpoint checkpoint --log log.csv --time-limit 0.000001
same_log log.csv 2
fail_at_first_write
same_log log.csv 2
[ ! -e model ] || fail "a model in spite of the error"
"${resume[@]}"
same_log log.csv 8
cmp -s model whole || fail "the resumed model differs"

# Failing where all stages are over; the log is ahead of the checkpoint and ends within a line.
rm model
printf '4,80,0.1,1,1,1,4,0.1,2\n5,100,0.1,1,1,1,5,0.1,2\n3,60,0' >>log.csv
fail_at_first_write
"${resume[@]}"
same_log log.csv 8
cmp -s model whole || fail "the model of a finished run differs"

# A line of a known iteration that was torn is none; what is not a log is begun anew.
(head -n 7 whole.csv && printf '3,60,0') >log.csv
"${resume[@]}"
same_log log.csv 7
echo 'something else' >log.csv
"${resume[@]}"
same_log log.csv 1
rm log.csv
"${resume[@]}"
same_log log.csv 1

# A log that can't be read back, because it goes to a pipe, is not waited for.
timeout 60 "${train[@]}" -o model --resume checkpoint --log /dev/stdout | cat >piped
same_log piped 1

# A rate that is given must be the checkpoint's, even where it is the default.
"$NADE" train data.csv "${small[@]}" -o model --checkpoint checkpoint --quiet
"$NADE" train data.csv -o model --resume checkpoint --lr 0.01 --quiet
refuse 2 learning_rate -- "$NADE" train data.csv -o model --resume checkpoint --lr 0 --quiet
