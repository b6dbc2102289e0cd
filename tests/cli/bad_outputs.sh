# Outputs that can't be written: exit 1, said before the work where it can be known, and nothing left behind.
. "$(dirname "$0")/../support/checks.bash"

binary_data 200 1 >data.csv
"$NADE" train data.csv -o model --quiet "${small[@]}"
long=(--hidden 16 --iterations 1000000 --updates 1000 --patience 0)

refuse 1 nowhere/model -- timeout 20 "$NADE" train data.csv -o nowhere/model --quiet "${long[@]}"
refuse 1 nowhere/log -- timeout 20 "$NADE" train data.csv -o new --log nowhere/log --quiet "${long[@]}"
refuse 1 nowhere/scores -- "$NADE" score model data.csv -o nowhere/scores --quiet
mkdir folder
refuse 1 folder -- timeout 20 "$NADE" train data.csv -o folder --quiet "${long[@]}"
refuse 1 folder -- "$NADE" score model data.csv -o folder --quiet
rmdir folder

refuse 1 /dev/full 'No space left' -- "$NADE" score model data.csv -o /dev/full --quiet
refuse 1 /dev/full -- "$NADE" train data.csv -o new --log /dev/full --quiet "${small[@]}"
expect 1 bash -c '"$0" score model data.csv --quiet >/dev/full' "$NADE"
holds err 'nade: stdout could not be written: No space left'
expect 1 bash -c '"$0" info model >/dev/full' "$NADE"
expect 1 bash -c '"$0" info model --json >/dev/full' "$NADE"
# With --json the summary is what was asked for; to people it is a courtesy.
expect 1 bash -c '"$0" score model data.csv -o scores --json 2>/dev/full' "$NADE"
expect 0 bash -c '"$0" score model data.csv -o scores 2>/dev/full' "$NADE"
rm scores
expect 1 bash -c '"$0" info model >&-' "$NADE"

# Permissions do not bind root.
if [ "$(id -u)" != 0 ]; then
    mkdir locked && chmod 500 locked
    refuse 1 locked/model -- timeout 20 "$NADE" train data.csv -o locked/model --quiet "${long[@]}"
    rmdir locked
fi

# Room runs out half way: the old file stays as it was.
echo old >scores
expect 1 bash -c 'trap "" XFSZ; ulimit -f 1; exec "$0" score model data.csv --orderings 1 --quiet -o scores' "$NADE"
holds err 'nade: scores could not be written'
[ "$(cat scores)" = old ] || fail "a failed write has changed the old file"
expect 1 bash -c 'trap "" XFSZ; ulimit -f 1; exec "$0" train data.csv --quiet --iterations 1 -o scores' "$NADE"
[ "$(cat scores)" = old ] || fail "a failed write has changed the old file"

# What exists is replaced as a whole, through a link and with its own permissions.
chmod 600 scores
ln -s scores link
expect 0 "$NADE" score model data.csv --quiet -o link
[ -L link ] || fail "the link was replaced"
[ "$(wc -l <scores)" = 201 ]
[ "$(stat -c %a scores)" = 600 ] || fail "the permissions have changed"
expect 0 "$NADE" score model data.csv --quiet -o /dev/null
[ -c /dev/null ]
[ ! -e new ] || rm new

only data.csv link model scores
