# sample --where, and the calls that sample refuses.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN {
    print "size,colour,flag,x=y"
    split("red green blue", colour, " ")
    for (i = 0; i < 300; i++) {
        k = (i * 7 + int(i / 5)) % 3
        printf "%.2f,%s,%s,%d\n", k + (i % 17) / 10, colour[k + 1], i % 2 ? "yes" : "no", i % 4 == 0
    }
}' >data.csv
expect 0 "$NADE" train data.csv -o model "${network[@]}" --iterations 5

# One, several, by number, a name that holds '=', a number that is not on the recording step.
expect 0 "$NADE" sample model -n 40 --where colour=green --quiet
[ "$(awk -F, 'NR > 1' out | cut -d, -f2 | sort -u)" = green ]
[ "$(awk -F, 'NR > 1' out | cut -d, -f3 | sort -u | wc -l)" = 2 ] || fail "the other cells are not drawn"
expect 0 "$NADE" sample model -n 40 --where flag=no --where=x=y=1.0 --where 0=1.3215 --quiet
awk -F, 'NR > 1 && !($1 == "1.3215" && $3 == "no" && $4 == "1") { exit 1 }' out || fail "$(cat out)"
[ "$(cut -d, -f2 out | sort -u | wc -l)" -ge 3 ]

# Conditioning matters: red rows are smaller than blue ones.
for colour in red blue; do
    expect 0 "$NADE" sample model -n 400 --where colour=$colour --quiet
    awk -F, 'NR > 1 { sum += $1 } END { print sum / 400 }' out >mean_$colour
done
awk -v red="$(cat mean_red)" -v blue="$(cat mean_blue)" 'BEGIN { exit !(blue - red > 0.5) }' ||
    fail "means $(cat mean_red) and $(cat mean_blue)"

refuse 2 "--where: column 'colour': found 'purple'" 'one of blue, green, red' -- "$NADE" sample model --where colour=purple
refuse 2 "--where: found 'color=red'" "but there is no column 'color'; did you mean 'colour'?" -- "$NADE" sample model --where color=red
for slip in 'Size>1' '1.5<Size' '1.5<=Size<2' 'SIZE in {1,2}' 'sizes!=1'; do
    refuse 2 "--where: found '$slip', but there is no column '" "did you mean 'size'?" -- "$NADE" sample model --where "$slip"
done
refuse 2 "--where: found 'price=1', but there is no column 'price', expected the name or zero-based number of one of the model's 4 columns" -- "$NADE" sample model --where price=1
refuse 2 "--where: found 'colour', expected COL=VALUE" "4 columns" -- "$NADE" sample model --where colour
refuse 2 "--where: found '4=1'" -- "$NADE" sample model --where 4=1
refuse 2 "column 'size': found 'big', expected a number" -- "$NADE" sample model --where size=big
refuse 2 "column 'size': found 'nan', expected a number" -- "$NADE" sample model --where size=nan
refuse 2 "column 'size': found ''" -- "$NADE" sample model --where size=
refuse 2 "column 'size'" 'standard deviations' -- "$NADE" sample model --where size=1e300
refuse 2 "column 'size': found -0.5, expected a number of" 'at least 0' -- "$NADE" sample model --where size=-0.5
refuse 2 "column 'x=y': found '2', expected 0 or 1" -- "$NADE" sample model --where x=y=2
refuse 2 "column 'colour' is given twice" -- "$NADE" sample model --where colour=red --where 1=red

refuse 2 'MODEL is missing' -- "$NADE" sample
refuse 2 nosuch -- "$NADE" sample nosuch
refuse 2 data.csv -- "$NADE" sample data.csv
refuse 2 "--number: found '0', expected a whole number from 1" -- "$NADE" sample model -n 0
refuse 2 "--number: found 'ten'" -- "$NADE" sample model -n ten
refuse 2 '--orderings and --ordering-file' -- "$NADE" sample model --orderings 2 --ordering-file orders
refuse 2 orders -- "$NADE" sample model --ordering-file orders
printf '0 1 2\n' >orders
refuse 2 'orders, line 1' -- "$NADE" sample model --ordering-file orders
refuse 2 'would be overwritten' -- "$NADE" sample model -o model
refuse 2 '--image is given without --png' -- "$NADE" sample model --image 2x2
refuse 2 '--png is given without --image' -- "$NADE" sample model --png grid.png
only data.csv mean_blue mean_red model orders
