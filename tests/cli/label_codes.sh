# Labels that are numbers come back as they were written.
. "$(dirname "$0")/../support/checks.bash"

awk 'BEGIN {
    print "zip,dose,x"
    for (i = 0; i < 240; i++) printf "%s,%s,%.2f\n", i % 3 ? i % 3 == 1 ? "01234" : "10001" : "02139", \
        i % 2 ? "1E5" : "2E5", (i * 37 % 101) / 10
}' >data.csv
expect 0 "$NADE" train data.csv -o model "${small[@]}"
expect 0 "$NADE" info model
holds out '01234, 02139, 10001' '1E5, 2E5'
expect 0 "$NADE" sample model -n 200 --quiet
grep -qE '^(01234|02139|10001),(1E5|2E5),' out || fail "labels: $(head -n 3 out)"
! tail -n +2 out | grep -qvE '^(01234|02139|10001),(1E5|2E5),' || fail "labels: $(head -n 5 out)"
printf 'zip,dose,x\n,100000,1.5\n2139,,1.5\n' >holes.csv
expect 0 "$NADE" impute model holes.csv --quiet
grep -qE '^(01234|02139|10001),100000,1.5$' out || fail "impute: $(cat out)"
grep -qE '^2139,(1E5|2E5),1.5$' out || fail "impute: $(cat out)"
for zip in 02139 2139; do
    expect 0 "$NADE" sample model -n 1 --quiet --where zip=$zip
    grep -q '^02139,' out || fail "--where: $(cat out)"
done

only data.csv holes.csv model
