#!/usr/bin/env python3
"""browser.py FOLDER... PAGE: serves the folders, opens a page of them in a headless Chromium, and prints what the page
tells: it POSTs lines to /tell, and its last word to /done. The exit code is 0 if that begins with "passed".

CHROMIUM is the browser, chromium by default. TIMEOUT_S is the time that the page has, in seconds.
"""

import http.server
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

TYPES = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}
# WebGPU in software, also for what a canvas shows.
FLAGS = """--headless --no-sandbox --disable-dev-shm-usage --no-first-run --window-size=1280,760
    --enable-unsafe-webgpu --use-webgpu-adapter=swiftshader --enable-features=Vulkan
    --use-vulkan=swiftshader --use-angle=swiftshader""".split()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path.split("?")[0].lstrip("/") or "index.html"
        files = [folder / path for folder in self.server.folders]
        file = next((file for file in files if file.is_file()), None)
        if file is None or ".." in path:
            self.send_error(404)
        else:
            self.answer(file.read_bytes(), TYPES.get(file.suffix, "application/octet-stream"))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.answer(b"", "text/plain")
        if self.path == "/tell":
            print(body, flush=True)
        elif self.path == "/done":
            self.server.last_word = body
            self.server.done.set()

    def answer(self, body, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    *folders, page = sys.argv[1:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.folders = [pathlib.Path(folder) for folder in folders]
    server.last_word, server.done = "", threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/{page}"
    end = time.monotonic() + float(os.environ.get("TIMEOUT_S", "600"))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        with open(os.path.join(profile, "log"), "w+") as log:
            command = [os.environ.get("CHROMIUM", "chromium"), *FLAGS, f"--user-data-dir={profile}", url]
            browser = subprocess.Popen(command, stdout=log, stderr=log)
            try:
                while not server.done.wait(0.5) and browser.poll() is None and time.monotonic() < end:
                    pass
            finally:
                ended = browser.poll()
                browser.terminate()
                browser.wait()
            if not server.done.is_set():
                log.seek(0)
                print(log.read()[-4000:], file=sys.stderr)
                why = "took too long" if ended is None else f"ended with exit code {ended}"
                sys.exit(f"browser.py: the browser {why}.")
    print(server.last_word)
    sys.exit(not server.last_word.startswith("passed"))


main()
