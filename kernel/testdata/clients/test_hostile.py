"""Malicious peers on each port of a kernel that serves other clients at the same time."""

import copy
import json
import os
import socket
import struct
import time

import psutil
import pytest
import zmq
from conftest import TIMEOUT

PORTS = ("shell", "control", "stdin", "iopub", "hb")
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(16) + bytes(1) + bytes(31)
READY = b"\x05READY\x0bSocket-Type" + struct.pack(">I", 6) + b"DEALER\x08Identity" + struct.pack(">I", 0)


def kernel_process(kernel):
    return psutil.Process(kernel.manager.provisioner.process.pid)


def connect(kernel, port):
    peer = socket.create_connection(("127.0.0.1", kernel.manager.get_connection_info()[f"{port}_port"]), timeout=TIMEOUT)
    peer.settimeout(TIMEOUT)
    return peer


def say(peer, text):
    try:
        peer.sendall(text)
    except OSError:
        pass  # the kernel may close the connection at any point


def settled(kernel, files, memory):
    """Waits until file descriptors and memory are back to the previous values; there is no event for that."""
    end = time.monotonic() + TIMEOUT
    process = kernel_process(kernel)
    while process.num_fds() > files or process.memory_full_info().uss > memory + (64 << 20):
        assert time.monotonic() < end, f"{process.num_fds()} files, were {files}; {process.memory_full_info().uss} bytes, were {memory}"
        time.sleep(0.1)


@pytest.fixture(autouse=True)
def unharmed(kernel):
    kernel.ok("unharmed := 1")
    process = kernel_process(kernel)
    files, memory = process.num_fds(), process.memory_full_info().uss
    yield
    assert kernel_process(kernel).pid == process.pid
    assert kernel.result("unharmed") == "1", "the session is another one"
    settled(kernel, files + 2, memory)


@pytest.mark.parametrize("port", PORTS)
def test_garbage(kernel, port):
    for text in (b"", b"GET / HTTP/1.1\r\n\r\n", os.urandom(1 << 16), GREETING[:32], GREETING, GREETING + b"\x04\xff" + READY,
                 GREETING + b"\x06\x7f" + b"\xff" * 7 + READY, GREETING + b"\x04" + bytes([len(READY)]) + READY + b"\x02\x00\x00\x00\x02" + bytes(4) + b"x",
                 GREETING + b"\x04" + bytes([len(READY)]) + READY + b"\x01\x00" * 100_000):
        with connect(kernel, port) as peer:
            say(peer, text)
    assert kernel.result("1 + 1") == "2"


@pytest.mark.parametrize("port", PORTS)
def test_a_thousand_connections(kernel, port):
    for i in range(1000):
        with connect(kernel, port) as peer:
            if i % 2:
                say(peer, GREETING[: i % 64])
    assert kernel.result("1 + 1") == "2"


def test_connections_that_stay_half_open(kernel):
    peers = [connect(kernel, port) for port in PORTS for _ in range(100)]
    for i, peer in enumerate(peers):
        say(peer, GREETING[: i % 64])
    assert kernel.result("1 + 1") == "2"
    for peer in peers:
        peer.close()


def signed(kernel, **header):
    """Returns the frames of a request that is valid except for its header."""
    session = kernel.client.session
    msg = session.msg("execute_request", {"code": "unharmed = 2"})
    msg["header"].update(header)
    return session.serialize(msg)


@pytest.mark.parametrize("port", ("shell", "control", "stdin"))
def test_messages_of_others(kernel, port):
    """Forged, replayed, truncated, non-JSON and deeply nested messages have no effect."""
    good = signed(kernel)
    key = kernel.client.session.key
    other = copy.copy(kernel.client.session)
    wrong = [good[:1] + [b"0" * 64] + good[2:], good[:1] + [b""] + good[2:], good[:3], good[:1], [b"<IDS|MSG>"] * 5, [b""] * 6, [b"x"] * 500,
             good[:5] + [b'{"code": "unharmed = 3"}']]
    sign = lambda parts: [b"<IDS|MSG>", other.sign(parts)] + parts  # noqa: E731
    header = good[2]
    for body in (b"", b"{", b"\xff\xfe", b"null", b"[1]", b"[" * 100_000, b'{"code": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", b'{"code": 1}'):
        fresh = json.loads(header)
        fresh["msg_id"] = os.urandom(8).hex()
        wrong.append(sign([json.dumps(fresh).encode(), b"{}", b"{}", body]))
    for bad in (b"", b"null", b"[]", b"{}", b'{"msg_type": 3}', b'{"msg_id": [], "msg_type": {}}'):
        wrong.append(sign([bad, b"{}", b"{}", b'{"code": "unharmed = 4"}']))
    assert key, "the kernel has no key"
    info = kernel.manager.get_connection_info()
    peer = zmq.Context.instance().socket(zmq.DEALER)
    peer.linger = 1000
    peer.connect(f"tcp://{info['ip']}:{info[f'{port}_port']}")
    for frames in wrong:
        peer.send_multipart(frames)
    assert kernel.result("unharmed") == "1"
    peer.close()


def test_a_message_that_is_sent_again(kernel):
    frames = signed(kernel)
    frames[-1] = b'{"code": "again++"}'
    frames[1] = kernel.client.session.sign(frames[2:])
    kernel.ok("again := 0")
    info = kernel.manager.get_connection_info()
    peer = zmq.Context.instance().socket(zmq.DEALER)
    peer.linger = 1000
    peer.connect(f"tcp://{info['ip']}:{info['shell_port']}")
    for _ in range(10):
        peer.send_multipart(frames)
    assert peer.poll(TIMEOUT * 1000)
    assert kernel.result("again") == "1"
    peer.close()


def test_a_client_that_never_reads_its_replies(kernel):
    peer = zmq.Context.instance().socket(zmq.DEALER)
    peer.linger = 0
    peer.rcvhwm = 1
    info = kernel.manager.get_connection_info()
    peer.connect(f"tcp://{info['ip']}:{info['shell_port']}")
    session = kernel.client.session
    for _ in range(5000):
        peer.send_multipart(session.serialize(session.msg("kernel_info_request", {})))
    assert kernel.result("1 + 1") == "2"
    peer.close()
