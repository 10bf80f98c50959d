"""Executes every lesson and tutorial and checks its output."""

import base64
import json
import pathlib
import re
import struct

import nbformat
import pytest
from nbclient import NotebookClient
from test_exercises import CHECKED

NOTEBOOKS = pathlib.Path(__file__).parents[3] / "notebooks"
MODULE = "../examples/prose/explore.ipynb"  # a notebook in a module of its own
TUTORIALS = [*sorted(p.name for p in NOTEBOOKS.glob("*.ipynb")), MODULE]
INTRODUCTION = "00-go.ipynb"  # Go itself, for people who do not know it
LESSONS = [name for name in TUTORIALS if name[0].isdigit() and name != INTRODUCTION]
SELF_CHECKED = {INTRODUCTION: 10, "more-autograd.ipynb": 4}  # the exercises of notebooks whose cells say whether they are solved
# What a reader runs takes longer. These values are set after the cells with the tag parameters.
PARAMETERS = {
    "06-sequences-and-gpt.ipynb": "steps = 300",
    "07-faster-training.ipynb": "examples = 2000",
    "10-active-learning.ipynb": "seeds = 4",
    "12-claims.ipynb": "seeds, examples, epochs = 2, 1200, 4",
}
# Code with what replaces it in all cells.
SHORTER = {
    "05-convolution.ipynb": {"accel.Epochs(4)": "accel.Epochs(2)", "all.Split(0.9)": "all.First(30_000).Split(0.9)"},
    "07-faster-training.ipynb": {"all.Split(0.9)": "all.First(12_000).Split(0.9)"},
    "09-search.ipynb": {"tune.Budget(120)": "tune.Budget(60)", "tune.Seeds(3)": "tune.Seeds(2)"},
}
SECONDS = 900  # limit of one cell, for one that hangs: a loaded machine may take several times as long as an idle one

assert len(LESSONS) == 13, LESSONS


@pytest.fixture(scope="session")
def executed():
    """Executes a notebook once and caches it for all tests."""
    cache = {}

    def get(name):
        if name not in cache:
            path = NOTEBOOKS / name
            notebook = nbformat.read(path, as_version=4)
            if name in PARAMETERS:
                set_parameters(notebook, PARAMETERS[name])
            for long, short in SHORTER.get(name, {}).items():
                shorten(notebook, long, short)
            NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(path.parent)}}).execute()
            cache[name] = notebook
        return cache[name]

    return get


def set_parameters(notebook, source):
    place = next(i for i, c in enumerate(notebook.cells) if "parameters" in c.metadata.get("tags", []))
    notebook.cells.insert(place + 1, nbformat.v4.new_code_cell(source))


def shorten(notebook, long, short):
    cells = [c for c in notebook.cells if c.cell_type == "code" and long in c.source]
    assert cells, f"no cell has {long}"
    for cell in cells:
        cell.source = cell.source.replace(long, short)


def outputs(notebook):
    return [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]


def may_fail(cell):
    return "raises-exception" in cell.metadata.get("tags", [])


def text(notebook):
    """Returns all plain text that the cells show."""
    parts = []
    for output in outputs(notebook):
        parts.append(output.get("text") or output.get("data", {}).get("text/plain", ""))
    return "\n".join(parts)


@pytest.mark.parametrize("name", TUTORIALS)
def test_runs_without_errors(executed, name):
    for cell in executed(name).cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error" or may_fail(cell), output
            assert output.get("name") != "stderr", output


@pytest.mark.parametrize("name", TUTORIALS)
def test_cells_that_are_wrong_on_purpose_fail(executed, name):
    for cell in filter(may_fail, executed(name).cells):
        assert cell.outputs[-1].output_type == "error", cell.source


@pytest.mark.parametrize("name", TUTORIALS)
def test_saved_without_outputs(name):
    """Notebooks are checked in without outputs, which would have the measurements of another machine."""
    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    assert not outputs(notebook)
    assert notebook.metadata.kernelspec.name == "quern"
    # Read the file itself, because nbformat replaces duplicate ids.
    ids = [cell["id"] for cell in json.loads((NOTEBOOKS / name).read_text())["cells"]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", ["quickstart.ipynb", "02-first-model.ipynb"])
def test_holds_the_final_figure(executed, name):
    shown = figures(executed(name))
    assert shown, "no figure"
    for data in shown:
        title, svg = data["image/svg+xml"].split("\n", 1)  # JupyterLab shows the first line of an output that is collapsed
        assert title.startswith("<!-- ") and svg.startswith("<svg"), data["image/svg+xml"][:80]
        png = base64.b64decode(data["image/png"])
        assert png.startswith(b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", png[16:24])
        assert width >= 600 and height >= 200
        assert data["text/plain"]


def figures(notebook):
    return [o.data for o in outputs(notebook) if "image/svg+xml" in o.get("data", {})]


def accuracy(notebook):
    """Returns the percentage that the tutorial prints."""
    for line in text(notebook).splitlines():
        head, sign, _ = line.partition(" % of the test images")
        if sign:
            return float(head.split()[-1])
    raise AssertionError("no accuracy printed in:\n" + text(notebook))


@pytest.mark.parametrize("name", TUTORIALS)
def test_trainings_have_no_findings(executed, name):
    """Below its figure, Fit names typical mistakes, each behind a dot. The notebooks have none."""
    for data in figures(executed(name)):
        found = re.findall(r"• [^<]*", data["image/svg+xml"])
        assert not found, found


def test_a_check_finds_mistakes(executed):
    shown = text(executed("02-first-model.ipynb"))
    for mistake in ("2 findings", "remove the Softmax", "are also in the training set"):
        assert mistake in shown, mistake


def test_module_is_imported(executed):
    """The module's code, its embedded file and its internal package."""
    shown = text(executed(MODULE))
    for line in ("272 words, 138 different", "“that” is highest with 13", "60 words have 3 letters"):
        assert line in shown, line


def test_quickstart_learns_the_digits(executed):
    assert accuracy(executed("quickstart.ipynb")) >= 95


def test_first_model_learns_and_overfits(executed):
    notebook = executed("02-first-model.ipynb")
    assert accuracy(notebook) >= 93
    shown = text(notebook)
    lowest = float(re.search(r"lowest validation loss: ([0-9.]+)", shown)[1])
    assert float(re.search(r"validation loss in the end: ([0-9.]+)", shown)[1]) > 1.1 * lowest


def test_convolution_is_better_than_dense_layers(executed):
    notebook = executed("05-convolution.ipynb")
    dense = float(re.search(r"dense layers: ([0-9.]+) %", text(notebook))[1])
    assert accuracy(notebook) > dense > 80


PAIRS = 2.56  # loss of what one can know about pairs of characters: exercise 1 of lesson 6


def test_gpt_learns_to_write(executed):
    """The samples during the training, and a loss below that of knowing pairs."""
    shown = text(executed("06-sequences-and-gpt.ipynb"))
    assert len(re.findall(r"^step +\d+, loss [0-9.]+: \"Call me ", shown, re.M)) == 5
    assert float(re.search(r" steps, validation loss ([0-9.]+)", shown)[1]) < PAIRS, shown
    assert "3 layers, 4 heads" in shown, "no map of the attention"


def test_attention_by_hand_equals_the_layer(executed):
    """Before the training, and with the weights that the training has found."""
    shown = text(executed("06-sequences-and-gpt.ipynb"))
    assert re.findall(r"^equal .*within 1e-6: (.*)$", shown, re.M) == ["true", "true"], shown


def test_augmentation_helps_with_rotated_images(executed):
    """As much as the prose of lesson 4 says: not at all for upright images."""
    shown = text(executed("04-your-own-data.ipynb"))
    upright, augmented = (
        {int(at): float(of) for at, of in re.findall(rf"^{name} +(\d+) degrees: ([0-9.]+) ", shown, re.M)} for name in ("upright", "augmented")
    )
    assert abs(augmented[0] - upright[0]) < 3 and augmented[40] - upright[40] > 15, shown


def test_losses_by_hand_equal_those_of_nn(executed):
    both = re.findall(r"^loss ([0-9.]+)(?: by nn.CrossEntropy)?$", text(executed("02-first-model.ipynb")), re.M)
    assert len(both) == 2 and abs(float(both[0]) - float(both[1])) < 1e-5, both
    shown = text(executed("03-training-loop.ipynb"))
    assert re.search(r"^loss of the batch ([0-9.]+)$", shown, re.M)[1] == re.search(r"^loss ([0-9.]+)$", shown, re.M)[1]


def test_an_error_is_the_one_that_lesson_1_shows():
    """The cell in its prose fails with the text below it, as the sixth that runs."""
    notebook = nbformat.read(NOTEBOOKS / "01-go-in-notebooks.ipynb", as_version=4)
    place = next(i for i, c in enumerate(notebook.cells) if "does not even start" in c.source)
    code, error = re.search(r"```go\n(.*?)```.*```\n(.*?)\n```", notebook.cells[place].source, re.S).groups()
    del notebook.cells[place:]
    notebook.cells.append(nbformat.v4.new_code_cell(code))
    NotebookClient(notebook, timeout=SECONDS, allow_errors=True, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()
    assert notebook.cells[-1].outputs[0].evalue.splitlines()[0] == error


def test_plans_are_made_and_replayed(executed):
    shown = text(executed("07-faster-training.ipynb"))
    made, replayed = (int(re.search(rf"plans {what}: (\d+)", shown)[1]) for what in ("made", "replayed"))
    assert 0 < made < replayed
    assert "“padded” is highest" in shown and "“packed” lowest" in shown, "packing did not remove the padding"


def test_active_learning_goes_round(executed):
    """The curve has a point for each round, from 20 to 160 labels."""
    shown = text(executed("10-active-learning.ipynb"))
    assert float(re.search(r"Accuracy by labels: ([0-9.]+) % with 160 labels", shown)[1]) > 85


def test_active_learning_beats_chance(executed):
    """Checks the accuracy at the largest number of labels."""
    last = {}
    for line in text(executed("10-active-learning.ipynb")).splitlines():
        words = line.split()
        if words and words[0] in ("random", "margin") and "±" in line and words[0] not in last:  # later ones are of an exercise
            last[words[0]] = float(re.findall(r"([0-9.]+) ±", line)[-1])
    assert last["margin"] > last["random"], last


def test_profiling_names_the_layers_and_the_gap(executed):
    shown = text(executed("08-profiling.ipynb"))
    for name in (
        "look.0 Conv2D", "think.0", "say", "AdamW", "waits for data", "What limits is the time of the transforms", "lists a step: 2, before: 1", "step.trace.json",
        "examples/s", "dynamic_batching {",
    ):
        assert name in shown, name


def test_search_finds_settings(executed):
    """Halving tries more settings in the same number of epochs, and finds good ones."""
    assert accuracy(executed("09-search.ipynb")) >= 90
    trials = {name: int(n) for name, n in re.findall(r"^(random|TPE, halving) +\S+ ± \S+ +(\d+)", text(executed("09-search.ipynb")), re.M)}
    assert trials["TPE, halving"] > 1.5 * trials["random"], trials


def test_ranks_train_together(executed):
    shown = text(executed("11-several-gpus.ipynb"))
    assert re.search(r"two and two is 4\n+I am rank 0\n+\[rank 1\] I am rank 1\n", shown)
    assert "rank 0 of 2" in shown
    assert shown.count("digits, test: loss") == 4 and ", 360 examples," in shown, "all ranks measure the whole set together"
    assert shown.count("weights ") == 1 and "[rank 1] weights" not in shown, "the ranks have other weights"
    two, one = map(float, re.search(r"loss of two ranks ([0-9.]+), of one ([0-9.]+)", shown).groups())
    assert abs(two - one) < 0.01 and two < 0.5
    by_hand, divided, staged = map(float, re.findall(r"digits, test: loss ([0-9.]+)", shown)[1:4])
    assert abs(by_hand - divided) < 0.002, "by hand, and with tensor parallelism"
    assert abs(by_hand - staged) < 0.002, "by hand, and with a pipeline"
    assert "rank 0 has 1.weight\n" in shown and "[rank 1] rank 1 has 3.weight\n" in shown
    bubbles = [int(share) for share in re.findall(r"^n = \d: bubble (\d+) %", shown, re.M)]
    assert len(bubbles) == 4 and bubbles[0] >= 50, "a stage waits at least as long as the other one takes"
    assert "rank 0 of 2: loss" in shown, "on simulated GPUs"
    stages = [float(loss) for loss in re.findall(r"^ZeRO [123]: loss ([0-9.]+)$", shown, re.M)]
    assert len(stages) == 3 and max(stages) - min(stages) < 0.002
    assert "[rank 1] rank 1 has 1.weight [32 64]" in shown and "dp 16, tp 4" in shown


def test_own_images_gain_from_augmentation_and_from_other_images(executed):
    shown = text(executed("more-own-images.ipynb"))
    plain, varied = map(float, re.search(r"from scratch (\d+) %, augmented (\d+) %", shown).groups())
    tuned = float(re.search(r"fine-tuned (\d+) %", shown)[1])
    assert plain < varied < tuned, shown


def test_text_tells_the_authors_apart(executed):
    shown = text(executed("more-text.ipynb"))
    for name in ("bag of words", "LSTM"):
        assert float(re.search(rf"^{name}: ([0-9.]+) %", shown, re.M)[1]) > 78, name
    melville, austen = map(int, re.findall(r"^Melville +(\d+) %", shown, re.M))
    assert melville > 80 and austen < 20


def test_time_series_beats_the_last_day(executed):
    shown = text(executed("more-time-series.ipynb"))
    today, lstm, transformer = (float(re.search(rf"^{name}: ([0-9.]+) MW", shown, re.M)[1]) for name in ("as today", "LSTM", "Transformer"))
    assert lstm < 0.7 * today and transformer < 0.7 * today, shown


def test_autograd_is_right_and_faster_with_matrices(executed):
    shown = text(executed("more-autograd.ipynb"))
    assert "in order: 36  hasty: 108" in shown
    assert int(re.search(r"(\d+) of 60 points are on the right side", shown)[1]) >= 57
    assert ["MatMul: 60×2 by 8×8" in o.evalue for o in outputs(executed("more-autograd.ipynb")) if o.output_type == "error"] == [True]
    assert len(re.findall(r"^largest difference of two gradients: ", shown, re.M)) == 2, "matrices, and accel"
    narrow, wide = (int(n) for n in re.findall(r"([0-9]+) times as fast$", shown, re.M))
    assert wide > narrow > 1  # about 50 and 16, but other programs may run at the same time
    recorded, fused = (int(re.search(rf"operations {when}: +(\d+)", shown)[1]) for when in ("recorded in a step", "after fusing"))
    assert fused < recorded
    ours, theirs = map(float, re.search(r"^(\d+) ms with our matrices, ([0-9.]+) ms with accel", shown, re.M).groups())
    assert theirs < ours
    first, last = map(float, re.search(r"^loss ([0-9.]+), after 200 steps ([0-9.]+)", shown, re.M).groups())
    assert last < 0.1 * first


def test_the_loop_by_hand_equals_fit(executed):
    shown = text(executed("03-training-loop.ipynb"))
    first, second = map(float, re.findall(r"^loss ([0-9.]+)$", shown, re.M))
    assert second < first, "one step does not lower the loss of its batch"
    assert abs(accuracy(executed("03-training-loop.ipynb")) - float(re.search(r"with Fit: ([0-9.]+) %", shown)[1])) < 2


VERDICTS = ("holds here", "does not hold here", "undecided")


def test_every_claim_gets_a_verdict(executed):
    """The verdict depends on the machine, but it must follow from the runs that are shown."""
    shown = text(executed("12-claims.ipynb"))
    claims = re.findall(r"^(.+)\n  claimed:  .+\n  measured: \S+ ± \S+ .+\n  verdict:  (.+)$", shown, re.M)
    techniques = dict(claims)
    for about in (
        "mixed precision: speed", "mixed precision: epochs", "warm-up, cosine", "AdamW against SGD", "LAMB against Adam",
        "batch 512 for 64", "accumulation: memory", "accumulation: with BatchNorm", "recomputation: memory", "recomputation: time",
        "prefetching", "90 % masked", "fusing: launches", "fusing: time", "replayed plans", "active learning: labels", "active learning: computation",
    ):
        assert any(name.startswith(about) for name in techniques), about
    before, _, table = shown.partition("articles say")  # the claim of an exercise comes after the table
    for name, verdict in claims:
        if f"{name}\n  claimed:" not in before:
            continue
        assert verdict in VERDICTS, (name, verdict)
        row = next(line for line in table.splitlines() if line.startswith(name + "  "))
        assert row.rstrip().endswith(verdict), row


def test_claims_end_in_the_time_to_an_accuracy(executed):
    last = next(d for d in reversed(figures(executed("12-claims.ipynb"))) if d["text/plain"].startswith("Seconds of training"))
    assert last["text/plain"].startswith("Seconds of training until 80 %")
    assert "+ warm-up, cosine" in last["image/svg+xml"]


def test_kernels_race_and_conflict_as_the_lesson_says(executed):
    notebook = executed("13-kernels.ipynb")
    shown = text(notebook)
    assert re.search(r"kernel sumBlock: cell\[\d+\]:9: race for an element of a shared array: thread .* writes it at cell\[\d+\]:9", shown)
    assert "kernel sumFixed: no fault was found" in shown
    assert shown.count("true") == 5, "the kernels compute something else than accel"
    counts = " ".join(d["text/plain"] for d in figures(notebook))
    assert "“16 columns” is highest with 896, “17 columns” lowest with 256" in counts


@pytest.mark.parametrize("name", LESSONS)
def test_lesson_has_its_parts(executed, name):
    """Goals, links to its neighbors, a question with a figure, and exercises that check themselves, or two with solutions that are collapsed."""
    cells = nbformat.read(NOTEBOOKS / name, as_version=4).cells
    place = LESSONS.index(name)
    neighbors = ([INTRODUCTION] + LESSONS)[place : place + 1] + LESSONS[place + 1 : place + 2]
    for cell in (cells[0], cells[-1]):
        assert re.findall(r"\]\((.+?\.ipynb)\)", cell.source)[: len(neighbors)] == neighbors
    assert cells[0].source.startswith(f"# {int(name[:2])}. ")
    assert "After this lesson you can" in cells[0].source
    prose = "\n".join(c.source for c in cells if c.cell_type == "markdown")
    assert "**Question.**" in prose and "**Exercise 1.**" in prose and "**Exercise 2.**" in prose
    solutions = [c for c in executed(name).cells if "solution" in c.metadata.get("tags", [])]
    if name in CHECKED:  # test_exercises.py solves them
        assert len(solutions) == prose.count("**Exercise ") >= 3
        solutions = []
    else:
        assert len(solutions) == 2
    for cell in solutions:
        assert cell.metadata.jupyter == {"source_hidden": True, "outputs_hidden": True}
        assert cell.outputs, "the solution shows nothing"
    assert figures(executed(name)), "no figure answers the question"


def exercises(notebook):
    """Returns the cells to fill in, each with the code of its solution."""
    solutions = [re.search(r"^```go\n(.+?)^```$", c.source, re.M | re.S)[1] for c in notebook.cells
                 if c.cell_type == "markdown" and "solution" in c.metadata.get("tags", [])]
    return list(zip([c for c in notebook.cells if "exercise" in c.metadata.get("tags", [])], solutions, strict=True))


@pytest.mark.parametrize("name", SELF_CHECKED)
def test_exercises_say_that_they_are_not_solved(executed, name):
    cells = [c for c, _ in exercises(executed(name))]
    assert len(cells) == SELF_CHECKED[name]
    for number, cell in enumerate(cells, 1):
        assert [o.data["text/plain"].startswith("not solved yet: ") for o in cell.outputs] == [True], cell.outputs
    prose = [c.source for c in executed(name).cells if c.cell_type == "markdown"]
    numbers = [int(n) for source in prose for n in re.findall(r"^\*\*Exercise (\d+)\.\*\*", source, re.M)]
    assert numbers == list(range(1, len(cells) + 1))


@pytest.mark.parametrize("name", SELF_CHECKED)
def test_solutions_pass_their_checks(name):
    """Puts each solution in the place of the code above the checks."""
    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    for cell, solution in exercises(notebook):
        place = cell.source.index("check.Exercise(")
        cell.source = solution + "\n" + cell.source[place:]
    NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()
    for cell, _ in exercises(notebook):
        assert [o.data["text/plain"] for o in cell.outputs] == ["solved"], (cell.source, cell.outputs)


def test_introduction_prepares_the_first_lesson():
    """What lesson 1 uses of Go is in lesson 0, or explained in lesson 1."""
    code = {name: "\n".join(c.source for c in nbformat.read(NOTEBOOKS / name, as_version=4).cells) for name in (INTRODUCTION, LESSONS[0])}
    for what in (r"slices\.SortedFunc\(maps\.Keys\(", r"cmp\.Or\(", r"strings\.Compare", r"errors\.As\(err, &", r"%w",
                 r"func \w+\[\w", r"sync\.WaitGroup", r"group\.Go\(", r"select \{", r"time\.After", r"defer ", r"\[]rune|rune\)",
                 r"append\(", r"map\[\w+]\w+\{", r"type \w+ struct", r"func \(\w+ \*\w+\)", r"min\(|make\("):
        assert re.search(what, code[LESSONS[0]]), f"lesson 1 no longer uses {what}"
        assert re.search(what, code[INTRODUCTION]), f"lesson 0 lacks {what}"


@pytest.mark.parametrize("name", TUTORIALS)
def test_links_exist(name):
    for cell in nbformat.read(NOTEBOOKS / name, as_version=4).cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"^```.*?^```", "", cell.source, flags=re.M | re.S)
            for link in re.findall(r"\]\((?!https?://)([^)#]+)", prose):
                assert (NOTEBOOKS / name).parent.joinpath(link).exists(), link


def test_file_browser_lists_the_first_lesson_first():
    """JupyterLab lists folders before files."""
    names = sorted(p.name for p in NOTEBOOKS.iterdir() if not p.name.startswith("."))
    assert names[0] == INTRODUCTION and not [n for n in names if (NOTEBOOKS / n).is_dir() or n.endswith(".py")], names


PAPER = 77  # the columns of a code cell that fit on a page, with tabs as wide as browsers print them


@pytest.mark.parametrize("name", TUTORIALS)
def test_code_fits_on_a_page(name):
    """What is exported for printing cuts longer lines off."""
    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    code = [c.source for c in notebook.cells if c.cell_type == "code"]
    code += [block for c in notebook.cells if c.cell_type == "markdown" for block in re.findall(r"```go\n(.*?)```", c.source, re.S)]
    lines = [line for source in code for line in source.splitlines()]
    assert not [line for line in lines if len(line.expandtabs(8)) > PAPER]
