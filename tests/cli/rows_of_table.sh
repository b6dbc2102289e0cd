# --rows keeps some rows of DATA: training with them is training on a file that holds only them.
. "$(dirname "$0")/../support/checks.bash"

binary_data 300 1 >data.csv
binary_data 60 2 >valid.csv
seq 0 3 299 >list
awk 'NR == 1 || (NR - 2) % 3 == 0' data.csv >part.csv
train() { "$NADE" train "$1" -o "$2" --quiet "${small[@]}" "${@:3}"; }
train part.csv expected
train data.csv model --rows list
cmp model expected || fail "--rows trains another model"
tac list | tr '\n' ',' | gzip >list.gz
train data.csv model --rows list.gz
cmp model expected || fail "the order of the list matters"
train - model --rows list <data.csv
cmp model expected || fail "standard input trains another model"

# The list is of DATA, not of the validation rows.
train part.csv expected --valid valid.csv
train data.csv model --rows list --valid valid.csv
cmp model expected || fail "--rows changes the validation rows"

echo 300 >>list
refuse 2 'list, line 101' 'found row number 300' 'expected 0 to 299' -- train data.csv new --rows list
echo '1 2 1' >list
refuse 2 'list, line 1' 'row 1' -- train data.csv new --rows list
echo one >list
refuse 2 'list, line 1' "'one'" 'row numbers' -- train data.csv new --rows list
: >list
refuse 2 'list' 'empty' -- train data.csv new --rows list
refuse 2 'nosuch' -- train data.csv new --rows nosuch

only data.csv expected list list.gz model part.csv valid.csv
