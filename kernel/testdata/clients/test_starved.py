"""Interrupts on a machine that is so busy that the worker gets little CPU time."""

import contextlib
import signal
import threading
import time

import psutil
import pytest

from conftest import TIMEOUT, text

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="signals of Unix")

PATIENCE = 4 * TIMEOUT  # a worker with a twentieth of the CPU time

SETUP = """
train, test, err := data.Digits()
model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
err
"""

FIT = """
var run *accel.Run
fmt.Println("begun {n}")
run, err = accel.Fit(ctx, model, train, accel.Epochs(1_000_000), accel.Quiet())
fmt.Println("end of {n}")
"""


@pytest.fixture(autouse=True)
def watchdog():
    """Disables the time limit of a test: these wait longer on a busy machine."""


@contextlib.contextmanager
def starved(kernel):
    """The worker runs for 5 of every 100 milliseconds."""
    [worker] = [p for p in psutil.Process(kernel.manager.provisioner.pid).children() if "worker" in p.cmdline()]
    over = threading.Event()

    def alternate():
        while not over.wait(0.095):
            worker.resume()
            over.wait(0.005)
            worker.suspend()

    worker.suspend()
    thread = threading.Thread(target=alternate)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        worker.resume()


def until(kernel, wanted):
    """Waits for some output."""
    deadline = time.monotonic() + PATIENCE
    while wanted not in text([message := kernel.client.get_iopub_msg(timeout=PATIENCE)]):
        assert message["msg_type"] != "error" and time.monotonic() < deadline, message["content"]


def interrupt(kernel):
    kernel.client.control_channel.send(kernel.client.session.msg("interrupt_request", {}))
    reply = kernel.client.get_control_msg(timeout=PATIENCE)
    assert reply["content"]["status"] == "ok", reply["content"]


def test_fit_of_a_starved_worker_is_interrupted_and_gives_its_run(kernel):
    """The kernel waits for an interrupted training: its run exists, and all of its output is in its own cell."""
    kernel.ok(SETUP)
    for n in range(6):
        msg_id = kernel.send(FIT.format(n=n))
        until(kernel, f"begun {n}")
        with starved(kernel):
            interrupt(kernel)
            _, reply = kernel.collect(msg_id, timeout=PATIENCE)
            assert reply["content"]["ename"] == "interrupted", reply["content"]
            assert "restart" not in "\n".join(reply["content"]["traceback"]), reply["content"]
        messages, reply = kernel.run("run != nil, len(run.Epochs) >= 0", timeout=PATIENCE)
        assert reply["content"]["status"] == "ok", reply["content"]
        [value] = [m["content"]["data"]["text/plain"] for m in messages if m["msg_type"] == "execute_result"]
        assert value.startswith("true"), value
        assert not text(messages) and not text(messages, "stderr"), messages
    kernel.ok("run, err = accel.Fit(ctx, model, train, accel.Epochs(1), accel.Quiet())\nerr")


@pytest.mark.parametrize("code", [
    "for i := 0; ; i++ { fmt.Println(\"of this cell\") }",
    "for i := 0; ; i++ { if i%2 == 0 { fmt.Println(\"of this cell\") } else { fmt.Fprintln(os.Stderr, \"of this cell\") } }",
    "for { exec.Command(\"echo\", \"of this cell\").Run(); fmt.Println(\"of this cell\") }",
    "for range 8 { go func() { for { fmt.Println(\"of this cell\") } }() }\nselect { }",
])
def test_output_of_a_starved_worker_stays_in_its_cell(kernel, code):
    for _ in range(4):
        msg_id = kernel.send("fmt.Println(\"of this cell\")\n" + code)
        until(kernel, "of this cell")
        with starved(kernel):
            interrupt(kernel)
            _, reply = kernel.collect(msg_id, timeout=PATIENCE)
            assert reply["content"]["ename"] == "interrupted", reply["content"]
            next_id = kernel.send("fmt.Println(\"of the next\")")
            messages, _ = kernel.collect(next_id, timeout=PATIENCE)
        assert text(messages) == "of the next\n" and not text(messages, "stderr"), text(messages)[:200]


def test_output_follows_no_idle(kernel):
    """All messages of an interrupted cell come before its idle."""
    for _ in range(4):
        msg_id = kernel.send("fmt.Println(\"begun\")\nfor { fmt.Println(\"x\") }")
        until(kernel, "begun")
        with starved(kernel):
            interrupt(kernel)
            kernel.collect(msg_id, timeout=PATIENCE)
        after = []
        next_id = kernel.send("1")
        while True:
            message = kernel.client.get_iopub_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") == msg_id:
                after.append(message)
            elif message["parent_header"].get("msg_id") == next_id and message["content"].get("execution_state") == "idle":
                break
        kernel.client.get_shell_msg(timeout=PATIENCE)
        assert not after, after[:3]
