# What a terminal would obey, what turns letters round and what can't be seen reaches neither stderr nor
# a page on stdout, wherever it comes from; data and JSON say it as it is.
. "$(dirname "$0")/../support/checks.bash"

# Escape, C1's CSI, overrides of direction, a joiner, a line separator, a byte order mark; and bytes that are no UTF-8, which are letters of Windows-1252.
bad=$'\e[31m\u009b31m\u202etxt\u2066\u200e\u061c\u200b\u2028\ufeff'
raw=$'\x9b31m\xe9\xff'

# clean FILE...: nothing of it is there; looked at in the end, all at once.
clean() {
    cat "$@" >>shown
}

# A column and labels with such names; a second table whose bytes are no UTF-8.
table() {
    printf 'n%s,kind,x\n' "$1"
    for i in $(seq 40); do printf '%d,lab%s%d,%d.5\n' $((i % 2)) "$1" $((i % 3)) $((i * 7 % 11)); done
}
for part in "$bad" "$raw"; do
    name="m$part"
    table "$part" >"d$part.csv"
    train=("$NADE" train "d$part.csv" -o "$name" --hidden 4 --iterations 2 --updates 5)
    expect 0 "${train[@]}" --dry-run
    clean out err
    expect 0 "${train[@]}"
    clean out err
    [ "$part" = "$raw" ] && shown=› || shown=?
    holds err 'kind' "wrote m$shown"
    expect 0 "${train[@]}" --json
    clean err
    expect 0 "$NADE" info "$name"
    clean out err
    holds out "lab$shown"
    expect 0 "$NADE" info "$name" --json
    clean out err
    /usr/bin/python3 - "$part" <<'SCRIPT'
import json, os, sys
part = os.fsencode(sys.argv[1])
try:
    part = part.decode("utf-8")
except UnicodeDecodeError:
    part = part.decode("cp1252")
assert json.load(open("out"))["columns"][0]["name"] == "n" + part
SCRIPT
    # Data are what they are.
    expect 0 "$NADE" sample "$name" -n 3
    clean err
    [ "$(head -n 1 out)" = "n$part,kind,x" ] || [ "$part" = "$raw" ] || fail "$(head -n 1 out | cat -v)"
    printf 'n%s,kind,x\n,,\n' "$part" >holes.csv
    expect 0 "$NADE" impute "$name" holes.csv
    clean err
    cmp <(head -n 1 out) <(head -n 1 holes.csv)
    # Summaries, warnings and errors that repeat names, labels, cells, paths and options.
    expect 0 "$NADE" score "$name" "d$part.csv" --per-column
    clean err
    sed "s/lab/new/" "d$part.csv" >other.csv
    expect 0 "$NADE" score "$name" other.csv --unseen missing
    clean err
    holds err warning
    for call in "score|$name|other.csv" "score|$name|d$part.csv|--of|c$part" "sample|$name|--where|kind=x$part" "sample|$name|--where|c$part=1" \
        "score|$name|gone$part" "score|gone$part|other.csv" "train|other.csv|-o|$part/x" "train|other.csv|-o|x|--$part" \
        "train|other.csv|-o|x|--hidden|$part" "$part" "paper|$part" "paper|$part.json" "help|$part" "info|$name|$part" \
        "train|other.csv|-o|x|--device|$part" "train|other.csv|-o|x|--drop|$part"; do
        IFS='|' read -r -d '' -a words < <(printf '%s\0' "$call") || true
        status=0
        "$NADE" "${words[@]}" >out 2>err || status=$?
        [ $status != 0 ] || fail "not refused: $(cat -v <<<"$call")"
        clean out err
        [ "$(grep -c '^nade: ' err)" = 1 ] || fail "not one sentence: $(cat -v err)"
        "$NADE" "${words[@]}" --json >out 2>err || status=$?
        cat err >>messages.json
    done
done

/usr/bin/python3 - <<'SCRIPT'
import json, sys, unicodedata
for number, line in enumerate(open("shown", "rb").read().split(b"\n")):
    bad = [c for c in line.decode("utf-8") if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]
    if bad:
        sys.exit(f"not clean: {line}")
count = 0
for line in open("messages.json", "rb"):
    assert line.isascii(), line
    assert "error" in json.loads(line), line
    count += 1
assert count == 32, count
SCRIPT
