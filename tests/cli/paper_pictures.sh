# paper figures: pictures of small models that stand where the recipes leave theirs.
. "$(dirname "$0")/../support/checks.bash"

# images ROWS SEED: 8 by 8 pixels, a bar at a random place in a little noise, the first rows standing, the others lying.
images() {
    awk -v rows="$1" -v seed="$2" '
        function draw() { state = (state * 16807) % 2147483647; return state / 2147483647 }
        BEGIN {
            state = seed + 1; for (i = 0; i < 20; i++) draw()
            for (i = 0; i < rows; i++) {
                at = int(draw() * 8)
                for (p = 0; p < 64; p++) {
                    bar = (i < rows / 2 ? p % 8 : int(p / 8)) == at
                    printf "%d%s", draw() < 0.05 ? 1 - bar : bar, p < 63 ? "," : "\n"
                }
            }
        }'
}

# patches ROWS SEED: 63 columns, the first pixels of a slope in noise.
patches() {
    awk -v rows="$1" -v seed="$2" '
        function draw() { state = (state * 16807) % 2147483647; return state / 2147483647 }
        BEGIN {
            state = seed + 1; for (i = 0; i < 20; i++) draw()
            for (i = 0; i < rows; i++) {
                slope = draw() - 0.5
                for (p = 0; p < 63; p++) printf "%.5f%s", slope * (p % 8 - 3.5) / 10 + draw() / 20, p < 62 ? "," : "\n"
            }
        }'
}

mkdir -p data/binarized_mnist data/bsds300/test results
refuse 2 '--data is missing' -- "$NADE" paper figures
expect 2 "$NADE" paper figures --data data --results results
holds err 'results holds none of the models and results' 'the pictures of digits are left out' \
    'results/bsds300-6hl/seed0.safetensors is not there' 'the curve of mnist-1hl over orderings is left out'
[ ! -e results/figures ] || fail "a folder for nothing"

mkdir results/mnist-2hl results/bsds300-6hl
images 300 1 >train.csv
images 120 2 >data/binarized_mnist/test.npy.gz # what it is shows in its contents, not in its name
expect 0 "$NADE" train train.csv -o results/mnist-2hl/seed0.safetensors --header no "${small[@]}"
patches 200 1 >patches.csv
expect 0 "$NADE" train patches.csv -o results/bsds300-6hl/seed0.safetensors --header no --no-atoms "${small[@]}"
figures='{"density": {"1": -88.6, "2": -87.5, "16": -85.6, "128": -84.8}}'
echo '{"recipe": "mnist-2hl", "runs": [{"seed": 0, "figures": '"$figures"', "curve": {"1": -88.6, "2": -87.5, "4": -86.7}}]}' \
    >results/mnist-2hl.json
base64 -d >data/bsds300/test/squares.jpg <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYV
pQYEpRUk//wAALCAAQABABAREA/8QAFQABAQAAAAAAAAAAAAAAAAAABgX/xAAcEAABAwUAAAAAAAAAAAAAAAARAAQTBRUhgfH/2gAIAQEAAD8A
PU1tbxiSTQHUspra3jEkmgOqXTW1vGJJNAdS2mtreMSSaA6v/9k=
END
base64 -d >data/bsds300/test/slope.jpg <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYV
pQYEpRUk//wAALCAAQABABAREA/8QAFQABAQAAAAAAAAAAAAAAAAAABAP/xAAWEAADAAAAAAAAAAAAAAAAAAAAAgP/2gAIAQEAAD8AJNRU1JTU
VNT/2Q==
END

# All that can be drawn is; the curve that has no result is named.
expect 0 "$NADE" paper figures --data data --results results
holds err 'warning: the curve of mnist-1hl' 'wrote results/figures/likelihood-orderings.png'
[ "$(grep -c warning err)" = 1 ] || fail "$(cat err)"
expect 0 "$NADE" paper figures --data data --results results -o pictures --json --threads 1
grep '"pictures"' err | python3 -c '
import json, sys
names = ["mnist-receptive-fields", "mnist-mask-fields", "mnist-holes", "mnist-examples", "mnist-samples",
         "bsds300-examples", "bsds300-samples", "likelihood-orderings"]
assert json.load(sys.stdin)["pictures"] == [f"pictures/{name}.png" for name in names]'
[ "$(ls pictures | wc -l)" = 8 ]
for picture in pictures/*; do cmp "$picture" "results/figures/${picture#*/}"; done

# Examples are test rows, one of each fiftieth; both they and samples get less likely from left to right, line by line.
python3 - <<'END'
from png_levels import read_png

def images(path, side, zoom, count=50, across=10, strip=0):
    """The levels of the images in a grid."""
    width, height, rows = read_png(path)
    step, down = (side + 1) * zoom, (side + 1) * zoom + strip
    assert (width, height) == (across * step - zoom, (count + across - 1) // across * down - zoom), (width, height)
    return [[rows[i // across * down + y * zoom][3 * (i % across * step + x * zoom)] for y in range(side)
             for x in range(side)] for i in range(count)]

test = [[255 * int(cell) for cell in line.split(",")] for line in open("data/binarized_mnist/test.npy.gz")]
examples = images("pictures/mnist-examples.png", 8, 3)
for first in range(0, 100, 2):
    assert any(row in examples for row in test[first:first + 2]), first
assert all(row in test for row in examples)
for name in "examples", "samples":
    with open(name + ".csv", "w") as file:
        for row in images(f"pictures/mnist-{name}.png", 8, 3):
            assert set(row) <= {0, 255}
            print(*(level // 255 for level in row), sep=",", file=file)

# Patches: the mean of an example is grey, unless pixels were clipped; samples have the same scale and form.
patches = [p for p in images("pictures/bsds300-examples.png", 8, 8) if 0 not in p and 255 not in p]
assert len(patches) >= 25, len(patches)
assert all(abs(sum(p) / 64 - 127.5) < 0.2 for p in patches)
assert len({tuple(p) for p in images("pictures/bsds300-samples.png", 8, 8)}) == 50

# Fields: the weights of all 16 units, those of the largest norm first.
import json, struct
data = open("results/mnist-2hl/seed0.safetensors", "rb").read()
size = struct.unpack("<Q", data[:8])[0]
entry = json.loads(data[8:8 + size])["hidden.0.weight"]
assert entry["shape"] == [16, 128]
begin, end = (8 + size + offset for offset in entry["data_offsets"])
weights = struct.unpack("<2048f", data[begin:end])
units = sorted((weights[128 * i:128 * i + 128] for i in range(16)), key=lambda w: -sum(x * x for x in w[:64]))
for name, first in ("receptive", 0), ("mask", 64):
    for unit, levels in zip(units, images(f"pictures/mnist-{name}-fields.png", 8, 3, count=16)):
        field = unit[first:first + 64]
        most = max(map(abs, field))
        assert all(abs(level - 127.5 - 127.5 * x / most) < 0.51 for x, level in zip(field, levels))

# Holes: 2 pixels of 8 on a side, red in the second image; the fillings differ from the digit there alone.
width, height, rows = read_png("pictures/mnist-holes.png")
cells = images("pictures/mnist-holes.png", 8, 5, count=35, across=7, strip=12)
changed = 0
for line in range(5):
    digit, hollow, *fillings = cells[7 * line:7 * line + 7]
    hole = [p for p in range(64) if hollow[p] == 178]
    assert digit in test and hole == [hole[0], hole[0] + 1, hole[0] + 8, hole[0] + 9], hole
    assert all(image[p] == digit[p] for image in [hollow] + fillings for p in range(64) if p not in hole)
    assert all(image[p] in (0, 255) for image in fillings for p in hole)
    changed += sum(image != digit for image in fillings)
assert changed > 5, changed

# The plot has the second recipe's colour, and nothing of the first's.
width, height, rows = read_png("pictures/likelihood-orderings.png")
assert (width, height) == (880, 560)
colours = {row[i:i + 3] for row in rows for i in range(0, 3 * width, 3)}
assert bytes((0xC8, 0x50, 0x1E)) in colours and bytes((0x1F, 0x6F, 0xB4)) not in colours
END
for name in examples samples; do
    expect 0 "$NADE" score results/mnist-2hl/seed0.safetensors $name.csv --header no --quiet
    tail -n +2 out | sort -grs | cmp - <(tail -n +2 out) || fail "$name are not sorted"
done

# Data and models that are not what the pictures need.
head -n 49 train.csv >data/binarized_mnist/test.npy.gz
refuse 2 'test.npy.gz has 49 rows' 'at least 50' -- "$NADE" paper figures --data data --results results -o other --quiet
cp results/bsds300-6hl/seed0.safetensors results/mnist-2hl
refuse 2 'model of mnist-2hl has 63 columns' square -- "$NADE" paper figures --data data --results results -o other --quiet
echo nothing >results/mnist-2hl/seed0.safetensors
refuse 2 seed0.safetensors -- "$NADE" paper figures --data data --results results -o other --quiet
