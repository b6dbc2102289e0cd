# nade demo: the story on stdout, the files in the folder, and what they hold.
. "$(dirname "$0")/../support/checks.bash"

files=(demo-model.safetensors demo-test.csv demo-digits.png demo-samples.png demo-fillings.png)

expect 0 "$NADE" demo --time-limit 3
holds out '1797 handwritten digits' 'independent pixels' 'New digits' '????' "${files[@]}" 'nade train your.csv -o'
only nade-demo
[ "$(ls -A nade-demo | sort)" = "$(printf '%s\n' "${files[@]}" | sort)" ] || fail "files: $(ls -A nade-demo)"
cp out story

# Far better than independent pixels on test images, even after three seconds; the table says what score says.
baseline=$(awk '$1 == "test" { print $2 }' story)
density=$(awk '$1 == "test" { print $3 }' story)
awk -v a="$baseline" -v b="$density" 'BEGIN { exit !(a > -25.5 && a < -24.5 && b > a + 2 && b < -10) }' ||
    fail "test images: $baseline and $density"
expect 0 "$NADE" score nade-demo/demo-model.safetensors nade-demo/demo-test.csv --json -o scores.csv
awk -F'"mean":' -v b="$density" '{ d = $2 - b; exit !(d < 0.006 && d > -0.006) }' err ||
    fail "the story says $density: $(cat err)"
[ "$(wc -l <scores.csv)" = 201 ] || fail "$(wc -l <scores.csv) lines of scores"
[ "$(head -c 8 nade-demo/demo-samples.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "no PNG"

# Every line of the pictures holds whole images; outside the hole a filling is the image itself.
awk '/^Test images/ { inside = 1 }
     inside && NF == 7 && length($1) == 8 {
         for (i = 3; i <= 7; i++)
             for (c = 1; c <= 8; c++) {
                 if (substr($2, c, 1) == "?") holes++
                 else if (substr($i, c, 1) != substr($1, c, 1) || substr($2, c, 1) != substr($1, c, 1)) exit 1
             }
     }
     END { if (holes != 5 * (16 + 16 + 32 + 32)) exit 1 }' story || fail "a filling changes what is outside its hole"

# Quiet, JSON, another folder, the folder already there.
expect 0 "$NADE" demo --time-limit 1 --quiet -o there
[ ! -s out ] && [ ! -s err ] || fail "not quiet: $(cat out err)"
expect 0 "$NADE" demo --time-limit 1 --json -o there
[ ! -s out ] || fail "pictures in spite of --json"
holds err '"folder":"there"' '"test":{"rows":200,' '"gain":'
cmp there/demo-test.csv nade-demo/demo-test.csv

refuse 2 'the folder is named -' -- "$NADE" demo -o -
refuse 1 'folder no/where could not be made' -- "$NADE" demo -o no/where
touch file
refuse 1 'file/demo-model.safetensors' -- "$NADE" demo -o file
mkdir -p blocked/demo-samples.png
refuse 1 'blocked/demo-samples.png' -- "$NADE" demo -o blocked
refuse 2 'unexpected argument' -- "$NADE" demo data.csv
