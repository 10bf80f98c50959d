"""A course from the assignment to the feedback, with nbgrader: make course."""

import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys

import nbformat
import pytest

ROOT = pathlib.Path(__file__).parents[3]
BIN = pathlib.Path(sys.executable).parent

MEAN = """func mean(values []float64) (float64, error) {
	%s
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values)), nil
}"""
RIGHT = MEAN % 'if len(values) == 0 { return 0, errors.New("no values") }'
CARELESS = MEAN % ""  # NaN for no values: the hidden test finds it
CRASHING = MEAN % "os.Exit(3)"  # ends the worker, and what the cells before have defined
ENDLESS = MEAN % "for len(values) != 3 {}"
MODEL = "func network() nn.Module {\n\treturn nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))\n}"
# Names that a submission redefines do not change the tests.
CHEATING = "func panic(v any) {}\nvar check, fmt = 1, 2\nvar true = false\n" + CARELESS
UNTRAINABLE = "func network() nn.Module { return nn.Sequential(nn.Flatten(), nn.Dense(9)) }"
REDEFINING = "type error int\ntrue := false\nfunc len(x any) int { return 0 }\n" + CARELESS
LEAVING = CARELESS + "\nos.Exit(0)"
# A module with the path of the package that tests use.
SHADOWING = "%get ./fake\n" + 'import "github.com/quernlab/quern/check"\n' + CARELESS
FAKE = {
    "go.mod": "module github.com/quernlab/quern/check\n",
    "check.go": "package check\n\nfunc Equal[T any](got, want T, message ...any) {}\nfunc True(condition bool, message ...any) {}\n"
                "func Error(err error, message ...any) {}\nfunc NoError(err error, message ...any) {}\n",
}

# By student: the sources of cells that they change, and the points of mean-test, mean-hidden-test and model-test.
STUDENTS = {
    "ann": ({"mean": RIGHT, "model": MODEL}, [2, 3, 4]),
    "bob": ({"mean": CARELESS, "model": MODEL}, [2, 0, 4]),
    "cleo": ({}, [0, 0, 0]),
    "dan": ({"mean": ENDLESS, "model": MODEL}, [2, 0, 4]),
    "eve": ({"mean": "func mean(", "model": UNTRAINABLE}, [0, 0, 0]),
    "gil": ({"mean": CRASHING, "model": MODEL}, [0, 0, 4]),
    "han": ({"mean": CHEATING, "model": "func Fail(v any) {}\n" + UNTRAINABLE}, [2, 0, 0]),
    "ida": ({"mean": REDEFINING, "model": UNTRAINABLE}, [0, 0, 0]),
    "jon": ({"mean": LEAVING, "model": UNTRAINABLE}, [0, 0, 0]),
    "kim": ({"mean": SHADOWING, "model": UNTRAINABLE}, [2, 0, 0]),
    "fay": ({"mean": CARELESS, "model": UNTRAINABLE, "mean-hidden-test": "", "model-test": "1"}, [2, 0, 0]),  # changes tests
}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course after all steps of a teacher."""
    folder = tmp_path_factory.mktemp("course") / "go"
    subprocess.run([ROOT / "bin" / "quern", "course", folder], check=True)

    def nbgrader(*arguments):
        environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run([BIN / "nbgrader", *arguments], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stderr

    nbgrader("generate_assignment", "ps1")
    for name, (changes, _) in STUDENTS.items():
        (folder / "submitted" / name).mkdir(parents=True)
        shutil.copytree(folder / "release" / "ps1", folder / "submitted" / name / "ps1")  # they fetch, work and hand in
        fake = folder / "submitted" / name / "ps1" / "fake"
        fake.mkdir()
        for file, text in FAKE.items():
            (fake / file).write_text(text)
        path = folder / "submitted" / name / "ps1" / "problems.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            cell.source = changes.get(grade_id, cell.source)
        nbformat.write(notebook, path)
    nbgrader("autograde", "ps1")
    nbgrader("generate_feedback", "ps1")
    nbgrader("export")
    return folder


def test_students_see_neither_solutions_nor_hidden_tests(course):
    text = (course / "release" / "ps1" / "problems.ipynb").read_text()
    assert "SOLUTION" not in text and "HIDDEN" not in text
    assert "the mean of no values" not in text and "sum += v" not in text and "Whoever tries" not in text
    assert text.count('panic(\\"not solved yet\\")') == 2
    assert "mean of 1, 2 and 6" in text


@pytest.mark.parametrize("name", STUDENTS)
def test_scores(course, name):
    notebook = nbformat.read(course / "autograded" / name / "ps1" / "problems.ipynb", as_version=4)
    graded = [c for c in notebook.cells if c.cell_type == "code" and c.metadata.get("nbgrader", {}).get("grade")]
    failed = [any(o.output_type == "error" for o in c.outputs) for c in graded]
    points = STUDENTS[name][1]
    assert [0 if f else c.metadata.nbgrader.points for c, f in zip(graded, failed)] == points
    with open(course / "grades.csv") as f:
        row = next(r for r in csv.DictReader(f) if r["student_id"] == name)
    assert float(row["score"]) == sum(points) and float(row["max_score"]) == 12


def test_feedback_shows_the_hidden_test(course):
    page = (course / "feedback" / "bob" / "ps1" / "problems.html").read_text()
    assert "the mean of no values: an error is expected, but it is nil" in page
    assert re.search(r"\(Score: 0\.0 / 3\.0\)", page) and re.search(r"\(Score: 4\.0 / 4\.0\)", page)
