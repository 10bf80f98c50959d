"""Opens a notebook in JupyterLab in a headless browser, runs it, and takes a screenshot.

    .venv/bin/python kernel/testdata/notebooks/lab.py quickstart.ipynb --picture build/quickstart.png

The browser test beside this file uses the same steps.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import browsers

ROOT = pathlib.Path(__file__).parents[3]
NOTEBOOKS = ROOT / "notebooks"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def jupyterlab(folder, language_server=False):
    """A JupyterLab server without a token, on a free port; returns its address."""
    port = free_port()
    with tempfile.TemporaryDirectory() as config:
        # Otherwise JupyterLab shows a dialog that asks whether it may fetch news.
        quiet = pathlib.Path(config, "settings", "@jupyterlab", "apputils-extension", "notification.jupyterlab-settings")
        quiet.parent.mkdir(parents=True)
        quiet.write_text('{"fetchNews": "false", "checkForUpdates": false}')
        # Otherwise it may find at any time that another page has saved the notebook, and ask which one to keep.
        saving = quiet.parents[1] / "docmanager-extension" / "plugin.jupyterlab-settings"
        saving.parent.mkdir()
        saving.write_text('{"autosave": false}')
        page = pathlib.Path(config, "labconfig", "page_config.json")
        page.parent.mkdir()
        page.write_text(json.dumps({"disabledExtensions": {"@jupyter-lsp/jupyterlab-lsp": not language_server}}))
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}",
             f"--notebook-dir={folder}", "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True",
             f"--LabApp.user_settings_dir={config}/settings", f"--LabApp.workspaces_dir={config}/workspaces"],
            env=dict(os.environ, JUPYTER_CONFIG_PATH=config), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(lambda: answers(address + "/api"), 60, "the JupyterLab server")
            yield address
        finally:
            server.terminate()
            server.wait(200)


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=1):
            return True
    except OSError:
        return False


def wait_for(condition, seconds, what):
    """Polls until condition returns a true value, and returns it."""
    seconds *= 10  # a busy machine takes several times as long
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"{what} was not there after {seconds} s")
        time.sleep(0.1)


def browser(width=1280, height=1600):
    """Starts Chromium; see browsers.py."""
    return browsers.start("chromium", width, height)


class Notebook:
    """A notebook open in JupyterLab."""

    def __init__(self, driver, address, name, dark=False):
        self.driver = driver
        driver.get(f"{address}/lab/tree/{name}?reset")
        wait_for(lambda: driver.execute_script(
            "return !!(window.jupyterapp && window.jupyterapp.shell.currentWidget"
            " && window.jupyterapp.shell.currentWidget.sessionContext"
            " && window.jupyterapp.shell.currentWidget.sessionContext.session"
            " && window.jupyterapp.shell.currentWidget.sessionContext.session.kernel)"), 60, "the notebook's kernel")
        if dark:
            self.command("apputils:change-theme", {"theme": "JupyterLab Dark"})
        self.command("application:toggle-mode")  # one document, no side bars
        self.command("application:toggle-left-area")

    def command(self, name, arguments=None):
        self.driver.execute_script("window.jupyterapp.commands.execute(arguments[0], arguments[1] || {})",
                                   name, arguments)

    def run_all(self, seconds):
        """Runs every cell and waits until the kernel is idle again."""
        self.driver.set_script_timeout(10 * seconds)
        self.driver.execute_async_script(
            "const done = arguments[0];"
            "window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => done(), () => done());")

    def errors(self):
        """Returns the texts of the error outputs on the page."""
        return self.driver.execute_script(
            "return [...document.querySelectorAll('[data-mime-type=\"application/vnd.jupyter.error\"],"
            " [data-mime-type=\"application/vnd.jupyter.stderr\"]')].map(e => e.innerText)")

    def figures(self):
        """Returns the number of images that are loaded and visible."""
        return self.driver.execute_script(
            "return [...document.querySelectorAll('.jp-OutputArea-output img')]"
            ".filter(i => i.complete && i.naturalWidth > 0).length")

    def scroll_to(self, text):
        """Brings the first code cell that holds text to the top of the page."""
        self.driver.execute_script(
            "[...document.querySelectorAll('.jp-CodeCell')].find(c => c.textContent.includes(arguments[0]))"
            "?.scrollIntoView({block: 'start'})", text)

    def scroll_to_end(self, index):
        """Brings the last output of a cell to the bottom of the page."""
        self.driver.execute_script(
            "const outputs = document.querySelectorAll('.jp-Notebook .jp-Cell')[arguments[0]].querySelectorAll('.jp-OutputArea-output');"
            "outputs[outputs.length - 1].scrollIntoView({block: 'end'})", index)

    def cell(self, index):
        """Returns the element of a cell; the index begins at 0."""
        return self.driver.find_elements("css selector", ".jp-Notebook .jp-Cell")[index]

    def select(self, index):
        """Selects a cell."""
        self.driver.execute_script(
            "const p = window.jupyterapp.shell.currentWidget; p.content.activeCellIndex = arguments[0];"
            "p.content.mode = 'command'; p.content.activate()", index)

    def edit(self, index):
        """Puts the cursor at the end of the text of a cell."""
        self.driver.execute_script(
            "const p = window.jupyterapp.shell.currentWidget; p.content.activeCellIndex = arguments[0];"
            "p.content.mode = 'edit'; const e = p.content.activeCell.editor; e.focus();"
            "const line = e.lineCount - 1; e.setCursorPosition({line: line, column: e.getLine(line).length})", index)

    def start(self, index):
        """Starts a cell without waiting for its end."""
        self.select(index)
        self.command("notebook:run-cell")

    def run(self, index, seconds=30):
        """Runs a cell to its end and returns the text of its outputs."""
        self.select(index)
        self.driver.set_script_timeout(10 * seconds)  # as wait_for
        self.driver.execute_async_script(
            "const done = arguments[0];"
            "window.jupyterapp.commands.execute('notebook:run-cell').then(() => done(), () => done());")
        return self.output(index)

    def output(self, index):
        """Returns the text of the outputs of a cell."""
        return self.driver.execute_script(
            "const c = document.querySelectorAll('.jp-Notebook .jp-Cell')[arguments[0]];"
            "return [...c.querySelectorAll('.jp-OutputArea-output')].map(e => e.innerText.replace(/\\n$/, '')).join('\\n')", index)

    def status(self):
        """Returns the state of the kernel that the page shows."""
        return self.driver.execute_script(
            "return window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status")

    def picture(self, path):
        self.driver.save_screenshot(str(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook")
    parser.add_argument("--picture", required=True)
    parser.add_argument("--scroll", default="", help="text of the cell to bring to the top")
    parser.add_argument("--size", default="1280x1600")
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--dark", action="store_true")
    a = parser.parse_args()
    width, height = map(int, a.size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(NOTEBOOKS / a.notebook, folder)
        with jupyterlab(folder) as address, browser(width, height) as driver:
            notebook = Notebook(driver, address, a.notebook, a.dark)
            notebook.run_all(a.seconds)
            if a.scroll:
                notebook.scroll_to(a.scroll)
            time.sleep(1)  # the page paints
            notebook.picture(a.picture)
            for text in notebook.errors():
                print(text, file=sys.stderr)
            print(f"{notebook.figures()} figures; picture in {a.picture}")


if __name__ == "__main__":
    main()
