# Files that once broke it (tests/fuzz/findings) end in one sentence, from every verb that reads a model or checkpoint.
. "$(dirname "$0")/../support/checks.bash"
findings=$(dirname "$0")/../fuzz/findings

printf 'a,b\n0,1\n1,0\n1,1\n' >data.csv
for file in "$findings"/*.safetensors; do
    refuse 2 "$file" -- "$NADE" info "$file"
    refuse 2 "$file" -- "$NADE" score "$file" data.csv
    refuse 2 "$file" -- "$NADE" sample "$file"
    refuse 2 "$file" -- "$NADE" impute "$file" data.csv
    refuse 2 "$file" -- "$NADE" train data.csv -o model --resume "$file" --quiet
done
refuse 2 'describes tensor "t" as {"AAAAAAAA' 'AAA..., expected its dtype' -- "$NADE" info "$findings"/shown_key.safetensors
refuse 2 "model's columns[0].mean is {\"AAAA" 'AAA..., expected a number' -- "$NADE" info "$findings"/shown_key_description.safetensors
only data.csv
