#!/usr/bin/env bash
# Builds the Python package and tests it: in a virtual environment with the packages that the tests compare it with, and the
# wheel in a fresh one that has only NumPy and pytest, without Rust.
#
# PYTHON is the interpreter, python3 by default. The wheel is also tried with each interpreter in CAROM_PYTHONS, such as
# "python3.10 python3.14".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
python=${PYTHON:-python3}
repository=$(realpath ../..)
target=$(realpath -m "${CARGO_TARGET_DIR:-$repository/target}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Without a window system, Mesa's device selection layer prints a warning at every start.
if [[ -z ${XDG_RUNTIME_DIR:-} ]]; then
    export NODEVICE_SELECT=1
fi

if ! command -v "$python" >/dev/null || ! "$python" -m venv "$folder/venv" >/dev/null; then
    if [[ ${CAROM_NO_INSTALL:-} != 1 && $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        apt-get update -qq
        apt-get install -qq -y python3-venv >/dev/null
        rm -rf "$folder/venv"
        "$python" -m venv "$folder/venv"
    else
        echo 'test.sh needs Python 3.10 or later with the module venv: on Debian and Ubuntu, apt-get install python3-venv' >&2
        exit 1
    fi
fi
pip() {
    "$folder/$1/bin/python" -m pip --quiet --disable-pip-version-check install "${@:2}"
}

# Without these packages nothing can be tried. Exit code 77 says so.
if ! pip venv 'maturin>=1.16,<2' numpy pytest mypy twine ase matscipy vesin pandas matplotlib; then
    echo 'test.sh: packages that the tests need cannot be installed, so the Python package was NOT tested.' >&2
    exit 77
fi

# The wheel has everything but Python and NumPy, and the source archive has the packages of this repository on which it
# depends.
export CARGO_TARGET_DIR=$target
quick=(--config "$repository/tests/quick.toml")
cargo build --release "${quick[@]}" --package carom-python --example rust_call
PATH=$folder/venv/bin:$PATH maturin build --release "${quick[@]}" --out "$folder/dist"
PATH=$folder/venv/bin:$PATH maturin sdist --out "$folder/dist"
ls -l "$folder"/dist
"$folder/venv/bin/python" -m twine check --strict "$folder"/dist/*
wheel=$(ls "$folder"/dist/carom-*-cp310-abi3-*.whl)
tar -xf "$folder"/dist/carom-*.tar.gz -C "$folder"
for file in PKG-INFO LICENSE-MIT LICENSE-APACHE; do
    test -s "$folder"/carom-*/"$file"
done
(cd "$folder"/carom-*/ && cargo metadata --format-version 1 --offline >/dev/null)
unzip=$("$python" -m zipfile -l "$wheel")
for file in carom/_carom.abi3.so carom/_carom.pyi carom/py.typed licenses/LICENSE-MIT licenses/LICENSE-APACHE; do
    grep -q "$file" <<<"$unzip"
done

pip venv "$wheel"
(cd "$folder" && "$folder/venv/bin/python" -m mypy --config-file "$OLDPWD/pyproject.toml" -p carom)
CAROM_REPOSITORY=$repository CAROM_RUST_CALL=$target/release/examples/rust_call \
    "$folder/venv/bin/python" -m pytest -q -p no:cacheprovider tests

cp -r tests "$folder/tests"
for fresh in "$python" ${CAROM_PYTHONS:-}; do
    rm -rf "$folder/fresh"
    "$fresh" -m venv "$folder/fresh"
    # The oldest NumPy that is supported, where it exists for this Python.
    pip fresh --only-binary :all: pytest 'numpy==1.26.*' 2>/dev/null || pip fresh pytest numpy
    pip fresh --no-index "$wheel"
    "$folder/fresh/bin/python" -c 'import sys, numpy; print("Python", sys.version.split()[0], "NumPy", numpy.__version__)'
    # The tests of threads and forks take most of the time, and need no other packages.
    (cd "$folder" && PATH=/usr/bin:/bin "$folder/fresh/bin/python" -m pytest -q -p no:cacheprovider --ignore tests/test_robust.py tests)
done
