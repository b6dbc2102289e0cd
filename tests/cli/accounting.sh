# Negative numbers in brackets, behind the currency or with the minus last are numbers, and come back so.
. "$(dirname "$0")/../support/checks.bash"

awk 'function form(x, style,  s) { s = sprintf("%.2f", x < 0 ? -x : x)
        if (style == 1 && length(s) > 6) s = substr(s, 1, length(s) - 6) "," substr(s, length(s) - 5)
        return x >= 0 ? (style == 3 ? s : "$" s) : style == 1 ? "($" s ")" : style == 2 ? "$-" s : s "-" }
    BEGIN { print "account;fee;balance;kind"
        for (i = 0; i < 300; i++) { x = i * 137 % 4000 - 1500
            printf "%s;%s;%s;%s\n", form(x + 0.5, 1), form((i * 71 % 500 - 200) / 4, 2), form((i * 53 % 700 - 300) / 10, 3), i % 3 ? "a" : "b" } }' >data.csv
grep -q '(\$1,' data.csv && grep -q -- '\$-' data.csv && grep -q -- '[0-9]-;' data.csv || fail "$(head data.csv)"
expect 0 "$NADE" train data.csv -o model "${small[@]}"
expect 0 "$NADE" info model
holds out 'like ($1,234.00)' 'like $-1234.00' 'like 1234.00-'
expect 0 "$NADE" info data.csv
holds out 'from ($1,499.50) to $2,' 'from $-50.00 to' 'from 30.00- to'
expect 0 "$NADE" sample model -n 400 --quiet
tail -n +2 out | tr -d '"' | grep -Evq '^(\$[0-9]{1,3}(,[0-9]{3})*\.[0-9]{2,}|\(\$[0-9]{1,3}(,[0-9]{3})*\.[0-9]{2,}\)),\$-?[0-9]+\.[0-9]{2,},[0-9]+\.[0-9]{2,}-?,[ab]$' && fail "drawn: $(head -n 8 out)"
grep -q '(\$' out && grep -q ',\$-' out && grep -q -- '-,[ab]$' out || fail "none negative: $(head -n 8 out)"
cp out drawn.csv
expect 0 "$NADE" score model drawn.csv --quiet
expect 0 "$NADE" train drawn.csv --dry-run "${small[@]}"
holds err 'like ($1,234.00)' 'like $-1234.00' 'like 1234.00-'

# Read back: the same numbers as written plainly; fillings are in the form of their column.
printf 'account;fee;balance;kind\n($1,024.50);$-12.00;12.00-;a\n' >formed.csv
printf 'account;fee;balance;kind\n-1024.5;-12;-12;a\n' >plain.csv
expect 0 "$NADE" score model formed.csv --quiet
mv out formed
expect 0 "$NADE" score model plain.csv --quiet
cmp out formed || fail "scored: $(cat out formed)"
# A minus at any place is read, in a file of one row too.
printf 'account;fee;balance;kind\n$1,024.50-;$12.00-;(12.00);a\n' >one.csv
expect 0 "$NADE" score model one.csv --quiet
cmp out formed || fail "scored: $(cat out formed)"
printf 'account;fee;balance;kind\n($1,024.50);;12.00-;a\n;$-12.00;3.00;b\n' >holes.csv
expect 0 "$NADE" impute model holes.csv --quiet
sed -n 2p out | grep -Eq '^\(\$1,024\.50\);\$-?[0-9]+\.[0-9]{2,};12\.00-;a$' || fail "filled: $(cat out)"
sed -n 3p out | grep -Eq '^(\$[0-9,]+\.[0-9]{2}|\(\$[0-9,]+\.[0-9]{2}\));\$-12\.00;3\.00;b$' || fail "filled: $(cat out)"
expect 0 "$NADE" predict model holes.csv --of account --quiet
tail -n +2 out | grep -Evq '^(-?[0-9]+(\.[0-9]+)?,){3}-?[0-9]+(\.[0-9]+)?$' && fail "predicted: $(cat out)"
expect 0 "$NADE" sample model -n 50 --where 'account<($1,000.00)' --quiet
tail -n +2 out | grep -Evq '^"\(\$1,' && fail "where: $(cat out)"
expect 0 "$NADE" sample model -n 50 --where '20.00-<balance<-15' --quiet
tail -n +2 out | grep -Evq ',1[5-9]\.[0-9]+-,[ab]$' && fail "where: $(cat out)"

# What only looks like them: all in brackets, grades, two texts.
{ echo "step,grade,side"; for i in $(seq 40); do echo "($((i % 9 + 1))),$((i % 3 + 1))$([ $((i % 2)) = 0 ] && echo -),(0.$((i % 2 + 1)))"; done; } >names.csv
expect 0 "$NADE" info names.csv
holds out '(2), ' '2-, ' '(0.1)'
if grep -q like out; then fail "$(cat out)"; fi

# The model file names such a form by a key that earlier versions do not know, so that they refuse it; another text is refused.
holds model '\"negative\":\"($1,234.00)\"' '\"negative\":\"1234.00-\"' '\"negative\":\"$-1234.00\"'
sed 's/"(\$1,234.00)\\"/"{$1,234.00}\\"/' model >other
refuse 2 'columns[0].negative' 'is "{$1,234.00}", expected how a negative number is written' -- "$NADE" info other
sed 's/"(\$1,234.00)\\"/"$10,234.00 \\"/' model >other
refuse 2 'columns[0].negative' -- "$NADE" info other
