#!/usr/bin/env bash
# Builds carom for browsers, and tests it: the CPU backend under Node.js, and WebGPU in a headless Chromium, whose shader
# compiler and software driver are others than those of the other tests; and uses the page as a person does. On Debian and
# Ubuntu, installs what is missing, unless CAROM_NO_INSTALL=1 is set.
#
# --worlds NUMBER compares the lists of so many worlds instead of 100. --check NAME only runs one of the checks node, lists,
# results, dynamics, misuse, bounds, page and package. FEATURES='' builds without SIMD.
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
# part NAME: begins a part, and says how long the one before it took.
part() {
    if [[ -n ${name:-} ]]; then
        printf -- '-- %s: %d s\n' "$name" $((SECONDS - began))
    fi
    name=$1 began=$SECONDS
}

part 'Setup'
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

part 'Build'
bash crates/web/run.sh --quick
made=${CARGO_TARGET_DIR:-target}/web/quick

# runs NAME: whether this check was asked for.
runs() {
    [[ $check == all || $check == "$1" ]]
}
missing=()
if command -v node >/dev/null; then
    if runs node; then
        part 'The CPU backend under Node.js'
        node crates/web/checks/node.mjs "$made/checks"
    fi
    if runs package; then
        part 'The npm package under Node.js'
        node crates/web/pkg/check.mjs "$made/pkg"
    fi
else
    missing+=(nodejs)
fi

if find_browser; then
    browser=(python3 crates/web/browser.py "$made/checks" crates/web/checks)
    if [[ $check == all || $check =~ ^(lists|results|dynamics|misuse)$ ]]; then
        part 'WebGPU beside the CPU backend, in a browser'
        TIMEOUT_S=${TIMEOUT_S:-$((1800 + 10 * worlds))} "${browser[@]}" "index.html?check=$check&worlds=$worlds"
    fi
    if runs bounds; then
        part 'Error bounds of 0'
        status=0
        found=$("${browser[@]}" 'index.html?check=grazing&mutant=LINEAR,EPSILON') || status=$?
        # The lists must differ; any other failure is one of the test.
        if ((status == 0)) || [[ $found != *' of 12 worlds of tangent pairs are the same' ]]; then
            echo "test.sh: no list shows that the filter's error bounds are 0: $found" >&2
            exit 1
        fi
        echo "They are noticed: $found"
    fi
    if runs page; then
        part 'The page'
        # For one of the examples.
        three=$(dirname "$made")/three-0.187.0.tgz
        if [[ ! -e $three ]] && command -v npm >/dev/null; then
            npm pack --silent --pack-destination "$(dirname "$three")" three@0.187.0 >/dev/null || true
        fi
        if [[ -e $three ]]; then
            mkdir -p "$made/pkg/examples/three"
            tar -xzf "$three" -C "$made/pkg/examples/three" --strip-components 1 package/build
        else
            missing+=(three.js)
        fi
        python3 crates/web/page_checks.py "$made"
    fi
else
    missing+=(chromium)
fi
part ''
echo "All parts: $SECONDS s"
if ((${#missing[@]})); then
    echo "test.sh: ${missing[*]} cannot be installed, so a part was NOT tested." >&2
    exit 77
fi
