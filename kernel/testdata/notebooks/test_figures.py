"""Tests the interactive view of figures in JupyterLab, in a headless browser."""

import json
import re
import shutil
import xml.etree.ElementTree as ET

import lab
import nbformat
import pytest
from selenium.webdriver import ActionChains, Keys

pytestmark = pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("chromedriver")), reason="chromium or chromedriver is not installed")

PICTURES = lab.ROOT / "build" / "figures"

CELLS = [
    # 0: a training that lasts until it is interrupted
    """examples, labels := make([][]float32, 400), make([]int, 400)
for i := range examples {
	examples[i], labels[i] = []float32{float32(i)/200 - 1}, i/200
}
all, err := data.FromSlices(examples, labels)
train, test := all.Split(0.75)
run, err := accel.Fit(ctx, nn.Sequential(nn.Dense(16), nn.ReLU(), nn.Dense(2)), train, accel.Epochs(1000), accel.BatchSize(30), accel.Validate(test),
	accel.Live(), accel.AfterStep(func(int) error { time.Sleep(20 * time.Millisecond); return nil }))""",
    # 1: a result with several figures and a table
    """report := new(display.Report)
report.Figure(plots.Lines("growth", plots.Series{Name: "a", Y: []float64{1, 10, 100}}, plots.Series{Name: "b", Y: []float64{2, 3, 4}}))
report.Table("name", "value").Row("x", 1)
report.Figure(plots.Confusion("matrix", []string{"cat", "dog"}, [][]int{{3, 1}, {0, 4}}))
report.Figure(plots.Scatter("dots", []float64{1, 2}, []float64{3, 4}))
report""",
]


class Page:
    """What a person does with the figures of a page."""

    def __init__(self, notebook, address, folder):
        self.notebook, self.driver, self.address, self.folder = notebook, notebook.driver, address, folder

    def ask(self, script, *arguments):
        """Runs JavaScript in one piece, since the figure may change at any time."""
        return self.driver.execute_script(script, *arguments)

    def texts(self):
        return self.ask("return [...document.querySelectorAll('.quern-view')].map(v => v.getAttribute('aria-label'))")

    def step(self):
        """Returns the number of steps in the progress bar of the training, -1 without a bar."""
        found = re.search(r"(\d+)/10 000", " ".join(self.texts()).replace("\xa0", " "))
        return int(found[1]) if found else -1

    def wait(self, condition, what):
        return lab.wait_for(condition, 10, what)

    def element(self, selector, index=0):
        return self.driver.find_elements("css selector", selector)[index]

    def press(self, key, index=0):
        """Presses the button with a key."""
        self.ask("document.querySelectorAll(`.quern-bar [data-key='${arguments[0]}']`)[arguments[1]].click()", key, index)

    def drawn(self):
        """Returns the paths of the panels that the page draws itself."""
        return self.ask("return [...document.querySelectorAll('.quern-drawn')].map(g => [...g.querySelectorAll('path')].map(p => p.getAttribute('stroke')))")

    def save(self):
        self.notebook.command("docmanager:save")
        self.wait(lambda: "quern-" in (self.folder / "figures.ipynb").read_text(), "the figure in the file")

    def file(self, name):
        return self.wait(lambda: next((p for p in self.folder.glob(name) if p.stat().st_size), None), name)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    nb.metadata.kernelspec = {"name": "quern", "display_name": "Go (Quern)", "language": "go"}
    nbformat.write(nb, folder / "figures.ipynb")
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    with lab.jupyterlab(folder) as address, lab.browser(900, 900) as driver:
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
        driver.execute_cdp_cmd("Browser.grantPermissions", {"origin": address, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        yield Page(lab.Notebook(driver, address, "figures.ipynb"), address, folder)


class TestFigures:
    """The tests run in order on one page, and save screenshots in build/figures."""

    def test_training_is_interactive(self, page):
        page.notebook.start(0)
        page.wait(lambda: page.step() > 20, "the figure of the training")
        assert page.ask("return [...document.querySelectorAll('.jp-OutputArea-output img')].map(i => i.style.display)") == ["none"]
        # The crosshair stays while the figure changes.
        ActionChains(page.driver).move_to_element(page.element(".quern-hit")).perform()
        tip = page.wait(lambda: page.ask("const t = document.querySelector('.quern-tip'); return t.hidden ? '' : t.innerText"), "values")
        assert re.match(r"step \d+\ntrain.*: [\d.]+", tip), tip
        seen = page.step()
        page.wait(lambda: page.step() > seen, "the next figure")
        assert page.ask("return !document.querySelector('.quern-tip').hidden")
        page.notebook.picture(PICTURES / "1-training.png")

    def test_series_and_axes(self, page):
        page.press("series validation")
        [colors, _] = page.drawn()
        assert colors and "#f06c00" not in colors, "validation is hidden"
        page.press("log y")
        assert page.ask("return document.querySelector('.quern-bar [data-key=\"log y\"]').getAttribute('aria-pressed')") == "true"
        page.notebook.picture(PICTURES / "2-log.png")
        page.press("reset")
        assert page.drawn() == []

    def test_goes_on_after_reload(self, page):
        page.save()
        before = page.step()
        page.driver.refresh()
        page.wait(lambda: page.step() > before, "the figure after the page was loaded again")
        seen = page.step()
        page.wait(lambda: page.step() > seen, "the next figure")
        assert page.notebook.status() == "busy"
        page.notebook.picture(PICTURES / "3-loaded-again.png")

    def test_goes_on_after_reopening(self, page):
        page.notebook.command("application:close")
        # The training changes the notebook all the time, so JupyterLab asks whether to save it.
        page.wait(lambda: not page.texts() or page.ask("document.querySelector('.jp-Dialog .jp-mod-accept')?.click()"), "the closed notebook")
        before = json.loads((page.folder / "figures.ipynb").read_text())["cells"][0]["outputs"]
        assert len(before) == 1
        page.notebook.command("docmanager:open", {"path": "figures.ipynb", "factory": "Notebook"})
        page.wait(lambda: page.step() > 0, "the figure in the notebook that was opened again")
        seen = page.step()
        page.wait(lambda: page.step() > seen, "the next figure")

    def test_second_person_and_end(self, page):
        # Not a second tab: a tab that was in the background gets no keys and paints nothing until the browser shows it again.
        with lab.browser(900, 900) as driver:
            other = Page(lab.Notebook(driver, page.address, "figures.ipynb"), page.address, page.folder)
            other.wait(lambda: other.step() > 0, "the figure in the second browser")
            page.notebook.command("notebook:interrupt-kernel")
            page.wait(lambda: page.texts() and page.step() < 0, "the end in the first browser")
            text = page.texts()
            assert text[0].startswith("Training on examples: best validation loss")
            other.wait(lambda: other.texts() == text, "the end in the second browser")
            other.notebook.picture(PICTURES / "4-second-person.png")

    def test_files_and_data(self, page):
        page.press("series validation")
        page.press("svg")
        svg = page.file("training-on-examples.svg").read_text()
        assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg" and "quern-drawn" in svg and "#f06c00" not in svg.split("quern-drawn")[1]
        page.press("png")
        assert page.file("training-on-examples.png").read_bytes()[:4] == b"\x89PNG"
        page.press("csv")
        status = page.wait(lambda: page.ask("return document.querySelector('.quern-bar [role=status]').textContent.match(/copied (\\d+)/)?.[1]"), "the copy")
        lines = page.driver.execute_async_script("const done = arguments[0]; navigator.clipboard.readText().then(done, e => done(String(e)))").splitlines()
        assert lines[0] == "panel,series,x,y" and len(lines) == int(status) + 1 and any(line.startswith("loss,validation,10,") for line in lines), lines[:3]

    def test_keyboard(self, page):
        page.press("reset")
        page.ask("document.querySelector('.quern-hit').focus()")
        hit = lambda name: page.ask("return document.querySelector('.quern-hit').getAttribute(arguments[0])", name)  # noqa: E731
        assert (hit("role"), hit("aria-label")) == ("slider", "loss by step")
        ActionChains(page.driver).send_keys(Keys.HOME).perform()
        assert hit("aria-valuetext").startswith("step 1, train"), hit("aria-valuetext")
        ActionChains(page.driver).send_keys(Keys.ARROW_RIGHT).perform()
        assert float(hit("aria-valuenow")) > 1
        ActionChains(page.driver).send_keys("+").perform()
        assert len(page.drawn()) == 2, "both panels are zoomed"
        page.notebook.picture(PICTURES / "5-zoomed.png")
        ActionChains(page.driver).send_keys("0").perform()
        assert page.drawn() == []

    def test_drag_zooms(self, page):
        hit = page.element(".quern-hit")
        ActionChains(page.driver).move_to_element(hit).click_and_hold().move_by_offset(60, 0).release().perform()
        assert len(page.drawn()) == 2
        page.press("reset")

    def test_figures_of_a_result(self, page):
        page.notebook.run(1)
        labels = page.wait(lambda: page.texts() if len(page.texts()) == 3 else None, "the figures of the report")
        assert labels[1:] == ["growth: 6 points from 1 to 100", "dots: 2 points"], labels
        assert page.ask("return [...document.querySelectorAll('.jp-Cell:last-of-type img.quern-figure, img.quern-figure')].filter(i => i.style.display !== 'none').length") == 1
        page.notebook.scroll_to_end(1)
        page.notebook.command("apputils:change-theme", {"theme": "JupyterLab Dark"})
        page.wait(lambda: page.ask("return document.body.dataset.jpThemeLight") == "false", "the dark theme")
        page.notebook.picture(PICTURES / "6-report-dark.png")
