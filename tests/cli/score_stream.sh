# score reads in parts, from files of every kind and from standard input, and gives what the whole table gives.
. "$(dirname "$0")/../support/checks.bash"
python=${PYTHON:-/usr/bin/python3}

real_data 300 1 >train.csv
"$NADE" train train.csv -o model --quiet "${small[@]}"

# 9001 rows are three parts.  The same rows in every kind of file.
real_data 9001 5 >rows.csv
tr ';' '\t' <rows.csv >rows.tsv
gzip -kn rows.csv
"$python" - <<'END'
import gzip, struct
import numpy as np
rows = np.loadtxt("rows.csv", delimiter=";", skiprows=1)
np.save("rows.npy", rows)
np.save("columns.npy", np.asfortranarray(rows))
np.savez("stored.npz", rows)
np.savez_compressed("packed.npz", y=np.arange(9001), X=rows)
np.savez("several.npz", first=rows, second=rows)
with open("rows.idx", "wb") as file:
    file.write(bytes([0, 0, 0x0E, 2]) + struct.pack(">II", *rows.shape) + rows.astype(">f8").tobytes())
header, *lines = open("rows.csv").read().splitlines()
with open("rows.arff", "w") as file:
    file.write("% rows\n@RELATION rows\n" + "".join(f"@attribute '{name}' real\n" for name in header.split(";")) + "@data\n")
    file.write("\n".join(lines).replace(";", ", ") + "\n")
for name in ("rows.npy", "packed.npz", "rows.idx", "rows.arff"):
    with gzip.open(name + ".gz", "wb") as file:
        file.write(open(name, "rb").read())
END
expect 0 "$NADE" score model rows.csv --spread --json
cp out whole && cp err summary
[ "$(wc -l <whole)" = 9002 ] || fail "not one line a row"
for file in rows.tsv rows.arff rows.arff.gz rows.csv.gz rows.npy columns.npy stored.npz packed.npz rows.idx rows.npy.gz packed.npz.gz rows.idx.gz; do
    expect 0 "$NADE" score model "$file" --spread --json
    cmp out whole && cmp err summary || fail "$file is scored differently"
    cat "$file" | expect 0 "$NADE" score model - --spread --json -o scores
    cmp scores whole && cmp err summary || fail "$file is scored differently from standard input"
done
refuse 2 several.npz '2 arrays (first, second)' -- "$NADE" score model several.npz --quiet

# A row's score does not depend on the parts: rows one by one and all at once.
head -1 rows.csv >few.csv
sed -n '4095,4100p' rows.csv >>few.csv
expect 0 "$NADE" score model few.csv --spread --quiet
(head -1 whole && sed -n '4095,4100p' whole) | cmp - out || fail "scores depend on the place in the file"

# The summary of three parts is that of all rows.
"$python" - <<'END'
import json, math
rows = [[float(x) for x in line.split(",")] for line in open("whole").readlines()[1:]]
o = json.load(open("summary"))
n = len(rows)
mean = math.fsum(r[0] for r in rows) / n
assert o["rows"] == n and math.isclose(o["mean"], mean, rel_tol=1e-12), o
error = math.sqrt(math.fsum((r[0] - mean) ** 2 for r in rows) / (n - 1) / n)
assert math.isclose(o["standard_error"], error, rel_tol=1e-9), o
assert math.isclose(o["mean_spread"], math.fsum(r[1] for r in rows) / n, rel_tol=1e-9), o
assert o["mean_ordering"] < o["mean"] and o["gain"] > -10 and o["bits_per_cell"] is None, o
END
binary_data 200 1 >binary.csv
"$NADE" train binary.csv -o binary_model --quiet "${small[@]}"
binary_data 9001 2 | sed '2,5000s/^[01],/,/' >holes.csv
expect 0 "$NADE" score binary_model holes.csv --json
"$python" - <<'END'
import json, math
o = json.load(open("err"))
rows = [float(line) for line in open("out").readlines()[1:]]
cells = 4 * 9001 - 4999
assert math.isclose(o["bits_per_cell"], -math.fsum(rows) / cells / math.log(2), rel_tol=1e-12), o
END

# Rows without a cell to score have their line but no part in the summary, also where they fill whole parts.
{ head -n 1 holes.csv; yes ,,, | head -n 5000; tail -n +2 holes.csv; yes ,,, | head -n 9000; } >empty.csv
mv err with_holes
cp out scored
expect 0 "$NADE" score binary_model empty.csv --json
[ "$(wc -l <out)" = 23002 ] && [ "$(sed -n '5002,$p' out | head -n 9001 | cmp - <(tail -n +2 scored))" = '' ] ||
    fail "empty rows change others"
"$python" - <<'END'
import json, math
o, whole = json.load(open("err")), json.load(open("with_holes"))
assert o["rows"] == 23001 and o["empty_rows"] == 14000 and whole["empty_rows"] == 0, o
for key in ("mean", "standard_error", "mean_ordering", "mean_spread", "gain", "bits_per_cell"):
    assert math.isclose(o[key], whole[key], rel_tol=1e-9), (key, o, whole)
END
expect 0 "$NADE" score binary_model empty.csv
holds err '14000 rows without a cell to score are left out of the means'
head -n 3 empty.csv >only_empty.csv
expect 0 "$NADE" score binary_model only_empty.csv --json
grep -q '"mean":null' err || fail "a mean of nothing: $(cat err)"
rm empty.csv only_empty.csv scored with_holes

# Columns that the model does not know are warned of once, not once a part.
sed '1s/$/;more/; 2,$s/$/;1/' rows.csv >wide.csv
expect 0 "$NADE" score model wide.csv --spread
cmp out whole
[ "$(grep -c warning err)" = 1 ] || fail "not one warning: $(cat err)"

# A bad row in the last part: its line is named, earlier rows may have gone to stdout, a file is not left behind.
sed '9001s/.*/1.5;big/' rows.csv >bad.csv
status=0
"$NADE" score model - --quiet <bad.csv >out 2>err || status=$?
[ "$status" = 2 ] || fail "exit status $status"
holds err 'standard input, line 9001' "'y'" "'big'"
rm -f scores
refuse 2 'bad.csv, line 9001' -- "$NADE" score model bad.csv --quiet -o scores
sed '9001s/.*/1.5/' rows.csv >bad.csv
refuse 2 'bad.csv, line 9001' '1 fields' -- "$NADE" score model bad.csv --quiet -o scores
refuse 2 'standard input: is empty' -- "$NADE" score model - --quiet -o scores </dev/null

# Where separator and header are given, rows are answered as they come.
for verb in score impute; do
    rm -f answers
    mkfifo live
    "$NADE" $verb model live --header yes --delimiter ';' --quiet >answers &
    process=$!
    exec 5>live
    for row in 2 3 4; do
        sed -n "$([ $row = 2 ] && echo 1,2p || echo ${row}p)" rows.csv >&5
        for _ in $(seq 100); do
            [ "$(wc -l <answers)" = $row ] && break
            sleep 0.1
        done
        [ "$(wc -l <answers)" = $row ] || fail "$verb waits for more than a row: $(cat answers)"
    done
    exec 5>&-
    wait $process
    rm live
    [ $verb = impute ] || head -n 4 whole | cut -d, -f1 | cmp - answers || fail "a row that came alone has another score"
done
rm answers

# Waiting for input, it can be interrupted and leaves nothing, also on a file system without unnamed files.
cat >named.c <<'SOURCE'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    unsigned mode = va_arg(arguments, unsigned);
    va_end(arguments);
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}
SOURCE
cc -shared -fPIC named.c -o named.so
mkfifo pipe
env ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" LD_PRELOAD="$PWD/named.so" \
    "$NADE" score model pipe --quiet -o scores &
process=$!
{
    cat rows.csv
    for _ in 1 2 3; do tail -n +2 rows.csv; done
    for _ in $(seq 100); do
        ls | grep -q '^scores\.tmp' && break
        sleep 0.1
    done
    ls | grep -q '^scores\.tmp' || echo >no_temporary_file
    kill -TERM "$process"
    status=0
    wait "$process" || status=$?
    echo "$status" >status
} >pipe
[ "$(cat status)" = 143 ] || fail "SIGTERM gave the status $(cat status)"
rm named.c named.so

only bad.csv binary.csv binary_model columns.npy few.csv holes.csv model packed.npz packed.npz.gz pipe rows.csv rows.csv.gz \
    rows.arff rows.arff.gz rows.idx rows.idx.gz rows.npy rows.npy.gz rows.tsv several.npz status stored.npz summary train.csv whole wide.csv
