#!/usr/bin/env bash
# Builds carom for browsers, and tests it: the CPU backend under Node.js, and WebGPU in a headless Chromium, whose shader
# compiler and software driver are others than those of the other tests; and uses the page as a person does. On Debian and
# Ubuntu, installs what is missing, unless CAROM_NO_INSTALL=1 is set.
#
# --worlds NUMBER compares the lists of so many worlds instead of 100. --check NAME runs one of the checks lists, results,
# dynamics and misuse.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
worlds=100 check=all
while (($#)); do
    case $1 in
        --worlds) worlds=$2 && shift 2 ;;
        --check) check=$2 && shift 2 ;;
        *) echo "test.sh: what is $1?" >&2 && exit 1 ;;
    esac
done

source crates/web/compiler.sh
find_browser() {
    local name
    for name in "${CHROMIUM:-chromium}" chromium-browser google-chrome; do
        if command -v "$name" >/dev/null; then
            export CHROMIUM=$name
            return
        fi
    done
    return 1
}
missing=()
has_target || has_debian_compiler || missing+=(rustc-web rust-web-src lld)
find_browser || missing+=(chromium)
command -v node >/dev/null || missing+=(nodejs)
if ((${#missing[@]})) && [[ ${CAROM_NO_INSTALL:-} != 1 ]] && command -v apt-get >/dev/null; then
    echo "Installing ${missing[*]}"
    as_root=()
    if ((EUID != 0)); then
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -qq || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null || true
fi
# Without them nothing can be tried. Exit code 77 says so.
if ! has_target && ! has_debian_compiler; then
    echo 'test.sh: there is no compiler for browsers (rustup target add wasm32-unknown-unknown, or Debian'\''s' \
        'rustc-web, rust-web-src and lld), so carom was NOT tested for browsers, except for the text of its shaders.' >&2
    exit 77
fi

# The other tests keep what they have compiled.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/web
checks=(--release --package carom-web-checks --config profile.release.opt-level=1)
cargo build --release --package carom-web-bindgen --config profile.release.opt-level=1
# bind FOLDER: makes the modules of the last build.
bind() {
    rm -rf "$1"
    "$CARGO_TARGET_DIR/release/carom-web-bindgen" "$CARGO_TARGET_DIR/$triple/release/carom_web_checks.wasm" "$1"
    # Node.js takes it for a script otherwise.
    echo '{"type": "module"}' >"$1/package.json"
}

missing=()
if command -v node >/dev/null; then
    echo 'The CPU backend, without SIMD, under Node.js'
    FEATURES='' compile_for_browsers "${checks[@]}"
    bind "$CARGO_TARGET_DIR/alone"
    node crates/web/checks/node.mjs "$CARGO_TARGET_DIR/alone"
else
    missing+=(nodejs)
fi

if find_browser; then
    echo 'WebGPU and the CPU backend, with SIMD, in a browser'
    compile_for_browsers "${checks[@]}" --features webgpu
    bind "$CARGO_TARGET_DIR/checks"
    page=(python3 crates/web/browser.py "$CARGO_TARGET_DIR/checks" crates/web/checks)
    TIMEOUT_S=${TIMEOUT_S:-$((1800 + 10 * worlds))} "${page[@]}" "index.html?check=$check&worlds=$worlds"
    status=0
    found=$("${page[@]}" 'index.html?check=grazing&mutant=LINEAR,EPSILON') || status=$?
    # The lists must differ; any other failure is one of the test.
    if ((status == 0)) || [[ $found != *' of 12 worlds of tangent pairs are the same' ]]; then
        echo "test.sh: no list shows that the filter's error bounds are 0: $found" >&2
        exit 1
    fi
    echo "Error bounds of 0 are noticed: $found"
    echo 'The page, and the npm package'
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR%/web} bash crates/web/run.sh --build --config profile.release.opt-level=1
    python3 crates/web/page_checks.py "$CARGO_TARGET_DIR/page"
    if command -v node >/dev/null; then
        node crates/web/pkg/check.mjs "$CARGO_TARGET_DIR/pkg"
    fi
else
    missing+=(chromium)
fi
if ((${#missing[@]})); then
    echo "test.sh: ${missing[*]} cannot be installed, so a part was NOT tested." >&2
    exit 77
fi
