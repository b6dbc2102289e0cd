# Bounds of real columns, found, given and taken away; maps; ordered columns; what is outside.
. "$(dirname "$0")/../support/checks.bash"

# share lies between 0 and 1, temp is skewed from -5 on, level takes eleven values, 2.5 apart.
awk 'BEGIN {
    state = 11; print "code,share,temp,level"
    for (i = 0; i < 600; i++) {
        for (j = 0; j < 3; j++) { state = (state * 16807) % 2147483647; u[j] = state / 2147483647 }
        printf "k%d,%.6f,%.3f,%.1f\n", i % 3, u[0] ^ 0.6 * (i % 9 > 0), -5 - 4 * log(u[1]), 2.5 * int(11 * u[2] ^ 2)
    }
}' >data.csv
expect 0 "$NADE" train data.csv -o model "${network[@]}" --iterations 4
holds err 'share: real, from 0 to 1, 1 value of its own (0)' 'temp: real, mapped' 'level: ordered, 12 values from 0 to 27.5'
expect 0 "$NADE" info model
grep -qE 'level +ordered +12 values from 0 to 27.5$' out || fail "$(cat out)"

# within LOW HIGH COLUMN: all of a column of out.
within() {
    awk -F, -v low="$1" -v high="$2" -v column="$3" 'NR > 1 && !($column >= low && $column <= high) { exit 1 }' out ||
        fail "column $3 beyond $1 and $2"
}
expect 0 "$NADE" sample model -n 4000 --exact --quiet
within 0 1 2
expect 0 "$NADE" sample model -n 4000 --quiet
awk -F, 'NR > 1 && $4 != 2.5 * int($4 / 2.5 + 0.01) { exit 1 }' out || fail "levels between the values"

# Given bounds are kept and shown, and say what is refused; none are found where none shall be.
expect 0 "$NADE" train data.csv -o bounded "${network[@]}" --iterations 2 --bounds temp=-5:40 --bounds share=:1.5
holds err 'temp: real, from -5 to 40, mapped' 'share: real, up to 1.5'
expect 0 "$NADE" sample bounded -n 4000 --exact --quiet
within -5 40 3
refuse 2 "data.csv, column 'temp' holds" 'within its bounds, from -3' -- "$NADE" train data.csv -o x "${small[@]}" --bounds temp=-3:
refuse 2 "--bounds: found 'temp=3:1', expected COL=LO:HI with LO below HI" -- "$NADE" train data.csv -o x --bounds temp=3:1
refuse 2 "--bounds: column 'temp' is given twice, expected once" -- "$NADE" train data.csv -o x --bounds temp=-9: --bounds temp=:90
refuse 2 "--bounds and --unbounded both name column 'temp', expected one of them" -- "$NADE" train data.csv -o x --unbounded temp --bounds temp=-9:
refuse 2 "--bounds: found 'tamp=3:'" 'a column that is trained on' -- "$NADE" train data.csv -o x --bounds tamp=3:
refuse 2 "--bounds: found 'temp'" -- "$NADE" train data.csv -o x --bounds temp
refuse 2 "--unbounded: found 'tamp'" -- "$NADE" train data.csv -o x --unbounded tamp
refuse 2 "--bounds: found 'temp=0:1'" -- "$NADE" train data.csv -o x --bounds temp=0:1 --drop temp
refuse 2 "column 'code' is categorical, expected bounds on a real column" -- "$NADE" train data.csv -o x --bounds code=0:1
refuse 2 "column 'temp' is given the bound -1e+250, expected one within 1e+200" -- "$NADE" train data.csv -o x --bounds temp=-1e250:40
expect 0 "$NADE" train data.csv --dry-run --unbounded share --real level
holds err 'share: real, 1 value of its own (0)' 'level: real, from 0'
expect 0 "$NADE" train data.csv --dry-run --no-maps
! grep -qE 'mapped|from 0 to 1' err || fail "a map in spite of --no-maps: $(cat err)"

refuse 2 "no value of column 'share' is 2 or more, expected a range" -- "$NADE" sample model --where 'share>=2'
refuse 2 "no value of column 'share' is -1 or less, expected a range" -- "$NADE" sample model --where 'share<=-1'

# What lies outside is refused with its place, or missing.
printf 'code,share,temp,level\nk1,-0.25,3,5\nk1,0.5,3,6\n' >new.csv
refuse 2 "new.csv, line 2, column 'share': found '-0.25', expected a number from 0 to 1, the column's bounds (or --unseen missing, which makes it a missing cell)" -- "$NADE" score model new.csv
expect 0 "$NADE" score model new.csv --unseen missing
holds err "2 cells hold values that training has not seen and count as missing; the first: line 2, column 'share': '-0.25'"
[ "$(wc -l <out)" = 3 ]
printf 'code,share,temp,level\nk1,0.5,3,6\n' >new.csv
refuse 2 "new.csv, line 2, column 'level': found '6', expected one of the column's values" "(or --unseen missing, which makes it a missing cell)" -- "$NADE" score model new.csv
printf 'code,share,temp,level\nk1,half,3,5\n' >text.csv
refuse 2 "text.csv, line 2, column 'share': found 'half', expected a number" -- "$NADE" score model text.csv --header yes
! grep -q unseen err || fail "a text is no number however it is asked: $(cat err)"

# Training has no such way out and does not name it.
printf 'code,share,temp,level\nk1,1.25,3,5\nk1,0.5,3,5\n' >valid.csv
refuse 2 "valid.csv, line 2, column 'share': found '1.25', expected a number from 0 to 1" -- "$NADE" train data.csv -o x "${small[@]}" --valid valid.csv --quiet
! grep -q unseen err || fail "an option that train does not have: $(cat err)"
printf 'code,share,temp,level\nk9,0.25,3,5\nk1,0.5,3,5\n' >valid.csv
refuse 2 "valid.csv, line 2, column 'code': found 'k9', expected one of the labels seen in training" -- "$NADE" train data.csv -o x "${small[@]}" --valid valid.csv --quiet
! grep -q unseen err || fail "an option that train does not have: $(cat err)"
only bounded data.csv model new.csv text.csv valid.csv
