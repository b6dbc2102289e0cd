# Ranks on two hosts: network namespaces with a cable between them, where Open MPI's own daemons start the ranks and TCP
# is the only way from one to the other.  The bytes of one process, a bound for fast sums, a rank that dies far away.
. "$(dirname "$0")/../support/checks.bash"

skip() {
    echo "skipped: $*"
    exit 77
}

[ -e "$(dirname "$NADE")/libnade_mpi.so" ] || skip "libnade_mpi.so was not built (make mpi)"
mpirun --version 2>/dev/null | grep -q 'Open MPI' || skip "there is no mpirun of Open MPI"
command -v ip >/dev/null && command -v nsenter >/dev/null || skip "there is no ip (iproute2) or no nsenter (util-linux)"

# In a namespace of users, which anybody can make, root's folders would belong to nobody and nothing in them be trusted.
[ "$(id -u)" = 0 ] || skip "network namespaces want root here"

# The script goes on in a namespace of its own, so that nothing of the machine changes.
if [ -z "${NADE_TEST_HOST-}" ]; then
    unshare --net true 2>/dev/null || skip "network namespaces can't be made here"
    NADE_TEST_HOST=1 exec unshare --net bash "$0"
fi

# The second host is whatever is in the namespaces of a process that waits.
unshare --net --uts sleep 160 &
far=$!
trap 'kill $far 2>/dev/null' EXIT
for _ in $(seq 100); do
    [ "$(readlink /proc/$far/ns/net)" = "$(readlink /proc/self/ns/net)" ] || break
    sleep 0.02
done
ip link add cable type veth peer name cable netns $far 2>/dev/null || skip "virtual cables (veth) can't be made here"
ip addr add 10.77.0.1/24 dev cable
ip link set lo up
ip link set cable up
nsenter -t $far -n ip addr add 10.77.0.2/24 dev cable
nsenter -t $far -n ip link set lo up
nsenter -t $far -n ip link set cable up
# In place of ssh: agent HOST WORDS.
cat >agent <<AGENT
#!/bin/sh
host=\$1
shift
[ "\$host" = near ] && exec sh -c "\$*"
export TMPDIR=$PWD/far
exec nsenter -t $far -n -u sh -c "\$*"
AGENT
mkdir far
nsenter -t $far -u hostname far
chmod +x agent
printf 'near slots=2\nfar slots=2\n' >hosts
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=$PWD/agent OMPI_MCA_plm=rsh
export OMPI_MCA_btl=self,tcp OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_tcp_if_include=cable OMPI_MCA_oob_tcp_if_include=cable

ranks() {
    local count=$1
    shift
    mpirun --hostfile hosts --map-by node --bind-to none -n "$count" "$NADE" "$@"
}

sent() { cat /sys/class/net/cable/statistics/tx_bytes 2>/dev/null || awk '/cable:/ { print $10 }' /proc/net/dev; }

awk 'BEGIN { srand(5); print "a,b,c"
    for (i = 0; i < 300; i++) { a = rand() < 0.4; print a "," (rand() < (a ? 0.8 : 0.2)) "," (i % 9 ? rand() : "") } }' >table.csv
short=(--hidden 60,50 --components 3 --iterations 4 --updates 10 --batch 40 --device cpu --threads 1 --seed 7)
expect 0 "$NADE" train table.csv "${short[@]}" --json -o alone
expected=$(sed -n 's/.*"valid_log_density":\([-0-9.e]*\).*/\1/p' err)
parameters=$(sed -n 's/.*"parameters":\([0-9]*\).*/\1/p' err)
for count in 2 4; do
    before=$(sent)
    expect 0 ranks $count train table.csv "${short[@]}" --exact-sums -q -o model
    cmp alone model || fail "$count ranks on two hosts end in other bytes"
    # Each update's gradient has crossed the cable.
    [ $(($(sent) - before)) -gt $((4 * parameters * 40 / 2)) ] || fail "the cable carried $(($(sent) - before)) bytes"
done
expect 0 ranks 2 train table.csv "${short[@]}" --json -o fast
sed -n 's/.*"valid_log_density":\([-0-9.e]*\).*/\1/p' err |
    awk -v e="$expected" '{ d = $1 / e - 1; exit !(d < 1e-4 && d > -1e-4) }' || fail "far from $expected: $(cat err)"
expect 0 ranks 2 train table.csv "${short[@]}" --json -o again
cmp fast again || fail "two hosts do not repeat themselves"

"$NADE" score alone table.csv -q >scores
"$NADE" sample alone -n 30 -q >samples
expect 0 ranks 2 score alone table.csv -q
cmp out scores || fail "two hosts score otherwise"
expect 0 ranks 3 sample alone -n 30 -q
cmp out samples || fail "two hosts sample otherwise"

# The far rank is killed, and the near one goes on later by itself.
long=(table.csv --hidden 60,60 --components 3 --iterations 200 --updates 8 --patience 0 --batch 200 --device cpu --threads 1 --exact-sums)
expect 0 "$NADE" train "${long[@]}" -q -o alone
mpirun --hostfile hosts --bind-to none --host near -n 1 "$NADE" train "${long[@]}" --checkpoint checkpoint -q -o never : \
    --host far -n 1 bash -c 'echo $$ >pid; exec "$@"' bash "$NADE" train "${long[@]}" --checkpoint checkpoint -q -o never >out 2>err &
run=$!
until [ -s checkpoint ]; do
    kill -0 $run 2>/dev/null || fail "the run has ended without a checkpoint: $(cat err)"
    sleep 0.02
done
[ "$(readlink "/proc/$(cat pid)/ns/net")" = "$(readlink /proc/$far/ns/net)" ] || fail "the second rank is not on the far host"
kill -9 "$(cat pid)"
wait $run && fail "a far rank was killed and mpirun ended well"
holds err "--resume goes on from the last checkpoint"
[ ! -e never ] || fail "a run without all of its ranks wrote a model"
expect 0 "$NADE" train "${long[@]}" --resume checkpoint -q -o resumed
cmp alone resumed || fail "one process goes on otherwise from the checkpoint of two hosts"
