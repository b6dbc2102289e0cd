# impute --png: rows with holes beside their first five draws.
. "$(dirname "$0")/../support/checks.bash"
python=${PYTHON:-/usr/bin/python3}

binary_data 400 1 >train.csv
expect 0 "$NADE" train train.csv -o model "${small[@]}"
binary_data 30 2 | awk -F, 'BEGIN { OFS = "," } NR > 3 { $2 = ""; $4 = "?" } { print }' >holes.csv
expect 0 "$NADE" impute model holes.csv --image 2x2 --png holes.png --zoom 1 --seed 3
[ ! -s out ] && [ ! -s err ] || fail "more than a picture: $(cat out err)"
expect 0 "$NADE" impute model holes.csv --image 2x2 --png again.png --zoom 1 --seed 3 -o filled.csv --draws 5 --quiet
cmp holes.png again.png
"$python" - <<'END'
import csv, struct, zlib
data = open("holes.png", "rb").read()
width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
assert (width, height, depth, colour) == (6 * 2 + 5, 20 * 2 + 19, 8, 2), (width, height, depth, colour)
packed, at = b"", 8
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    if kind == b"IDAT":
        packed += data[at + 8:at + 8 + size]
    at += 12 + size
raw, stride, rows, last = zlib.decompress(packed), 3 * width, [], bytearray(3 * width)
for y in range(height):
    kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
    for i in range(stride):
        a, b, c = (line[i - 3] if i > 2 else 0), last[i], (last[i - 3] if i > 2 else 0)
        p = a + b - c
        paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        line[i] = (line[i] + [0, a, b, (a + b) // 2, paeth][kind]) % 256
    rows.append(line)
    last = line
pixel = lambda row, image, cell: tuple(rows[3 * row + cell // 2][3 * (3 * image + cell % 2):][:3])
given = list(csv.reader(open("holes.csv")))[3:23]
drawn = list(csv.reader(open("filled.csv")))[1 + 2 * 5:]
grey = lambda text: (255 * int(text),) * 3
for row in range(20):
    for cell in range(4):
        hole = given[row][cell] in ("", "?")
        assert pixel(row, 0, cell) == ((178, 84, 80) if hole else grey(given[row][cell])), (row, cell)
        for draw in range(5):
            assert pixel(row, 1 + draw, cell) == grey(drawn[5 * row + draw][1 + cell]), (row, draw, cell)
END
refuse 2 'no missing cell' -- "$NADE" impute model train.csv --image 2x2 --png none.png
refuse 2 '--image' -- "$NADE" impute model holes.csv --png none.png
refuse 2 '2x3' -- "$NADE" impute model holes.csv --image 2x3 --png none.png
refuse 2 'both name' -- "$NADE" impute model holes.csv --image 2x2 --png same -o same
only again.png filled.csv holes.csv holes.png model train.csv
