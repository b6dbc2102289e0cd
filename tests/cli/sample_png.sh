# sample --image --png: a grid of the very rows that are printed.
. "$(dirname "$0")/../support/checks.bash"

# pixels FILE: width, height, and the grey level of each pixel row by row.
pixels() {
    python3 "$(dirname "$0")/../support/png_levels.py" "$1"
}

binary_data 300 1 >data.csv
expect 0 "$NADE" train data.csv -o model "${small[@]}"
expect 0 "$NADE" sample model -n 3 --image 2x2 --png grid.png --across 2 --zoom 1 -o rows.csv --seed 2
holds err '3 rows drawn'
pixels grid.png >found
tail -n +2 rows.csv | python3 -c '
import sys
a, b, c = ([255 * int(cell) for cell in line.split(",")] for line in sys.stdin)
print(5, 5)
print(*a[:2], 96, *b[:2]); print(*a[2:], 96, *b[2:]); print(96, 96, 96, 96, 96)
print(*c[:2], 96, 96, 96); print(*c[2:], 96, 96, 96)' >wanted
cmp found wanted || fail "pixels: $(cat found)"

# Without -o the picture is all; by default a square of images of about 64 pixels, one pixel apart.
expect 0 "$NADE" sample model -n 9 --image 1x4 --png grid.png
[ ! -s out ] || fail "rows in spite of --png"
[ "$(pixels grid.png | head -n 1)" = "$(((3 * 4 + 2) * 16)) $(((3 * 1 + 2) * 16))" ]
cp grid.png first.png
expect 0 "$NADE" sample model -n 9 --image 1x4 --png grid.png --threads 1
cmp grid.png first.png

# Real columns: from black, the least value, to white.
real_data 200 1 >real.csv
expect 0 "$NADE" train real.csv -o real "${small[@]}"
expect 0 "$NADE" sample real -n 50 --image 1x2 --png grid.png --across 50 --zoom 1 -o rows.csv
pixels grid.png | tail -n 1 >found
tail -n +2 rows.csv | python3 -c '
import sys
rows = [[float(cell) for cell in line.split(",")] for line in sys.stdin]
low, high = min(map(min, rows)), max(map(max, rows))
found = [int(x) for x in open("found").read().split()]
assert len(found) == 149 and min(found) == 0 and max(found) == 255
for i, row in enumerate(rows):
    for j, x in enumerate(row):
        assert abs(found[3 * i + j] - 255 * (x - low) / (high - low)) <= 0.51, (i, j)'

refuse 2 '--image: found 2x3, 6 pixels' "4 columns" -- "$NADE" sample model --image 2x3 --png new.png
for shape in 2 x 2x 2x2x2 0x4 -2x2 2*2 9999999x1; do
    refuse 2 "--image: found '$shape'" 28x28 -- "$NADE" sample model "--image=$shape" --png new.png
done
refuse 2 'both name new.png' -- "$NADE" sample model --image 2x2 --png new.png -o new.png
refuse 2 'would be overwritten' -- "$NADE" sample model --image 2x2 --png model
refuse 2 'too large' -- "$NADE" sample model -n 1000000 --image 2x2 --png new.png --zoom 1000
refuse 1 nowhere/new.png -- "$NADE" sample model --image 2x2 --png nowhere/new.png
printf 'a,b\nx,1\ny,0\nz,1\n' >labels.csv
for i in 1 2 3 4 5; do tail -n +2 labels.csv >more; cat more >>labels.csv; done
expect 0 "$NADE" train labels.csv -o labels "${small[@]}"
refuse 2 "column 'a' is categorical" -- "$NADE" sample labels --image 1x2 --png new.png
only data.csv first.png found grid.png labels labels.csv model more real real.csv rows.csv wanted
