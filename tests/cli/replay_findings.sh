# Files that once broke it (tests/fuzz/findings/safetensors) end in one sentence, from every verb that reads a model or checkpoint.
. "$(dirname "$0")/../support/checks.bash"
findings=$(dirname "$0")/../fuzz/findings/safetensors

printf 'a,b\n0,1\n1,0\n1,1\n' >data.csv
for file in "$findings"/*; do
    refuse 2 "$file" -- "$NADE" info "$file"
    refuse 2 "$file" -- "$NADE" score "$file" data.csv
    refuse 2 "$file" -- "$NADE" sample "$file"
    refuse 2 "$file" -- "$NADE" impute "$file" data.csv
    refuse 2 "$file" -- "$NADE" train data.csv -o model --resume "$file" --quiet
done
refuse 2 'describes tensor "t" as {"AAAAAAAA' 'AAA..., expected its dtype' -- "$NADE" info "$findings"/01_stack_overflow.safetensors
refuse 2 "model's columns[0].mean is {\"AAAA" 'AAA..., expected a number' -- "$NADE" info "$findings"/02_stack_overflow_parse.safetensors
only data.csv
