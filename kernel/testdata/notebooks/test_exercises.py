"""Solves the exercises of the lessons that check themselves: stubs and typical mistakes get words, and solutions pass."""

import pathlib
import re

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = pathlib.Path(__file__).parents[3] / "notebooks"
# Code with what replaces it in all cells, since checks need no long training.
CHECKED = {
    "01-go-in-notebooks.ipynb": {},
    "02-first-model.ipynb": {},
    "03-training-loop.ipynb": {},
    "04-your-own-data.ipynb": {},
    "05-convolution.ipynb": {"accel.Epochs(4)": "accel.Epochs(1)", "all.Split(0.9)": "all.First(8_000).Split(0.9)"},
    "06-sequences-and-gpt.ipynb": {"steps := 1200": "steps := 50", "prompt, 500": "prompt, 50", "prompt, 300": "prompt, 30", "prompt, 400": "prompt, 40"},
}
# By lesson and exercise: code of the solution, what a student may write instead, and the words that the check must have for it.
MISTAKES = {
    ("01-go-in-notebooks.ipynb", 1): [
        ("append(groups[key(v)], v)", "[]V{v}", 'got []string{"sea"}'),
        ("groups[key(v)], v", "[]V{v}, groups[key(v)]...", 'got []string{"sea", "old"}'),
    ],
    ("01-go-in-notebooks.ipynb", 2): [
        ("15)", "16)", "the length of byLength: got 16"),
        ("byLength[n-1]++", "if n < 15 { byLength[n]++ }", "byLength[3] has the words of three letters"),
        ("n <= len(byLength)", "n < len(byLength)", "words with 15 letters: got 0, want 23"),
    ],
    ("01-go-in-notebooks.ipynb", 3): [
        (" + 1", "", "the first rank is 1"),
        ("%w", "%v", "finds no *UnknownWordError in: rank: no word"),
        ('fmt.Errorf("rank: %w", &UnknownWordError{word})', "&UnknownWordError{word}", '"rank: " is missing'),
        ('fmt.Errorf("rank: %w", &UnknownWordError{word})', "nil", "an error is expected, but it is nil"),
    ],
    ("02-first-model.ipynb", 1): [
        ("nn.Dense(256), nn.ReLU(), nn.Dropout(0.5),\n\tnn.Dense(10)", "nn.Dense(256), nn.ReLU(),\n\tnn.Dense(10)", "layers nn.Dropout(0.5) of dropped: got 1, want 2"),
        ("Epochs(80)", "Epochs(8)", "epochs: got 8, want 80"),
        ("train.First(60)", "train.First(600)", "images in an epoch: got 600, want 60"),
        ("dropped, train", "large, train", "with is not the training of dropped"),
        ("accel.Validate(held), ", "", "no validation set"),
    ],
    ("02-first-model.ipynb", 2): [
        ("accel.Steps(500)", "accel.Epochs(15)", "steps with 30 images: got 15, want 500"),
        ("train.First(n)", "train", "steps an epoch with 30 images: got 39, want 1"),
        ("small := nn", "small := model\n\t_ = nn", "that model is not new"),
        ("1000}", "100}", "runs has no training with 1000 images"),
    ],
    ("02-first-model.ipynb", 3): [
        ("largest := slices.Max(logits)", "largest := 0.0", "with the logits 1000, 999 and class 1 it is +Inf"),
        ("math.Log(sum) - (logits[class] - largest)", "-math.Log(math.Exp(logits[class]-largest) / sum)", "instead of 1000"),
        ("math.Log(sum) - (logits[class] - largest)", "logits[class] - largest - math.Log(sum)", "class 0: got -0.349"),
    ],
    ("03-training-loop.ipynb", 1): [
        ("model = nn.Sequential(\n\tnn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10),\n)", "", "that model is not new"),
        ("\t\tdescend(0.1)\n", "", "in the last epoch the loss is still"),
        ("range epochs", "range 3", "steps in 15 epochs of 18 batches: got 54, want 270"),
    ],
    ("03-training-loop.ipynb", 2): [
        (".MulScalar(1 / float64(len(parts)))", "", "four times too large"),
        ("loss := ", "for _, p := range nn.Parameters(model) { p.ZeroGrad() }\n\t\tloss := ", "those of the last part only"),
        ("1 / float64(len(parts))", "1.0 / 16", "not those of the whole batch"),
    ],
    ("03-training-loop.ipynb", 3): [
        ("\t\t\tp.ZeroGrad()\n", "", "does not clear gradients"),
        ("p.Assign(p.Sub(v[p].MulScalar(rate)))", "p.Sub(v[p].MulScalar(rate))", "does not move the parameters"),
        ("if v[p] == nil {", "if true {", "has no momentum"),
        ("p.Sub(v", "p.Add(v", "step 1 is not that of optim.SGD"),
        ("MulScalar(0.9)", "MulScalar(0.99)", "step 2 is not that of optim.SGD"),
    ],
    ("04-your-own-data.ipynb", 1): [
        ('"mean radius", ', "", "shape of a training row: got []int{1}, want []int{2}"),
        ("preprocess.Fit(few(trainRows)", "preprocess.Fit(few(tumors)", "which rows has preprocess.Fit seen?"),
        ("two.Dataset(few(heldRows))", "two.Dataset(few(trainRows))", "validation rows: got 364, want 91"),
        (
            "twoHeld, err := two.Dataset(few(heldRows))",
            'own, err := preprocess.Fit(few(heldRows), preprocess.Class("diagnosis"))\ntwoHeld, err := own.Dataset(few(heldRows))',
            "use what was learned from the training rows",
        ),
        ("accel.Epochs(60)", "accel.Epochs(6)", "rows in 60 epochs"),
    ],
    ("04-your-own-data.ipynb", 2): [
        ("learn(seed, photoTrain)", "learn(1, photoTrain)", "is the seed, too?"),
        ("data.RandomShift(1)\n\tplain", "data.RandomRotation(1)\n\tplain", "are test images shifted?"),
        ("learn(seed, shifted)", "learn(seed, photoTrain)", "are the training images of shiftRuns shifted?"),
        ("seed <= 5", "seed < 5", "accuracies in plainRuns: got 4, want 5"),
    ],
    ("04-your-own-data.ipynb", 3): [
        ("found / (found + alarms), found / (found + missed)", "found / (found + missed), found / (found + alarms)", "exchanged"),
        (") > threshold", ") < threshold", "precision with the threshold 0.5"),
        ("> threshold", "> 0.5", "recall if all are called malignant"),
    ],
    ("05-convolution.ipynb", 1): [
        ("short(flipped.First(6000))", "short(train.First(6000))", "are any images mirrored?"),
        ("short(flipped.First(6000))", "short(flipped)", "images seen by flippedRun: got 14400, want 12000"),
    ],
    ("05-convolution.ipynb", 2): [
        ("0, 1, 2, 3, 4, 5", "6", "images: got 1, want 6"),
        ("0, 1, 2, 3, 4, 5", "1, 2, 3, 4, 5, 6", "the index of a test image: got 1, want 0"),
        ("test, 0", "train, 0", 'the data set: got "Fashion-MNIST, train"'),
    ],
    ("05-convolution.ipynb", 3): [
        ("pixels[y+i][x+j]", "pixels[y+len(window)-1-i][x+len(weights)-1-j]", "turned by 180 degrees"),
        ("len(pixels) - len(window) + 1", "len(pixels) - len(window)", "convolve returns nil"),
        ("sum += ", "sum = ", "with a 1 in the middle only: got []float64{0, 0}"),
        ("len(window) + 1", "len(window[0]) + 1", "rows for 28 rows and a window of 2 × 3: got 26, want 27"),
    ],
    ("06-sequences-and-gpt.ipynb", 1): [
        ("[]float64{1}", "[]float64{0}", "is any count 0?"),
        ("pairLoss /= float64(len(tokens) - cut - 1)", "", "is it a mean?"),
        ("pairLoss -=", "pairLoss +=", "negative"),
        ("math.Log(", "math.Log2(", "in bits"),
        ("tokens[1:cut]", "tokens[1:]", "pairLoss: got 2.5"),
    ],
    ("06-sequences-and-gpt.ipynb", 2): [
        ("100 * ", "", "a fraction, not a percentage"),
        ("if len(words) == 0 {\n\t\treturn 0\n\t}", "", "NaN instead of 0"),
        ("known[word] {", "strings.Contains(text, word) {", "hal, a part of words only: got 100, want 0"),
    ],
    ("06-sequences-and-gpt.ipynb", 3): [
        ("hidden.Tril(-n)", "hidden.Tril(-n-1)", "n = 3, but 3 sees 0"),
        ("hidden.Tril(-n)", "hidden.Tril(-n+1)", "position 2 does not see 0"),
        ("hidden.Triu(1)", "tensor.Zeros(t, t)", "position 0 sees 1"),
        ("weights = scores.Add(mask).Softmax(1)", "weights = scores.Softmax(1).Mul(mask.Exp())", "hide scores before the softmax"),
        ("1 / math.Sqrt(float64(d))", "1", "differs from attend"),
        ("weights.MatMul(value)", "value", "not the weighted sum"),
    ],
}
SECONDS = 900  # limit of one cell

tags = lambda cell: cell.metadata.get("tags", [])  # noqa: E731


def solutions(cells):
    """Returns the exercises: the cells of the answer and of the check, and the code of the solution."""
    places = [i for i, c in enumerate(cells) if "exercise" in tags(c)]
    for i in places:
        answer, check, solution = cells[i : i + 3]
        assert "check" in tags(check) and "solution" in tags(solution), answer.source
        assert check.metadata.jupyter == {"source_hidden": True}, "a long check distracts"
        assert solution.source.startswith("<details><summary>Solution</summary>\n\n```go\n"), "does not open"
        yield answer, check, re.search(r"```go\n(.*?)```", solution.source, re.S)[1]


def add(cells, after, source):
    """Inserts a cell with source."""
    cell = nbformat.v4.new_code_cell(source)
    cells.insert(cells.index(after) + 1, cell)
    return cell


def shown(cell):
    """Returns what a cell with a check shows."""
    return "".join(o.get("data", {}).get("text/plain", "") for o in cell.outputs)


@pytest.fixture(scope="module", params=CHECKED)
def checked(request):
    """Executes a lesson with each exercise unsolved, then with mistakes, then solved, as a student who learns does."""
    path = NOTEBOOKS / request.param
    notebook = nbformat.read(path, as_version=4)
    for long, short in CHECKED[request.param].items():
        assert any(long in c.source for c in notebook.cells), f"no cell has {long}"
        for cell in notebook.cells:
            cell.source = cell.source.replace(long, short)
    verdicts = []
    for number, (_, check, solution) in enumerate(list(solutions(notebook.cells)), 1):
        last = check
        verdicts.append((f"exercise {number} unsolved", "not solved yet: ", check))
        for right, wrong, words in MISTAKES.get((path.name, number), []):
            assert right in solution, right
            mistake = add(notebook.cells, last, solution.replace(right, wrong))
            mistake.metadata.tags = ["raises-exception"]  # it may fail, too
            last = add(notebook.cells, mistake, check.source)
            verdicts.append((f"exercise {number} with {wrong}", words, last))
        last = add(notebook.cells, add(notebook.cells, last, solution), check.source)
        verdicts.append((f"exercise {number} solved", "solved", last))
    NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(path.parent)}}).execute()
    return path.name, [(name, want, shown(cell)) for name, want, cell in verdicts]


def test_checks(checked):
    name, verdicts = checked
    assert len([v for v in verdicts if v[0].endswith(" solved")]) >= 3
    for exercise, want, got in verdicts:
        right = got == want if want == "solved" else got.startswith("not solved yet: ") and want in got
        assert right, f"{name}, {exercise}: want {want!r}, got {got!r}"
        assert "the condition is" not in got, f"{name}, {exercise}: {got!r} says nothing to a student"
