"""JupyterLab's code formatter and the command %fmt."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from conftest import TIMEOUT


@pytest.fixture
def server(tmp_path):
    """Starts Jupyter's server and returns a function that sends requests."""
    log = tmp_path / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0",
             "--IdentityProvider.token=secret", "--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={tmp_path}"],
            env=dict(os.environ, JUPYTER_RUNTIME_DIR=str(tmp_path / "runtime")), stdout=out, stderr=out)
    address = ""
    end = time.monotonic() + TIMEOUT
    while not address:
        assert process.poll() is None and time.monotonic() < end, log.read_text()
        for path in (tmp_path / "runtime").glob("jpserver-*.json"):
            try:
                address = json.loads(path.read_text())["url"]
            except ValueError:
                pass  # it is being written
        time.sleep(0.05)

    def request(path, content=None):
        data = None if content is None else json.dumps(content).encode()
        asked = urllib.request.Request(address + path, data, {"Authorization": "token secret", "Content-Type": "application/json"})
        while True:
            try:
                with urllib.request.urlopen(asked, timeout=TIMEOUT) as answer:
                    return json.load(answer)
            except urllib.error.URLError as err:
                if isinstance(err, urllib.error.HTTPError) or time.monotonic() > end:
                    raise
                time.sleep(0.05)

    yield request
    process.terminate()
    process.wait(TIMEOUT)


def test_code_formatter(server):
    formatters = server("jupyterlab_code_formatter/formatters")["formatters"]
    assert formatters["quern"] == {"enabled": True, "label": "Apply quern fmt (Go)"}
    cells = ["x:=1;x ;", "!ls   é\n%time f( )\nfor{\n}", "x := := 1", "%%bash\n  a", "package p\nfunc f( ){}\n"]
    done = server("jupyterlab_code_formatter/format", {"formatter": "quern", "notebook": True, "options": {}, "code": cells})
    assert done["code"] == [{"code": "x := 1\nx;"}, {"code": "!ls   é\n%time f( )\nfor {\n}"}, {"error": "1:6: expected operand, found ':='"},
                            {"code": "%%bash\n  a"}, {"code": "package p\n\nfunc f() {}\n"}]
    settings = server("lab/api/settings/jupyterlab_code_formatter:settings")
    assert settings["schema"]["properties"]["preferences"]["default"]["default_formatter"]["go"] == "quern"
    assert settings["schema"]["properties"]["preferences"]["default"]["default_formatter"]["rust"] == "rustfmt"


def test_the_cell_is_replaced(kernel):
    messages, reply = kernel.run("%fmt\nx:=1 // c\n!ls  .")
    assert reply["content"]["payload"] == [{"source": "set_next_input", "text": "x := 1 // c\n!ls  .", "replace": True}]
    assert [m["content"]["text"] for m in messages if m["msg_type"] == "stream"] == ["x := 1 // c\n!ls  .\n"]
    assert kernel.run("x")[1]["content"]["status"] == "error"
