# Numbers that all have the same decimals come back with them: samples, fillings, quantiles; predicted means stay exact.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN { print "price,weight,level,note"
    for (i = 0; i < 300; i++) printf "%.2f,%s,%.1f,%s\n", 4 + i * 137 % 1700 / 100, i * 71 % 997 / 100, i * 7 % 5, i % 3 ? "a" : "b" }' >data.csv
expect 0 "$NADE" train data.csv -o model "${network[@]}" --iterations 3
expect 0 "$NADE" info data.csv
holds out 'from 4.00 to 20.9'
expect 0 "$NADE" sample model -n 300 --quiet
# A level takes five values and is a label; what has no decimals in common is written as it needs.
tail -n +2 out | grep -Evq '^[0-9]+\.[0-9]{2},[0-9]+(\.[0-9]+)?,[0-4]\.0,[ab]$' && fail "drawn: $(head -n 5 out)"
cut -d, -f1 out | grep -q '0$' || fail "no zero among the decimals: $(head -n 5 out)"
cut -d, -f2 out | tail -n +2 | grep -q '\.[0-9]*0$' && fail "zeros for nothing: $(head -n 5 out)"
cp out drawn.csv
expect 0 "$NADE" score model drawn.csv --quiet

# Cells that are there come back byte for byte, others with two decimals or more.
printf 'price,weight,level,note\n,7.5,1.0,a\n7.5,,1.0,a\n7.123,,1,b\n' >holes.csv
for method in draw mean median mode; do
    expect 0 "$NADE" impute model holes.csv --method $method --quiet
    grep -Eq '^[0-9]+\.[0-9]{2},7.5,1.0,a$' out && grep -Eq '^7.5,[0-9.]+,1.0,a$' out && grep -Eq '^7.123,[0-9.]+,1,b$' out || fail "$method: $(cat out)"
done
expect 0 "$NADE" impute model holes.csv --interval 0.8 --quiet
sed -n 2p out | grep -Eq ',[0-9]+\.[0-9]{2},[0-9]+\.[0-9]{2},,$' || fail "interval: $(cat out)"
expect 0 "$NADE" predict model holes.csv --of price --quiet
tail -n +2 out | grep -Evq '^[0-9]+\.[0-9]{5,}(,[0-9]+\.[0-9]{2}){3}$' && fail "predicted: $(cat out)"

# A file that has no header to match it by is read as ever; a European one too.
printf 'price;weight;level;note\n1.234,50;1,5;1,0;a\n2.345,25;2,5;2,0;b\n12,00;3,25;3,0;a\n' >europe.csv
expect 0 "$NADE" impute model europe.csv --quiet
cmp out europe.csv || fail "changed: $(cat out)"
