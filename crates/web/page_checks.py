#!/usr/bin/env python3
"""page_checks.py FOLDER [PICTURES]: opens the page in FOLDER/page in a headless Chromium, uses it as a person does, and fails if
it does not do what it should, or writes an error to the console; and opens the examples of the package in FOLDER/pkg. Writes a
picture of each state to the folder PICTURES.

CHROMIUM is the browser, chromium by default. CHECK=NAME,NAME runs only these checks. CHECK=memory runs the page for MINUTES, 10 by
default, and fails if its memory grows.
"""

import base64
import functools
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = """--headless --no-sandbox --disable-dev-shm-usage --no-first-run --hide-scrollbars --remote-debugging-pipe
    --enable-unsafe-webgpu --use-webgpu-adapter=swiftshader --enable-features=Vulkan --use-vulkan=swiftshader
    --use-angle=swiftshader --enable-unsafe-swiftshader""".split()
WIDE, NARROW = (1280, 800), (360, 740)


class Failed(Exception):
    pass


class Browser:
    """Chromium, by its debugging protocol, whose messages end in a zero byte, on descriptors 3 and 4."""

    def __init__(self, profile):
        to_child, self.to = os.pipe()
        self.of, from_child = os.pipe()

        def descriptors():
            # First away from 3 and 4, which may be among them.
            high = [os.dup2(to_child, 100), os.dup2(from_child, 101)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        command = [os.environ.get("CHROMIUM", "chromium"), *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self.log = open(os.path.join(profile, "log"), "w")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, close_fds=False, preexec_fn=descriptors)
        os.close(to_child)
        os.close(from_child)
        self.asked, self.buffer, self.events = 0, b"", []

    def receive(self):
        while b"\0" not in self.buffer:
            read = os.read(self.of, 1 << 20)
            if not read:
                raise Failed("the browser ended")
            self.buffer += read
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, session=None, **parameters):
        self.asked += 1
        message = {"id": self.asked, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.asked:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def end(self):
        self.process.terminate()
        self.process.wait()


class Page:
    def __init__(self, browser, url, size=WIDE, before="", motion=None):
        self.browser = browser
        context = browser.ask("Target.createBrowserContext")["browserContextId"]
        self.target = browser.ask("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        self.session = browser.ask("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "DOM"]:
            self.ask(f"{domain}.enable")
        self.resize(size)
        if before:
            self.ask("Page.addScriptToEvaluateOnNewDocument", source=before)
        if motion:
            self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": motion}])
        self.ask("Page.navigate", url=url)
        self.until("document.readyState === 'complete'", 30)

    def ask(self, method, **parameters):
        return self.browser.ask(method, self.session, **parameters)

    def resize(self, size):
        self.ask("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)

    def value(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise Failed(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def until(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > end:
                state = self.value("[document.getElementById('alert')?.textContent, document.getElementById('status')?.textContent, "
                                   "document.getElementById('wait')?.textContent, document.getElementById('figures')?.innerText].join(' | ')")
                raise Failed("; ".join([f"not after {seconds} s: {expression}; the page says: {state}", *self.errors()]))
            time.sleep(0.2)

    def text(self, name):
        return self.value(f"document.getElementById({json.dumps(name)}).textContent")

    def click(self, name):
        self.value(f"document.getElementById({json.dumps(name)}).click()")

    def set(self, name, value):
        self.value(f"(() => {{ const e = document.getElementById({json.dumps(name)}); e.value = {json.dumps(value)};"
                   "e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true})); })()")

    def files(self, *paths):
        root = self.ask("DOM.getDocument")["root"]["nodeId"]
        node = self.ask("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
        self.ask("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def drag(self, start, end):
        for kind, (x, y) in [("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)]:
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, name, whole=False):
        data = base64.b64decode(self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])
        if PICTURES:
            (PICTURES / f"{name}.png").write_bytes(data)
        return data

    def drawn(self, seconds=60, what="#picture"):
        """Fails if what a person sees of the picture has few colours."""
        colours, end = 0, time.monotonic() + seconds
        while colours < 20 and time.monotonic() < end:
            clip = self.value("(({x, y, width, height}) => ({x, y, width, height, scale: 1}))(document.querySelector('" + what + "').getBoundingClientRect())")
            data = self.ask("Page.captureScreenshot", format="png", clip=clip)["data"]
            colours = self.value(f"""(async () => {{
                const image = new Image();
                image.src = 'data:image/png;base64,{data}';
                await image.decode();
                const small = document.createElement('canvas');
                small.width = small.height = 64;
                const context = small.getContext('2d', {{ willReadFrequently: true }});
                context.drawImage(image, 0, 0, 64, 64);
                return new Set(new Uint32Array(context.getImageData(0, 0, 64, 64).data.buffer)).size;
            }})()""")
        ensure(colours >= 20, f"the picture has only {colours} colours")

    def moves(self, what):
        """Fails if the picture does not change."""
        first, end = self.picture(what), time.monotonic() + 30
        while self.picture(what) == first:
            ensure(time.monotonic() < end, f"{what}: nothing moves")

    def errors(self):
        """Returns the errors in the console."""
        errors = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, what = event["method"], event.get("params", {})
            if method == "Runtime.exceptionThrown":
                errors.append(json.dumps(what["exceptionDetails"]))
            if method == "Runtime.consoleAPICalled" and what["type"] in ("error", "assert"):
                errors.append(json.dumps(what["args"]))
            if method == "Log.entryAdded" and what["entry"]["level"] == "error":
                errors.append(what["entry"]["text"])
        return errors

    def close(self):
        """Fails if the console has an error."""
        self.value("1")
        errors = self.errors()
        self.browser.ask("Target.closeTarget", targetId=self.target)
        if errors:
            raise Failed("the console has errors: " + "; ".join(errors))


def ensure(holds, what):
    if not holds:
        raise Failed(what)


def runs(page, seconds=90):
    page.until("document.getElementById('impacts').textContent !== '–' && document.getElementById('wait').hidden", seconds)


def cpu(browser, url):
    page = Page(browser, f"{url}#device=cpu")
    runs(page)
    page.drawn()
    page.picture("cpu-start")
    page.drag((400, 400), (560, 450))
    page.value("document.getElementById('picture').focus()")
    for key in ["ArrowLeft", "+"]:
        page.ask("Input.dispatchKeyEvent", type="keyDown", key=key, text="+" if key == "+" else "")
        page.ask("Input.dispatchKeyEvent", type="keyUp", key=key)
    page.ask("Input.dispatchMouseEvent", type="mouseWheel", x=400, y=400, deltaX=0, deltaY=-300)
    page.set("restitution", 0.5)
    page.set("gravity", 10)
    time.sleep(3)
    page.drawn()
    page.picture("cpu-used")
    ensure("gravity=10" in page.value("location.hash"), "the address does not keep the settings")
    page.click("pause")
    ensure(page.value("document.getElementById('pause').getAttribute('aria-pressed')") == "true", "pause does nothing")
    page.click("step")
    page.resize((900, 600))
    page.until("Math.abs(document.getElementById('gl').width - 868) < 2", 20)
    page.picture("cpu-resized")
    page.click("reset")
    page.set("n", 20)
    page.until("document.getElementById('spheres').textContent === document.getElementById('n-out').textContent")
    page.close()
    return "the CPU simulates, and all controls do something"


def own(browser, url):
    page = Page(browser, f"{url}#device=cpu")
    runs(page)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        page.set("dt", 0.001)
        page.files(ROOT / "examples/data/pour.lammpstrj")
        page.until("document.getElementById('rows').children.length === 100", 120)
        summary = page.text("summary")
        # The pairs that the tool finds: see the README.
        ensure("9,504 spheres" in summary and "4,593 pairs (3,513 touch" in summary, f"pour.lammpstrj: {summary}")
        first = page.value("[...document.querySelectorAll('#rows tr:first-child td')].map((cell) => cell.textContent)")
        ensure(first == ["3", "1603", "0", "0.0000016318366403823112"], f"the first pair is {first}")
        page.drawn()
        page.picture("own", True)
        page.value("document.querySelector('#heads th:last-child button').click()")
        page.value("document.querySelector('#heads th:last-child button').click()")
        page.until("document.querySelector('#heads th:last-child').getAttribute('aria-sort') === 'descending'")
        depths = "[...document.querySelectorAll('#rows td:last-child')].map((cell) => Number(cell.textContent))"
        page.until(f"(all => all[0] > 0 && all.every((depth, k) => k === 0 || all[k - 1] >= depth))({depths})")
        broken = folder / "broken.csv"
        broken.write_text("x,y,z,radius\n0,0,0,1\n0,oops,0,1\n")
        page.files(broken)
        page.until("!document.getElementById('alert').hidden")
        error = page.text("alert")
        ensure("broken.csv, line 3: field y" in error, f"the error of a broken file is {error}")
        ensure(page.text("summary") == summary, "a broken file has lost the world before it")
        page.value("document.getElementById('alert').scrollIntoView()")
        page.picture("broken", True)
        mesh = folder / "floor.obj"
        mesh.write_text("v -1 -1 0\nv 9 -1 0\nv -1 9 0\nf 1 2 3\n")
        spheres = folder / "two.csv"
        spheres.write_text("x,y,z,radius\n0,0,0.5,1\n1.5,0,1,1\n")
        page.set("dt", 0)
        page.files(spheres, mesh)
        page.until("document.getElementById('summary').textContent.startsWith('2 spheres')")
        ensure("1 pair " in page.text("summary") and "2 contacts with walls" in page.text("summary"), page.text("summary"))
        page.click("example")
        page.until("!document.getElementById('frames').hidden")
        before = page.text("summary")
        page.set("frame", 0)
        page.until(f"document.getElementById('summary').textContent !== {json.dumps(before)} && document.getElementById('frame-out').textContent.startsWith('0')")
        page.picture("frames", True)
        page.click("back")
        runs(page)
    page.close()
    return "own files are read, listed, sorted and drawn, and a broken one says where"


def narrow(browser, url):
    page = Page(browser, f"{url}#device=cpu", NARROW)
    runs(page)
    page.click("example")
    page.until("document.getElementById('rows').children.length > 0")
    wide = page.value("document.documentElement.scrollWidth")
    ensure(wide <= NARROW[0], f"the page is {wide} pixels wide")
    page.picture("narrow", True)
    unnamed = page.value("""[...document.querySelectorAll('input, select, button')].filter((e) =>
        !(e.labels?.length || e.textContent.trim() || e.getAttribute('aria-label'))).map((e) => e.id).join()""")
    ensure(not unnamed, f"no label: {unnamed}")
    page.close()
    return "360 pixels are wide enough, and everything has a label"


def without(browser, url):
    page = Page(browser, url, before="delete Navigator.prototype.gpu")
    runs(page)
    page.drawn()
    ensure("has no WebGPU" in page.text("status"), f"without WebGPU, the page says {page.text('status')!r}")
    page.picture("no-webgpu")
    page.close()
    page = Page(browser, f"{url}#device=cpu", before="delete globalThis.WebAssembly")
    page.until("!document.getElementById('alert').hidden")
    page.picture("no-wasm")
    ensure("WebAssembly" in page.text("alert"), page.text("alert"))
    page.close()
    nothing = "const get = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext = function (kind, ...more) { return kind === '2d' ? get.call(this, kind, ...more) : null; }"
    page = Page(browser, f"{url}#device=cpu", before=nothing)
    runs(page)
    page.drawn()
    page.picture("no-webgl")
    page.close()
    page = Page(browser, f"{url}#device=cpu", motion="reduce")
    page.until("document.getElementById('wait').hidden")
    ensure(page.text("pause") == "Go on", "the spheres move although less motion is asked for")
    page.close()
    return "without WebGPU, WebAssembly or WebGL2, the page says so; with reduced motion, it waits"


def gpu(browser, url):
    keep = """const ask = GPUAdapter.prototype.requestDevice; globalThis.devices = [];
      GPUAdapter.prototype.requestDevice = async function (...all) { const made = await ask.apply(this, all); devices.push(made); return made; }"""
    page = Page(browser, f"{url}#device=gpu&n=500", before=keep)
    runs(page, 300)
    ensure("WebGPU" in page.text("backend"), page.text("backend"))
    page.drawn()
    page.picture("gpu-start")
    page.drag((400, 400), (560, 450))
    page.set("gravity", 10)
    page.set("restitution", 0.5)
    time.sleep(3)
    page.drawn()
    page.picture("gpu-used")
    ensure("WebGPU" in page.text("backend") and not page.text("status"), f"gravity: {page.text('status')}")
    page.resize((900, 600))
    time.sleep(2)
    page.drawn()
    page.resize(WIDE)
    page.value("devices.at(-1).destroy()")
    page.until("document.getElementById('status').textContent.includes('began anew')", 120)
    ensure("lost" in page.text("status"), page.text("status"))
    runs(page, 300)
    ensure("WebGPU" in page.text("backend"), page.text("backend"))
    page.drawn()
    page.picture("gpu-lost")
    shared = page.value("""(async () => {
        const { GpuSimulation } = await import('./carom/carom_web.js');
        const device = await (await navigator.gpu.requestAdapter()).requestDevice();
        const world = { center: [2, 5, 5, 6, 5, 5], radius: 1, velocity: [6, 0, 0, 0, 0, 0], contactTime: 0.001 };
        const walls = [{ box: { low: [0, 0, 0], high: [10, 10, 10] } }];
        const simulation = await GpuSimulation.create({ ...world, walls, device, substeps: 100 });
        const is_free = Object.getOwnPropertyNames(navigator.gpu).length === 0;
        simulation.step(1);
        const state = await simulation.state();
        const read = device.createBuffer({ size: 32, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
        const encoder = device.createCommandEncoder();
        encoder.copyBufferToBuffer(simulation.positions, 0, read, 0, 32);
        device.queue.submit([encoder.finish()]);
        await read.mapAsync(GPUMapMode.READ);
        const places = [...new Float32Array(read.getMappedRange())];
        const same = simulation.device === device;
        simulation.free();
        return { same, is_free, state, places };
    })()""")
    ensure(shared["same"] and shared["is_free"], f"the page's device is not used: {shared}")
    ensure(shared["state"]["sphereImpacts"] == 1 and shared["state"]["wallImpacts"] == 1, f"the shared simulation: {shared}")
    # The first sphere stops at x = 4 after 1/3; the second one meets the wall at x = 9, 1/2 later, and comes back to 8.
    places = [4, 5, 5, 1, 8, 5, 5, 1]
    ensure(all(abs(p - q) < 1e-3 for p, q in zip(shared["places"], places)), f"the shared simulation: {shared}")
    page.close()
    return "WebGPU simulates and draws, a lost device begins anew, and a page can lend its device"


def examples(browser, url):
    # three.js is not part of the project; test.sh fetches it.
    three = (PACKAGE / "examples" / "three" / "build").exists()
    for name in ["plain", "three"] if three else ["plain"]:
        page = Page(browser, url.replace("page/index", f"pkg/examples/{name}"))
        page.until("document.querySelector('canvas') !== null", 300)
        page.drawn(what="canvas")
        page.moves(f"example-{name}")
        page.close()
    return f"the example pages of the package draw{'' if three else ', but three.js is not there'}"


def resident(of):
    """The resident memory of a process and those that it has started, in MB."""
    parents, pages = {}, {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)], pages[int(folder.name)] = int(fields[1]), int(fields[21])
        except OSError:
            pass
    known = {of}
    while more := {one for one, parent in parents.items() if parent in known} - known:
        known |= more
    return sum(pages.get(one, 0) for one in known) * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory(browser, url):
    minutes = float(os.environ.get("MINUTES", "10"))
    keep = """const load = WebAssembly.instantiateStreaming; WebAssembly.instantiateStreaming = async (...all) => {
      const made = await load(...all); globalThis.wasm = made.instance.exports.memory; return made; }"""
    for device in ["cpu", "gpu"]:
        page = Page(browser, f"{url}#device={device}&n=500", before=keep)
        runs(page, 300)
        told = []
        # The first quarter is for caches to fill.
        for part in range(4):
            time.sleep(minutes * 60 / 4)
            page.ask("HeapProfiler.collectGarbage")
            used = page.ask("Runtime.getHeapUsage")["usedSize"] / 1e6
            told.append((resident(browser.process.pid), used, page.value("wasm.buffer.byteLength") / 1e6))
            print(f"{device}: {told[-1][0]:.0f} MB in all, {told[-1][1]:.1f} MB of JavaScript, {told[-1][2]:.1f} MB of wasm", flush=True)
        page.drawn()
        first, last = told[0], told[-1]
        for k, (what, most) in enumerate([("all processes", 40), ("JavaScript", 2), ("wasm", 0.1)]):
            ensure(last[k] - first[k] <= most, f"{device}: the memory of {what} grows: {told}")
        page.close()
    return f"the memory does not grow in {minutes:g} minutes"


def main():
    global PICTURES, PACKAGE
    folder = sys.argv[1]
    PACKAGE = pathlib.Path(folder) / "pkg"
    PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if PICTURES:
        PICTURES.mkdir(parents=True, exist_ok=True)

    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript", ".wasm": "application/wasm"}

        def do_GET(self):
            # A browser asks for it where a page names no icon, as the examples do.
            if self.path == "/favicon.ico":
                self.send_response(204)
                self.end_headers()
            else:
                super().do_GET()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/page/index.html"
    chosen = os.environ.get("CHECK")
    failed = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            usual = [cpu, own, narrow, without, gpu, examples]
            for check in [*usual, memory]:
                if check.__name__ not in chosen.split(",") if chosen else check not in usual:
                    continue
                begin = time.monotonic()
                try:
                    print(f"passed: {check(browser, url)} ({time.monotonic() - begin:.0f} s)", flush=True)
                except Failed as error:
                    failed.append(check.__name__)
                    print(f"FAILED: {check.__name__}: {error}", flush=True)
        finally:
            browser.end()
    if failed:
        sys.exit(f"page_checks.py: {', '.join(failed)} failed")


main()
