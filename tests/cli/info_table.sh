# What would become of a table: every column with its type, values and why; and warnings that are errors.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { print "id,grade,code,age,note,empty,same"
    for (i = 0; i < 200; i++) printf "%d,%d,%03d,%s,word %d,,7.5\n", i, 1 + i % 5, i % 4, i % 10 ? 20 + i * 7 % 53 ".5" : "None", i }' >data.csv
expect 0 "$NADE" info data.csv
holds out "Rows: 200" "Columns: 4" "5 labels: 1, 2, 3, 4, 5; few integers that repeat" "4 labels: 000, 001, 002, 003; codes with leading zeros" \
    "20  from 20.5 to 72.5, 53 different" "from 7.5 to 7.5, 1 different" "left out               numbers the rows" \
    "left out               names the rows" "left out               empty"
expect 0 "$NADE" info - <data.csv
holds out "Rows: 200"
expect 0 "$NADE" info data.csv --json
holds out '"left_out":[{"name":"id","reason":"numbers the rows"}' '"type":"categorical"'

# One warning each names the option; the dry run names every column that goes.
expect 0 "$NADE" train data.csv --dry-run "${small[@]}"
holds err "'id' (numbers the rows), 'note' (names the rows), 'empty' (empty), left out; --keep COLS keeps them" "  note: left out, names the rows" \
    "column 'same' of data.csv holds a single value in the training rows; it is kept unless you leave the column out with --drop"
expect 2 "$NADE" train data.csv -o model --strict "${small[@]}"
holds err "nade: data.csv: nothing can be learnt from columns"
[ ! -e model ] || fail "--strict wrote a model"
expect 2 "$NADE" train data.csv -o model --strict --drop id,note,empty "${small[@]}"
holds err "nade: column 'same' of data.csv holds a single value"
[ ! -e model ] || fail "--strict wrote a model"
expect 0 "$NADE" train data.csv -o model --strict --drop id,note,empty,same "${small[@]}"
expect 2 "$NADE" train data.csv -o model --strict --drop id,note,empty,same --checkpoint /dev/full "${small[@]}"
holds err "/dev/full could not be written"
[ -e model ] || fail "a checkpoint that can't be written cost the model"
expect 2 "$NADE" info data.csv --strict

# 5,000 labels, and a text that is too long for one.
awk 'BEGIN { print "word,text,x"; for (i = 0; i < 15000; i++) printf "w%d,%s,%d.5\n", i % 5000, i == 9 ? long() : "t" i % 3, i % 7 }
    function long(  s) { s = "0123456789abcdef"; while (length(s) < 70000) s = s s; return s }' >words.csv
expect 0 "$NADE" train words.csv --dry-run "${small[@]}"
holds err "'text' (a text of more than 65536 bytes), left out" "word: categorical, 5000 labels"

# Tables whose first bytes are mostly zeros are none the less tables: gzip without a time, NPZ; workbooks get their sentence; a cut model is none.
gzip -nc data.csv >data.csv.gz
expect 0 "$NADE" info data.csv.gz
holds out "Rows: 200"
expect 0 "$NADE" info "$NADE_SOURCE_DIR/tests/awkward/arrays.npz" --array test
refuse 2 "this is an Excel workbook: save it as CSV" -- "$NADE" info "$NADE_SOURCE_DIR/tests/awkward/workbook.xlsx"
head -c 100 model >cut
refuse 2 "not a safetensors file, or is cut short" -- "$NADE" info cut

# Numbers beside many texts are labels, and training says which text is to blame.
expect 0 "$NADE" train "$NADE_SOURCE_DIR/tests/awkward/less_than.csv" --dry-run "${small[@]}"
holds err "column 'x': numbers are in most cells, but texts such as '<5' make labels of them all; name the text with --na"
expect 0 "$NADE" train "$NADE_SOURCE_DIR/tests/awkward/less_than.csv" --na '<5' --dry-run "${small[@]}"
holds err "x: real" "8 cells missing in 1 column"
