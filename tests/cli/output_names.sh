# Names of outputs of every kind (docs/formats.md, "Outputs"), and processes that end while they write.
. "$(dirname "$0")/../support/checks.bash"

binary_data 200 1 >data.csv
"$NADE" train data.csv -o model --quiet "${small[@]}"
"$NADE" score model data.csv --quiet >scores
score=("$NADE" score model data.csv --quiet -o)
train=("$NADE" train data.csv --quiet "${small[@]}" -o)
paint=("$NADE" sample model -n 4 --image 2x2 --quiet --png)

# each NAME: all three ways of writing a file.
each() {
    expect 0 "${score[@]}" "$1"
    cmp scores "$1"
    expect 0 "${train[@]}" "$1"
    cmp model "$1"
    expect 0 "${paint[@]}" "$1"
    [ "$(head -c 4 "$1" | tail -c 3)" = PNG ] || fail "$1 is no picture"
}

# refused STATUS NAME TEXT...: all three refuse it.
refused() {
    local status=$1 name=$2
    shift 2
    refuse "$status" "$@" -- "${score[@]}" "$name"
    refuse "$status" "$@" -- "${train[@]}" "$name"
    refuse "$status" "$@" -- "${paint[@]}" "$name"
    refuse "$status" "$@" -- "${train[@]}" new --checkpoint "$name"
    refuse "$status" "$@" -- "${train[@]}" new --log "$name"
}

# A link is written through, also where what it points to is not there yet; one that leads back to itself is refused.
mkdir away
for target in away/file "$PWD/away/file"; do
    ln -s "$target" link
    ln -s link second
    each second
    [ -L second ] && [ -L link ] || fail "a link was replaced"
    rm link second away/file
done
ln -s nowhere/file link
refused 1 link 'link could not be' 'No such file or directory'
ln -sf link link
refused 1 link 'link could not be' 'Too many levels of symbolic links'
rm link

# Names as long as the system allows; one more; none; a folder's; a line break, which the sentence does not repeat.
long=$(printf '%0255d' 0)
each "$long"
each "$long"
rm "$long"
refused 1 "${long}0" 'File name too long'
refused 2 '' 'empty'
refused 1 away 'away could not be written: Is a directory'
refused 1 new/ 'new/ could not be'
each $'a\nb'
refused 1 $'a\nb/c' 'a?b/c could not be'
rm $'a\nb'
each ' -x '
rm ' -x '
rmdir away

# Devices and pipes are written directly; what stands for a descriptor is that descriptor.
expect 1 "${score[@]}" /dev/full
expect 1 "${train[@]}" /dev/full
expect 1 "${paint[@]}" /dev/full
holds err '/dev/full could not be written: No space left'
expect 0 "$NADE" train data.csv "${small[@]}" -o new --checkpoint /dev/full
holds err 'warning: /dev/full could not be written: No space left on device; training goes on without it'
[ -c /dev/full ] || fail '/dev/full was replaced'
mkfifo pipe
for writer in "${score[*]}" "${train[*]}"; do
    cat pipe >piped &
    # shellcheck disable=SC2086  # words on purpose
    expect 0 timeout 60 $writer pipe
    wait
    [ -p pipe ] || fail 'the pipe was replaced'
    cmp -s piped scores || cmp piped model
done
echo before >piped
"${score[@]}" /dev/stdout >>piped
"${train[@]}" new --log /dev/stdout >>piped
cmp <(head -n 202 piped) <(echo before && cat scores)
[ "$(wc -l <piped)" = 205 ] || fail "the log is not behind the scores: $(cat piped)"
"${score[@]}" /dev/stdout | cmp - scores
rm pipe piped new

# Data named - go to standard output; what is no stream of data wants a file.
expect 0 "${score[@]}" -
cmp scores out
refuse 2 'named -' 'expected a file' -- "${train[@]}" -
refuse 2 'named -' 'expected a file' -- "${paint[@]}" -
refuse 2 'named -' 'expected a file' -- "${train[@]}" new --log -
expect 0 "${score[@]}" ./-
cmp scores ./-
rm ./-

# A limit on file sizes is an error like a full disk.
echo old >kept
for call in "${score[*]}" "${train[*]}" "${paint[*]}"; do
    # shellcheck disable=SC2086
    (ulimit -f 0 && exec $call kept) 2>&1 | cat >err
    [ "${PIPESTATUS[0]}" = 1 ] || fail "$call: $(cat err)"
    holds err 'nade: kept could not be written: File too large'
    [ "$(cat kept)" = old ] || fail 'a failed write has changed the old file'
done
rm kept

# Permissions do not bind root, who becomes somebody else for this.
someone=()
if [ "$(id -u)" = 0 ]; then someone=(setpriv --reuid 65534 --regid 65534 --clear-groups); fi
if "${someone[@]}" "$NADE" --version >out 2>err; then
    mkdir open locked writable
    echo old >open/file
    chmod 444 open/file
    chmod 755 locked
    if [ "$(id -u)" = 0 ]; then chown 65534 open open/file writable; else chmod 555 locked; fi
    chmod 300 writable
    for call in "${score[*]}" "${train[*]}" "${paint[*]}" "${train[*]} open/new --checkpoint"; do
        # shellcheck disable=SC2086
        refuse 1 'open/file could not be' 'Permission denied' -- "${someone[@]}" $call open/file
        # shellcheck disable=SC2086
        refuse 1 'locked/file could not be' 'Permission denied' -- "${someone[@]}" $call locked/file
        # shellcheck disable=SC2086
        expect 0 "${someone[@]}" $call writable/file
    done
    [ "$(cat open/file)" = old ] || fail 'a read-only file was replaced'
    chmod 700 writable locked
    [ "$(echo open/* locked/* writable/*)" = 'open/file open/new locked/* writable/file' ] || fail "left: $(ls -A open locked)"
    rm -rf open locked writable
fi

# A process that is killed while it writes leaves nothing, whatever kills it.
mkfifo feed
for signal in INT TERM HUP KILL; do
    (trap - INT && exec "$NADE" score model - -o killed --quiet) <feed 2>err &
    pid=$!
    exec 9>feed
    cat data.csv >&9
    for _ in $(seq 100); do ls -l /proc/$pid/fd 2>/dev/null | grep -q "$PWD/" && break || sleep 0.05; done
    kill -$signal $pid
    wait $pid || true
    exec 9>&-
done
rm feed

only data.csv model scores
