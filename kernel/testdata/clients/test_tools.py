"""Tools that people run notebooks with."""

import base64
import concurrent.futures
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import nbformat
import papermill
import pexpect
import pytest
from conftest import TIMEOUT
from jupyter_client.kernelspec import get_kernel_spec
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from quern_jupyter.papermill import GoTranslator

BIN = pathlib.Path(sys.executable).parent


def notebook(*cells, tags=None):
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nb.metadata.kernelspec = {"name": "quern", "display_name": "Go (Quern)", "language": "go"}
    for place, names in (tags or {}).items():
        nb.cells[place].metadata.tags = names
    return nb


def jupyter(*arguments, cwd, fails=False):
    """Runs a jupyter command and returns its output."""
    env = dict(os.environ, PATH=f"{BIN}{os.pathsep}{os.environ['PATH']}")
    done = subprocess.run([BIN / "jupyter", *arguments], cwd=cwd, env=env, capture_output=True, text=True, timeout=4 * TIMEOUT, check=False)
    assert (done.returncode != 0) == fails, done.stderr
    return done.stdout + done.stderr


def texts(nb):
    """Returns what the cells print and show, one text for each cell."""
    return ["".join(o.get("text", "") or o.get("data", {}).get("text/plain", "") for o in c.outputs) for c in nb.cells if c.cell_type == "code"]


def test_papermill_sets_parameters(tmp_path):
    nbformat.write(notebook('rate, name, n, xs := 0.5, "nobody", 3, []float64{}', 'fmt.Printf("%v %T %q %d %v", rate, rate, name, n, xs)',
                            tags={0: ["parameters"]}), tmp_path / "in.ipynb")
    name = 'Ann "😀" \\ \n'
    done = papermill.execute_notebook(str(tmp_path / "in.ipynb"), str(tmp_path / "out.ipynb"), progress_bar=False,
                                      parameters={"rate": 1, "name": name, "n": 7, "xs": [1, 2.5]})
    assert texts(done)[-1] == f"1 float64 {json.dumps(name, ensure_ascii=False)} 7 [1 2.5]"
    assert done.cells[1].metadata.tags == ["injected-parameters"]


def test_papermill_from_the_command_line(tmp_path):
    nbformat.write(notebook("n := 1", "n + 1", tags={0: ["parameters"]}), tmp_path / "in.ipynb")
    subprocess.run([BIN / "papermill", "in.ipynb", "out.ipynb", "-p", "n", "41", "--no-progress-bar"], cwd=tmp_path, check=True,
                   timeout=4 * TIMEOUT, capture_output=True)
    assert texts(nbformat.read(tmp_path / "out.ipynb", 4))[-1] == "42"


def test_papermill_fails_with_the_cell(tmp_path):
    nbformat.write(notebook("n := 1", "n", tags={0: ["parameters"]}), tmp_path / "in.ipynb")
    with pytest.raises(papermill.PapermillExecutionError, match="undefined: m"):
        papermill.execute_notebook(str(tmp_path / "in.ipynb"), str(tmp_path / "out.ipynb"), parameters={"m": 1}, progress_bar=False)


@pytest.mark.parametrize("value,want", [
    (None, "nil"), (True, "true"), (3, "3"), (-2.5, "-2.5"), (1e300, "1e+300"), (math.nan, "math.NaN()"), (-math.inf, "math.Inf(-1)"),
    ("a\u2028\x00\x7f", '"a\u2028\\u0000\\u007f"'), ([], "nil"), ({}, "nil"), ([1, 2], "[]int{1, 2}"), ([1, 2.5], "[]float64{1, 2.5}"),
    ([True, 1], "[]any{true, 1}"), ([[1], []], "[]any{[]int{1}, []any{}}"), ({"a": [1]}, 'map[string][]int{"a": []int{1}}'), ((1,), "[]int{1}"),
])
def test_parameters_are_go(value, want):
    assert GoTranslator.translate(value) == want


def test_nbconvert_makes_html(tmp_path):
    nbformat.write(notebook('fmt.Println("printed")', 'display.HTML("<b>shown</b>")', 'widgets.NewIntSlider(0, 10, 3)'), tmp_path / "nb.ipynb")
    jupyter("nbconvert", "--execute", "--to", "html", "nb.ipynb", cwd=tmp_path)
    page = (tmp_path / "nb.html").read_text()
    assert "printed" in page and "<b>shown</b>" in page
    # The state of the slider, and the element in which a page shows it without a kernel.
    assert '"model_name": "IntSliderModel"' in page
    assert "application/vnd.jupyter.widget-view+json" in page and "html-manager" in page


@pytest.mark.parametrize("execute", ["nbconvert", "quern run"])
def test_html_shows_widgets(tmp_path, execute):
    """A page without a kernel has the views, and the states of the widgets with the changes of later cells and with binary data."""
    nb = notebook('bins := widgets.NewIntSlider(0, 10, 3)\npicture := widgets.NewImage([]byte("GIF89a"))\n'
                  'widgets.NewTab([]string{"one", "two"}, bins, widgets.NewVBox(picture))',
                  'bins.SetValue(7)\npicture.SetValue([]byte("\\x89PNG\\r\\n\\x1a\\n"))')
    nbformat.write(nb, tmp_path / "nb.ipynb")
    if execute == "quern run":
        subprocess.run([get_kernel_spec("quern").argv[0], "run", "-o", "done.ipynb", "nb.ipynb"], cwd=tmp_path, check=True, timeout=TIMEOUT)
        jupyter("nbconvert", "--to", "html", "--output", "nb.html", "done.ipynb", cwd=tmp_path)
    else:
        jupyter("nbconvert", "--execute", "--to", "html", "nb.ipynb", cwd=tmp_path)
    page = (tmp_path / "nb.html").read_text()

    def scripts(kind):
        found = re.findall(rf'<script type="application/vnd.jupyter.widget-{kind}\+json">(.*?)</script>', page, re.DOTALL)
        return [json.loads(text) for text in found]

    [view], [saved] = scripts("view"), scripts("state")
    states = saved["state"]
    tab = states[view["model_id"]]
    assert tab["model_name"] == "TabModel" and tab["state"]["titles"] == ["one", "two"]
    first, box = (states[c.removeprefix("IPY_MODEL_")] for c in tab["state"]["children"])
    assert first["state"]["value"] == 7
    [image] = (states[c.removeprefix("IPY_MODEL_")] for c in box["state"]["children"])
    assert image["state"]["format"] == "png"
    assert [(b["path"], b["encoding"], base64.b64decode(b["data"])) for b in image["buffers"]] == [(["value"], "base64", b"\x89PNG\r\n\x1a\n")]


def test_nbconvert_keeps_what_goroutines_put_out_later(tmp_path):
    """Late output is under the cell that started the goroutine, as in JupyterLab, although nbclient drops messages of other cells."""
    nbformat.write(notebook(
        # The goroutine prints on request, and signals when it has printed.
        "say, said := make(chan string), make(chan bool)\ngo func() { for s := range say { fmt.Println(s); said <- true } }()\nfmt.Println(\"own\")",
        'say <- "during"\n<-said\nfmt.Println("other")',
        # No cell waits for this goroutine: it may print between cells.
        "var ended sync.WaitGroup\nended.Go(func() { for i := range 100 { fmt.Println(\"between\", i) } })\nstart := make(chan bool)",
        "ended.Wait()",
        # A figure that its goroutine continues to update, and one that it shows later.
        'live := display.Show(display.HTML("<b>step 0</b>"))\ngo func() { <-start; live.Update(display.HTML("<b>step 1</b>"))\n'
        'display.Show(display.HTML("<i>new</i>")); said <- true }()',
        "start <- true\n<-said",
        "fired := make(chan bool)\ntimer := time.AfterFunc(time.Hour, func() { fmt.Fprintln(os.Stderr, \"at last\"); fired <- true })",
        "timer.Reset(0)\n<-fired\nfmt.Println(\"end\")",
    ), tmp_path / "nb.ipynb")
    jupyter("nbconvert", "--execute", "--to", "notebook", "--output", "out.ipynb", "nb.ipynb", cwd=tmp_path)
    jupyter("nbconvert", "--to", "html", "out.ipynb", cwd=tmp_path)
    cells = nbformat.read(tmp_path / "out.ipynb", 4).cells
    got = ["".join(o.get("text", "") or o.data.get("text/plain", "") for o in c.outputs) for c in cells]
    assert got[0] == "own\nduring\n" and got[1] == "other\n", got
    assert got[2] == "".join(f"between {i}\n" for i in range(100)) and not got[3], got
    shown = [o.data["text/html"] for o in cells[4].outputs]
    assert shown == ["<b>step 1</b>", "<i>new</i>"] and got[5] == "true", cells[4:6]
    assert got[6] == "at last\n" and got[7].startswith("end\n"), got
    page = (tmp_path / "out.html").read_text()
    assert all(page.count(s) == 1 for s in ("<pre>during\n", "between 99\n", "<b>step 1</b>", "<i>new</i>")), page


def test_nbconvert_makes_a_go_program(tmp_path):
    nb = notebook("x := 20", "func twice(n int) int { return 2 * n }\ntwice(x) + 2")
    nbformat.write(nb, tmp_path / "new.ipynb")
    nb.metadata.language_info = {"name": "go", "file_extension": ".go", "mimetype": "text/x-go", "nbconvert_exporter": "script"}
    nbformat.write(nb, tmp_path / "nb.ipynb")
    jupyter("nbconvert", "--execute", "--to", "script", "nb.ipynb", cwd=tmp_path)
    jupyter("nbconvert", "--to", "go", "new.ipynb", cwd=tmp_path)
    program = (tmp_path / "nb.go").read_text()
    assert "func main()" in program and program.replace("nb.ipynb", "new.ipynb") == (tmp_path / "new.go").read_text()
    if shutil.which("go"):
        done = subprocess.run(["go", "run", "nb.go"], cwd=tmp_path, capture_output=True, text=True, timeout=4 * TIMEOUT, check=True)
        assert done.stdout == "42\n"
        subprocess.run(["gofmt", "-l", "nb.go"], cwd=tmp_path, check=True)


def test_nbconvert_says_why_there_is_no_program(tmp_path):
    nbformat.write(notebook("x := 1", "%time x"), tmp_path / "nb.ipynb")
    jupyter("nbconvert", "--execute", "--to", "notebook", "--inplace", "nb.ipynb", cwd=tmp_path)
    assert "cell 2, line 1: kernel commands cannot be exported" in jupyter("nbconvert", "--to", "script", "nb.ipynb", cwd=tmp_path, fails=True)


def test_nbconvert_fails_where_a_cell_does(tmp_path):
    nbformat.write(notebook("x := 1", "x + undefined"), tmp_path / "nb.ipynb")
    assert "undefined: undefined" in jupyter("nbconvert", "--execute", "--to", "html", "nb.ipynb", cwd=tmp_path, fails=True)


def test_nbclient_ends_an_endless_cell():
    nb = notebook("n := 1\nfor { n++ }")
    with pytest.raises(CellTimeoutError):
        NotebookClient(nb, kernel_name="quern", timeout=2).execute()


def test_nbclient_goes_on_after_an_interrupt():
    nb = notebook("n := 1", "for { n++ }", "n >= 1")
    client = NotebookClient(nb, kernel_name="quern", timeout_func=lambda cell: 2 if "for" in cell.source else TIMEOUT,
                            interrupt_on_timeout=True, allow_errors=True)
    client.execute()
    assert [o.ename for o in nb.cells[1].outputs] == ["interrupted"] and texts(nb)[2] == "true"


def test_nbclient_minds_the_tags():
    nb = notebook('panic("allowed")', 'panic("skipped")', "1 + 1", tags={0: ["raises-exception"], 1: ["skip-execution"]})
    NotebookClient(nb, kernel_name="quern", timeout=TIMEOUT).execute()
    assert texts(nb)[1:] == ["", "2"] and nb.cells[0].outputs[0].output_type == "error"
    with pytest.raises(CellExecutionError, match="on purpose"):
        NotebookClient(notebook('panic("on purpose")'), kernel_name="quern", timeout=TIMEOUT).execute()


def test_nbclient_runs_several_at_once():
    nbs = [notebook(f"x := {i}", "time.Sleep(100 * time.Millisecond)\nx * 2") for i in range(4)]
    with concurrent.futures.ThreadPoolExecutor(len(nbs)) as pool:
        list(pool.map(lambda nb: NotebookClient(nb, kernel_name="quern", timeout=4 * TIMEOUT).execute(), nbs))
    assert [texts(nb)[1] for nb in nbs] == ["0", "2", "4", "6"]


@pytest.fixture
def console():
    env = dict(os.environ, TERM="dumb", PROMPT_TOOLKIT_NO_CPR="1")
    child = pexpect.spawn(str(BIN / "jupyter"), ["console", "--kernel", "quern", "--simple-prompt", "--no-confirm-exit"], env=env, encoding="utf-8",
                          timeout=2 * TIMEOUT, echo=False)
    child.expect(r"In \[1\]: ")
    yield child
    child.close(force=True)


def test_console(console):
    console.sendline("6 * 7")
    console.expect(r"Out\[1\]: *42")
    console.expect(r"In \[2\]: ")
    console.sendline('fmt.Println("a", "line")')
    console.expect("a line")
    console.expect(r"In \[3\]: ")
    console.sendline("undefinedName")
    console.expect("undefined: undefinedName")
    console.expect(r"In \[4\]: ")
    console.sendline('var name string; fmt.Println("who?"); fmt.Scanln(&name)')
    console.expect(r"who\?\r\n")
    console.sendline("gopher")
    console.expect(r"In \[5\]: ")
    console.sendline("name")
    console.expect('"gopher"')
    console.expect(r"In \[6\]: ")
    console.sendeof()
    console.expect(pexpect.EOF)


def test_console_interrupts(console, tmp_path):
    # The console shows no more output of a cell if the idle status of its first request comes while the cell runs.
    begun = tmp_path / "begun"
    console.sendline(f'os.WriteFile("{begun}", nil, 0o600); for {{}}')
    end = time.monotonic() + TIMEOUT
    while not begun.exists():
        assert time.monotonic() < end, "the cell does not begin"
        console.expect(pexpect.TIMEOUT, timeout=0.1)
    # The console drops a Control-C that comes while it prints.
    for _ in range(TIMEOUT // 6):
        console.sendintr()
        if console.expect(["interrupted", pexpect.TIMEOUT], timeout=6) == 0:
            break
    else:
        raise AssertionError("the cell goes on")
    console.expect(r"In \[2\]: ")
    console.sendline("1 + 1")
    console.expect(r"Out\[2\]: *2")
