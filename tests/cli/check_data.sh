# paper/check-data: tells files that are as expected from missing, different and broken ones; gzip does not count.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_SOURCE_DIR:?}"
python=${PYTHON:-python3}
"$python" -c '' 2>/dev/null || exit 77
check=("$python" "$NADE_SOURCE_DIR/paper/check-data")

mkdir -p data/one data/two/pictures
echo some rows >data/one/rows.csv
echo more rows | gzip -1 >data/one/more.csv.gz
echo picture >data/two/pictures/1.jpg
echo another >data/two/pictures/2.jpg
printf '# comment\n\n0  one/rows.csv\n0  one/more.csv.gz\n0  two/pictures/\n' >names
expect 0 "${check[@]}" data --sums names --write
cp out sums
holds sums "$(sha256sum <data/one/rows.csv | cut -d' ' -f1)  one/rows.csv"
holds sums "$(echo more rows | sha256sum | cut -d' ' -f1)  one/more.csv.gz"
holds sums "$(cd data/two/pictures && sha256sum 1.jpg 2.jpg | sha256sum | cut -d' ' -f1)  two/pictures/"

echo more rows | gzip -9 >data/one/more.csv.gz
expect 0 "${check[@]}" data --sums sums
holds out "one: as expected" "two: as expected"

echo yet another >data/two/pictures/2.jpg
rm data/one/rows.csv
head -c 20 data/one/more.csv.gz >cut && mv cut data/one/more.csv.gz
expect 1 "${check[@]}" data --sums sums
holds out "one/rows.csv: missing" "one/more.csv.gz: unreadable" "two/pictures/: different"
expect 1 "${check[@]}" data two --sums sums
[ "$(cat out)" = "two/pictures/: different" ] || fail "more than the set asked for: $(cat out)"
expect 1 "${check[@]}" data three --sums sums
holds err "three is none of the data sets one, two"

# Every file that a recipe names has its checksum.
for file in $(grep -ohE '"[a-z0-9_-]+/[A-Za-z0-9_.-]+"' "$NADE_SOURCE_DIR"/paper/recipes/*.json | tr -d '"' | sort -u); do
    grep -qE "  $file/?\$" "$NADE_SOURCE_DIR/paper/data-checksums.txt" || fail "no checksum of $file"
done
