#!/usr/bin/env bash
# Builds carom-mpi, and tests it on 1, 2, 3, 5 and 8 ranks of this machine. On Debian and Ubuntu, installs what is missing,
# unless CAROM_NO_INSTALL=1 is set.
#
# CAROM_MPI=mpich builds with MPICH instead of Open MPI. CAROM_MPI_RANKS are other numbers of ranks, and CAROM_MPI_SPHERES
# is the number of spheres of the benchmark scenes.
#
# `run.sh setup` only installs what is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
library=${CAROM_MPI:-openmpi}

if [[ -z ${XDG_RUNTIME_DIR:-} ]]; then
    export NODEVICE_SELECT=1
fi
# The ranks share the cores of one machine.
export RAYON_NUM_THREADS=1

case $library in
    openmpi)
        packages=(libopenmpi-dev openmpi-bin libclang-dev clang)
        compiler=mpicc.openmpi
        # Idle ranks must leave the cores to others, and root must say that it may.
        ranks=(mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1)
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        ;;
    mpich)
        packages=(libmpich-dev mpich libclang-dev clang)
        compiler=mpicc.mpich
        ranks=(mpirun.mpich)
        # The bindings are those of one library.
        export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/mpich
        ;;
    *)
        echo 'run.sh: CAROM_MPI must be openmpi or mpich.' >&2
        exit 1
        ;;
esac
has_mpi() {
    command -v "$compiler" && command -v "${ranks[0]}" && compgen -G '/usr/lib/llvm*/lib/libclang*.so*'
} >/dev/null

# Other systems call them without the name of the library.
if ! has_mpi && ! command -v apt-get >/dev/null && command -v mpicc >/dev/null && command -v mpirun >/dev/null; then
    compiler=mpicc
    ranks[0]=mpirun
elif ! has_mpi; then
    as_root=()
    if ((EUID != 0)); then
        as_root=(sudo)
    fi
    if [[ ${CAROM_NO_INSTALL:-} != 1 ]] && command -v apt-get >/dev/null; then
        echo "Installing ${packages[*]}"
        "${as_root[@]}" apt-get update -qq || true
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null || true
    fi
    # Without MPI nothing can be tried. Exit code 77 says so.
    if ! has_mpi; then
        echo "run.sh: ${packages[*]} cannot be installed, so carom-mpi was NOT tested." >&2
        exit 77
    fi
fi
[[ ${1:-} != setup ]] || exit 0
export MPICC=$compiler

# With these packages, dependencies have the features that they have in tests/run.sh, and are not compiled again.
build=(--release --config tests/quick.toml --package carom --package carom-cli --package carom-formats
    --package carom-scenes --package carom-mpi)
cargo test "${build[@]}" --test ranks --test collide --no-run
target=$(realpath "${CARGO_TARGET_DIR:-target}")/release
for count in ${CAROM_MPI_RANKS:-1 2 3 5 8}; do
    runner=$(printf '"%s", ' "${ranks[@]}" -n "$count")
    cargo test --quiet "${build[@]}" --config "target.'cfg(unix)'.runner = [${runner%, }]" --test ranks
done
bash crates/mpi/tests/files.sh "$target/carom" "$target/carom-mpi" "${ranks[@]}" -n 3
