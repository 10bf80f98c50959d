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


VIEW = "application/vnd.jupyter.widget-view+json"
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
    # 9: the other controls, in a tab, an accordion, a grid and a stack
    """entries := []string{"a", "b", "c"}
day := time.Date(2026, 2, 28, 9, 5, 0, 0, time.UTC)
steps, position := widgets.NewPlay(0, 10, 2, 50*time.Millisecond), widgets.NewIntSlider(0, 10, 2)
together, err := widgets.JSLink(steps, position)
radio := widgets.NewRadioButtons(entries)
chosen := widgets.NewLabel("nothing yet")
radio.OnChange(func(v string) { chosen.SetValue("chosen: " + v) })
upload := widgets.NewFileUpload()
upload.OnChange(func(files []widgets.File) { chosen.SetValue(fmt.Sprintf("%s has %q", files[0].Name, files[0].Content)) })
picture := widgets.NewImage([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><circle r="20"/></svg>`))
widgets.NewVBox(
	widgets.NewTab([]string{"texts"}, widgets.NewVBox(widgets.NewTextarea("x"), widgets.NewPassword(), widgets.NewCombobox(entries, "a"),
		widgets.NewIntText(3), widgets.NewBoundedIntText(0, 10, 4), widgets.NewFloatText(0.5), widgets.NewBoundedFloatText(0, 1, 0.25))),
	widgets.NewVBox(widgets.NewIntRangeSlider(0, 10, [2]int{2, 8}), widgets.NewFloatRangeSlider(0, 1, [2]float64{0.25, 0.5}),
		widgets.NewFloatLogSlider(-5, 0, 0.001), widgets.NewSelectionSlider(entries), widgets.NewSelectionRangeSlider(entries), steps, position),
	widgets.NewHBox(radio, widgets.NewSelect(entries), widgets.NewSelectMultiple(entries), widgets.NewToggleButton("on", true),
		widgets.NewToggleButtons(entries)),
	widgets.NewGridBox(2, widgets.NewDatePicker(day), widgets.NewTimePicker(day), widgets.NewDatetimePicker(day),
		widgets.NewColorPicker(color.RGBA{255, 0, 0, 255}), upload),
	widgets.NewStack(widgets.NewVBox(chosen, widgets.NewHTMLMath("$x^2$"), widgets.NewValid(true), widgets.NewFloatProgress(0, 1, 0.75), picture)),
	widgets.NewAccordion([]string{"more"}, widgets.NewLabel("hidden")))""",
    # 10: labeling with keys
    """examples, err := data.FromSlices([][]float32{{0}, {1}, {2}}, []int{0, 1, 2})
pool := active.NewPool(examples, 0, 1)
err = active.Ask(ctx, pool, []int{2, 1}, labeling.Buttons())
fmt.Println("labels", pool.Labeled().Label(0), pool.Labeled().Label(1))""",
    # 11: a table to sort
    """type point struct { N int; Name string; Took time.Duration }
points := make([]point, 60)
for i := range points { points[i] = point{i * 37 % 60, fmt.Sprintf("<b>%d</b>", i), time.Duration(i*i) * time.Millisecond} }
points""",
]

# What JavaScript draws for the controls of cell 9: a selector, and the number of its elements.
VIEWS = {
    "textarea": 1, "input[type=password]": 1, "input[list]": 1, ".widget-text input[type=number]": 4, ".widget-hslider .noUi-handle": 9,
    ".widget-play": 1, ".widget-radio-box input": 3, ".widget-select select": 2, ".widget-toggle-button.mod-active": 2,
    ".widget-toggle-buttons button": 3, "input[type=date]": 1, "input[type=time]": 1, "input[type=datetime-local]": 1,
    ".widget-colorpicker input[type=color]": 1, ".widget-upload": 1, ".widget-htmlmath mjx-container, .widget-htmlmath .MathJax": 1,
    ".widget-valid": 1, ".widget-hprogress": 1, "img.widget-image": 1, ".widget-tab": 1, ".widget-accordion": 1,
}


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

    def test_sorted_table(self, notebook):
        notebook.run(11)
        notebook.scroll_to_end(11)

        def column(index):
            return [e.text for e in self.inside(notebook, f".quern-view td:nth-child({index + 1})", 11)]

        assert column(1) == [f"<b>{i}</b>" for i in range(25)]
        took = self.inside(notebook, "th", 11)[2]
        took.click()
        took.send_keys(Keys.ENTER)
        assert column(2)[:3] == ["3.481s", "3.364s", "3.249s"] and took.get_attribute("aria-sort") == "descending"
        self.inside(notebook, "button[title='last rows']", 11)[0].click()
        assert column(2) == [f"{i * i}ms" if i else "0s" for i in range(9, -1, -1)]
        assert "51–60 of 60 rows" in notebook.output(11)
        self.inside(notebook, "th", 11)[1].click()
        assert column(1) == [f"<b>{i}</b>" for i in range(25)]
        notebook.picture(PICTURES / "8-sorted-table.png")

    def test_restart(self, notebook):
        notebook.driver.set_script_timeout(300)
        notebook.driver.execute_async_script(
            "const done = arguments[0];"
            "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart().then(() => done(), e => done(e));")
        assert "undefined: count" in notebook.run(6)
        notebook.picture(PICTURES / "9-restarted.png")

    def inside(self, notebook, selector, index):
        """Returns the elements in the outputs of a cell."""
        return notebook.cell(index).find_elements("css selector", selector)

    def test_all_controls(self, notebook):
        notebook.run(9)
        notebook.scroll_to_end(9)
        lab.wait_for(lambda: self.inside(notebook, ".widget-accordion", 9), 20, "the controls")
        notebook.picture(PICTURES / "10-controls.png")
        assert {s: len(self.inside(notebook, s, 9)) for s in VIEWS} == VIEWS

    def test_radio_buttons_and_upload(self, notebook):
        self.inside(notebook, ".widget-radio-box input", 9)[1].click()
        lab.wait_for(lambda: "chosen: b" in notebook.output(9), 10, "the choice")
        (notebook.folder / "up.bin").write_bytes(b"a\x00\xff")
        # The view has no element in the page: it opens a dialog of an input element that it keeps.
        notebook.driver.execute_script(
            "const click = HTMLInputElement.prototype.click;"
            "HTMLInputElement.prototype.click = function() { this.type === 'file' ? document.body.append(this) : click.call(this); }")
        self.inside(notebook, "button.widget-upload", 9)[0].click()
        lab.wait_for(lambda: notebook.driver.find_elements("css selector", "body > input[type=file]"), 10, "the dialog")[0].send_keys(
            str(notebook.folder / "up.bin"))
        lab.wait_for(lambda: 'up.bin has "a\\x00\\xff"' in notebook.output(9), 10, "the file")

    def test_keys_label(self, notebook):
        """A key answers, and another one undoes the answer, while the cell runs."""
        notebook.start(10)
        [field] = lab.wait_for(lambda: self.inside(notebook, "input[placeholder^='keys: 0 1 2']", 10), 20, "the field for keys")
        field.click()

        def until(key, text):
            while text not in notebook.output(10):
                field.send_keys(key)
                try:
                    lab.wait_for(lambda: text in notebook.output(10), 0.5, text)
                except TimeoutError:  # the key came too early and was dropped
                    continue

        until("2", "Question 2 of 2")
        notebook.picture(PICTURES / "11-labeling.png")
        until("u", "Question 1 of 2")
        until("1", "Question 2 of 2")
        until("0", "labels 1 0")
        lab.wait_for(lambda: not self.inside(notebook, "button.widget-button:enabled, input:enabled", 10), 10, "the end of all buttons")

    def test_reload_while_labeling(self, notebook):
        """A page that is loaded again while the cell runs shows the open question, and answers it."""
        notebook.start(10)
        lab.wait_for(lambda: "Question 1 of 2" in notebook.output(10), 20, "the question")
        [shown] = [o["data"][VIEW]["model_id"] for o in notebook.driver.execute_script(
            "return window.jupyterapp.shell.currentWidget.content.widgets[10].model.outputs.toJSON()")]
        notebook.command("docmanager:save")
        lab.wait_for(lambda: shown in (notebook.folder / "steps.ipynb").read_text(), 10, "the view in the file")
        notebook.driver.refresh()
        lab.wait_for(lambda: len(notebook.driver.find_elements("css selector", ".jp-Notebook .jp-Cell")) > 10, 60, "the cells")

        def question():
            notebook.select(10)
            notebook.driver.execute_script("window.jupyterapp.shell.currentWidget.content.scrollToItem(10, 'start')")  # it is drawn only in view
            return "Question 1 of 2" in notebook.output(10)

        lab.wait_for(question, 30, "the question after the page was loaded again")
        notebook.picture(PICTURES / "12-loaded-again.png")
        self.inside(notebook, "button.widget-button", 10)[1].click()
        lab.wait_for(lambda: "Question 2 of 2" in notebook.output(10), 20, "the next question")


@needs_browser
def test_mistakes_are_marked_while_typing(tmp_path):
    """jupyterlab-lsp shows what quern lsp finds; no cell runs."""
    cells = ["func Twice(x int) int {\n\tunused := 1\n\treturn 2 * x\n}", "n := Twice(missing)", "x"]
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nb.metadata.kernelspec = {"name": "quern", "display_name": "Go (Quern)", "language": "go"}
    nbformat.write(nb, tmp_path / "typing.ipynb")
    with lab.jupyterlab(tmp_path, language_server=True) as address, lab.browser(height=700) as driver:
        notebook = lab.Notebook(driver, address, "typing.ipynb")

        def marked():
            return driver.execute_script("return [...document.querySelectorAll('.cm-lintRange')].map(e => e.className.split('-').pop() + ' ' + e.textContent)")

        lab.wait_for(lambda: marked() == ["warning unused", "error missing", "error x"], 30, "three marks")
        PICTURES.mkdir(parents=True, exist_ok=True)
        notebook.picture(PICTURES / "language-server.png")
        notebook.edit(2)
        ActionChains(driver).send_keys(" := Twice(2)").perform()
        lab.wait_for(lambda: marked() == ["warning unused", "error missing"], 30, "the marks without x")
