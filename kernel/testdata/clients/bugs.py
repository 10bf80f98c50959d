"""Puts back fixed bugs, one at a time, and checks that soak.py finds each.

    python bugs.py                  all bugs, for at most LIMIT each
    python bugs.py --limit 2m NAME  some of them

A checker that has never found anything may be unable to. Each bug below was in the program
or in a draft of it, with a pause where it needed a busy machine. It is one replacement in one file, which is compiled in through
`go build -overlay`: the source stays as it is. test_soak.py checks that each replacement
still applies.

It exits with status 1 if a bug was not found.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time

from soak import Enough, Soak, seconds

ROOT = pathlib.Path(__file__).parents[3]
BUILD = ROOT / "build" / "bugs"
LIMIT = "5m"
CELLS = 100  # in each run of a kernel


@dataclasses.dataclass
class Bug:
    """A bug: text of a file, what it was before the bug was fixed, and what users saw."""

    name: str
    seen: str
    file: str
    fixed: str
    broken: str
    imports: str = ""  # a package that the broken text needs in addition

    def source(self):
        """Returns the file with the bug."""
        text = (ROOT / self.file).read_text()
        if text.count(self.fixed) != 1:
            raise ValueError(f"{self.name}: {self.file} contains the text that the bug replaces {text.count(self.fixed)} times: update bugs.py")
        text = text.replace(self.fixed, self.broken)
        return text.replace("import (\n", f'import (\n\t"{self.imports}"\n', 1) if self.imports else text


BUGS = [
    Bug("next-cell", "an interrupt ends the cell after the one that it is meant for", "kernel/link/executions.go",
        """\
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupted = number
	if c.cancel == nil || c.last != number {
		return none{}, nil
	}
	c.cancel()
	return none{}, c.worker.Interrupt(ctx)
""", """\
	c.mu.Lock()
	c.interrupted = number
	runs := c.cancel != nil && c.last == number
	if runs {
		c.cancel()
	}
	c.mu.Unlock()
	if !runs {
		return none{}, nil
	}
	time.Sleep(20 * time.Millisecond) // as on a busy machine
	return none{}, c.worker.Interrupt(ctx)
""", imports="time"),
    Bug("early-idle", "a cell is idle before its output has been read", "kernel/worker/supervisor.go",
        "\tp.awaitOutput(ctx, result.Mark)\n\tresult.Mark = 0\n", "\tresult.Mark = 0\n"),
    Bug("late-output", "what a goroutine prints after its cell appears under the running cell", "kernel/worker/child/output.go",
        "if w.cell == 0 || w.cell == o.running {", "if w.cell >= 0 {"),
    Bug("joined-output", "the end of one cell's output and the start of the next one's are one message", "kernel/publisher.go",
        "\tif key != p.pending {\n", "\tif key.name != p.pending.name || p.pending.parent == \"\" {\n"),
    Bug("display-order", "a display appears before what was printed before it", "kernel/worker/stream.go",
        "\t\twaited = s.rendezvous.awaitEvent(m.Number)\n", ""),
    Bug("lost-output", "output is lost if a mark follows it in the same read", "kernel/worker/mark/mark.go",
        "\t\t\tif i > 0 {\n\t\t\t\toutput(b[:i])\n\t\t\t}\n\t\t\tfound(m)\n", "\t\t\tfound(m)\n"),
    Bug("broken-character", "a character that arrives in parts loses the first ones", "kernel/publisher.go",
        "\t\t\tp.text = append(p.text, start...)\n", ""),
    Bug("lost-run", "an interrupted training returns no run", "accel/internal/training/loop/loop.go",
        "\t\terr = l.train(ctx)\n\t}\n\treturned = true\n", "\t\terr = l.train(ctx)\n\t}\n\treturned = true\n\tif ctx.Err() != nil {\n\t\trun = nil\n\t}\n"),
    Bug("dead-worker", "a cell of a killed worker is not answered", "kernel/worker/supervisor.go",
        "\t\treturn link.Result{}, p.failure(ctx)\n\t}\n\tp.awaitOutput", "\t\t<-ctx.Done()\n\t}\n\tp.awaitOutput"),
]


def build(bug):
    """Builds the program with a bug, or without one, and returns its path."""
    folder = BUILD / (bug.name if bug else "none")
    folder.mkdir(parents=True, exist_ok=True)
    overlay, program = folder / "overlay.json", folder / "quern"
    changed = {}
    if bug:
        (folder / "changed.txt").write_text(bug.source())
        changed[str(ROOT / bug.file)] = str(folder / "changed.txt")
    overlay.write_text(json.dumps({"Replace": changed}))
    subprocess.run([os.environ.get("GO", "go"), "build", "-overlay", str(overlay), "-ldflags=-s -w", "-o", str(program), "./cmd/quern"], cwd=ROOT, check=True)
    return program


def search(bug, limit, seed):
    """Runs the soak test until it finds something wrong. Returns what that is, or None after the time limit."""
    soak = Soak(seed, program=build(bug), deadline=time.monotonic() + limit)
    try:
        while not soak.wrong:
            soak.run(CELLS, cut=soak.runs % 2 == 1)
    except Enough:
        pass
    finally:
        soak.close()
    return next(iter(soak.wrong + soak.history.wrong), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all bugs")
    parser.add_argument("--limit", type=seconds, default=seconds(LIMIT), help=f"time for one bug, default {LIMIT}")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - {bug.name for bug in BUGS}:
        parser.error(f"no bug is named {', '.join(sorted(unknown))}")
    missed = 0
    for bug in BUGS:
        if arguments.names and bug.name not in arguments.names:
            continue
        began = time.monotonic()
        found = search(bug, arguments.limit, arguments.seed)
        missed += found is None
        print(f"{bug.name:<16}{time.monotonic() - began:5.0f} s  {f'found: {found[0]}: {found[1][:120]}' if found else f'NOT FOUND: {bug.seen}'}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
