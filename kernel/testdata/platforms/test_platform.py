"""The kernel of another platform, simulated by qemu or Wine, with a real client. QUERN_COMMAND is the command that starts
quern, and QUERN_PLATFORM its GOOS/GOARCH: make platforms sets both."""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

import pytest
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpec

sys.path.append(str(pathlib.Path(__file__).parents[1] / "clients"))
from conftest import Kernel, text  # noqa: E402

COMMAND = shlex.split(os.environ["QUERN_COMMAND"])
TIMEOUT = 300  # a simulated CPU is up to a hundred times slower


@pytest.fixture(scope="module")
def kernel():
    manager = KernelManager()
    manager._kernel_spec = KernelSpec(argv=[*COMMAND, "kernel", "-f", "{connection_file}"], language="go", interrupt_mode="message")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=TIMEOUT)
    yield Kernel(manager, client)
    client.stop_channels()
    manager.shutdown_kernel()


def run(kernel, code):
    """Returns what a cell that must succeed prints."""
    messages, reply = kernel.run(code, timeout=TIMEOUT)
    assert reply["content"]["status"] == "ok", reply["content"]
    return text(messages)


def test_version():
    out = subprocess.run([*COMMAND, "version"], capture_output=True, text=True, check=True).stdout
    assert f" {os.environ['QUERN_PLATFORM']} " in out


def test_training(kernel):
    out = run(kernel, """
accel.Seed(1)
train, test, err := data.Digits()
model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
_, err = accel.Fit(ctx, model, train, accel.Epochs(8), accel.BatchSize(32), accel.AdamW(2e-3))
result, err := accel.Evaluate(ctx, model, test)
fmt.Println("accuracy", result.Accuracy())
""")
    assert float(re.search(r"accuracy (\S+)", out)[1]) > 0.9


def interrupt(kernel, code):
    """Interrupts a cell when it runs, and returns the reply and the seconds it took."""
    msg_id = kernel.send('fmt.Println("go")\n' + code)
    while "go" not in text([message := kernel.client.get_iopub_msg(timeout=TIMEOUT)]):
        assert message["msg_type"] != "error", message["content"]
    begin = time.monotonic()
    kernel.client.control_channel.send(kernel.client.session.msg("interrupt_request", {}))
    _, reply = kernel.collect(msg_id, timeout=TIMEOUT)
    return reply["content"], time.monotonic() - begin


@pytest.mark.parametrize("code", ["for { }", "time.Sleep(time.Hour)", "<-make(chan int)"])
def test_interrupt(kernel, code):
    run(kernel, "keep := 42")
    content, took = interrupt(kernel, code)
    print(f"{code}: interrupted after {took:.2f} s")
    assert content["ename"] == "interrupted"
    assert run(kernel, "fmt.Println(keep)") == "42\n"


def test_ranks(kernel):
    """Two processes train together, and one variable is kept in each."""
    assert run(kernel, "%ranks 2").startswith("2 ranks start")
    run(kernel, 'rank := os.Getenv("RANK")')
    out = run(kernel, 'fmt.Println("this is", rank, "on", runtime.GOOS+"/"+runtime.GOARCH)')
    for rank in "01":
        assert f"this is {rank} on {os.environ['QUERN_PLATFORM']}" in out
    out = run(kernel, """
group, err := parallel.Join(ctx)
train, test, err := data.Digits()
model := nn.Sequential(nn.Flatten(), nn.Dense(10))
trained, err := accel.Fit(ctx, model, train, accel.Epochs(4), accel.BatchSize(32), accel.AdamW(1e-2), accel.DataParallel(group))
result, err := accel.Evaluate(ctx, model, test)
fmt.Println("ranks", trained.Ranks, "accuracy", result.Accuracy())
""")
    ranks, accuracy = re.search(r"ranks (\d) accuracy (\S+)", out).groups()
    assert ranks == "2" and float(accuracy) > 0.85
    content, _ = interrupt(kernel, "for { }")
    assert content["ename"] == "interrupted"
    assert len(re.findall(r"rank \d+: process \d+", run(kernel, "%ranks"))) == 2


def test_restart(kernel):
    """The restarted kernel has no ranks and no variables."""
    kernel.manager.restart_kernel()
    kernel.client.wait_for_ready(timeout=TIMEOUT)
    _, reply = kernel.run("keep", timeout=TIMEOUT)
    assert reply["content"]["status"] == "error"
    assert run(kernel, "keep := 1; fmt.Println(keep)") == "1\n"
