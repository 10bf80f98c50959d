"""Connections that are encrypted by CURVE (JEP 145)."""

import pytest
import zmq
from conftest import TIMEOUT, Kernel, text
from jupyter_client.manager import KernelManager


@pytest.fixture(scope="module", params=["tcp", "ipc"])
def encrypted(request):
    manager = KernelManager(kernel_name="quern", transport=request.param, transport_encryption="required")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=TIMEOUT)
    yield Kernel(manager, client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_cells_run(encrypted):
    assert encrypted.manager.get_connection_info()["curve_publickey"]
    assert encrypted.result("6 * 7") == "42"
    assert encrypted.client.is_alive()


def test_much_and_large(encrypted):
    lines = encrypted.ok("for i := range 20_000 { fmt.Println(i) }")
    assert text(lines) == "".join(f"{i}\n" for i in range(20_000))
    large = encrypted.ok('fmt.Print(strings.Repeat("x", 5_000_000))')
    assert text(large) == "x" * 5_000_000
    assert encrypted.result("len(`" + "y" * 3_000_000 + "`)") == "3000000"


def attempt(encrypted, curve):
    """Sends a request as a client without keys or with the wrong key of the kernel."""
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger = 0
    socket.sndtimeo = 1000  # a rejected connection accepts no message and would wait forever
    if curve:
        socket.curve_publickey, socket.curve_secretkey = zmq.curve_keypair()
        socket.curve_serverkey, _ = zmq.curve_keypair()
    try:
        info = encrypted.manager.get_connection_info()
        if info["transport"] == "ipc":
            socket.connect(f"ipc://{info['ip']}-{info['shell_port']}")
        else:
            socket.connect(f"tcp://{info['ip']}:{info['shell_port']}")
        session = encrypted.client.session
        session.send(socket, "kernel_info_request", {})
        return socket.poll(1000)
    except zmq.Again:
        return 0
    finally:
        socket.close(0)


@pytest.mark.parametrize("curve", [False, True])
def test_others_are_not_heard(encrypted, curve):
    assert not attempt(encrypted, curve)
    assert encrypted.result("1 + 1") == "2"
