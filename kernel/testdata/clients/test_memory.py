"""What cells leave behind in the worker process.

Short as a part of `make test`; `make memory` runs the whole: 10 000 cells, a cell
that holds 10 MB run 1 000 times, and 20 000 cells that are run again or declare
again what others have declared.
"""

import os

import psutil
import pytest
from jupyter_client.manager import start_new_kernel

from conftest import TIMEOUT, Kernel

LONG = os.environ.get("QUERN_LONG")
CELLS = 10_000 if LONG else 400
RERUNS = 1_000 if LONG else 60
AGAIN = 20_000 if LONG else 500
LIMIT = 300 << 20
# A small cell may keep this much: 10 000 of them fit into the limit.
CELL = 20 << 10


def resident(kernel):
    """Returns the resident memory of the worker."""
    kernel_process = psutil.Process(kernel.manager.provisioner.process.pid)
    (worker,) = [p for p in kernel_process.children() if "worker" in p.cmdline()]
    return worker.memory_info().rss


def small(i):
    return (
        f"x{i} := {i}\nx{i} + 1",
        f"func f{i % 50}(n int) int {{ return n + {i} }}\nf{i % 50}(1)",
        f"fmt.Println({i})",
        f"type T{i % 20} struct{{ a int }}\nT{i % 20}{{{i}}}",
    )[i % 4]


def test_a_cell_that_is_run_again_frees_what_it_held(kernel):
    for _ in range(RERUNS):
        kernel.ok("big := bytes.Repeat([]byte{1}, 10<<20)\nlen(big)")
        assert resident(kernel) < LIMIT


def test_small_cells_leave_little(kernel):
    for i in range(200):
        kernel.ok(small(i))
    kernel.ok("runtime.GC(); debug.FreeOSMemory()")
    before = resident(kernel)
    for i in range(200, CELLS):
        kernel.ok(small(i))
    assert resident(kernel) < LIMIT
    kernel.ok("runtime.GC(); debug.FreeOSMemory()")
    assert resident(kernel) - before < (CELLS - 200) * CELL + (32 << 20)


def again(i):
    """Cells that were run before, or that redefine names of the session."""
    n = i // 16 % 7
    return (
        "1 + 1",
        "x := 1\nx + 1",
        ["y := 1", 'y := "text"'][n % 2],
        'fmt.Println("text")',
        f"func f(n int) int {{ return n + {i} }}\nf(1)",
        "s := 0\nfor i := range 10 { s += i }\ns",
        f"type T struct{{ A, B{n} int }}\nfunc (t T) M() int {{ return t.A }}\nT{{A: 1}}.M()",
        f'type S struct{{ A, B{n} int }}\nfunc (s S) String() string {{ return "s" }}\nfmt.Println(S{{A: 1}})',
        f"type N struct{{ next *N; v{n} int }}\n"
        "func (n *N) Len() int { if n == nil { return 0 }; return 1 + n.next.Len() }\n(&N{}).Len()",
        f"func each[E any](s []E, f func(E) E) []E {{ for i, x := range s {{ s[i] = f(x) }}; return s }}\n"
        f"each([]int{{1}}, func(n int) int {{ return n + {i} }})",
        f"type L[E any] struct{{ xs []E; a{n} int }}\nfunc (l *L[E]) Push(x E) {{ l.xs = append(l.xs, x) }}\n"
        "var l L[int]\nl.Push(1)\nlen(l.xs)",
        f"type P struct{{ A int; B{n} int }}\nb, _ := json.Marshal(P{{A: 1}})\nstring(b)",
        f"type I interface{{ M{n}() int }}\ntype C [{n + 1}]int\nfunc (c C) M{n}() int {{ return 1 }}\n"
        f"var v I = C{{}}\nv.M{n}()",
        "var wg sync.WaitGroup\nfor i := range 3 { wg.Go(func() { _ = i }) }\nwg.Wait()",
        "c := make(chan int)\ngo func() { c <- 1 }()\n<-c",
        "func() { defer func() { recover() }(); panic(1) }()",
    )[i % 16]


def test_cells_that_are_run_again_leave_little(kernel):
    def settled():
        kernel.ok("runtime.GC(); runtime.GC(); debug.FreeOSMemory()")
        return resident(kernel)

    for i in range(AGAIN // 2):  # let the heap reach the size that such a session needs
        kernel.ok(again(i))
        if i == 2000:
            break
    before = settled()
    for i in range(AGAIN):
        kernel.ok(again(i))
        if i % 2000 == 1999:
            print(f"after {i + 1} cells: {(settled() - before) / (1 << 20):.1f} MB more")
    assert settled() - before < 50 << 20


@pytest.fixture(scope="module")
def limited():
    """A kernel whose sessions have a limit of 512 MiB."""
    manager, client = start_new_kernel(
        kernel_name="quern", startup_timeout=TIMEOUT, env={**os.environ, "QUERN_MEMORY_LIMIT": "512MiB"})
    yield Kernel(manager, client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("code", [
    "b := make([]byte, 4<<30)\nlen(b)",
    "make(map[string]int, 1<<36)",
    'strings.Repeat("abc", 1<<30)',
    's := "s"\nfor { s += s }',
])
def test_a_size_that_is_known_to_be_too_much_is_a_panic(limited, code):
    assert limited.result("x := 5\nx") == "5"
    _, reply = limited.run(code)
    assert "out of memory: cannot allocate" in reply["content"]["evalue"], reply["content"]
    assert limited.result("x") == "5"


@pytest.mark.parametrize("code", [
    "var keep [][]byte\nfor { keep = append(keep, make([]byte, 1<<20)) }",
    'b := []byte("b")\nfor { b = bytes.Join([][]byte{b, b}, nil) }',  # exceeds the limit by far between two checks
])
def test_a_cell_that_needs_too_much_ends(limited, code):
    _, reply = limited.run(code)
    assert reply["content"]["ename"] == "worker died", reply["content"]
    assert "memory" in reply["content"]["evalue"]
    assert limited.result("1 + 1") == "2"
