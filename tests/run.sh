#!/usr/bin/env bash
# Runs all tests of carom. Arguments are passed on to `cargo test --release`.
#
# Half of the tests need a graphics adapter, so the script first looks for one. If there is none, it
# installs a software adapter on Debian and Ubuntu, unless CAROM_NO_INSTALL=1 is set. The tests run
# in any case. Without an adapter, the tests that need one fail.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v cargo >/dev/null; then
    echo 'run.sh: cargo is missing; install Rust (https://rustup.rs), then open a new shell.' >&2
    exit 1
fi

# Without a window system, Mesa's device selection layer prints a warning at every start.
if [[ -z ${XDG_RUNTIME_DIR:-} ]]; then
    export NODEVICE_SELECT=1
fi

# Succeeds if carom finds an adapter. Stores carom's output in $answer.
has_adapter() {
    answer=$(printf 'x,y,z,radius\n0,0,0,1\n' | "$carom" collide - --dt 1 --backend gpu --json 2>&1)
}

install_adapter() {
    local as_root=()
    if ((EUID != 0)); then
        if ! command -v sudo >/dev/null; then
            echo 'run.sh: this needs root, and sudo is missing; run the script as root.' >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo 'Installing a software adapter: apt-get install libvulkan1 mesa-vulkan-drivers'
    # If the package lists cannot be updated, the old ones may suffice.
    "${as_root[@]}" apt-get update -qq || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends libvulkan1 mesa-vulkan-drivers
}

how_to_get_one() {
    cat >&2 <<'EOF'
The tests that need a graphics adapter will fail. To install one:
  Debian, Ubuntu  apt-get install libvulkan1 mesa-vulkan-drivers
  Fedora          dnf install vulkan-loader mesa-vulkan-drivers
  Arch            pacman -S vulkan-icd-loader vulkan-swrast
  others          any driver for Vulkan, Metal or DX12; Mesa's lavapipe is a software driver
EOF
}

# These are the packages of the test run below, so nothing is built twice.
test=(cargo test --release --config tests/quick.toml
    --package carom --package carom-cli --package carom-formats --package carom-scenes)
"${test[@]}" --no-run
carom=${CARGO_TARGET_DIR:-target}/release/carom
echo 'Looking for a graphics adapter.'
if ! has_adapter; then
    if [[ $answer != *'no graphics adapter'* ]]; then
        printf '%s\n' "$answer" >&2
        echo 'run.sh: the search for a graphics adapter failed.' >&2
        exit 1
    fi
    echo 'There is no graphics adapter.'
    if [[ -n ${CAROM_NO_INSTALL:-} ]]; then
        echo 'CAROM_NO_INSTALL is set, so nothing is installed.'
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

exec "${test[@]}" "$@"
