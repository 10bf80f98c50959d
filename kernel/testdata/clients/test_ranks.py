"""Several workers that run each cell together, seen by a real client."""

import os
import re
import signal
import time

import psutil
import pytest
from jupyter_client.manager import start_new_kernel

from conftest import TIMEOUT, Kernel, text
from test_interrupt import interrupt

RANK = 'os.Getenv("RANK")'


@pytest.fixture
def ranks():
    """A kernel of four ranks."""
    manager, client = start_new_kernel(kernel_name="quern", startup_timeout=TIMEOUT)
    kernel = Kernel(manager, client)
    assert text(kernel.ok("%ranks 4")).startswith("4 ranks start")
    yield kernel
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def pids(kernel):
    """Returns the process ids of the ranks."""
    found = [int(pid) for pid in re.findall(r"rank \d+: process (\d+)", text(kernel.ok("%ranks")))]
    assert len(found) == 4
    return found


def wait_for(condition):
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def runs(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(processes):
    return lambda: not any(map(runs, processes))


def count(parent, name):
    """Counts the children of a process with a name."""
    n = 0
    for process in parent.children(recursive=True):
        try:
            n += process.name() == name
        except psutil.NoSuchProcess:
            pass
    return n


def test_a_cell_runs_on_all(ranks):
    before = ranks.run("1")[1]["content"]["execution_count"]
    messages, reply = ranks.run(f'import "os"\nx := {RANK}\nfmt.Println("the same"); fmt.Println("rank", x)\nx')
    printed = text(messages)
    assert printed.count("the same") == 1
    assert printed.startswith("the same\nrank 0\n")
    assert sorted(printed.splitlines()[2:]) == ["[rank 1] rank 1", "[rank 2] rank 2", "[rank 3] rank 3"]
    assert [m["content"]["data"]["text/plain"] for m in messages if m["msg_type"] == "execute_result"] == ['"0"']
    assert reply["content"]["execution_count"] == before + 1
    # If all ranks print the same, the notebook shows it once.
    messages = ranks.ok('fmt.Println("a"); display.Show(display.HTML("b")); 5')
    assert [m["msg_type"] for m in messages if m["msg_type"] not in ("status", "execute_input")] == ["stream", "display_data", "execute_result"]
    assert text(messages) == "a\n"


def test_commands_run_once(ranks, tmp_path):
    file = tmp_path / "once"
    assert text(ranks.ok(f"!sleep 0.3; echo x >> {file}; echo done")) == "done\n"
    # The statements after the command see its effects on all ranks.
    assert ranks.result(f'%%time\nt, err := os.ReadFile("{file}")\nlen(t), err') == "2, <nil>"
    assert text(ranks.ok(f"%%bash\necho x >> {file}")) == ""
    assert file.read_text() == "x\nx\n"
    _, reply = ranks.run("!exit 3\nlost := 1")
    assert reply["content"]["evalue"] == "!exit 3: exit status 3"
    assert text(ranks.ok("%cd /")) == "/\n"
    assert "[rank" not in text(ranks.ok("%env HERE=x")) + text(ranks.ok("os.Getenv(\"HERE\")")) + text(ranks.ok("%help"))
    assert text(ranks.ok("%time time.Sleep(0)")).count("time: ") == 1
    ranks.ok("forgotten := 1")
    ranks.ok("%reset")
    _, reply = ranks.run("forgotten")
    assert "undefined" in reply["content"]["evalue"]
    assert "It succeeded" not in "".join(reply["content"]["traceback"]), "all ranks have forgotten it"


def when(file):
    """Returns code that waits until a file is there: until the next cell has been sent, too."""
    return f'for _, err := os.Stat("{file}"); err != nil; _, err = os.Stat("{file}") {{ time.Sleep(time.Millisecond) }}'


def test_an_error_on_one_rank_ends_the_cell(ranks, tmp_path):
    processes = pids(ranks)
    first = ranks.send(f'if {RANK} == "2" {{ {when(tmp_path / "go")}; panic("boom") }}\nselect {{}}')
    second = ranks.send("never := 1")
    ranks.client.kernel_info(reply=True, timeout=TIMEOUT)  # the kernel has received the second cell
    (tmp_path / "go").touch()
    _, reply = ranks.collect(first)
    trace = "\n".join(reply["content"]["traceback"])
    assert reply["content"]["ename"] == "panic" and "boom" in reply["content"]["evalue"]
    assert "This happened on rank 2 of 4.\nThe cell was then interrupted on ranks 0, 1 and 3." in trace
    assert ranks.collect(second)[1]["content"]["status"] == "aborted"
    assert pids(ranks) == processes


def test_an_interrupt_reaches_all(ranks):
    processes = pids(ranks)
    ranks.ok("n := 1")
    for code in ("select {}", "for { n++ }", "time.Sleep(time.Hour)", "!sleep 1000", 'exec.Command("sleep", "1000").Run()'):
        content, used = interrupt(ranks, code)
        assert content["ename"] == "interrupted" and len(content["traceback"]) < 8, content
        assert "rank" not in "\n".join(content["traceback"]), content
        assert used < 3
    assert pids(ranks) == processes
    assert ranks.result("n > 1") == "true"


@pytest.mark.parametrize("end, why", [
    ("os.Exit(3)", "rank 1: exit status 3"),
    ("syscall.Kill(os.Getpid(), syscall.SIGKILL)", "rank 1: killed by signal SIGKILL"),
    ("m := map[int]int{}; for range 8 { go func() { for { m[0]++ } }() }; select {}", "rank 1: fatal error: concurrent map "),
])
def test_a_rank_that_dies_takes_the_others_along(ranks, end, why, tmp_path):
    processes = pids(ranks)
    first = ranks.send(f'import "os"\nif {RANK} == "1" {{ {when(tmp_path / "go")}; {end} }}\nselect {{}}')
    second = ranks.send("never := 1")
    ranks.client.kernel_info(reply=True, timeout=TIMEOUT)  # the kernel has received the second cell
    (tmp_path / "go").touch()
    _, reply = ranks.collect(first)
    assert reply["content"]["ename"] == "worker died" and reply["content"]["evalue"].startswith(why), reply["content"]
    assert "All 4 ranks start again, and their variables are lost" in "\n".join(reply["content"]["traceback"])
    assert ranks.collect(second)[1]["content"]["status"] == "aborted"
    wait_for(gone(processes))
    assert not set(pids(ranks)) & set(processes)


def test_memory_is_divided(monkeypatch):
    monkeypatch.setenv("QUERN_MEMORY_LIMIT", "1GiB")
    manager, client = start_new_kernel(kernel_name="quern", startup_timeout=TIMEOUT)
    try:
        kernel = Kernel(manager, client)
        assert text(kernel.ok("%ranks 2")).startswith("2 ranks start")
        _, reply = kernel.run("var keep [][]byte\nfor { keep = append(keep, bytes.Repeat([]byte{1}, 1<<20)) }")
        assert reply["content"]["ename"] == "worker died"
        assert "QUERN_MEMORY_LIMIT is 512 MiB; it is one of 2 ranks" in reply["content"]["evalue"]
        _, reply = kernel.run("%ranks 9")
        assert reply["content"]["ename"] == "ranks error"
        assert "9 ranks leave 114 MiB of memory for each, and a worker needs at least 128 MiB" in reply["content"]["evalue"]
        assert "2 ranks run each cell." in text(kernel.ok("%ranks"))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_usage_is_of_all(ranks):
    ranks.ok('b := bytes.Repeat([]byte("x"), 64<<20)')
    ranks.client.control_channel.send(ranks.client.session.msg("usage_request", {}))
    reply = ranks.client.get_control_msg(timeout=TIMEOUT)
    assert reply["content"]["kernel_memory"] > 4 * (64 << 20)


def test_shutdown_leaves_nothing(ranks):
    processes = pids(ranks)
    ranks.send("select {}")
    ranks.manager.shutdown_kernel()
    wait_for(gone(processes))


def test_a_killed_front_leaves_nothing(ranks):
    processes = pids(ranks)
    ranks.send('import "os/exec"\nexec.Command("sleep", "1000").Start()\nselect {}')
    kernel_process = psutil.Process(processes[0]).parent()
    wait_for(lambda: count(kernel_process, "sleep") == 4)
    processes += [p.pid for p in kernel_process.children(recursive=True)]
    os.kill(kernel_process.pid, signal.SIGKILL)
    wait_for(gone(processes))


def test_a_restarted_kernel_has_one_rank(ranks):
    ranks.manager.restart_kernel(now=False)
    ranks.client.wait_for_ready(timeout=TIMEOUT)
    assert text(ranks.ok("%ranks")).startswith("One rank runs each cell.")
