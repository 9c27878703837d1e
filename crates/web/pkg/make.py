#!/usr/bin/env python3
"""make.py BOUND PACKAGE: makes the npm package in the folder PACKAGE from the modules that wasm-bindgen has written to the
folder BOUND: the module with the wasm inlined, and the notices of third parties.
"""

import base64
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
NAMES = "Detector, GpuSimulation, NeighborList, Simulation, read, readMesh"


def inlined(module: str, wasm: bytes) -> str:
    """Returns one module: what wasm-bindgen made, and the wasm, compressed, as text."""
    module, found = re.subn(r"export \{ initSync, __wbg_init as default \};?", "", module)
    if found != 1:
        sys.exit("make.py: wasm-bindgen's module does not end as expected")
    module = re.sub(r"^export (?=class|function|async function|const)", "", module, flags=re.M)
    # Bundlers would copy the wasm file.
    module = re.sub(r"module_or_path = new URL\('[^']*', import\.meta\.url\);", "throw new Error('no wasm');", module)
    packed = base64.b64encode(gzip.compress(wasm, 9, mtime=0)).decode()
    return f"""{module}
const packed = Uint8Array.from(atob('{packed}'), (letter) => letter.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
await __wbg_init({{ module_or_path: await new Response(unpacked).arrayBuffer() }});

export {{ {NAMES} }};
"""


def notices() -> str:
    """Returns the licences of all crates that the wasm file contains."""
    tree = "cargo tree --package carom-web --target wasm32-unknown-unknown --edges normal,no-proc-macro --prefix none".split()
    lines = subprocess.run(tree + ["--format", "{p}|{l}"], cwd=ROOT, check=True, text=True, capture_output=True).stdout
    metadata = ["cargo", "metadata", "--format-version", "1", "--filter-platform", "wasm32-unknown-unknown"]
    packages = json.loads(subprocess.run(metadata, cwd=ROOT, check=True, text=True, capture_output=True).stdout)["packages"]
    folders = {(p["name"], p["version"]): pathlib.Path(p["manifest_path"]).parent for p in packages if p["source"]}
    authors = {(p["name"], p["version"]): ", ".join(p["authors"]) or f"the authors of {p['repository']}" for p in packages}
    parts, texts = [], {}
    # Cargo marks a crate that it has listed before.
    for line in sorted({line.removesuffix(" (*)") for line in lines.splitlines()}):
        found = re.match(r"(\S+) v(\S+?)(?: \(.*\))?\|(.*)", line)
        if not found or found.groups()[:2] not in folders:
            continue
        name, version, licence = found.groups()
        folder = folders[name, version]
        files = [f for f in sorted(folder.iterdir()) if re.match(r"(?i)(licen[cs]e|copying|notice|unlicense)", f.name) and f.is_file()]
        numbers = []
        for file in files:
            text = file.read_text(errors="replace").strip()
            numbers.append(texts.setdefault(text, len(texts) + 1))
        which = ", ".join(f"[{n}]" for n in sorted(set(numbers)))
        which = which or f"copyright {authors[name, version]}; LICENSE-MIT and LICENSE-APACHE have the text"
        parts.append(f"- {name} {version}: {licence.strip() or 'see the text'}: {which}")
    parts.append("- The standard library of Rust: MIT OR Apache-2.0")
    all_texts = "\n".join(f"\n## [{n}]\n\n```text\n{text}\n```" for text, n in texts.items())
    return "# What the wasm file contains\n\n" + "\n".join(parts) + "\n" + all_texts + "\n"


def main():
    bound, package = map(pathlib.Path, sys.argv[1:])
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for name in ["carom_web.js", "carom_web.d.ts", "carom_web_bg.wasm"]:
        shutil.copy(bound / name, package)
    for name in ["index.js", "package.json", "README.md"]:
        shutil.copy(HERE / name, package)
    shutil.copytree(HERE / "examples", package / "examples")
    for licence in ROOT.glob("LICENSE-*"):
        shutil.copy(licence, package)
    types = HERE.parent / "src" / "types.d.ts"
    names = re.findall(r"^export (?:interface|type) (\w+)", types.read_text(), flags=re.M)
    exported = f"export {{ {NAMES} }} from './carom_web.js';\nexport type {{ {', '.join(names)} }} from './carom_web.js';\n"
    (package / "index.d.ts").write_text(exported)
    wasm = (bound / "carom_web_bg.wasm").read_bytes()
    inline = inlined((bound / "carom_web.js").read_text(), wasm)
    (package / "inline.js").write_text(inline)
    (package / "THIRD_PARTY.md").write_text(notices())
    size = len(gzip.compress(inline.encode(), 9))
    print(f"The module with the wasm inlined has {size / 1e6:.2f} MB compressed, the wasm file {len(wasm) / 1e6:.2f} MB.")


main()
