# nade paper is another program, nade-paper: the one beside nade, else the one in PATH, and its absence is one sentence.
. "$(dirname "$0")/../support/checks.bash"

mkdir alone other
cp "$NADE" alone/nade
printf '#!/bin/sh\nfor word; do echo "other: $word"; done\n' >other/nade-paper
chmod +x other/nade-paper

refuse 1 'the program nade-paper could not be run' 'No such file' 'in PATH' -- env PATH=/usr/bin:/bin alone/nade paper quick
refuse 1 'the program nade-paper could not be run' -- env PATH=/usr/bin:/bin alone/nade help paper
expect 1 env PATH=/usr/bin:/bin alone/nade paper --json
holds err '{"error":"the program nade-paper'
expect 0 env PATH="$PWD/other:/usr/bin:/bin" alone/nade paper quick --data 'my data' ''
[ "$(cat out)" = "$(printf 'other: %s\n' quick --data 'my data' '')" ] || fail "other words: $(cat out)"
# All but that verb works without it.
expect 0 env PATH=/usr/bin:/bin alone/nade
holds out 'nade paper'

# The one beside nade comes first; by itself it says the same.
expect 0 env PATH="$PWD/other:$PATH" "$NADE" paper
cp out list
holds list 'mnist-2hl'
expect 0 "$NADE-paper"
cmp list out
expect 0 "$NADE-paper" --version
grep -qxE 'nade-paper [0-9]+\.[0-9]+\.[0-9]+' out || fail "version: $(cat out)"
expect 0 "$NADE" paper --help
cp out help
for words in --help -h help; do
    expect 0 "$NADE-paper" $words
    cmp help out
done
refuse 2 "'nonsense' is no recipe" -- "$NADE-paper" nonsense --data .
refuse 2 "unexpected argument 'nonsense'" -- "$NADE-paper" help nonsense

# Completion behind the program's own name.
expect 0 "$NADE-paper" help --completion bash
cp out completion
words=$(bash --norc -c 'compopt() { :; }; . ./completion; COMP_WORDS=(nade-paper quick --prec) COMP_CWORD=2; _nade_paper; echo "${COMPREPLY[@]}"')
[ "$words" = --precision ] || fail "bash offers '$words'"
expect 0 "$NADE-paper" help --completion zsh
[ "$(head -n 1 out)" = '#compdef nade-paper' ] || fail "zsh would not load this"
if command -v zsh >/dev/null; then zsh -n out; fi
refuse 2 'expected bash or zsh' -- "$NADE-paper" help --completion fish
