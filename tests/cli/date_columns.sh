# Columns of dates: found, trained, scored, drawn, filled and asked for by ranges; valid dates in the table's form everywhere.
. "$(dirname "$0")/../support/checks.bash"

# Two years of days and of seconds of the same days; more visitors at weekends; now and then a hole.
awk 'function draw() { state = (state * 16807) % 2147483647; return state / 2147483647 }
    BEGIN { state = 11; for (i = 0; i < 600; i++) print "@" 1577836800 + int(draw() * 731) * 86400 + int(draw() * 86400) }' |
    date -u -f - '+%d.%m.%Y,%Y-%m-%d %H:%M:%S,%u' |
    awk -F, 'BEGIN { print "day,time,visitors" }
        { print (NR % 29 == 4 ? "" : $1) "," $2 "," 20 + NR % 10 + ($3 > 5 ? 30 : 0) }' >data.csv
expect 0 "$NADE" train data.csv -o model "${network[@]}" --iterations 5 --device cpu
holds err "day: date, like DD.MM.YYYY, to the day" "time: date, like YYYY-MM-DD hh:mm:ss, to the second"
expect 0 "$NADE" info model
grep -qE '^ +0  day +date +like DD.MM.YYYY, to the day$' out || fail "$(cat out)"
expect 0 "$NADE" score model data.csv -o fast --device cpu --quiet
expect 0 "$NADE" score model data.csv -o exact --device reference --quiet
paste fast exact | awk 'NR > 1 { d = $1 - $2; n++; if (d > 1e-3 || d < -1e-3) bad = 1 } END { exit bad || n != 600 }' ||
    fail "CPU and reference differ: $(paste fast exact)"

# Samples are dates that exist, in both forms; ranges hold what they say, their ends in either form.
expect 0 "$NADE" sample model -n 300 --quiet
tail -n +2 out | cut -d, -f1 | sed 's/\(.*\)\.\(.*\)\.\(.*\)/\3-\2-\1/' >days
tail -n +2 out | cut -d, -f2 >times
date -u -f days +%Y-%m-%d | cmp -s - days || fail "$(cat days)"
date -u -f times '+%Y-%m-%d %H:%M:%S' | cmp -s - times || fail "$(cat times)"
[ "$(wc -l <days)" = 300 ] || fail "$(cat out)"
expect 0 "$NADE" sample model -n 100 --where '28.02.2020<=day<2020-03-02' --quiet
[ "$(awk -F, 'NR > 1 { print $1 }' out | sort -u | tr '\n' ' ')" = "01.03.2020 28.02.2020 29.02.2020 " ] || fail "$(sort -u out)"
expect 0 "$NADE" sample model -n 100 --where 'time>=2021-05-01' --where 'day<2021-07-01' --quiet
awk -F, 'NR > 1 && ($2 < "2021-05-01" || substr($1, 7) substr($1, 4, 2) > "202106") { bad = 1 } END { exit bad || NR != 101 }' out || fail "$(cat out)"
expect 0 "$NADE" sample model -n 5 --where day=29.02.2020 --quiet
[ "$(awk -F, 'NR > 1 { print $1 }' out | sort -u)" = 29.02.2020 ] || fail "$(cat out)"
refuse 2 "--where: column 'day': found '29.02.2021', expected a date like DD.MM.YYYY" -- "$NADE" sample model --where day=29.02.2021
refuse 2 "no value of column 'day' lies between 01.01.2020 and 01.01.2020" -- "$NADE" sample model --where '2020-01-01 10:00<=day<=2020-01-01 11:00'
refuse 2 "no value of column 'day' is 31.12.9999 or later, expected" -- "$NADE" sample model --where 'day>=9999-12-31'
expect 0 "$NADE" prob model --where 'day<2021-01-01' --device cpu --quiet
awk -F, 'NR == 2 && ($1 < 0.3 || $1 > 0.7) { exit 1 }' out || fail "$(cat out)"

# Holes are filled by dates, and intervals end at dates; what is there stays as it is.
for method in draw mean median mode; do
    expect 0 "$NADE" impute model data.csv --method $method --interval 0.8 --quiet
    awk -F, 'NR > 1 && ($1 !~ /^[0-9][0-9]\.[0-9][0-9]\.20[12][0-9]$/ || $6 $7 $8 $9 != "") { bad = 1 }
        NR > 1 && $4 != "" { holes++; if ($4 !~ /^[0-9.]+$/ || substr($5, 7) < substr($4, 7)) bad = 1 }
        END { exit bad || holes != 21 }' out || fail "$method: $(cat out)"
done

# predict says what impute fills in, to the second, and the ends of its intervals.
awk -F, -v OFS=, '{ $1 = NR > 1 ? "" : $1; print }' data.csv >no_days.csv
awk -F, -v OFS=, '{ $2 = NR > 1 ? "" : $2; print }' data.csv >no_times.csv
for column in day time; do
    expect 0 "$NADE" predict model no_${column}s.csv --of $column --interval 0.8 --quiet -o predicted.csv
    for method in mean median; do
        expect 0 "$NADE" impute model no_${column}s.csv --method $method --interval 0.8 --quiet -o filled.csv
        python3 - $column $method <<'END' || fail "$column, $method: $(paste predicted.csv filled.csv)"
import csv, sys
column, method = sys.argv[1:]
pairs = list(zip(csv.DictReader(open("predicted.csv")), csv.DictReader(open("filled.csv"))))
assert len(pairs) == 600
for predicted, filled in pairs:
    assert filled[column] == predicted[column + "_" + method], (predicted, filled)
    assert [filled[column + end] for end in ("_low", "_high")] == [predicted[column + end] for end in ("_low", "_high")]
assert column == "day" or not all(predicted["time_high"].endswith(":00") for predicted, _ in pairs)
END
    done
done

# Predictions are dates, and what they are off by is counted in days.
expect 0 "$NADE" predict model data.csv --of day --quiet -o days.csv
expect 0 "$NADE" predict model data.csv --of day -o days.csv
cp err said
expect 0 "$NADE" predict model data.csv --of day --json -o days.csv
python3 - <<'END' || fail "$(cat said err)"
import csv, datetime, json, math
def day(text): return datetime.datetime.strptime(text, "%d.%m.%Y").toordinal()
pairs = [(day(p["day_median"]), day(r["day"])) for p, r in zip(csv.DictReader(open("days.csv")), csv.DictReader(open("data.csv"))) if r["day"]]
mean = sum(t for _, t in pairs) / len(pairs)
found = json.loads(open("err").read().splitlines()[-1])["targets"][0]
assert found["unit"] == "days" and abs(found["mae"] - sum(abs(p - t) for p, t in pairs) / len(pairs)) < 1e-6, found
assert abs(found["sd"] - math.sqrt(sum((t - mean) ** 2 for _, t in pairs) / len(pairs))) < 1e-6, found
said = open("said").read()
assert "%.6g days (standard deviation of the truth: %.6g days)" % (found["rmse"], found["sd"]) in said
assert "%.6g days\n" % found["mae"] in said
END

# Rows may write their dates otherwise, where that can be read in one way alone: the same densities, and fills in the form of training.
awk -F, -v OFS=, 'NR > 1 { if ($1 != "") $1 = substr($1, 7) "-" substr($1, 4, 2) "-" substr($1, 1, 2)
    split(substr($2, 1, 10), d, "-"); $2 = d[3] "." d[2] "." d[1] substr($2, 11) } { print }' data.csv >otherwise.csv
grep -q '^2020-.*,[0-3][0-9]\.[01][0-9]\.2020 ' otherwise.csv || fail "$(head otherwise.csv)"
expect 0 "$NADE" score model otherwise.csv -o other_scores --device cpu --quiet
cmp fast other_scores || fail "other densities for dates that are written otherwise"
expect 0 "$NADE" impute model data.csv --method median --quiet -o filled.csv
expect 0 "$NADE" impute model otherwise.csv --method median --quiet -o filled_otherwise.csv
python3 - <<'END' || fail "$(head filled.csv filled_otherwise.csv)"
import csv
rows = [list(csv.DictReader(open(name))) for name in ("data.csv", "otherwise.csv", "filled.csv", "filled_otherwise.csv")]
for data, other, filled, found in zip(*rows):
    assert found["day"] == (other["day"] or filled["day"]) and found["time"] == other["time"], (other, found)
END

# What is no such date is refused where it stands; a date that the column can't hold may be missing.
head -1 data.csv >bad.csv
echo '30.02.2020,2020-01-01 00:00:00,20' >>bad.csv
refuse 2 "bad.csv, line 2, column 'day': found '30.02.2020', expected a date like DD.MM.YYYY to the day, from 0001-01-01 to 9999-12-26" -- "$NADE" score model bad.csv
sed -i '2s/.*/31.12.9999,2020-01-01 00:00:00,20/' bad.csv
refuse 2 "found '31.12.9999', expected a date" "(or --unseen missing, which makes it a missing cell)" -- "$NADE" score model bad.csv
expect 0 "$NADE" score model bad.csv --unseen missing
holds err "line 2, column 'day': '31.12.9999'"

# Day and month that can't be told apart stay labels until somebody says what they are; so do seconds since 1970.
awk 'BEGIN { print "when,stamp"; for (i = 0; i < 300; i++) printf "%02d/%02d/2020,%d\n", i % 12 + 1, int(i / 12) % 12 + 1, 1577836800 + i * i * 100 }' >both.csv
expect 0 "$NADE" train both.csv --dry-run
holds err "both.csv, column 'when': day and month of dates can't be told apart, so they are taken for labels; name its form, as in --date-form COL=DD/MM/YYYY"
expect 0 "$NADE" train both.csv --dry-run --categorical when
! grep -q 'told apart' err || fail "a warning of labels that are to be: $(cat err)"
head -100 both.csv >months.csv
expect 0 "$NADE" train months.csv --dry-run
holds err "column 'when' (dates whose day and month can't be told apart), left out" "--date-form COL=DD/MM/YYYY"
refuse 2 "column 'when' cannot be date: it holds dates of which day and month can't be told apart" "--date-form COL=DD/MM/YYYY" -- \
    "$NADE" train both.csv -o other --date when
refuse 2 "column 'when' cannot be dates like DD.MM.YYYY: it holds others; line 2 has '01/01/2020'" -- \
    "$NADE" train both.csv -o other --date-form when=DD.MM.YYYY
refuse 2 "--date-form: found 'when=DD/MM', expected COLS=FORM with a form such as YYYY-MM-DD" -- "$NADE" train both.csv -o other --date-form when=DD/MM
refuse 2 "--date-form: found 'when', expected COLS=FORM" -- "$NADE" train both.csv -o other --date-form when
refuse 2 "--categorical and --date both name column 'when'" -- \
    "$NADE" train both.csv -o other --date-form when=DD/MM/YYYY --categorical when --date when
expect 0 "$NADE" train both.csv -o other --date-form when=MM/DD/YYYY --date stamp "${network[@]}" --iterations 2 --device cpu --quiet
expect 0 "$NADE" sample other -n 20 --where 'when>=2020-06-13' --quiet
awk -F, 'NR > 1 && ($1 < "06/13" || $2 !~ /^1[0-9]+$/) { bad = 1 } END { exit bad || NR != 21 }' out || fail "$(cat out)"

# Two digits of the year, and names of months.
awk 'BEGIN { print "short,named"; for (i = 0; i < 300; i++) print "@" 1577836800 + (i * 37 % 700) * 86400 }' | (read -r names; echo "$names"; LC_ALL=C date -u -f - '+%d.%m.%y,%d %b %Y') >named.csv
expect 0 "$NADE" train named.csv -o named "${network[@]}" --iterations 2 --device cpu
holds err "short: date, like DD.MM.YY, to the day" "named: date, like DD MMM YYYY, to the day"
expect 0 "$NADE" sample named -n 50 --quiet
awk -F, 'NR > 1 && ($1 !~ /^[0-3][0-9]\.[01][0-9]\.[0-9][0-9]$/ || $2 !~ /^[0-3][0-9] [A-Z][a-z][a-z] [12][0-9][0-9][0-9]$/) { bad = 1 } END { exit bad || NR != 51 }' out || fail "$(cat out)"
