"""What cells leave behind in the worker process.

Short as a part of `make test`; `make memory` runs the whole: 10 000 cells, and a
cell that holds 10 MB run 1 000 times.
"""

import os

import psutil
import pytest
from jupyter_client.manager import start_new_kernel

from conftest import TIMEOUT, Kernel

LONG = os.environ.get("QUERN_LONG")
CELLS = 10_000 if LONG else 400
RERUNS = 1_000 if LONG else 60
LIMIT = 300 << 20
# A small cell may keep this much: 10 000 of them fit into the limit.
CELL = 20 << 10


def resident(kernel):
    """The resident memory of the worker."""
    front = psutil.Process(kernel.manager.provisioner.process.pid)
    (worker,) = [p for p in front.children() if "worker" in p.cmdline()]
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


@pytest.fixture(scope="module")
def limited():
    """A kernel whose sessions may use 512 MiB."""
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
    'b := []byte("b")\nfor { b = bytes.Join([][]byte{b, b}, nil) }',  # leaps over the limit between two looks at it
])
def test_a_cell_that_needs_too_much_ends(limited, code):
    _, reply = limited.run(code)
    assert reply["content"]["ename"] == "worker died", reply["content"]
    assert "memory" in reply["content"]["evalue"]
    assert limited.result("1 + 1") == "2"
