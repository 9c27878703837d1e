#!/usr/bin/env bash
# Runs every test of carom; arguments go to `cargo test --release`.
#
# Half of the tests run on a GPU, so this first makes sure that there is a graphics adapter. On
# Debian and Ubuntu it installs a software one when there is none; CAROM_NO_INSTALL=1 forbids that.
# The tests run in any case: without an adapter those that need one fail.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v cargo >/dev/null; then
    echo 'run.sh: cargo is missing; install Rust (https://rustup.rs), then open a new shell.' >&2
    exit 1
fi

# Mesa complains on every start when there is no window system to ask for its favourite device.
if [[ -z ${XDG_RUNTIME_DIR:-} ]]; then
    export NODEVICE_SELECT=1
fi

# Whether carom finds an adapter. Leaves in $answer what it said.
has_adapter() {
    answer=$(printf 'x,y,z,radius\n0,0,0,1\n' | "$carom" collide - --dt 1 --backend gpu --json 2>&1)
}

install_adapter() {
    local as_root=()
    if ((EUID != 0)); then
        if ! command -v sudo >/dev/null; then
            echo 'run.sh: installing one takes root, and there is no sudo.' >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo 'Installing a software one: apt-get install libvulkan1 mesa-vulkan-drivers'
    # Old lists may do, if new ones cannot be had.
    "${as_root[@]}" apt-get update -qq || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends libvulkan1 mesa-vulkan-drivers
}

how_to_get_one() {
    cat >&2 <<'EOF'
The tests that need a graphics adapter are going to fail. To get one:
  Debian, Ubuntu  apt-get install libvulkan1 mesa-vulkan-drivers
  Fedora          dnf install vulkan-loader mesa-vulkan-drivers
  Arch            pacman -S vulkan-icd-loader vulkan-swrast
  others          a driver for Vulkan, Metal or DX12; Mesa's lavapipe is one in software
EOF
}

# What the tests run, so that nothing is built twice.
packages=(--package carom --package carom-cli --package carom-scenes)
cargo test --release "${packages[@]}" --no-run
carom=${CARGO_TARGET_DIR:-target}/release/carom
echo 'Looking for a graphics adapter.'
if ! has_adapter; then
    if [[ $answer != *'no graphics adapter'* ]]; then
        printf '%s\n' "$answer" >&2
        echo 'run.sh: the search for a graphics adapter failed.' >&2
        exit 1
    fi
    echo 'There is none.'
    if [[ -n ${CAROM_NO_INSTALL:-} ]]; then
        echo 'CAROM_NO_INSTALL is set: nothing is installed.'
        how_to_get_one
    elif ! command -v apt-get >/dev/null; then
        how_to_get_one
    elif ! install_adapter; then
        echo 'run.sh: the installation failed.' >&2
        how_to_get_one
    elif ! has_adapter; then
        printf '%s\n' "$answer" >&2
        how_to_get_one
    fi
fi
adapter=$(sed -n 's/.*"adapter":"\([^"]*\)".*/\1/p' <<<"$answer")
echo "Adapter: ${adapter:-none}"

exec cargo test --release "${packages[@]}" "$@"
