# For scripts of tests/cli with ranks that mpirun starts; they are skipped where there is none.
[ -e "$(dirname "$NADE")/libnade_mpi.so" ] || { echo "skipped: libnade_mpi.so was not built (make mpi)"; exit 77; }
mpirun --version 2>/dev/null | grep -q 'Open MPI' || { echo "skipped: there is no mpirun of Open MPI"; exit 77; }
# Containers: root is the only user, there is no ssh, and processes may not read each other's memory.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1

# ranks COUNT WORDS...: nade WORDS with so many ranks.
ranks() {
    local count=$1
    shift
    timeout 900 mpirun --oversubscribe -n "$count" "$NADE" "$@"
}
