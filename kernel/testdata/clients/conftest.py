"""Fixtures of the client tests: a running kernel and a way to run cells."""

import faulthandler
import queue
import signal
import sys
import threading
import time

import psutil
import pytest
from jupyter_client.manager import start_new_kernel

TIMEOUT = 300  # ends a test whose event never comes: a busy machine may take many times as long as an idle one
TOO_LONG = TIMEOUT - 20  # for one test: its stacks are printed before it ends


def dump_stacks():
    """Prints the stacks of this process and of the kernels, and ends the kernels."""
    faulthandler.dump_traceback(file=sys.__stderr__)
    for process in psutil.Process().children(recursive=True):
        try:
            print(f"process {process.pid} of {process.ppid()}: {process.name()}, {process.status()}, {process.cpu_times()}", file=sys.__stderr__)
            if process.name() == "quern" and "kernel" in process.cmdline():
                process.send_signal(signal.SIGQUIT)  # a Go program prints the stacks of its goroutines
        except psutil.Error:  # it has ended, perhaps before this process has asked for its status
            continue


@pytest.fixture(autouse=True)
def watchdog():
    """Prints stacks if a test hangs."""
    if not hasattr(signal, "SIGQUIT"):
        yield
        return
    timer = threading.Timer(TOO_LONG, dump_stacks)
    timer.daemon = True
    timer.start()
    yield
    timer.cancel()


class Kernel:
    """A kernel with a blocking client."""

    def __init__(self, manager, client):
        self.manager = manager
        self.client = client

    def send(self, code, **options):
        return self.client.execute(code, **options)

    def collect(self, msg_id, timeout=TIMEOUT):
        """Returns the iopub messages of a request, except its idle, and the reply."""
        messages = []
        end = time.monotonic() + timeout
        while True:
            msg = self.client.get_iopub_msg(timeout=max(0.01, end - time.monotonic()))
            if msg["parent_header"].get("msg_id") != msg_id:
                continue
            if msg["msg_type"] == "status" and msg["content"]["execution_state"] == "idle":
                break
            messages.append(msg)
        while True:
            reply = self.client.get_shell_msg(timeout=max(0.01, end - time.monotonic()))
            if reply["parent_header"].get("msg_id") == msg_id:
                return messages, reply

    def run(self, code, timeout=TIMEOUT, **options):
        return self.collect(self.send(code, **options), timeout)

    def ok(self, code, **options):
        """Runs a cell that must succeed and returns its messages."""
        messages, reply = self.run(code, **options)
        assert reply["content"]["status"] == "ok", reply["content"]
        return messages

    def result(self, code):
        """Runs a cell and returns the text/plain of its value."""
        for msg in self.ok(code):
            if msg["msg_type"] == "execute_result":
                return msg["content"]["data"]["text/plain"]
        return None

    def quiet(self, seconds=0.3):
        """Checks that nothing arrives on iopub for a while."""
        try:
            msg = self.client.get_iopub_msg(timeout=seconds)
        except queue.Empty:
            return True
        raise AssertionError(f"a late message: {msg['msg_type']} {msg['content']}")


def cpu_time(kernel):
    """Returns the CPU time in seconds that the kernel and all processes that it has started have used."""
    kernel_process = psutil.Process(kernel.manager.provisioner.process.pid)
    used = 0
    for process in [kernel_process, *kernel_process.children(recursive=True)]:
        try:
            times = process.cpu_times()
            used += times.user + times.system
        except psutil.NoSuchProcess:
            pass  # it has just ended
    return used


def text(messages, name="stdout"):
    """Returns what a cell printed to a stream."""
    return "".join(m["content"]["text"] for m in messages
                   if m["msg_type"] == "stream" and m["content"]["name"] == name)


@pytest.fixture(scope="module")
def kernel():
    manager, client = start_new_kernel(kernel_name="quern", startup_timeout=TIMEOUT)
    yield Kernel(manager, client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)
