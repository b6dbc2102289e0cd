# Durations and times of day are numbers of seconds, and come back as they were written.
. "$(dirname "$0")/../support/checks.bash"

# all_rows COUNT FORM [COLUMN]: there are so many rows in out, and each, or its column, is of the form.
all_rows() {
    [ "$(tail -n +2 out | wc -l)" = "$1" ] || fail "$(tail -n +2 out | wc -l) rows, expected $1: $(head -n 5 out)"
    if tail -n +2 out | cut -d, -f"${3:-1-}" | grep -Evq "$2"; then
        fail "not like $2: $(tail -n +2 out | cut -d, -f"${3:-1-}" | grep -Ev "$2" | head -n 5)"
    fi
}

awk 'BEGIN { print "duration,lap,start,trip,kind"
    for (i = 0; i < 300; i++) { d = i * 137 % 9000 + 61; s = i * 71 % 1440; t = i * 53 % 1900 * 10 + 600
        printf "%d:%02d:%02d,00:%02d:%02d.%03d,%02d:%02d,%d:%02d,%s\n", d / 3600, d / 60 % 60, d % 60, i % 4, i * 7 % 60, i * 10 % 1000, s / 60, s % 60, t / 600, t / 10 % 60, i % 3 ? "a" : "b" } }' >data.csv
expect 0 "$NADE" train data.csv -o model "${network[@]}" --iterations 3
holds err 'duration: real, seconds written h:mm:ss, from 0' 'lap: real, seconds written hh:mm:ss.fff, from 0' 'start: real, seconds written hh:mm, from 0 to 86340' 'trip: real, seconds written h:mm, from 0'
expect 0 "$NADE" info model
holds out 'seconds written h:mm:ss, from 0'
expect 0 "$NADE" info data.csv
holds out 'from 0:01:' 'from 00:00 to 23:5' 'from 1:00 to'
expect 0 "$NADE" sample model -n 1000 --quiet
form='^[0-9]+:[0-5][0-9]:[0-5][0-9],[0-9]{2}:[0-5][0-9]:[0-5][0-9]\.[0-9]{3},([01][0-9]|2[0-3]):[0-5][0-9],[0-9]+:[0-5][0-9],[ab]$'
all_rows 1000 "$form"
cp out drawn.csv
expect 0 "$NADE" score model drawn.csv --quiet
[ "$(wc -l <out)" = 1001 ] || fail "scored: $(wc -l <out)"
expect 0 "$NADE" train drawn.csv --dry-run "${small[@]}"
holds err 'written h:mm:ss' 'written hh:mm:ss.fff' 'written hh:mm' 'written h:mm'

# Seconds are what they are: the density is that of a table of plain seconds.
printf 'duration,lap,start,trip,kind\n1:02:03,00:01:02.250,12:30,2:05,a\n' >formed.csv
printf 'duration,lap,start,trip,kind\n3723,62.25,45000,7500,a\n' >plain.csv
expect 0 "$NADE" score model formed.csv --quiet
mv out formed
expect 0 "$NADE" score model plain.csv --quiet
cmp out formed || fail "scored: $(cat out formed)"

# Cells that are there come back as they were, others in the form of their column.
printf 'duration,lap,start,trip,kind\n,00:01:02.25,12:30,,a\n01:02:03,,,2:05,b\n' >holes.csv
for method in draw median mode; do
    expect 0 "$NADE" impute model holes.csv --method $method --quiet
    sed -n 2p out | grep -Eq '^[0-9]+:[0-9]{2}:[0-9]{2},00:01:02.25,12:30,[0-9]+:[0-9]{2},a$' || fail "$method: $(cat out)"
    sed -n 3p out | grep -Eq '^01:02:03,00:[0-9]{2}:[0-9]{2}\.[0-9]{3},[0-9]{2}:[0-9]{2},2:05,b$' || fail "$method: $(cat out)"
done
expect 0 "$NADE" impute model holes.csv --method mean --quiet
cp out means.csv
expect 0 "$NADE" score model means.csv --quiet
expect 0 "$NADE" predict model holes.csv --of duration,trip --quiet
# Of the mean too, to the millisecond.
all_rows 2 '^[0-9]+:[0-9]{2}:[0-9]{2}(\.[0-9]{1,3})?(,[0-9]+:[0-9]{2}:[0-9]{2}){3},[0-9]+:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,3})?)?(,[0-9]+:[0-9]{2}){3}$'
head -n 2 out | grep -Eq '\.[0-9]{3},' || fail "means: $(cat out)"

# What is none hears of the form, and few rows are read in it.
printf 'duration,lap,start,trip,kind\n80,00:01:02.250,12:30,2:05,a\n0:23:37,00:01:02.250,12:30,2:05,a\n' >short.csv
refuse 2 "short.csv, line 2, column 'duration': found '80', expected a duration like h:mm:ss" -- "$NADE" score model short.csv
sed '20s/^[^,]*/20:30/' data.csv >slip.csv
refuse 2 "slip.csv, line 20, column 'duration': found '20:30', expected a duration like h:mm:ss" -- "$NADE" score model slip.csv

# Conditions in the form, or in seconds.
for range in 'duration<01:00:00' 'duration < 1:00:00' 'duration<3600'; do
    expect 0 "$NADE" sample model -n 100 --where "$range" --quiet
    all_rows 100 '^0:'
done
expect 0 "$NADE" sample model -n 100 --where '08:00<=start<09:30' --quiet
all_rows 100 '^(08:[0-5][0-9]|09:[0-2][0-9])$' 3
# The same probability as in seconds, and of values drawn.
probability() { "$NADE" prob model --where "$1" --quiet | tail -n 1 | cut -d, -f1; }
long=$(probability 'trip>=2:00')
[ "$long" = "$(probability 'trip>=7200')" ] || fail "prob: $long of trip>=2:00"
awk -F, -v long="$long" 'NR > 1 { split($4, t, ":"); rows++; hits += t[1] * 60 + t[2] >= 120 }
    END { exit (long - hits / rows) ^ 2 < 0.05 ^ 2 && hits > 0 && hits < rows ? 0 : 1 }' drawn.csv || fail "prob: $long of trip>=2:00"
expect 0 "$NADE" sample model -n 3 --where duration=0:23:37 --quiet
[ "$(tail -n +2 out | cut -d, -f1 | sort -u)" = 0:23:37 ] || fail "$(cat out)"
expect 0 "$NADE" prob model --where trip=2:00:30
holds err "column 'trip': 2:00:30 is off its steps of 60 seconds"
refuse 2 "column 'duration': found '23:37', expected a duration like h:mm:ss, or seconds" -- "$NADE" sample model --where 'duration<23:37'
refuse 2 "column 'start': found 'noon', expected a duration like hh:mm, or seconds" -- "$NADE" sample model --where 'start<noon'

# A column of numbers is none of durations, nor the other way round with a unit.
printf 'duration,lap,start,trip,kind\n5 min,1,1,1,a\n6 min,1,1,1,a\n7 min,1,1,1,a\n' >minutes.csv
refuse 2 "column 'duration': found numbers like 1234.5 min, expected them like h:mm:ss" -- "$NADE" score model minutes.csv
printf 'duration,lap,start,trip,kind\n23:37,,,,a\n45:12,,,,a\n59:05,,,,a\n' >minutes.csv
refuse 2 "column 'duration': found numbers like hh:mm, expected them like h:mm:ss" -- "$NADE" score model minutes.csv
printf 'x,y\n1,2.5\n2,3.5\n4,7.25\n' >numbers.csv
expect 0 "$NADE" train numbers.csv -o numbers "${small[@]}"
printf 'x,y\n1,0:01:00\n2,0:02:00\n3,0:03:00\n' >wrong.csv
refuse 2 "column 'y': found numbers like h:mm:ss, expected them like 1234.5" -- "$NADE" score numbers wrong.csv
awk 'NR == 150 { sub(/^[^,]*/, "1:75:00") } { print }' data.csv >slip.csv
refuse 2 "line 150, column 'duration': found '1:75:00', expected" -- "$NADE" train slip.csv -o model2 "${small[@]}"

# Few cells without seconds: minutes are their step.
printf 'x,t\n1,1:07\n2,0:13\n3,2:49\n4,1:58\n5,0:31\n6,3:02\n7,2:11\n8,1:23\n' >few.csv
expect 0 "$NADE" train few.csv -o few --real x,t --kind gaussian --quiet
expect 0 "$NADE" info few
grep -Eq ' t +real .* 60 .*seconds written h:mm' out || fail "$(cat out)"

# Two fields and three in one column, and ratios, stay texts; so does what is asked for.
{ echo "length,ratio,x"; for i in $(seq 60); do echo "$((i % 2)):$((10 + i % 50))$([ $((i % 2)) = 0 ] && echo :07),$((i % 9 + 1)):$((i % 7 + 2)),$i.5"; done; } >mixed.csv
expect 0 "$NADE" info mixed.csv
grep -q 'from [01]:' out && fail "$(cat out)"
expect 0 "$NADE" train data.csv -o labels --categorical start "${small[@]}"
holds err 'start: categorical'
