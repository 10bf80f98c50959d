"""Executes every tutorial and checks its output."""

import base64
import json
import pathlib
import re
import struct

import nbformat
import pytest
from nbclient import NotebookClient

HERE = pathlib.Path(__file__).parent
MODULE = "../examples/prose/explore.ipynb"  # a notebook in a module of its own
TUTORIALS = [*sorted(p.name for p in HERE.glob("*.ipynb")), MODULE]
SECONDS = 900  # limit of one cell, for one that hangs: a loaded machine may take several times as long as an idle one

assert len(TUTORIALS) > 1, "no notebook found"


@pytest.fixture(scope="session")
def executed():
    """Executes a notebook once and caches it for all tests."""
    cache = {}

    def get(name):
        if name not in cache:
            path = HERE / name
            notebook = nbformat.read(path, as_version=4)
            NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(path.parent)}}).execute()
            cache[name] = notebook
        return cache[name]

    return get


def outputs(notebook):
    return [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]


def text(notebook):
    """Returns all plain text that the cells show."""
    parts = []
    for output in outputs(notebook):
        parts.append(output.get("text") or output.get("data", {}).get("text/plain", ""))
    return "\n".join(parts)


@pytest.mark.parametrize("name", TUTORIALS)
def test_runs_without_errors(executed, name):
    for output in outputs(executed(name)):
        assert output.output_type != "error", output
        assert output.get("name") != "stderr", output


@pytest.mark.parametrize("name", TUTORIALS)
def test_saved_without_outputs(name):
    """Notebooks are checked in without outputs, which would have the measurements of another machine."""
    notebook = nbformat.read(HERE / name, as_version=4)
    assert not outputs(notebook)
    assert notebook.metadata.kernelspec.name == "quern"
    # Read the file itself, because nbformat replaces duplicate ids.
    ids = [cell["id"] for cell in json.loads((HERE / name).read_text())["cells"]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", ["01-quickstart.ipynb", "02-fashion.ipynb"])
def test_holds_the_final_figure(executed, name):
    figures = [o.data for o in outputs(executed(name)) if "image/svg+xml" in o.get("data", {})]
    assert figures, "no figure"
    for data in figures:
        assert data["image/svg+xml"].lstrip().startswith("<svg"), data["image/svg+xml"][:80]
        png = base64.b64decode(data["image/png"])
        assert png.startswith(b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", png[16:24])
        assert width >= 600 and height >= 300
        assert data["text/plain"]


def accuracy(notebook):
    """Returns the percentage that the tutorial prints."""
    for line in text(notebook).splitlines():
        head, sign, _ = line.partition(" % of the test images")
        if sign:
            return float(head.split()[-1])
    raise AssertionError("no accuracy printed in:\n" + text(notebook))


def test_module_is_imported(executed):
    """The module's code, its embedded file and its internal package."""
    shown = text(executed(MODULE))
    for line in ("272 words, 138 different", "“that” is highest with 13", "60 words have 3 letters"):
        assert line in shown, line


def test_quickstart_learns_the_digits(executed):
    assert accuracy(executed("01-quickstart.ipynb")) >= 95


def test_fashion_learns_the_clothes(executed):
    assert accuracy(executed("02-fashion.ipynb")) >= 87


def test_active_learning_goes_round(executed):
    """The curve has a point for each round, from 20 to 160 labels."""
    shown = text(executed("06-active-learning.ipynb"))
    assert float(re.search(r"Accuracy by labels: ([0-9.]+) % with 140 labels", shown)[1]) > 85


def test_active_learning_beats_chance(executed):
    """Checks the accuracy at the largest number of labels."""
    last = {}
    for line in text(executed("06-active-learning.ipynb")).splitlines():
        words = line.split()
        if words and words[0] in ("random", "margin"):
            last[words[0]] = float(re.findall(r"([0-9.]+) ±", line)[-1])
    assert last["margin"] > last["random"], last


def test_profiling_names_the_layers_and_the_gap(executed):
    shown = text(executed("07-profiling.ipynb"))
    for name in ("look.0 Conv2D", "think.0", "say", "AdamW", "waits for data", "lists a step: 2, before: 1", "step.trace.json"):
        assert name in shown, name


def test_search_finds_settings(executed):
    """Halving tries more settings in the same number of epochs, and finds good ones."""
    assert accuracy(executed("08-search.ipynb")) >= 90
    trials = {name: int(n) for name, n in re.findall(r"^(random|TPE, halving) +\S+ ± \S+ +(\d+)", text(executed("08-search.ipynb")), re.M)}
    assert trials["TPE, halving"] > 1.5 * trials["random"], trials


def test_ranks_train_together(executed):
    shown = text(executed("09-several-gpus.ipynb"))
    assert re.search(r"two and two is 4\n+I am rank 0\n+\[rank 1\] I am rank 1\n", shown)
    assert "rank 0 of 2" in shown
    assert shown.count("digits, test: loss") == 1 and ", 360 examples," in shown, "all ranks measure the whole set together"
    assert shown.count("weights ") == 1 and "[rank 1] weights" not in shown, "the ranks have other weights"
    two, one = map(float, re.search(r"loss of two ranks ([0-9.]+), of one ([0-9.]+)", shown).groups())
    assert abs(two - one) < 0.01 and two < 0.5


def test_own_images_gain_from_augmentation_and_from_other_images(executed):
    shown = text(executed("11-own-images.ipynb"))
    plain, varied = map(float, re.search(r"from scratch (\d+) %, augmented (\d+) %", shown).groups())
    tuned = float(re.search(r"fine-tuned (\d+) %", shown)[1])
    assert plain < varied < tuned, shown


def test_text_tells_the_authors_apart(executed):
    shown = text(executed("12-text.ipynb"))
    for name in ("bag of words", "LSTM"):
        assert float(re.search(rf"^{name}: ([0-9.]+) %", shown, re.M)[1]) > 78, name
    melville, austen = map(int, re.findall(r"^Melville +(\d+) %", shown, re.M))
    assert melville > 80 and austen < 20


def test_time_series_beats_the_last_day(executed):
    shown = text(executed("13-time-series.ipynb"))
    today, lstm, transformer = (float(re.search(rf"^{name}: ([0-9.]+) MW", shown, re.M)[1]) for name in ("as today", "LSTM", "Transformer"))
    assert lstm < 0.7 * today and transformer < 0.7 * today, shown


def test_the_loop_by_hand_equals_fit(executed):
    shown = text(executed("14-training-loop.ipynb"))
    first, second = map(float, re.findall(r"^loss ([0-9.]+)$", shown, re.M))
    assert second < first, "one step does not lower the loss of its batch"
    assert abs(accuracy(executed("14-training-loop.ipynb")) - float(re.search(r"with Fit: ([0-9.]+) %", shown)[1])) < 2


VERDICTS = ("holds here", "does not hold here", "undecided")


def test_every_claim_gets_a_verdict(executed):
    """The verdict depends on the machine, but it must follow from the runs that are shown."""
    shown = text(executed("claims.ipynb"))
    claims = re.findall(r"^(.+)\n  claimed:  .+\n  measured: \S+ ± \S+ .+\n  verdict:  (.+)$", shown, re.M)
    techniques = dict(claims)
    for about in (
        "mixed precision: speed", "mixed precision: epochs", "warm-up, cosine", "AdamW against SGD", "LAMB against Adam",
        "batch 512 for 64", "accumulation: memory", "accumulation: with BatchNorm", "recomputation: memory", "recomputation: time",
        "prefetching", "fusing: launches", "fusing: time", "replayed plans", "active learning: labels", "active learning: computation",
    ):
        assert any(name.startswith(about) for name in techniques), about
    _, _, table = shown.partition("articles say")
    for name, verdict in claims:
        assert verdict in VERDICTS, (name, verdict)
        row = next(line for line in table.splitlines() if line.startswith(name + "  "))
        assert row.rstrip().endswith(verdict), row


def test_claims_end_in_the_time_to_an_accuracy(executed):
    last = executed("claims.ipynb").cells[-1].outputs[-1].data
    assert last["text/plain"].startswith("Seconds of training until 80 %")
    assert "+ warm-up, cosine" in last["image/svg+xml"]


PAPER = 77  # the columns of a code cell that fit on a page, with tabs as wide as browsers print them


@pytest.mark.parametrize("name", TUTORIALS)
def test_code_fits_on_a_page(name):
    """What is exported for printing cuts longer lines off."""
    notebook = nbformat.read(HERE / name, as_version=4)
    lines = [line for c in notebook.cells if c.cell_type == "code" for line in c.source.splitlines()]
    assert not [line for line in lines if len(line.expandtabs(8)) > PAPER]
