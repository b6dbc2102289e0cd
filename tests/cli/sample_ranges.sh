# sample --where with ranges of real columns, and the ranges that are refused.
. "$(dirname "$0")/../support/checks.bash"

real_data 300 1 | tr ';' ',' | awk -F, 'NR == 1 { print "x,y,k" } NR > 1 { printf "%.1f,%.1f,%s\n", $1, $2, ($1 > 0 ? "u" : "v") }' >data.csv
expect 0 "$NADE" train data.csv -o model "${network[@]}" --iterations 5 --quiet

# Ends included or not, in recorded values; several narrow each other.
expect 0 "$NADE" sample model -n 400 --where 'x>=2.5' --where 'x<2.9' --quiet
[ "$(awk -F, 'NR > 1 { print $1 }' out | sort -u | tr '\n' ' ')" = "2.5 2.6 2.7 2.8 " ] || fail "$(sort -u out)"
expect 0 "$NADE" sample model -n 400 --where '0>2.5' --where '0<=2.9' --where 'x>-9' --quiet
[ "$(awk -F, 'NR > 1 { print $1 }' out | sort -u | tr '\n' ' ')" = "2.6 2.7 2.8 2.9 " ] || fail "$(sort -u out)"

# Both ends at once, in either order, of a column by name or by number; the first number is never taken for a column.
for range in '2.5<=x<2.9' '2.9>x>=2.5' '2.5<=0<2.9' '2.9>0>=2.5' '2.5<=0<2.9e0'; do
    expect 0 "$NADE" sample model -n 400 --where "$range" --quiet
    [ "$(awk -F, 'NR > 1 { print $1 }' out | sort -u | tr '\n' ' ')" = "2.5 2.6 2.7 2.8 " ] || fail "$range: $(sort -u out)"
done
expect 0 "$NADE" sample model -n 400 --where '2.9>x' --where '2.5<=0' --quiet
[ "$(awk -F, 'NR > 1 { print $1 }' out | sort -u | tr '\n' ' ')" = "2.5 2.6 2.7 2.8 " ] || fail "$(sort -u out)"
expect 0 "$NADE" sample model -n 400 --where '2<x<=2.2' --quiet
[ "$(awk -F, 'NR > 1 { print $1 }' out | sort -u | tr '\n' ' ')" = "2.1 2.2 " ] || fail "$(sort -u out)"
expect 0 "$NADE" sample model -n 50 --where '1<0<3' --where 'x<=1.1' --quiet
[ "$(awk -F, 'NR > 1 { print $1 }' out | sort -u | tr '\n' ' ')" = "1.1 " ] || fail "$(sort -u out)"
expect 0 "$NADE" sample model -n 5 --where '-1<=x<=-1' --quiet
[ "$(awk -F, 'NR > 1 { print $1 }' out | sort -u)" = -1.0 ] || fail "$(cat out)"

# What follows is drawn given the range, and ranges go with given cells and with each other.
expect 0 "$NADE" sample model -n 200 --where 'y>12' --quiet
awk -F, 'NR > 1 { n += $3 == "u" } END { exit !(n > 160) }' out || fail "$(cat out)"
expect 0 "$NADE" sample model -n 100 --where 'y>8' --where 'x<3' --where k=u --quiet
awk -F, 'NR > 1 && !($1 < 3 && $2 > 8 && $3 == "u") { exit 1 }' out || fail "$(cat out)"

# A row does not depend on how many are drawn.
mv out many
expect 0 "$NADE" sample model -n 7 --where 'y>8' --where 'x<3' --where k=u --quiet
head -8 many | cmp - out

expect 0 "$NADE" train data.csv -o fixed --order fixed --hidden 8 --iterations 2 --updates 50 --quiet
expect 0 "$NADE" sample fixed -n 50 --where 'y>8' --where 'x<3' --quiet
awk -F, 'NR > 1 && !($1 < 3 && $2 > 8) { exit 1 }' out || fail "$(cat out)"

refuse 2 "nade: column 'y' is given but 'x', which comes before it" -- "$NADE" sample fixed --where y=1
refuse 2 "no value of column 'x' lies between 3 and 2" -- "$NADE" sample model --where 'x>=3' --where 'x<=2'
refuse 2 "no value of column 'x' lies between 5 and 3, expected" -- "$NADE" sample model --where 'x>5' --where 'x<3'
refuse 2 "--where: found '190>=z'" -- "$NADE" sample model --where '190>=z'
refuse 2 "--where: found '190=x'" -- "$NADE" sample model --where '190=x'
refuse 2 "no value of column 'x'" -- "$NADE" sample model --where 'x>2.5' --where 'x<2.6'
refuse 2 'too unlikely together: 0 of' -- "$NADE" sample model --where 'x<-20' --where 'y>60'
refuse 2 "the range of column 'x' is too unlikely" -- "$NADE" sample model --where 'x>1e9'
refuse 2 "the range of column 'x' is too unlikely" -- "$NADE" sample model --where 'x>1e9' --where k=u
refuse 2 "the range of column 'x' is too unlikely" -- "$NADE" sample fixed --where 'x>1e9'
refuse 2 "nade: column 'x': the given 1 lies outside" -- "$NADE" sample model --where x=1 --where 'x>2'
refuse 2 "column 'k' is binary, expected a range on a column of numbers, or of labels that are" -- "$NADE" sample model --where 'k>1'
refuse 2 "column 'x': found 'big', expected a number" -- "$NADE" sample model --where 'x>big'
for range in '1<=x>=2' '1>x<2' '1<x=2'; do
    refuse 2 "--where: found '$range', expected a range between two numbers such as" -- "$NADE" sample model --where "$range"
done
for range in '3<=x<=2' '2>=x>=3' '2<x<2' '2<=x<2'; do
    refuse 2 "--where: no number meets '$range'" -- "$NADE" sample model --where "$range"
done
refuse 2 "column 'x': found 'big', expected a number" -- "$NADE" sample model --where '1<x<big'
refuse 2 "column 'k' is binary, expected a range on a column of numbers, or of labels that are" -- "$NADE" sample model --where '0<k<2'
refuse 2 "column 'y': found 'x<2', expected a number" -- "$NADE" sample model --where '1=x<2'
refuse 2 "--where: found '5<z<2'" -- "$NADE" sample model --where '5<z<2'
refuse 2 "--where: found 'z<1'" -- "$NADE" sample model --where 'z<1'

# Labels that are numbers have ranges too: those within, of two values the one, of rare ones those that share an output.
awk 'BEGIN { print "rating,flag,level,x"; for (i = 0; i < 400; i++) print (i == 7 ? 8 : 1 + i * i % 5) "," (i % 3 > 0) "," "L" i % 2 "," i % 11 + 0.25 }' >rated.csv
expect 0 "$NADE" train rated.csv -o rated "${network[@]}" --iterations 3 --quiet
expect 0 "$NADE" sample rated -n 300 --where 'rating>=5' --quiet
[ "$(awk -F, 'NR > 1 { print ($1 >= 5) }' out | sort -u)" = 1 ] || fail "$(cat out)"
[ "$(awk -F, 'NR > 1 { print $1 }' out | sort -u | wc -l)" -gt 1 ] || fail "$(cat out)"
expect 0 "$NADE" sample rated -n 100 --where '1<rating<3' --where 'x<3' --where 'flag>0' --quiet
awk -F, 'NR > 1 && !($1 == 2 && $4 < 3 && $2 == 1) { exit 1 }' out || fail "$(cat out)"
sum=0
for rating in 4 5 6 7 8 9 10; do
    expect 0 "$NADE" prob rated --where rating=$rating -n 4000 --quiet
    sum=$(awk -F, -v sum="$sum" 'NR == 2 { printf "%.17g", sum + $1 }' out)
done
expect 0 "$NADE" prob rated --where 'rating>=4' -n 4000 --quiet
awk -F, -v sum="$sum" 'NR == 2 && ($1 - sum > 1e-9 || sum - $1 > 1e-9) { exit 1 }' out || fail "$sum: $(cat out)"
expect 0 "$NADE" prob rated --where 'flag<1' --given 'rating<=2' -n 1000 --quiet
refuse 2 "--where: no value of column 'flag' meets 'flag>1'" -- "$NADE" sample rated --where 'flag>1'
refuse 2 "--where: no value of column 'flag' meets 'flag<1' and the other conditions" -- "$NADE" sample rated --where flag=1 --where 'flag<1'
refuse 2 "column 'level' is binary, expected a range on a column of numbers, or of labels that are" -- "$NADE" sample rated --where 'level>1'

# So have labels with marks or units, as a range's ends may have them.
awk 'BEGIN { print "saturation,dose,x"; for (i = 0; i < 400; i++) print 93 + (i * i + int(i / 8)) % 8 "%," (i % 3 ? 5 : 10) " mg," i % 11 + 0.25 }' >percent.csv
expect 0 "$NADE" train percent.csv -o percent "${network[@]}" --iterations 3 --categorical saturation,dose --quiet
sum=0
for label in 97 98% 99 100%; do
    expect 0 "$NADE" prob percent --where saturation=$label --quiet
    sum=$(awk -F, -v sum="$sum" 'NR == 2 { printf "%.17g", sum + $1 }' out)
done
for range in 'saturation>=97' 'saturation>96%' '97 % <= saturation' '96%<saturation<=100%'; do
    expect 0 "$NADE" prob percent --where "$range" --quiet
    awk -F, -v sum="$sum" 'NR == 2 && ($1 - sum > 1e-9 || sum - $1 > 1e-9) { exit 1 }' out || fail "$range: $sum: $(cat out)"
done
expect 0 "$NADE" sample percent -n 50 --where 'saturation>=97' --where 'dose<7mg' --quiet
awk -F, 'NR > 1 && !($1 + 0 >= 97 && $2 == "5 mg") { exit 1 } END { exit NR != 51 }' out || fail "$(cat out)"
refuse 2 "--where: no value of column 'saturation' meets 'saturation>100'" -- "$NADE" sample percent --where 'saturation>100'
refuse 2 "column 'saturation': found 'high', expected one of 93%, 94%" -- "$NADE" sample percent --where 'saturation>high'
only data.csv fixed many model percent percent.csv rated rated.csv
