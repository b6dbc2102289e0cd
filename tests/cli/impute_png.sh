# impute --png: for each row with holes the original, the row with the log density of what is there, its fillings.
. "$(dirname "$0")/../support/checks.bash"
python=${PYTHON:-/usr/bin/python3}

binary_data 400 1 >train.csv
expect 0 "$NADE" train train.csv -o model "${small[@]}"
binary_data 30 2 >whole.csv
awk -F, 'BEGIN { OFS = "," } NR > 3 { $2 = ""; $4 = "?" } { print }' whole.csv >holes.csv

# The picture alone; the table that comes with it holds the draws that it shows, five of them unless asked otherwise.
picture=(--image 2x2 --zoom 1 --seed 3)
expect 0 "$NADE" impute model holes.csv --png holes.png "${picture[@]}"
[ ! -s out ] || fail "more than a picture: $(cat out)"
[ "$(wc -l <err)" = 20 ] || fail "$(cat err)"
cp err notes
expect 0 "$NADE" impute model holes.csv --png again.png "${picture[@]}" -o filled.csv --json
cp err summary
cmp holes.png again.png
[ "$(head -n 1 filled.csv)" = draw,a,b,c,d ] && [ "$(wc -l <filled.csv)" = 151 ] || fail "$(cat filled.csv)"
expect 0 "$NADE" impute model holes.csv --png original.png "${picture[@]}" --original whole.csv --draws 2 --quiet
[ ! -s err ] || fail "not quiet: $(cat err)"
expect 0 "$NADE" impute model holes.csv --png mode.png "${picture[@]}" --method mode -o mode.csv --quiet
[ "$(head -n 1 mode.csv)" = a,b,c,d ] || fail "$(cat mode.csv)"
expect 0 "$NADE" impute model holes.csv --png many.png "${picture[@]}" --draws 30 --quiet

# What is there has the density that score gives it.
expect 0 "$NADE" score model holes.csv --seed 3 --quiet
cp out scores

"$python" - <<'END2'
import csv, json, struct, zlib

def read_png(path):
    data = open(path, "rb").read()
    width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
    assert (depth, colour) == (8, 2), (depth, colour)
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
    return rows, width, height

# Texts such as -1.23 are 5 characters of 6 dots, the last without its space, and make cells wider than the 2 pixels.
CELL, STRIP = 29, 12

def pixels(rows, line, image, top, height, left, width):
    y, x = line * (2 + STRIP + 1) + top, image * (CELL + 1) + left
    return [[tuple(rows[y + i][3 * (x + j):][:3]) for j in range(width)] for i in range(height)]

def image_of(rows, line, image):
    return sum(pixels(rows, line, image, 0, 2, (CELL - 2) // 2, 2), [])

def caption(rows, line, image):
    return pixels(rows, line, image, 4, 7, 0, CELL)

grey = lambda texts: [(178, 84, 80) if text in ("", "?") else (255 * int(text),) * 3 for text in texts]
given = list(csv.reader(open("holes.csv")))[3:23]
whole = list(csv.reader(open("whole.csv")))[3:23]
drawn = [r[1:] for r in csv.reader(open("filled.csv"))][1 + 2 * 5:]
modes = list(csv.reader(open("mode.csv")))[3:23]
scores = [float(s) for s in open("scores").read().split()[3:23]]

plain, width, height = read_png("holes.png")
assert (width, height) == (6 * CELL + 5, 20 * (2 + STRIP) + 19), (width, height)
both, width, height = read_png("original.png")
assert (width, height) == (4 * CELL + 3, 20 * (2 + STRIP) + 19), (width, height)
mode, width, height = read_png("mode.png")
assert width == 2 * CELL + 1, width
assert read_png("many.png")[1] == 21 * CELL + 20
shapes = {}
for row in range(20):
    assert image_of(plain, row, 0) == grey(given[row])
    for draw in range(5):
        assert image_of(plain, row, 1 + draw) == grey(drawn[5 * row + draw]), (row, draw)
    assert image_of(both, row, 0) == grey(whole[row])
    assert image_of(both, row, 1) == grey(given[row])
    assert [image_of(both, row, 2 + draw) for draw in range(2)] == [grey(d) for d in drawn[5 * row:][:2]]
    assert image_of(mode, row, 1) == grey(modes[row])
    # The same text looks the same, another one different, and only the row with holes has one.
    dots = caption(plain, row, 0)
    assert dots == caption(both, row, 1) == caption(mode, row, 0)
    assert shapes.setdefault("%.2f" % scores[row], dots) == dots
    for image in range(1, 6):
        assert all(p == (96, 96, 96) for line in caption(plain, row, image) for p in line)
assert len({str(dots) for dots in shapes.values()}) == len(shapes) > 2

pictured = json.load(open("summary"))["pictured"]
assert [p["row"] for p in pictured] == list(range(2, 22)) and all(p["missing"] == 2 for p in pictured), pictured
assert [p["log_density"] for p in pictured] == scores, (pictured, scores)
assert json.load(open("summary"))["draws"] == 5
for line, p in zip(open("notes"), pictured):
    words = line.split()
    assert words[:4] == ["row", f"{p['row']}:", "log", "density"] and float(words[4]) == p["log_density"], line
END2

refuse 2 'no missing cell' -- "$NADE" impute model train.csv --image 2x2 --png none.png
refuse 2 '--image' -- "$NADE" impute model holes.csv --png none.png
refuse 2 '2x3' -- "$NADE" impute model holes.csv --image 2x3 --png none.png
refuse 2 'both name' -- "$NADE" impute model holes.csv --image 2x2 --png same -o same
refuse 2 '--original is given without --png' -- "$NADE" impute model holes.csv --original whole.csv
refuse 2 'absent.csv' -- "$NADE" impute model holes.csv --image 2x2 --png none.png --original absent.csv
refuse 2 'would be overwritten' -- "$NADE" impute model holes.csv --image 2x2 --png whole.csv --original whole.csv
refuse 2 'both standard input' -- "$NADE" impute model - --image 2x2 --png none.png --original - </dev/null
head -n 5 whole.csv >short.csv
refuse 2 '--original: short.csv ends after 4 rows' -- \
    "$NADE" impute model holes.csv --image 2x2 --png none.png --original short.csv
awk -F, 'BEGIN { OFS = "," } NR == 9 { $3 = 1 - $3 } { print }' whole.csv >other.csv
refuse 2 "--original: row 7, column 'c' of other.csv is not what holes.csv has there" -- \
    "$NADE" impute model holes.csv --image 2x2 --png none.png --original other.csv
only again.png filled.csv holes.csv holes.png many.png mode.csv mode.png model notes original.png other.csv scores \
    short.csv summary train.csv whole.csv
