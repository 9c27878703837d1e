#!/usr/bin/env bash
# Builds the page and the npm package, and serves the page on http://localhost:8000, or the port in PORT. `--build` only builds,
# into target/web/page and target/web/pkg; Cargo gets the arguments that follow.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source crates/web/compiler.sh
serve=1
if [[ ${1:-} == --build ]]; then
    serve=0
    shift
fi
if ! has_target && ! has_debian_compiler; then
    echo 'run.sh: there is no compiler for browsers; run `rustup target add wasm32-unknown-unknown`, or install Debian'\''s' \
        'rustc-web, rust-web-src and lld' >&2
    exit 1
fi
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/web
cargo build --release --package carom-web-bindgen --config profile.release.opt-level=1
compile_for_browsers --release --package carom-web "$@"
"$CARGO_TARGET_DIR/release/carom-web-bindgen" "$CARGO_TARGET_DIR/$triple/release/carom_web.wasm" "$CARGO_TARGET_DIR/bound"
python3 crates/web/pkg/make.py "$CARGO_TARGET_DIR/bound" "$CARGO_TARGET_DIR/pkg"
page=$CARGO_TARGET_DIR/page
rm -rf "$page"
mkdir -p "$page/carom"
cp crates/web/page/* "$page"
cp "$CARGO_TARGET_DIR"/pkg/carom_web.js "$CARGO_TARGET_DIR"/pkg/carom_web_bg.wasm "$CARGO_TARGET_DIR"/pkg/*.md "$page/carom"
size=$(tar -C "$page" -cz . | wc -c)
echo "The page has $size bytes compressed."
if ((size > 3000000)); then
    echo 'run.sh: the page must stay below 3 MB compressed' >&2
    exit 1
fi
if ((serve)); then
    echo "http://localhost:${PORT:-8000}"
    exec python3 -m http.server --bind localhost --directory "$page" "${PORT:-8000}"
fi
