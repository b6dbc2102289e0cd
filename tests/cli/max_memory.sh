# --max-memory: refused before it is asked for, in a sentence that says for what; without it what the system allows counts.
. "$(dirname "$0")/../support/checks.bash"
awk 'BEGIN { print "x,y"; for (i = 0; i < 200; i++) print i % 7 + i / 100 "," i / 3 }' >data.csv
small=(--hidden 4 --iterations 1 --updates 2 --quiet)
expect 0 "$NADE" train data.csv -o model "${small[@]}" --max-memory 64M

refuse 1 'for training: it will hold about' 'MiB, the limit is 20 MiB (--max-memory); smaller --hidden or' -- \
    "$NADE" train data.csv -o new --hidden 2000,2000 --max-memory 20M --quiet
[ ! -e new ] || fail "a model was written"
refuse 1 'for training: it will hold about' 'the limit is 20 MiB' -- \
    "$NADE" train data.csv --dry-run --hidden 2000,2000 --max-memory 20M --quiet
for kind in mixture mog; do
    refuse 1 'for training: it will hold about' 'the limit is 5 MiB (--max-memory); fewer rows or --components need less' -- \
        "$NADE" train data.csv -o new --kind $kind --components 1000 --max-memory 5M --quiet
done
refuse 1 'reading a file' 'would exceed the limit of 100 KiB (--max-memory)' -- \
    "$NADE" train data.csv --dry-run --max-memory 100K
refuse 1 'exceed the limit' -- "$NADE" info model --max-memory 20000

# Gzip'ed, a million columns are a kilobyte.
{ printf '\223NUMPY\1\0\166\0'; printf '%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1000000), }"
  head -c 2000000 /dev/zero; } | gzip >wide.npy.gz
refuse 1 'exceed the limit of 50 MiB' -- "$NADE" train wide.npy.gz --dry-run --quiet --max-memory 50M

# Memory of the command's own: pictures and draws.
refuse 1 'rows drawn at a time' 'limit of 50 MiB' -- \
    "$NADE" sample model -n 1000000000000 --image 1x2 --png new.png --max-memory 50M
refuse 1 'rows drawn at a time' 'limit of 7 MiB' -- \
    "$NADE" prob model -n 1000000 --where 'x<3' --max-memory 7M
refuse 1 'draws of a row' -- "$NADE" impute model data.csv --draws 1000000 --max-memory 4M

# The results of many orderings are held for as many rows as there are, and for few at a time.
head -n 3 data.csv >two.csv
expect 0 "$NADE" score model two.csv --orderings 100000 --quiet --max-memory 60M

for size in 0 -5 12X 5MM M 99999999999T; do
    refuse 2 "--max-memory: found '$size'" '512M' -- "$NADE" info model "--max-memory=$size"
done
for size in 1T 64M 100000K 90000000; do
    expect 0 "$NADE" info model --max-memory "$size"
done

# Without the option: what ulimit -v leaves.  (AddressSanitizer maps far more than it uses.)
if ! grep -q asan_init "$NADE"; then
    refuse 1 'for training' '(--max-memory)' -- \
        bash -c 'ulimit -v 300000; exec "$1" train data.csv -o new --hidden 4000,4000 --quiet' - "$NADE"
fi
