"""Opens the quickstart in JupyterLab in a headless browser and runs it."""

import shutil

import lab
import pytest

needs_browser = pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("chromedriver")),
                                   reason="chromium or chromedriver is not installed")


@needs_browser
def test_quickstart_in_jupyterlab(tmp_path):
    shutil.copy(lab.HERE / "quickstart.ipynb", tmp_path)
    with lab.jupyterlab(tmp_path) as address, lab.browser() as driver:
        notebook = lab.Notebook(driver, address, "quickstart.ipynb")
        notebook.run_all(120)
        assert not notebook.errors()
        assert lab.wait_for(lambda: notebook.figures() >= 2, 10, "two figures")
