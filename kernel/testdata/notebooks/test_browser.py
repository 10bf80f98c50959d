"""Tests what users do in JupyterLab, in a headless browser."""

import shutil

import lab
import nbformat
import pytest
from selenium.webdriver import ActionChains, Keys

needs_browser = pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("chromedriver")),
                                   reason="chromium or chromedriver is not installed")


@needs_browser
def test_quickstart_in_jupyterlab(tmp_path):
    shutil.copy(lab.NOTEBOOKS / "quickstart.ipynb", tmp_path)
    with lab.jupyterlab(tmp_path) as address, lab.browser() as driver:
        notebook = lab.Notebook(driver, address, "quickstart.ipynb")
        notebook.run_all(120)
        assert not notebook.errors()
        assert lab.wait_for(lambda: notebook.figures() >= 2, 10, "two figures")


PICTURES = lab.ROOT / "build" / "browser"

CELLS = [
    # 0: a slider that changes the output below it
    """slider := widgets.NewIntSlider(0, 10, 3, widgets.Description("n"))
place := display.Show("n is 3")
slider.OnChange(func(n int) { place.Update(fmt.Sprint("n is ", n)) })
slider""",
    # 1: a slider that moves while a cell runs
    """for slider.Value() < 6 { time.Sleep(10 * time.Millisecond) }
slider.Value()""",
    # 2: completion with Tab
    "strings.ToUpp",
    # 3: inspection with Shift-Tab
    "strings.Repeat",
    # 4: a figure that changes in place
    """picture := display.Show(display.SVG(`<svg xmlns="http://www.w3.org/2000/svg" width="80" height="80"><rect width="10" height="80"/></svg>`))
for w := 0; ; w++ {
	if _, err := os.Stat("seen"); err == nil { break } // the test has seen a change
	time.Sleep(100 * time.Millisecond)
	picture.Update(display.SVG(fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="80" height="80"><rect width="%d" height="80"/></svg>`, 10*(w%6)+20)))
}""",
    # 5: a cell to interrupt
    """count := 0
for { count++ }""",
    # 6: the variables after the interrupt, and after a restart
    "count > 0",
    # 7: a table
    """type person struct { name string; age int }
display.Table([]person{{"Ann", 31}, {"Bob", 42}})""",
    # 8: a progress bar of a loop
    "for range progress.Each([]string{\"a\", \"b\", \"c\"}) { time.Sleep(50 * time.Millisecond) }",
]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    nb.metadata.kernelspec = {"name": "quern", "display_name": "Go (Quern)", "language": "go"}
    nbformat.write(nb, folder / "steps.ipynb")
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    with lab.jupyterlab(folder) as address, lab.browser(height=1000) as driver:
        opened = lab.Notebook(driver, address, "steps.ipynb")
        opened.folder = folder
        yield opened


@needs_browser
class TestSteps:
    """The tests run in order on one page, and save screenshots in build/browser."""

    def press(self, notebook, *keys):
        ActionChains(notebook.driver).send_keys(*keys).perform()

    def move(self, notebook, steps):
        handle = notebook.driver.find_element("css selector", ".jupyter-widgets .noUi-handle")
        handle.click()
        for _ in range(steps):
            handle.send_keys(Keys.ARROW_RIGHT)

    def test_slider(self, notebook):
        notebook.run(0)
        lab.wait_for(lambda: notebook.driver.find_elements("css selector", ".jupyter-widgets .noUi-handle"), 20, "the slider")
        notebook.picture(PICTURES / "1-slider.png")
        self.move(notebook, 2)
        lab.wait_for(lambda: "n is 5" in notebook.output(0), 10, "n is 5")
        notebook.picture(PICTURES / "2-slider-moved.png")

    def test_slider_while_a_cell_runs(self, notebook):
        notebook.start(1)
        lab.wait_for(lambda: notebook.status() == "busy", 10, "the busy kernel")
        self.move(notebook, 1)
        lab.wait_for(lambda: notebook.output(1) == "6", 10, "the end of the cell")
        notebook.picture(PICTURES / "3-slider-while-busy.png")

    def test_tab_completes(self, notebook):
        notebook.edit(2)
        self.press(notebook, Keys.TAB)
        shown = lab.wait_for(lambda: "strings.ToUpper" in notebook.cell(2).text or notebook.driver.find_elements(
            "css selector", ".jp-Completer-item"), 10, "a completion")
        notebook.picture(PICTURES / "4-completion.png")
        if shown is not True:
            self.press(notebook, Keys.ENTER)
        lab.wait_for(lambda: "strings.ToUpper" in notebook.cell(2).text, 10, "the completed name")

    def test_shift_tab_inspects(self, notebook):
        notebook.edit(3)
        ActionChains(notebook.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
        # The tooltip is empty at first.
        text = lab.wait_for(lambda: " ".join(t.text for t in notebook.driver.find_elements("css selector", ".jp-Tooltip")), 10, "the documentation")
        assert "func" in text and "Repeat" in text
        notebook.picture(PICTURES / "5-inspection.png")
        self.press(notebook, Keys.ESCAPE)

    def test_live_figure(self, notebook):
        def source():
            # In one script on the page, because the page may replace the image at any time.
            return notebook.driver.execute_script(
                "return document.querySelectorAll('.jp-Notebook .jp-Cell')[4].querySelector('.jp-RenderedSVG img')?.src ?? ''")

        notebook.start(4)
        first = lab.wait_for(source, 10, "the figure")
        lab.wait_for(lambda: source() not in ("", first), 10, "another figure")
        assert notebook.status() == "busy", "the figure changed only when the cell had ended"
        notebook.picture(PICTURES / "6-live-figure.png")
        (notebook.folder / "seen").touch()
        lab.wait_for(lambda: notebook.status() == "idle", 20, "the end of the cell")
        assert len(notebook.cell(4).find_elements("css selector", ".jp-OutputArea-output")) == 1

    def test_interrupt(self, notebook):
        notebook.start(5)
        lab.wait_for(lambda: notebook.status() == "busy", 10, "the busy kernel")
        notebook.command("notebook:interrupt-kernel")
        lab.wait_for(lambda: "interrupted" in notebook.output(5), 10, "the interrupt")
        notebook.picture(PICTURES / "7-interrupted.png")
        assert notebook.run(6) == "true"

    def test_table_and_bar(self, notebook):
        assert notebook.run(7).split() == ["name", "age", "Ann", "31", "Bob", "42"]
        assert "3/3" in notebook.run(8)
        notebook.scroll_to_end(8)
        shown, page = (notebook.driver.execute_script(
            "return document.querySelectorAll(arguments[0])[arguments[1]].getBoundingClientRect()", *place)
            for place in ((".jp-Notebook .jp-Cell progress", 0), (".jp-WindowedPanel-outer", 0)))
        assert page["top"] <= shown["top"] and shown["bottom"] <= page["bottom"], "the bar is out of view"
        notebook.picture(PICTURES / "8-table-and-bar.png")

    def test_restart(self, notebook):
        notebook.driver.set_script_timeout(300)
        notebook.driver.execute_async_script(
            "const done = arguments[0];"
            "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart().then(() => done(), e => done(e));")
        assert "undefined: count" in notebook.run(6)
        notebook.picture(PICTURES / "9-restarted.png")
