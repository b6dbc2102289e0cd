# Numbers with decimal commas, thousands, percent and units come back in the form of the file, with as many decimals as it always has.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { print "length;price;share\r"; for (i = 0; i < 200; i++) printf "%d,%d cm;%d.%03d,50;%d %%\r\n", 3 + i % 50, i % 10, 1 + i % 9, i * 53 % 1000, i * 7 % 100 }' >data.csv
expect 0 "$NADE" train data.csv -o model "${small[@]}"
expect 0 "$NADE" info model
holds out "like 1234,0 cm" "like 1.234,00" "like 1234 %"
expect 0 "$NADE" sample model -n 40 --quiet
form='^"?-?[0-9]+,[0-9] cm"?,"?-?[0-9]{1,3}(\.[0-9]{3})*,[0-9]{2}"?,"?-?[0-9]+(,[0-9]+)? %"?$'
tail -n +2 out | grep -Evq "$form" && fail "drawn: $(head -n 5 out)"
cp out drawn.csv
expect 0 "$NADE" score model drawn.csv --quiet
[ "$(wc -l <out)" = 41 ] || fail "scored: $(wc -l <out)"

# Cells that are there are written as they were, those that are filled in the same form, in a file of two rows too.
printf 'length;price;share\r\n4,70 cm;1.000,00;7 %%\r\n03,5 cm;;N/A\r\n' >holes.csv
expect 0 "$NADE" impute model holes.csv --quiet --interval 0.5
head -n 2 out | tail -n 1 | grep -qx $'4,70 cm;1.000,00;7 %;;;;\r' || fail "kept: $(cat -A out)"
tail -n 1 out | grep -Eq $'^03,5 cm;[0-9.]+,[0-9]{2};[0-9]+(,[0-9]+)? %;[0-9.]+,50;[0-9.]+,50;[0-9]+ %;[0-9]+ %\r$' || fail "filled: $(cat -A out)"

# Predictions are plain numbers, and the table with them is one that any program reads.
expect 0 "$NADE" predict model holes.csv --of price,length,share --quiet
head -n 1 out | grep -qx 'length_mean,length_median,length_low,length_high,price_mean,.*,share_high' || fail "$(cat out)"
tail -n +2 out | grep -Evq '^(-?[0-9]+(\.[0-9]+)?,){11}-?[0-9]+(\.[0-9]+)?$' && fail "predicted: $(cat out)"

expect 0 "$NADE" sample model -n 1 --where 'length=4,5 cm' --where 'price>=1.500' --quiet
tail -n 1 out | grep -q '^"4,5 cm",' || fail "where: $(cat out)"
expect 0 "$NADE" sample model -n 1 --where length=4.5 --quiet
# In a list semicolons divide where commas are decimal ones.
probability() { "$NADE" prob model --where "$1" --quiet | tail -n 1 | cut -d, -f1; }
either=$(awk "BEGIN { print $(probability 'length=4,2') + $(probability 'length=4,5') }")
for list in '{4,2;4,5}' '{4,2 cm; 4,5 cm}' '{4,2, 4,5}' '{4.2;4.5}'; do
    awk "BEGIN { exit $either > 0 && ($(probability "length in $list") - $either) ^ 2 < 1e-12 ? 0 : 1 }" || fail "$list: not $either"
done
refuse 2 "column 'length': found 'x', expected a number" -- "$NADE" sample model --where 'length in {4,2;x}'
for range in '4,2<=length<4,6' '4,2 cm <= length < 4,6cm' '4.2<=length<4.6' '4,6>length>=4,2'; do
    expect 0 "$NADE" sample model -n 60 --where "$range" --quiet
    [ "$(tail -n +2 out | cut -d'"' -f2 | sort -u | tr '\n' ' ')" = "4,2 cm 4,3 cm 4,4 cm 4,5 cm " ] || fail "$range: $(cat out)"
done
for share in '91%' '91 %' 91; do
    expect 0 "$NADE" sample model -n 20 --where "share>=$share" --quiet
    tail -n +2 out | grep -Evq ',(9[1-9]|100) %$' && fail "$share: $(cat out)"
done
printf 'length;price;share\n1,5 in;1;7 %%\n2,5 in;2;7 %%\n3,5 in;3;7 %%\n' >inches.csv
refuse 2 "column 'length': found numbers like 1234,5 in, expected them like 1234,0 cm" -- "$NADE" score model inches.csv

# A text that is none as the column writes them hears of the form; in tables too short or divided to tell it, it is the model's.
printf 'length;price;share\n4,7 cm;1000.50;7 %%\n3,5 cm;1.000,50;7 %%\n' >divided.csv
refuse 2 "divided.csv, line 2, column 'price': found '1000.50', expected a number like 1.234,00" -- "$NADE" score model divided.csv
{ head -n 30 data.csv; printf '4,7 cm;1000.50;7 %%\n'; } | tr -d '\r' >slip.csv
refuse 2 "slip.csv, line 31, column 'price': found '1000.50', expected a number like 1.234,00" -- "$NADE" score model slip.csv
printf 'length;price;share\n4,7 cm;oops;7 %%\n3,5 cm;12;7 %%\n' >texts.csv
refuse 2 "texts.csv, line 2, column 'price': found 'oops', expected a number like 1.234,00" -- "$NADE" score model texts.csv

# By option; what they may be.
printf 'a;b\n1,234;x\n2,345;y\n3,456;x\n' >either.csv
expect 0 "$NADE" train either.csv --dry-run --thousands , "${small[@]}"
refuse 2 "the decimal mark is 'x', expected a point or a comma" -- "$NADE" train either.csv --dry-run --decimal x
refuse 2 "decimals and thousands have the same mark ','" -- "$NADE" train either.csv --dry-run --decimal , --thousands ,
refuse 2 "--decimal: found 'comma', expected one character, tab, blank or auto" -- "$NADE" train either.csv --dry-run --decimal comma

# A file in Windows-1252: the euro is a currency, names and labels match those of a file in UTF-8, and what is filled is in the file's own encoding.
awk 'BEGIN { print "Größe;preis"; for (i = 0; i < 200; i++) printf "%s;%d,%02d€\n", i % 3 ? "groß" : "klein", i * 7 % 60, i * 13 % 100 }' >utf8.csv
iconv -f UTF-8 -t CP1252 utf8.csv >windows.csv
expect 0 "$NADE" info windows.csv
holds out 'Größe' 'klein, groß' 'from 0,00€ to 59,'
expect 0 "$NADE" train windows.csv -o windows "${small[@]}"
expect 0 "$NADE" train utf8.csv -o utf8 "${small[@]}"
cmp windows utf8 || fail "the encoding of the file changed the model"
printf 'Größe;preis\ngroß;\n;1,50€\n' >holes.csv
expect 0 "$NADE" impute utf8 holes.csv --method mode --quiet
mv out filled
grep -Eq '^groß;[0-9,]+€$' filled && grep -q '^groß;1,50€$' filled || fail "filled: $(cat filled)"
iconv -f UTF-8 -t CP1252 holes.csv >windows_holes.csv
expect 0 "$NADE" impute utf8 windows_holes.csv --method mode --quiet
iconv -f CP1252 -t UTF-8 out | cmp - filled || fail "filled in another encoding: $(xxd out)"
