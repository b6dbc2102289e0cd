# nade train --map: the rows of an NPY file stay where they are.
. "$(dirname "$0")/../support/checks.bash"

# floats.npy: 12,000 rows of numbers, labels, prices and holes, some row without a cell.  wide.npy: 60,000 rows of 400
# columns, more cells than a sample has: 40 with a value that only one row holds, one that ascends, and one of numbers
# from 0 on, more than the first values that are looked for, but for a row that is not among those that are spread.
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
    wide[column] = 50  # so that 40 is no extreme
twice = bytearray(2 * len(wide))
twice[::2] = wide
wide = array.array("h", bytes(twice))
wide[40::400] = array.array("h", range(-30000, 30000))
wide[41::400] = array.array("h", [random.randrange(2000) for row in range(60000)])
wide[50002 * 400 + 41] = -300
save("wide.npy", "<i2", wide.tobytes(), 60000, 400)
save("none.npy", "<f4", b"", 12000, 0)
save("empty.npy", "<f4", array.array("f", [math.nan]).tobytes() * 24000, 12000, 2)
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

# So is the least number of a column: else its row would be refused.  A column that ascends has a new largest in every
# row, but they are not all in the sample, or this would be the model of the loaded table.
train wide.npy loaded --columns 40-41
train wide.npy mapped --map --columns 40-41
cmp -s loaded mapped && fail 'a column that ascends makes the sample the whole table'

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
refuse 1 "nowhere/at/all: can't be written to, for the encoded rows" TMPDIR -- \
    env TMPDIR=nowhere/at/all "$NADE" train floats.npy -o new --map

# Arrays without columns or without a cell are what they are without --map.
refuse 2 'none.npy: has 12000 rows and 0 columns, expected some' -- "$NADE" train none.npy -o new --map
expect 2 "$NADE" train empty.npy -o new --map
holds err "empty.npy has 12000 rows, 0 of them to learn from"

# A file that is cut off between its sample and its rows: the table that validates is waited for in between.
mkfifo pipe
{
    exec 3>pipe
    truncate -s 100000 floats.npy
    cat valid.npy >&3
} &
refuse 2 'floats.npy: has become shorter while it was read' -- "$NADE" train floats.npy -o new --map --valid pipe
wait
