# Wrong calls: exit 2 and one sentence that names the option, what was found and what was expected.
. "$(dirname "$0")/../support/checks.bash"
binary_data 60 1 >data.csv

refuse 2 'did you mean train' -- "$NADE" tarin
refuse 2 "unknown verb '--frobnicate'" -- "$NADE" --frobnicate
refuse 2 'did you mean train' -- "$NADE" help tarin
refuse 2 'DATA is missing' 'nade train DATA' -- "$NADE" train
refuse 2 'DATA is missing' -- "$NADE" score model
refuse 2 'FILE is missing' -- "$NADE" info
refuse 2 "unexpected argument 'more'" -- "$NADE" info model more
refuse 2 '-o is missing' -- "$NADE" train data.csv

# Options that do not exist, those of later versions among them.
for option in --frobnicate --residual=2 --impute=x -x; do
    refuse 2 "unknown option ${option%%=*}" 'nade train --help' -- "$NADE" train data.csv -o model "$option"
done
for option in --frobnicate --columns=a; do
    refuse 2 "unknown option ${option%%=*}" -- "$NADE" score model data.csv "$option"
done
refuse 2 'unknown option --hid' -- "$NADE" train data.csv -o model --hid 3

# Values.
refuse 2 '--batch needs a value' -- "$NADE" train data.csv -o model --batch
refuse 2 '--valid needs a value' -- "$NADE" train data.csv -o model --valid --quiet
refuse 2 '--output needs a value' -- "$NADE" train data.csv -o
refuse 2 '--quiet takes no value' -- "$NADE" train data.csv -o model --quiet=yes
for value in 0 -1 1.5 1e3 ten '' ' 5' 99999999999999999999999; do
    refuse 2 "--batch: found '$value', expected a whole number" -- "$NADE" train data.csv -o model "--batch=$value"
done
refuse 2 "--seed: found '4294967296'" 'to 4294967295' -- "$NADE" train data.csv -o model --seed 4294967296
for value in -1 nan inf 0x1 '1;5' 1e999 '' .; do
    refuse 2 "--lr: found '$value', expected a number" -- "$NADE" train data.csv -o model "--lr=$value"
done
for value in 1,,5 1, ,1 1,-5 '1, 5' 1,nan $(seq -s, 17); do
    refuse 2 "--lr: found '$value'" 'or up to 16 such numbers separated by commas' -- \
        "$NADE" train data.csv -o model "--lr=$value"
done
refuse 2 "--valid-fraction: found '1'" 'from 0 to 0.999' -- "$NADE" train data.csv -o model --valid-fraction 1
for value in 5,,5 5, ,5 5x -3; do
    refuse 2 "--hidden: found '$value'" 'separated by commas' -- "$NADE" train data.csv -o model "--hidden=$value"
done
refuse 2 "--order: found 'free', expected agnostic or fixed" -- "$NADE" train data.csv -o model --order free
refuse 2 'hidden' -- "$NADE" train data.csv -o model --order fixed --hidden 5,5
refuse 2 "--precision: found 'fp16', expected auto, fp32, tf32 or bf16" -- "$NADE" train data.csv -o model --precision fp16
refuse 2 "--device: found 'gpu', expected auto, cpu, cuda or reference" -- "$NADE" train data.csv -o model --device gpu
refuse 2 "--activation: found 'Relu'" 'relu, sigmoid, tanh, gelu or silu' -- "$NADE" train data.csv -o model --activation Relu
refuse 2 "--delimiter: found 'xy'" -- "$NADE" train data.csv -o model --delimiter xy
refuse 2 "--header: found 'maybe'" 'yes, no or auto' -- "$NADE" train data.csv -o model --header maybe

# Combinations.
refuse 2 '--seed is given twice' -- "$NADE" train data.csv -o model --seed 1 --seed=1
refuse 2 '--output is given twice' -- "$NADE" train data.csv -o model --output model
refuse 2 '--valid and --valid-fraction' -- "$NADE" train data.csv -o model --valid data.csv --valid-fraction 0.2
refuse 2 '--orderings and --ordering-file' -- "$NADE" score model data.csv --ordering-file x --orderings 2
refuse 2 'would be overwritten' -- "$NADE" train data.csv -o ./data.csv
refuse 2 'would be overwritten' -- "$NADE" train data.csv -o model --log data.csv
refuse 2 'model is named for two outputs' -- "$NADE" train data.csv -o model --log model
refuse 2 'column' 'nosuch' -- "$NADE" train data.csv -o model --drop nosuch
refuse 2 'column' 'nosuch' -- "$NADE" train data.csv -o model --real nosuch

# The lists that have a limit, at it and one beyond (docs/formats.md, Limits).
rates=$(printf '0.0%s,' {11..25})0.026
expect 0 "$NADE" train data.csv -o model --lr "$rates" --dry-run --quiet
refuse 2 'or up to 16 such numbers' -- "$NADE" train data.csv -o model --lr "$rates,0.027" --dry-run
wheres=()
for _ in {1..1000}; do wheres+=(--where 0=1); done
refuse 2 'model' -- "$NADE" sample model "${wheres[@]}"
refuse 2 '--where is given more than 1000 times' -- "$NADE" sample model "${wheres[@]}" --where 0=1

only data.csv

# Options stand anywhere, and -- ends them.
expect 0 "$NADE" train --dry-run "--hidden=4,4" data.csv --quiet
[ ! -s err ] || fail "--quiet is not quiet: $(cat err)"
cp data.csv ./--data.csv
expect 0 "$NADE" train --dry-run --quiet -- --data.csv
