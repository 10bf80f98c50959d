"""A static server for build/lite, and a notebook open in it. Helpers of the tests of the site in a browser."""

import contextlib
import functools
import http.server
import json
import os
import pathlib
import threading

import browsers
import lab

# The browser that the tests use.
BROWSER = os.environ.get("BROWSER") or "chromium"
SITE = lab.ROOT / "build" / "lite"
# The site must work below any path.
PREFIX = "/classes/go/"


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder below PREFIX, as a plain file server, and makes JupyterLab's application accessible to the tests."""

    def translate_path(self, path):
        if not path.startswith(PREFIX):
            return str(self.server.folder / "no-such-file")
        return super().translate_path(path[len(PREFIX) - 1:])

    def do_GET(self):
        path = self.path.split("?")[0]
        self.server.requests.append(path)
        if self.server.refused and self.server.refused in path:
            return self.send_error(503)
        # Only the file at the root has the settings.
        if path == PREFIX + "jupyter-lite.json":
            settings = json.loads((self.server.folder / "jupyter-lite.json").read_text())
            settings["jupyter-config-data"]["exposeAppInBrowser"] = True
            return self.answer("application/json", json.dumps(settings))
        if self.server.worker and path.startswith(PREFIX + "extensions/quern-lite/static/"):
            script = pathlib.Path(self.translate_path(path)).read_text()
            if "wasm_exec.js" in script:
                return self.answer("text/javascript", self.server.worker + script)
        return super().do_GET()

    def answer(self, kind, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server:
    """Serves a site, with a line before the script of the Web Worker; after stop, connections are refused.

    refuse rejects requests for paths that contain a text, or none if the text is empty.
    """

    def __init__(self, worker, folder):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.server.daemon_threads = True
        self.server.requests = []
        self.server.worker = worker
        self.server.folder = folder
        self.server.refused = ""
        self.address = f"http://127.0.0.1:{self.server.server_port}{PREFIX}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    @property
    def requests(self):
        """The paths that were requested so far."""
        return self.server.requests

    def refuse(self, text):
        self.server.refused = text

    def stop(self):
        if self.thread:
            self.server.shutdown()
            self.server.server_close()
            self.thread.join()
            self.thread = None


@contextlib.contextmanager
def server(worker="", folder=SITE):
    s = Server(worker, folder)
    try:
        yield s
    finally:
        s.stop()


def browser(height=1600, storage=None):
    """Starts the browser that the tests use."""
    return browsers.start(BROWSER, 1280, height, storage)


class Notebook(lab.Notebook):
    """A notebook open in JupyterLite."""

    def __init__(self, driver):
        self.driver = driver
        driver.set_script_timeout(60)

    @classmethod
    def open(cls, driver, address, name, cells=None, connect=True):
        """Opens a notebook of the site, or a new one with cells, and waits for its kernel unless connect is false."""
        notebook = cls(driver)
        driver.get(f"{address}lab/index.html?reset")
        lab.wait_for(lambda: driver.execute_script("return !!(window.jupyterapp && window.jupyterapp.shell)"), 60, "JupyterLab")
        notebook.call("await app.restored")
        if cells is not None:
            notebook.save(name, cells)
        notebook.show(name, connect)
        return notebook

    def call(self, code, *arguments):
        """Runs code on the page, which may await, with app and its arguments a; returns its result."""
        result = self.driver.execute_async_script(
            "const a = [...arguments]; const done = a.pop(); const app = window.jupyterapp;"
            f"(async () => {{ {code} }})().then(value => done({{value}}), error => done({{error: String(error)}}))", *arguments)
        if "error" in result:
            raise RuntimeError(f"{code}: {result['error']}")
        return result.get("value")

    def save(self, name, cells):
        """Stores a notebook with cells in the files of the browser."""
        self.call(
            "await app.serviceManager.contents.save(a[0], {type: 'notebook', format: 'json', content: {"
            " nbformat: 4, nbformat_minor: 5, metadata: {kernelspec: {name: 'quern', display_name: 'Go (Quern)', language: 'go'}},"
            " cells: a[1].map((source, i) => ({cell_type: 'code', id: 'cell' + i, source, metadata: {}, outputs: [], execution_count: null}))}})",
            name, cells)

    def show(self, name, connect=True):
        """Opens a notebook, and waits for its kernel if connect is true."""
        self.call("const w = await app.commands.execute('docmanager:open', {path: a[0]});"
                  "await w.context.ready; await w.sessionContext.ready; if (a[1]) await w.sessionContext.session.kernel.info;"
                  "app.shell.mode = 'single-document'; app.shell.collapseLeft();", name, connect)

    def wait_copy(self, version=""):
        """Waits until the browser has all that it needs to work without the server, of a version of the site or any."""
        lab.wait_for(lambda: self.call(
            "const names = await caches.keys(); const site = names.find(n => n.startsWith('quern-site-' + a[1]));"
            "return !!site && !!navigator.serviceWorker.controller"
            " && !!(await (await caches.open(site)).match(a[0] + 'quern-complete'))"
            " && !!(await (await caches.open('quern')).match(a[0] + 'quern/quern.wasm.gz'))"
            " && (await (await caches.open('quern')).keys()).some(r => /rest-\\w+[.]wasm[.]gz$/.test(r.url))", PREFIX, version), 60, "the copy of the site")

    def dialog(self):
        """Returns the text of the open dialog."""
        return self.driver.execute_script("return document.querySelector('.jp-Dialog')?.innerText ?? ''")

    def dismiss(self):
        """Closes the dialogs."""
        self.driver.execute_script("document.querySelectorAll('.jp-Dialog button.jp-mod-accept').forEach(b => b.click())")

    def run_all(self, seconds):
        """Runs every cell to the end. It polls, since training takes longer than WebDriver waits for a script."""
        self.driver.execute_script(
            "window.quernDone = false; const done = () => { window.quernDone = true; };"
            "window.jupyterapp.commands.execute('notebook:run-all-cells').then(done, done);")
        lab.wait_for(lambda: self.driver.execute_script("return window.quernDone"), seconds, "the end of the notebook")

    def restart(self):
        self.call("await app.shell.currentWidget.sessionContext.session.kernel.restart()")

    def source(self, index):
        """Returns the text of a cell."""
        return self.call("return app.shell.currentWidget.content.widgets[a[0]].model.sharedModel.getSource()", index)

    def wait_output(self, index, text, seconds=30):
        """Waits until the output of a cell holds text, and returns the output."""
        try:
            lab.wait_for(lambda: text in self.output(index), seconds, f"the output {text!r}")
        except TimeoutError as error:
            raise TimeoutError(f"{error}; the output is {self.output(index)!r}; {self.log()}") from None
        return self.output(index)

    def log(self):
        """Returns what the page has logged since the last call, in Chromium."""
        if BROWSER != "chromium":
            return ""
        return "\n".join(entry["message"] for entry in self.driver.get_log("browser"))
