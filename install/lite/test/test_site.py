"""Tests what users do in JupyterLite, with the site of make lite, in a headless browser. make lite-test runs them.

BROWSER names the browser: chromium, firefox, or webkit.
"""

import contextlib
import re
import shutil

import browsers
import lab
import pytest
import server as site
from selenium.webdriver import ActionChains, Keys

pytestmark = pytest.mark.skipif(bool(browsers.missing(site.BROWSER)),
                                reason=f"not installed: {', '.join(browsers.missing(site.BROWSER))}")

only_chromium = pytest.mark.skipif(site.BROWSER != "chromium", reason="only Chromium can be asked to do this")

PICTURES = lab.ROOT / "build" / "lite-pictures"

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
    # 4: standard input
    """fmt.Print("Who? ")
name, err := bufio.NewReader(os.Stdin).ReadString('\\n')
fmt.Printf("hello %s", name)""",
    # 5: a cell to interrupt
    """fmt.Println("counting")
count := 0
for { count++ }""",
    # 6: the variables after the interrupt, and after a restart
    "count > 0",
    # 7: a user's file
    """text, err := os.ReadFile("names.txt")
err = os.WriteFile("greeting.txt", append([]byte("hello "), text...), 0o644)
string(text)""",
    # 8: the kernel ends
    "os.Exit(3)",
    # 9: temporary files
    """file, err := os.CreateTemp("", "note")
_, err = file.WriteString("kept in memory")
err = file.Close()
again, err := os.ReadFile(file.Name())
string(again)""",
    # 10: a browser has no sockets
    """_, problem := net.Dial("tcp", "127.0.0.1:80")
fmt.Println(problem)""",
    # 11: the name that programs ask for
    "who, err := user.Current()\nwho.Username",
    # 12: a loop that prints for ever
    'for { fmt.Println("again and again and again and again and again") }',
    # 13 to 15: loops that replace what they have shown
    """shown := display.Show("begun")
last := 0
for { last++; shown.Update(last) }""",
    """last = 0
for { last++; display.ClearOutput(true); fmt.Println(last) }""",
    """count2 := widgets.NewIntSlider(0, 1_000_000_000, 0)
display.Show(count2)
last = 0
for { last++; count2.SetValue(last) }""",
    # 16: how far they came
    "last",
    # 17: a figure with curves
    """plots.Lines("growth", plots.Series{Name: "a", Y: []float64{1, 10, 100}}, plots.Series{Name: "b", Y: []float64{2, 3, 4}})""",
]


@pytest.fixture(scope="module")
def site_at():
    with site.server() as s:
        yield s


@pytest.fixture(scope="module")
def driver():
    with site.browser(height=1200) as d:
        yield d


@pytest.fixture(scope="module", autouse=True)
def pictures():
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)


def test_quickstart(site_at, driver):
    notebook = site.Notebook.open(driver, site_at.address, "quickstart.ipynb")
    notebook.run_all(300)
    notebook.picture(PICTURES / "0-quickstart.png")
    assert not notebook.errors()
    cells = range(len(driver.find_elements("css selector", ".jp-Notebook .jp-Cell")))
    notebook.scroll_to("% of the test images")  # Firefox has no text of what is not visible
    accuracy = lab.wait_for(lambda: re.search(r"([\d.]+) % of the test images", "\n".join(map(notebook.output, cells))), 10, "the accuracy")
    assert float(accuracy[1]) > 95
    lab.wait_for(lambda: notebook.figures() >= 2, 10, "two figures")
    notebook.scroll_to("accel.Fit")
    notebook.picture(PICTURES / "1-training.png")


@pytest.fixture(scope="module")
def notebook(site_at, driver):
    return site.Notebook.open(driver, site_at.address, "steps.ipynb", CELLS)


class TestSteps:
    """The tests run in order on one page."""

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
        self.move(notebook, 2)
        notebook.wait_output(0, "n is 5")
        notebook.picture(PICTURES / "2-slider.png")

    def test_slider_while_a_cell_runs(self, notebook):
        notebook.start(1)
        lab.wait_for(lambda: notebook.status() == "busy", 10, "the busy kernel")
        self.move(notebook, 1)
        lab.wait_for(lambda: notebook.output(1) == "6", 20, "the end of the cell")

    def test_tab_completes(self, notebook):
        notebook.edit(2)
        self.press(notebook, Keys.TAB)
        shown = lab.wait_for(lambda: "strings.ToUpper" in notebook.source(2) or notebook.driver.find_elements(
            "css selector", ".jp-Completer-item"), 20, "a completion")
        notebook.picture(PICTURES / "3-completion.png")
        if shown is not True:
            self.press(notebook, Keys.ENTER)
        lab.wait_for(lambda: "strings.ToUpper" in notebook.source(2), 10, "the completed name")

    def test_shift_tab_inspects(self, notebook):
        notebook.edit(3)
        ActionChains(notebook.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
        text = lab.wait_for(lambda: notebook.driver.execute_script(
            "return document.querySelector('.jp-Tooltip')?.innerText"), 20, "the documentation")
        assert "func" in text and "Repeat" in text
        self.press(notebook, Keys.ESCAPE)

    def test_stdin(self, notebook):
        notebook.start(4)
        box = lab.wait_for(lambda: notebook.driver.find_elements("css selector", ".jp-Stdin-input"), 20, "the prompt")
        notebook.picture(PICTURES / "4-input.png")
        box[0].send_keys("Ann" + Keys.ENTER)
        notebook.wait_output(4, "hello Ann")

    def test_interrupt(self, notebook):
        notebook.start(5)
        notebook.wait_output(5, "counting")
        notebook.command("notebook:interrupt-kernel")
        notebook.wait_output(5, "interrupted")
        notebook.picture(PICTURES / "5-interrupted.png")
        assert notebook.run(6) == "true"

    def test_endless_output(self, notebook):
        """A loop that prints does not stop the page."""
        notebook.start(12)
        notebook.wait_output(12, "The rest of the output of this cell is not shown", 120)
        assert notebook.status() == "busy"
        notebook.command("notebook:interrupt-kernel")
        notebook.wait_output(12, "interrupted", 60)
        assert notebook.run(6) == "true"

    @pytest.mark.parametrize("cell", [13, 14, 15], ids=["display", "cleared output", "widget"])
    def test_endless_changes(self, notebook, cell):
        """A loop that replaces what it has shown does not stop the page, which shows the last state."""
        def state():
            return int((re.findall(r"^(\d+)$", notebook.output(cell), re.MULTILINE) or ["0"])[-1])

        notebook.start(cell)
        lab.wait_for(lambda: state() > 1000, 60, "some changes")
        notebook.command("notebook:interrupt-kernel")
        notebook.wait_output(cell, "interrupted", 60)
        last = int(notebook.run(16))
        assert last > 1000
        if cell != 14:  # which may have been interrupted with its output cleared
            assert last - state() in (0, 1)

    def test_interactive_figure(self, notebook):
        notebook.run(17)
        lab.wait_for(lambda: notebook.driver.find_elements("css selector", ".quern-view"), 20, "the view of the figure")
        notebook.driver.execute_script("document.querySelector('.quern-view').scrollIntoView()")
        notebook.picture(PICTURES / "13-figure.png")

    def test_files(self, notebook):
        notebook.call("await app.serviceManager.contents.save('names.txt', {type: 'file', format: 'text', content: 'Ann, Bob'})")
        assert notebook.run(7) == '"Ann, Bob"'
        model = notebook.call("return (await app.serviceManager.contents.get('greeting.txt', {content: true})).content")
        assert model == "hello Ann, Bob"

    def test_temporary_files(self, notebook):
        assert notebook.run(9) == '"kept in memory"'
        names = notebook.call("return (await app.serviceManager.contents.get('', {content: true})).content.map(f => f.name)")
        assert "tmp" not in names

    def test_restart(self, notebook):
        notebook.restart()
        assert "undefined: count" in notebook.run(6)

    def test_exit(self, notebook):
        """When a cell ends the kernel, it says so, and the next cell runs in a new one."""
        notebook.start(8)
        notebook.wait_output(8, "the kernel ended")
        notebook.picture(PICTURES / "6-ended.png")
        assert "undefined: count" in notebook.run(6)

    def test_sockets(self, notebook):
        assert "refused" in notebook.run(10)

    def test_user(self, notebook):
        assert notebook.run(11) == '"user"'


def test_offline():
    """After the first visit, the site works without its server, and the user's files are kept."""
    with site.server() as served, site.browser() as driver:
        notebook = site.Notebook.open(driver, served.address, "mine.ipynb", [
            "20 + 1", 'os.WriteFile("note.txt", []byte("kept"), 0o644)', 'text, err := os.ReadFile("note.txt")\nstring(text)',
            "bytes.LastIndexFunc(nil, unicode.IsUpper) + int(real(cmplx.Sqrt(0)))"])
        notebook.run(1)
        notebook.call("await app.commands.execute('docmanager:save')")
        notebook.wait_copy()
        program = [p for p in served.requests if p.endswith(".wasm.gz")]
        assert len(program) == len(set(program)) == 2, "the program or its rest was downloaded again"
        before = len(served.requests)
        site.Notebook.open(driver, served.address, "mine.ipynb").wait_copy()
        again = [p for p in served.requests[before:] if not p.endswith(("/service-worker.js", "/all.json", "/favicon.ico"))]
        assert not again, "a visit with the copy of the site downloads files"
        served.stop()
        notebook = site.Notebook.open(driver, served.address, "mine.ipynb")
        assert notebook.run(0) == "21"
        assert notebook.run(2) == '"kept"'
        assert "-1" in notebook.run(3)  # with functions that are not in the first part of the program
        notebook.show("quickstart.ipynb")
        assert "strings.Fields" in notebook.source(1)


def test_new_version(tmp_path):
    """A new version of the site replaces the copy in the browser."""
    folder = tmp_path / "site"
    shutil.copytree(site.SITE, folder)
    with site.server(folder=folder) as served, site.browser() as driver:
        notebook = site.Notebook.open(driver, served.address, "quickstart.ipynb")
        notebook.wait_copy()
        lesson, worker = folder / "files" / "quickstart.ipynb", folder / "service-worker.js"
        lesson.write_text(lesson.read_text().replace("Quern in ten cells", "The second version"))
        # As the build does: other hashes.
        worker.write_text(re.sub(r'("version":"|"files/quickstart.ipynb":")\w+', r"\1other", worker.read_text()))
        notebook = site.Notebook.open(driver, served.address, "quickstart.ipynb")
        notebook.wait_copy("other")
        assert "Quern in ten cells" in notebook.source(0)
        notebook = site.Notebook.open(driver, served.address, "quickstart.ipynb")
        assert "The second version" in notebook.source(0)


TROUBLE = [
    # 0: more than the memory of a program
    "all := [][]byte{}\nfor { all = append(all, make([]byte, 64<<20)) }",
    # 1: the kernel still works
    "20 + 1",
    # 2: compiled code that does not return, so that no interrupt stops it
    "power := new(big.Int).Exp(big.NewInt(3), big.NewInt(1_000_000_000), nil)",
    # 3: more than the storage of the browser, if it runs often enough; random, since it compresses
    """random := make([]byte, 3<<20)
rand.NewChaCha8(sha256.Sum256([]byte(time.Now().String()))).Read(random)
problem := os.WriteFile(fmt.Sprint(time.Now().UnixNano(), ".bin"), random, 0o644)
fmt.Println(problem)""",
    # 4: more than the memory of a program in compiled code
    "table := bytes.NewBuffer(nil)\ntable.Grow(3 << 30)\nother := bytes.NewBuffer(nil)\nother.Grow(3 << 30)",
]


@pytest.fixture(scope="module")
def troubled(site_at):
    # A browser of its own: Chromium applies the limit of storage to a new one only, and Firefox has none that changes.
    with site.browser(height=1200, storage=320 << 20) as driver:
        yield site.Notebook.open(driver, site_at.address, "trouble.ipynb", TROUBLE)


class TestTrouble:
    """A page whose kernel and storage reach their limits. The tests run in order."""


    def test_memory(self, troubled):
        assert "out of memory" in troubled.run(0)
        assert troubled.run(1) == "21"

    def test_memory_of_compiled_code(self, troubled):
        assert "memory" in troubled.run(4, 60)
        troubled.picture(PICTURES / "7-memory.png")
        troubled.dismiss()
        assert troubled.run(1) == "21"

    def test_cell_that_cannot_be_interrupted(self, troubled):
        troubled.start(2)
        lab.wait_for(lambda: troubled.status() == "busy", 10, "the busy kernel")
        troubled.command("notebook:interrupt-kernel")
        troubled.wait_output(2, "Restart the kernel")
        troubled.picture(PICTURES / "8-endless.png")
        troubled.restart()
        assert troubled.run(1) == "21"
        assert "power :=" in troubled.source(2)

    @only_chromium
    def test_frozen_page(self, troubled):
        """Browsers stop pages that nobody looks at, and continue them later."""
        troubled.driver.execute_cdp_cmd("Page.enable", {})
        for state in "frozen", "active":
            troubled.driver.execute_cdp_cmd("Page.setWebLifecycleState", {"state": state})
        assert troubled.run(1) == "21"

    @pytest.mark.skipif(site.BROWSER == "webkit", reason="WebKit's storage cannot be limited")
    def test_full_storage(self, site_at, troubled):
        troubled.wait_copy()
        with full(troubled, site_at.address.removesuffix(site.PREFIX)):
            # A notebook that is larger than a file that did not fit.
            troubled.call("const n = app.shell.currentWidget.content; n.widgets[1].model.sharedModel.setSource('// not lost');"
                          "n.model.setMetadata('padding', Array.from({length: 1 << 20}, () => Math.random().toString(36).slice(2, 10)).join(''))")
            troubled.command("docmanager:save")
            lab.wait_for(lambda: "no space left" in troubled.dialog(), 20, "the message")
            troubled.picture(PICTURES / "9-storage.png")
            troubled.dismiss()
            assert troubled.source(1) == "// not lost"
        troubled.call("await app.commands.execute('docmanager:save')")
        assert "// not lost" in troubled.call(
            "return JSON.stringify((await app.serviceManager.contents.get('trouble.ipynb', {content: true})).content)")


@contextlib.contextmanager
def full(notebook, origin):
    """Fills the storage of the browser, and at the end deletes the files that fill it."""
    chromium = site.BROWSER == "chromium"
    if chromium:
        # Less than the copy of the site; Firefox has a limit from its start.
        notebook.driver.execute_cdp_cmd("Storage.overrideQuotaForOrigin", {"origin": origin, "quotaSize": 1 << 20})
    try:
        # Chromium looks at the limit again only after a while.
        lab.wait_for(lambda: "No space left on device" in notebook.run(3, 60), 120, "the full storage")
        yield
    finally:
        if chromium:
            notebook.driver.execute_cdp_cmd("Storage.overrideQuotaForOrigin", {"origin": origin})
        notebook.call("const c = app.serviceManager.contents;"
                      "for (const f of (await c.get('')).content) if (f.name.endsWith('.bin')) await c.delete(f.path)")


def test_second_part_at_once():
    """Cells need the second part of the program before that has been loaded, first while the server does not have it."""
    no_pause = "const later = setTimeout; globalThis.setTimeout = (f, ms, ...a) => later(f, ms === 2000 ? 1e9 : ms, ...a);"
    needs = "bytes.LastIndexFunc([]byte(\"aB\"), unicode.IsUpper) + int(real(cmplx.Sqrt(16)))"
    # Go continues in a promise's callback after it has waited for a file, where nobody catches an exception.
    cells = [needs, "os.Stat(\"none\")\n" + needs]
    with site.server(worker=no_pause) as served, site.browser(height=1200) as driver:
        served.refuse("/rest-")
        notebook = site.Notebook.open(driver, served.address, "part.ipynb", cells, connect=False)
        for i, text in enumerate(cells):
            notebook.start(i)
            notebook.wait_output(i, "cannot load")
            notebook.wait_output(i, "the server answered 503")
            assert notebook.source(i) == text
        notebook.picture(PICTURES / "11-second-part.png")
        served.refuse("")
        before = len(served.requests)
        notebook.restart()
        assert notebook.run(0) == "5"
        assert any("/rest-" in p for p in served.requests[before:])


def test_without_webassembly():
    with site.server(worker="delete globalThis.WebAssembly;") as served, site.browser() as driver:
        notebook = site.Notebook.open(driver, served.address, "none.ipynb", ["20 + 1"], connect=False)
        notebook.start(0)
        notebook.wait_output(0, "this browser lacks WebAssembly")
        notebook.picture(PICTURES / "10-without-webassembly.png")
        assert notebook.source(0) == "20 + 1"


@only_chromium
def test_without_storage(site_at):
    """A browser that keeps nothing for the site shows it and a warning, and runs cells."""
    with site.browser(storage=0) as driver:
        notebook = site.Notebook.open(driver, site_at.address, "lost.ipynb", ["20 + 1"])
        assert notebook.run(0, 60) == "21"
        lab.wait_for(lambda: "keeps no files" in driver.find_element("css selector", "body").text, 20, "the warning")
        notebook.picture(PICTURES / "12-without-storage.png")


def test_without_isolation(notebook):
    """Interrupts and input need no SharedArrayBuffer, so no server has to send the headers that allow it."""
    assert notebook.call("return crossOriginIsolated") is False
