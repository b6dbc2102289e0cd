# The tour of README.md prints what README.md shows; and the check itself notices when it does not.
. "$(dirname "$0")/../support/checks.bash"

python=${PYTHON:-/usr/bin/python3}
check=$NADE_SOURCE_DIR/tools/check-readme
"$python" "$check" "$NADE_SOURCE_DIR/README.md" "$NADE" || fail "README.md shows something else"

# try STATUS SHOWN COMMAND [WORD]: a file that shows this for the command passes (0) or not (1).
try() {
    printf '```console%s\n$ %s\n%s\n```\n' "${4:-}" "$3" "$2" >shown.md
    expect "$1" "$python" "$check" shown.md "$NADE"
}

try 0 'one 1.5' 'echo one 1.52'
try 1 'one 1.5' 'echo one 2.5'
try 1 'one 15' 'echo one 16'
try 0 'one 15' 'echo one 99' ' draws'
try 1 'one 15' 'echo two 99' ' draws'
try 0 'a ... 3' 'echo a b c 3'
try 1 'a ... 3' 'echo a b c 4'
try 0 $'a\n...\nd' 'printf "a\nb\nc\nd\n"'
try 1 $'a\n...\nd' 'printf "a\nb\nc\n"'
try 1 'a' 'printf "a\nb\n"'
try 1 '' 'false'
printf 'no blocks\n' >shown.md
expect 1 "$python" "$check" shown.md "$NADE"
