# nade train --map over ranks, each of which reads its own rows alone: the bytes of one process, and one sentence about
# what is wrong, whichever rank finds it.
. "$(dirname "$0")/../support/checks.bash"
. "$(dirname "$0")/../support/ranks.bash"

# floats.npy: 12,000 rows with holes, 60 rows at the border of two ranks' parts without a cell.  wide.npy: more cells
# than a sample has, columns with a value that one row holds, and one that ascends.
python3 - <<'PYTHON'
import array, math, random
def save(path, type, items, rows, columns):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }" % (type, rows, columns)
    head += " " * (117 - len(head)) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00\x76\x00" + head.encode() + items)
random.seed(1)
items = array.array("f")
for row in range(12000):
    z = random.gauss(0, 1)
    cells = [z + random.gauss(0, 1), row % 2, math.exp(z), random.randrange(5), round(z, 1)]
    empty = 5970 < row < 6030 or random.random() < 0.02
    items.extend(math.nan if empty else cell for cell in cells)
save("floats.npy", "<f4", items.tobytes(), 12000, 5)
items[5 * 9000 + 2] = math.inf
save("infinite.npy", "<f4", items.tobytes(), 12000, 5)
wide = bytearray(random.randbytes(1 << 16).translate(bytes(i % 5 for i in range(256))) * 367)[:60000 * 400]
for column in range(40):
    wide[(1000 + 1300 * column) * 400 + column] = 40
    wide[column] = 50
twice = bytearray(2 * len(wide))
twice[::2] = wide
wide = array.array("h", bytes(twice))
wide[40::400] = array.array("h", range(-30000, 30000))
wide[41::400] = array.array("h", [random.randrange(2000) for row in range(60000)])
save("wide.npy", "<i2", wide.tobytes(), 60000, 400)
PYTHON
short=(--quiet --effort quick --width 16 --batch 50 --updates 5 --iterations 2 --device cpu --threads 1)
alike() { # alike COUNTS DATA OPTIONS...: so many ranks come to the bytes of one process
    local counts=$1 count
    shift
    expect 0 "$NADE" train "$@" -o alone --map "${short[@]}"
    for count in $counts; do
        expect 0 ranks "$count" train "$@" -o model --map --exact-sums "${short[@]}"
        cmp alone model || fail "$count ranks come to other bytes: $*"
    done
}

# quoted.csv: most line ends are inside quotes, where what follows looks like rows to the very end, so that ranks guess
# wrong where a row begins and nothing seems to be wrong; between some rows there are blank lines.  A text is among more
# numbers than a column of them has as labels, for the last rank behind them.  The same rows in two files, which ranks
# divide elsewhere.
python3 - <<'PYTHON'
import random
random.seed(2)
texts = ['"0,0,0,' + "".join(f"0\n{a},{b},{c}," * 9 for a in "12") + 'z"' for b in "345" for c in "67"] + ["short"]
with open("quoted.csv", "w") as whole, open("part-1.csv", "w") as first, open("part-2.csv", "w") as second:
    for file in (whole, first, second):
        file.write("number,value,mixed,text\n")
    for row in range(12000):
        z = random.gauss(0, 1)
        cell = "" if row % 50 == 3 else f"{z:.4f}"
        mixed = "A" if row in (0, 11999) else row % 1500
        text = f"{cell},{z + random.gauss(0, 1):.3f},{mixed},{random.choice(texts)}\n" + "\n" * (row % 400 == 5)
        whole.write(text)
        (first if row < 7000 else second).write(text)
with open("wide.csv", "w") as file:  # more cells than a sample has, some values in one row each
    rows = [[random.choice("01234") for _ in range(420)] for _ in range(50)]
    for row in range(50000):
        cells = list(rows[row % 50])
        if row % 1000 == 7:
            cells[row // 1000] = "9"
        file.write(",".join(cells) + "\n")
PYTHON
alike 3 wide.csv
alike '2 5' quoted.csv --categorical mixed
cp model quoted
alike 3 'part-*.csv' --categorical mixed
cmp model quoted || fail 'rows in two files give another model'
alike '2 4' floats.npy
alike 2 floats.npy --drop 0 --valid floats.npy
alike 3 wide.npy --columns 0-9,40-49
expect 0 ranks 2 train floats.npy -o fast --map "${short[@]}"
expect 0 "$NADE" train floats.npy -o loaded "${short[@]}"
"$NADE" train floats.npy -o alone --map "${short[@]}"
cmp alone loaded || fail "the mapped rows of one process come to other bytes"

# Where updates are not shared, every rank has all rows.
expect 0 ranks 2 train floats.npy -o model --map --kind mixture --iterations 3 --device cpu -q
"$NADE" train floats.npy -o alone --map --kind mixture --iterations 3 --device cpu -q
cmp alone model || fail "ranks come to another mixture"

# What one rank finds, all end with, in one sentence.
together() { # together STATUS TEXT... -- WORDS...
    local status=$1 texts=()
    shift
    while [ "$1" != -- ]; do
        texts+=("$1")
        shift
    done
    shift
    expect "$status" ranks "$@"
    [ "$(grep -c '^nade: ' err)" = 1 ] || fail "not one sentence: $*: $(cat err)"
    holds err "${texts[@]}"
}
together 2 'infinite.npy, row 9000' -- 4 train infinite.npy -o model --map "${short[@]}"
sed '100000s/^/"/' quoted.csv >wrong.csv
expect 2 "$NADE" train wrong.csv -o model --map "${short[@]}"
together 2 "$(sed 's/^nade: //' err)" -- 4 train wrong.csv -o model --map "${short[@]}"
holds err 'wrong.csv, line'
together 2 'nothing.npy' -- 2 train nothing.npy -o model --map "${short[@]}"

# Files that are not the same.
{ head -c 128 floats.npy; tail -c +129 wide.npy | head -c 240000; } >other.npy
mkdir one two
cp floats.npy one/data.npy
cp other.npy two/data.npy
apart() { # apart TEXT: ranks in the folders one and two
    expect 2 timeout 60 mpirun --oversubscribe -n 1 --wdir "$PWD/one" "$NADE" train data.npy -o model --map "${short[@]}" : \
        -n 1 --wdir "$PWD/two" "$NADE" train data.npy -o model --map "${short[@]}"
    holds err "$1 differs between rank 0 and rank 1"
}
apart "the content of data.npy"
head -c 100000 floats.npy >two/data.npy
apart "the size of data.npy"
rm two/data.npy
expect 2 timeout 60 mpirun --oversubscribe -n 1 --wdir "$PWD/one" "$NADE" train data.npy -o model --map "${short[@]}" : \
    -n 1 --wdir "$PWD/two" "$NADE" train data.npy -o model --map "${short[@]}"
holds err "data.npy: cannot be opened"
