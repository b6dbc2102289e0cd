# --device cuda and auto where there is no CUDA to use.  The backend's place is taken by small objects made here, so
# that this needs neither nvcc nor a device.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_BUILD:?what the library and its CUDA backend must agree on}"

binary_data 60 1 >data.csv
# A backend that was built beside the command is not what is asked about, so the command runs alone.
mkdir alone
cp "$NADE" alone/nade
nade=$PWD/alone/nade
unset NADE_CUDA_BACKEND

# object FILE BUILD FINDS: a backend of that build that finds a device (1) or not (0); none of its own opens.
object() {
    cat >object.c <<'SOURCE'
#include <stdio.h>
#include <stdlib.h>
#include "backend/cuda_loader.h"
static bool find_device(char *reason, size_t size)
{
    snprintf(reason, size, "the plug is out");
    return FINDS;
}
static nade_status refuse_to_open(nade_context *context, const struct plan *plan, nade_precision precision,
                                  struct backend **backend)
{
    (void)plan;
    (void)backend;
    snprintf(context->error, sizeof context->error, "opened with precision %d", (int)precision);
    return NADE_NO_DEVICE;
}
static const struct backend_entries entries = {
    .name = "fake", .usual = NADE_PRECISION_TF32, .slice = 1, .open = refuse_to_open};
const struct cuda_object nade_cuda_object = {BUILD, &entries, find_device};
/* Tells that code of the object was run. */
__attribute__((constructor)) static void run_first(void)
{
    FILE *file = getenv("NADE_TEST_MARK") ? fopen(getenv("NADE_TEST_MARK"), "w") : NULL;
    if (file) fclose(file);
}
SOURCE
    cc -std=c11 -shared -fPIC -I"$NADE_SOURCE_DIR/include" -I"$NADE_SOURCE_DIR/src" "-DBUILD=\"$2\"" "-DFINDS=$3" \
        object.c -o "$1"
}

# No object at all: cuda is refused, auto is the CPU without a word but the device's name.
expect 0 "$nade" train data.csv -o model "${small[@]}"
holds err '; device cpu'
[ "$(grep -c -i cuda err)" = 0 ] || fail "noise: $(cat err)"
holed='a,b,c,d
1,,0,1'
for call in "train data.csv -o other ${small[*]}" 'score model data.csv' 'sample model' 'impute model holes.csv'; do
    printf '%s\n' "$holed" >holes.csv
    # shellcheck disable=SC2086  # words on purpose
    refuse 1 'libnade_cuda.so is not installed' NADE_CUDA_BACKEND -- "$nade" $call --device cuda
    expect 1 "$nade" $call --device cuda --json
    holds err '"status":"no_device"'
    # shellcheck disable=SC2086
    refuse 2 'precision tf32 needs the device cuda: this processor computes in fp32' -- "$nade" $call --precision tf32
    # shellcheck disable=SC2086
    refuse 2 'precision bf16 needs the device cuda: the reference' -- "$nade" $call --precision bf16 --device reference
    if grep -q -w avx512_bf16 /proc/cpuinfo; then
        # shellcheck disable=SC2086
        expect 0 "$nade" $call --precision bf16 --json
        holds err '"device":"cpu","precision":"bf16"'
    else
        # shellcheck disable=SC2086
        refuse 2 'precision bf16 needs the device cuda: this processor computes in fp32' -- "$nade" $call --precision bf16
    fi
    # shellcheck disable=SC2086
    refuse 2 'precision tf32 needs the device cuda: the reference' -- "$nade" $call --precision tf32 --device reference
    # shellcheck disable=SC2086
    expect 0 "$nade" $call --precision fp32 --json --device auto
    holds err '"device":"cpu"'
done
rm -f other
expect 0 "$nade" train data.csv --dry-run --device reference --json
holds err '"device":"reference"'
refuse 1 'not installed' -- "$nade" train data.csv --dry-run --device cuda

# Not an object; an object that is no backend; one of another build; one without a device.  Auto says why, once.
echo 'no object' >text.so
echo 'int something;' >other.c
cc -shared -fPIC other.c -o other.so
object older.so 0.0.1-abcdef 1
object unplugged.so "$NADE_BUILD" 0
unusable() {
    local file=$1
    shift
    refuse 1 "$@" -- env NADE_CUDA_BACKEND="$file" "$nade" score model data.csv --device cuda
    expect 0 env NADE_CUDA_BACKEND="$file" "$nade" score model data.csv
    holds err "$@" 'the CPU is used instead'
    [ "$(grep -c '^nade: warning' err)" = 1 ] || fail "not one warning: $(cat err)"
    expect 0 env NADE_CUDA_BACKEND="$file" "$nade" score model data.csv --device cpu
    [ "$(grep -c '^nade: warning' err)" = 0 ] || fail "a warning without need: $(cat err)"
}
unusable "$PWD/missing.so" 'the CUDA backend' "$PWD/missing.so"
unusable text.so 'the CUDA backend' './text.so'
unusable ./other.so './other.so is no CUDA backend'
unusable ./older.so './older.so belongs to nade 0.0.1-abcdef' "this is nade $NADE_BUILD"
refuse 1 'there is no CUDA device to use: the plug is out' -- env NADE_CUDA_BACKEND=./unplugged.so "$nade" score model data.csv --device cuda
for verb in 'score model data.csv' 'sample model' 'impute model data.csv'; do # training alone speaks of it
    expect 0 env NADE_CUDA_BACKEND=./unplugged.so "$nade" $verb
    [ "$(grep -c '^nade: warning' err)" = 0 ] || fail "a warning a call: $(cat err)"
done
expect 0 env NADE_CUDA_BACKEND=./unplugged.so "$nade" train data.csv -o other "${small[@]}" --json
[ "$(grep -c warning err)" = 1 ] || fail "not one warning: $(cat err)"
cmp model other

# One that finds a device is what auto takes, from each place that is looked at; its precision is tf32 unless asked.
object good.so "$NADE_BUILD" 1
for device in auto cuda; do
    export NADE_CUDA_BACKEND=$PWD/good.so
    refuse 1 'opened with precision 2' -- "$nade" score model data.csv --device $device
    refuse 1 'opened with precision 3' -- "$nade" sample model --device $device --precision bf16
    refuse 1 'opened with precision 1' -- "$nade" impute model holes.csv --device $device --precision fp32
    expect 1 "$nade" train data.csv -o other --device $device "${small[@]}"
    holds err '; device cuda, tf32' 'opened with precision 2'
    unset NADE_CUDA_BACKEND
done
cp good.so alone/libnade_cuda.so
refuse 1 'opened with precision' -- "$nade" score model data.csv
(cd alone && PATH=$PWD:$PATH && refuse 1 'opened with precision' -- nade score ../model ../data.csv)
NADE_CUDA_BACKEND='' refuse 1 'switches CUDA off' -- "$nade" score model data.csv --device cuda
NADE_CUDA_BACKEND='' expect 0 "$nade" score model data.csv --json
holds err '"device":"cpu"'
rm alone/libnade_cuda.so
mkdir -p prefix/bin prefix/lib/nade
cp "$NADE" prefix/bin/nade
cp good.so prefix/lib/nade/libnade_cuda.so
cp good.so libnade_cuda.so # in the working folder, where nobody must look
refuse 1 'not installed' -- "$nade" score model data.csv --device cuda
refuse 1 'opened with precision' -- prefix/bin/nade score model data.csv --device cuda

# What others than the user and root can have written is refused before any of its code runs.  The constructor of the
# object says if it did.
export NADE_TEST_MARK=$PWD/mark
refuse 1 'opened with precision' -- prefix/bin/nade score model data.csv --device cuda
[ -e mark ] || fail 'the constructor leaves no mark'
rm mark

# untrusted TEXT... -- COMMAND...: cuda is refused with the texts, auto is the CPU with a warning; no code is run.
untrusted() {
    local texts=()
    while [ "$1" != -- ]; do
        texts+=("$1")
        shift
    done
    shift
    refuse 1 'the CUDA backend' 'is not opened' "${texts[@]}" -- "$@" score model data.csv --device cuda
    expect 0 "$@" score model data.csv
    holds err "${texts[@]}" 'the CPU is used instead'
    [ ! -e mark ] || fail "code of an untrusted object was run: ${texts[*]}"
}
lib=$PWD/prefix/lib/nade
for mode in 666 620 646; do
    chmod $mode "$lib/libnade_cuda.so"
    untrusted "$lib/libnade_cuda.so can be written by" -- prefix/bin/nade
    untrusted "$lib/libnade_cuda.so can be written by" -- env NADE_CUDA_BACKEND="$lib/libnade_cuda.so" "$nade"
done
chmod 644 "$lib/libnade_cuda.so"
for mode in 777 775 757 1777; do
    chmod $mode "$lib"
    untrusted "the folder $lib can be written by" -- prefix/bin/nade
    untrusted "the folder $lib can be written by" -- env NADE_CUDA_BACKEND="$lib/libnade_cuda.so" "$nade"
done
chmod 755 "$lib"
# Above it, a folder that others can write to must at least keep them from exchanging what is in it.
chmod 777 prefix
untrusted "the folder $PWD/prefix can be written by everybody" -- prefix/bin/nade
chmod 1777 prefix
refuse 1 'opened with precision' -- prefix/bin/nade score model data.csv --device cuda
chmod 755 prefix
rm mark

# A link is judged by what it leads to, and so is libcublasLt, which the object would take from its own folder.
mkdir public
cp good.so public/object.so
chmod 777 public
ln -s "$PWD/public/object.so" link.so
untrusted "the folder $PWD/public can be written by everybody" -- env NADE_CUDA_BACKEND=link.so "$nade"
ln -s "$PWD/public" folder
untrusted "the folder $PWD/public can be written by everybody" -- env NADE_CUDA_BACKEND=folder/object.so "$nade"
cp good.so public/libcublasLt.so.12
for neighbour in public/libcublasLt.so.12 public/missing; do
    ln -s "$PWD/$neighbour" "$lib/libcublasLt.so.12"
    untrusted "$(if [ -e $neighbour ]; then echo "$PWD/public"; else echo libcublasLt.so.12; fi)" -- prefix/bin/nade
    rm "$lib/libcublasLt.so.12"
done
cp good.so "$lib/libcublasLt.so.12"
chmod 666 "$lib/libcublasLt.so.12"
untrusted "$lib/libcublasLt.so.12 can be written by everybody" -- prefix/bin/nade
rm "$lib/libcublasLt.so.12"

# Somebody else's file and folder.
if [ "$(id -u)" = 0 ]; then
    for thing in "$lib/libnade_cuda.so" "$lib" "$PWD/prefix"; do
        chown 65534 "$thing"
        untrusted "$thing belongs to user 65534, expected user 0 or root" -- prefix/bin/nade
        chown 0 "$thing"
    done
fi
refuse 1 'opened with precision' -- prefix/bin/nade score model data.csv --device cuda
# From the program's own folder nothing is looked for but beside it.
mkdir -p elsewhere/bin/nade elsewhere/nade
cp "$NADE" elsewhere/bin/program
cp good.so elsewhere/nade/libnade_cuda.so
cp good.so elsewhere/bin/nade/libnade_cuda.so
refuse 1 'not installed' -- elsewhere/bin/program score model data.csv --device cuda
