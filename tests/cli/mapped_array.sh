# nade train --map: the rows of an NPY file stay where they are.
. "$(dirname "$0")/../support/checks.bash"

# floats.npy: 12,000 rows of numbers, labels, prices and holes, some row without a cell.  wide.npy: 60,000 rows of 400
# bytes, more cells than a sample has, with values that only one row holds.
python3 - <<'END'
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
    items.extend(math.nan if row == 77 or random.random() < 0.02 else cell for cell in cells)
save("floats.npy", "<f4", items.tobytes(), 12000, 5)
wide = bytearray(random.randbytes(1 << 16).translate(bytes(i % 5 for i in range(256))) * 367)[:60000 * 400]
for column in range(40):
    wide[(1000 + 1300 * column) * 400 + column] = 40
save("wide.npy", "|u1", bytes(wide), 60000, 400)
END
train() { expect 0 "$NADE" train "$1" -o "$2" --quiet --effort quick --width 16 --batch 50 --updates 5 --iterations 2 "${@:3}"; }

# Where the sample is all rows, the model is the one of the loaded table, byte for byte.
train floats.npy loaded
train floats.npy mapped --map
cmp loaded mapped || fail 'a mapped array gives another model'

# Columns may be left out, and validation rows come from a file.
head -c 128 floats.npy >valid.npy
tail -c 20000 floats.npy >>valid.npy
sed -i '1s/12000/1000 /' valid.npy
train floats.npy loaded --drop 0 --valid valid.npy
train floats.npy mapped --drop 0 --valid valid.npy --map
cmp loaded mapped || fail 'a mapped array gives another model with --drop and --valid'

# Values that only one row holds are known: their rows are in the sample.
train wide.npy mapped --map --columns 0-39 --categorical 0-39
expect 0 "$NADE" info --json mapped
[ "$(grep -o '"40"' out | wc -l)" = 40 ] || fail 'a value that one row holds is not known'

# What can't be mapped is loaded; what can't be done with a mapped table is refused.
gzip -k floats.npy
train floats.npy loaded
train floats.npy.gz packed --map
cmp loaded packed || fail 'a packed array gives another model with --map'
for how in '--holes' '--members 2 --bootstrap' '--folds 3'; do
    # shellcheck disable=SC2086 # several words
    refuse 2 'floats.npy' 'without --map' -- "$NADE" train floats.npy -o new --map $how
done
refuse 2 'no column can tell weights' 'without --map' -- "$NADE" train floats.npy -o new --map --weights 1
refuse 1 'nowhere/at/all: there is no room for the encoded rows' TMPDIR -- \
    env TMPDIR=nowhere/at/all "$NADE" train floats.npy -o new --map
