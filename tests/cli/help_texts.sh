# Help and version: on stdout, exit 0, defaults as the library has them.
. "$(dirname "$0")/../support/checks.bash"

expect 0 "$NADE"
holds out "nade demo" "nade train" "nade score" "nade sample" "nade prob" "nade impute" "nade predict" "nade outliers" "nade check" "nade compare" "nade info" "nade bench" "nade paper" "Verbs:"
[ ! -s err ] || fail "the overview belongs on stdout"
cp out overview
expect 0 "$NADE" --help
cmp out overview
expect 0 "$NADE" help
cmp out overview

expect 0 "$NADE" --version
grep -qxE 'nade [0-9]+\.[0-9]+\.[0-9]+' out || fail "version: $(cat out)"

for verb in train score sample prob impute predict outliers check compare info bench demo paper; do
    expect 0 "$NADE" "$verb" --help
    holds out "usage: nade $verb " '--quiet' '--json' '--help'
    [ ! -s err ] || fail "$verb --help belongs on stdout"
    cp out help
    expect 0 "$NADE" help "$verb"
    cmp out help
    expect 0 "$NADE" "$verb" -h
    cmp out help
    [ "$(awk 'length > 100' help)" = '' ] || fail "$verb --help has lines of more than 100 characters"
done

expect 0 "$NADE" train --help
for option in recipe valid valid-fraction columns drop hidden components activation order rescale no-masks holes batch iterations updates \
    optimizer lr momentum weight-decay patience time-limit seed device threads precision types binary categorical real \
    delimiter header log dry-run map output; do
    grep -qE -- "--$option( |$)" out || fail "train --help does not list --$option"
done
grep -qE -- '--activation NAME +relu, sigmoid, tanh, gelu or silu \(default relu\)' out || fail "$(grep -- --activation out)"
expect 0 "$NADE" score --help
for option in orderings seed ordering-file spread per-column device precision threads delimiter header output; do
    grep -qE -- "--$option( |$)" out || fail "score --help does not list --$option"
done
grep -qE -- '--orderings .*\(default 8\)' out || fail "score --help does not show the default of --orderings"
expect 0 "$NADE" sample --help
for option in number where holes orderings ordering-file seed device precision threads output image png across zoom; do
    grep -qE -- "--$option( |$)" out || fail "sample --help does not list --$option"
done
expect 0 "$NADE" impute --help
for option in method draws form interval seed device precision threads delimiter header output image png original zoom; do
    grep -qE -- "--$option( |$)" out || fail "impute --help does not list --$option"
done
holds out "Rubin's sense"
expect 0 "$NADE" outliers --help
for option in reference by draws holed-reference orderings seed unseen top cells output; do
    grep -qE -- "--$option( |$)" out || fail "outliers --help does not list --$option"
done

expect 1 bash -c '"$NADE" train --help >/dev/full'
holds err 'nade: stdout could not be written'
