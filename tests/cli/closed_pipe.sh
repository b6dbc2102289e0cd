# A reader that goes away ends a verb quietly; one that watched training does not end the training.
. "$(dirname "$0")/../support/checks.bash"
set -o pipefail

binary_data 200 1 >data.csv
"$NADE" train data.csv -o model --quiet "${small[@]}"
(head -1 data.csv && for _ in $(seq 200); do tail -n +2 data.csv; done) >long.csv

"$NADE" score model long.csv --orderings 1 2>err | head -1 >out || fail "a closed pipe is no error"
[ "$(cat out)" = log_density ]
[ ! -s err ] || fail "a closed pipe is to end it quietly: $(cat err)"
"$NADE" info model 2>err | true
"$NADE" train --help 2>err | true
[ ! -s err ] || fail "a closed pipe is to end it quietly: $(cat err)"

"$NADE" train data.csv -o watched "${small[@]}" 2> >(head -1 >first)
cmp model watched || fail "training did not outlive its watcher"
