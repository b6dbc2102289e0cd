# Manual pages and completion: from the tables, for every verb, and doing what they are for.
. "$(dirname "$0")/../support/checks.bash"

verbs=$("$NADE" | awk '/^Verbs:/ { list = 1; next } list && NF == 0 { exit } list { print $1 }')
[ "$(echo "$verbs" | wc -l)" -ge 4 ] || fail "verbs: $verbs"

expect 0 "$NADE" help --man
cp out main.1
for verb in $verbs; do
    holds main.1 ".BR nade\\-$verb (1)"
    expect 0 "$NADE" help --man "$verb"
    cp out "$verb.1"
    holds "$verb.1" ".TH NADE\\-${verb^^} 1" '.SH SYNOPSIS' '.SH OPTIONS' '.BR nade (1)'
    # Every option of --help, and nothing else.
    "$NADE" "$verb" --help | grep -oE '^  (-[a-z], |    )--[a-z-]+' | grep -oE -- '--[a-z-]+' >listed
    sed -n 's/\\-/-/g; s/^\\fB\(-[a-z]\\fR, \\fB\)\{0,1\}\(--[a-z-]*\)\\fR.*/\2/p' "$verb.1" >documented
    cmp listed documented || fail "the page of $verb does not list the options of --help"
    # No line is taken for a request by accident, and no dash is one that can't be searched for.
    awk '/^[.'"'"']/ && !/^\.(TH|SH|SS|TP|B|BR|I|\\")( |$)/ { exit 1 }' "$verb.1" || fail "$verb.1 has an odd request"
    if awk 'NR > 1 && /[^\\]-/' "$verb.1" | grep .; then fail "$verb.1 has a dash that is not escaped"; fi
done
grep -qF '(default 20)' train.1 || fail "the page of train does not show defaults"
if command -v groff >/dev/null; then
    for page in *.1; do [ -z "$(groff -ww -z -man "$page" 2>&1)" ] || fail "groff: $(groff -ww -z -man "$page" 2>&1)"; done
fi

expect 0 "$NADE" help --completion zsh
[ "$(head -n 1 out)" = '#compdef nade' ] || fail "zsh would not load this"
for verb in $verbs; do holds out "'$verb:"; done
if command -v zsh >/dev/null; then zsh -n out; fi

expect 0 "$NADE" help --completion bash
cp out completion
bash -n completion
# complete WORD...: what bash offers for the last word.
complete_words() {
    bash --norc -c '
        compopt() { :; }
        . ./completion
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _nade
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort | tr '\n' ' '
}
offers() {
    local wanted=$1 found
    shift
    found=$(complete_words "$@")
    [ "${found% }" = "$wanted" ] || fail "for '$*' bash offers '$found', expected '$wanted'"
}
mkdir folder
touch 'my data.csv'
offers 'train' nade tr
offers 'adam lion nag' nade train data.csv --optimizer ''
offers 'adam' nade train data.csv --optimizer a
offers 'adam' nade train data.csv --optimizer = a
offers 'adam lion nag' nade train data.csv --optimizer =
offers '--valid --valid-fraction' nade train --val
offers 'my data.csv' nade train my
offers 'my data.csv' nade train -o my
offers 'my data.csv' nade score model my
offers '' nade train --hidden ''
offers '' nade train --columns my
offers 'folder' nade demo -o ''
offers 'score' nade help sc
offers 'figures folder' nade paper f
offers 'mnist-2hl mnist-2hl-nomasks' nade paper quick mnist-2
offers 'table1 table2 table3 table4' nade paper ta
offers 'my data.csv' nade paper my
offers '' nade nonsense --op

refuse 2 'expected bash or zsh' 'fish' -- "$NADE" help --completion fish
refuse 2 'unknown verb' -- "$NADE" help --man nonsense
refuse 2 'unexpected argument' -- "$NADE" help --man train score
