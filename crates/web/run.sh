#!/usr/bin/env bash
# Builds the page and the npm package, and serves the page on http://localhost:8000, or the port in PORT.
#
# --build only builds, into target/web/page and target/web/pkg. --quick builds for test.sh, with little optimization and with the
# checks, into target/web/quick. Cargo gets the arguments that follow: `--build --package carom-web-checks` also builds the checks,
# into target/web/checks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source crates/web/compiler.sh
mode=${1:-}
shift $(($# > 0))
case $mode in
    '' | --build | --quick) ;;
    *) echo "run.sh: what is $mode?" >&2 && exit 1 ;;
esac
if ! has_target && ! has_debian_compiler; then
    echo 'run.sh: there is no compiler for browsers; run `rustup target add wasm32-unknown-unknown`, or install Debian'\''s' \
        'rustc-web, rust-web-src and lld' >&2
    exit 1
fi
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/web
# One command compiles all that the tests use, so that nothing is compiled twice.
if [[ $mode == --quick ]]; then
    made=$CARGO_TARGET_DIR/quick
    # Optimizes only what takes the time of a step.
    build=(--package carom-web-checks --config profile.release.opt-level=0 --config 'profile.release.lto="off"'
        --config profile.release.package.carom.opt-level=1 --config profile.release.package.dashu-int.opt-level=1)
else
    made=$CARGO_TARGET_DIR
    # Small, except for what takes the time of a step.
    build=(--config 'profile.release.opt-level="s"' --config 'profile.release.lto="fat"' --config profile.release.codegen-units=1
        --config profile.release.package.carom.opt-level=2 --config profile.release.package.dashu-int.opt-level=2)
fi
compile --package carom-web-bindgen --config profile.release.opt-level=0
compile_for_browsers --package carom-web "${build[@]}" "$@"
# bind NAME FOLDER: makes the JavaScript of a wasm file.
bind() {
    rm -rf "$2"
    "$CARGO_TARGET_DIR/release/carom-web-bindgen" "$CARGO_TARGET_DIR/$triple/release/$1.wasm" "$2"
}
if [[ " ${build[*]} $* " == *' carom-web-checks '* ]]; then
    bind carom_web_checks "$made/checks"
    # Node.js takes it for a script otherwise.
    echo '{"type": "module"}' >"$made/checks/package.json"
fi
bind carom_web "$made/bound"
python3 crates/web/pkg/make.py "$made/bound" "$made/pkg"
page=$made/page
rm -rf "$page"
mkdir -p "$page/carom"
cp crates/web/page/* "$page"
cp "$made"/pkg/carom_web.js "$made"/pkg/carom_web_bg.wasm "$made"/pkg/*.md "$page/carom"
size=$(tar -C "$page" -cz . | wc -c)
echo "The page has $size bytes compressed."
if ((size > 3000000)); then
    echo 'run.sh: the page must stay below 3 MB compressed' >&2
    exit 1
fi
if [[ -z $mode ]]; then
    echo "http://localhost:${PORT:-8000}"
    exec python3 -m http.server --bind localhost --directory "$page" "${PORT:-8000}"
fi
