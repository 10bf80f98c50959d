"""Kernels that process proxies of Enterprise Gateway start by quern launch."""

import base64
import os
import shutil
import signal
import socket
import subprocess

import psutil
import pytest
from conftest import QUERN, TIMEOUT, Gateway, ended, interrupted, launchers, until
from Cryptodome.PublicKey import RSA

DISTRIBUTED = "distributed.DistributedProcessProxy"


@pytest.fixture(scope="module")
def distributed(gateway):
    return gateway.install("distributed", DISTRIBUTED)


@pytest.fixture()
def kernel(gateway, distributed):
    k = gateway.start(distributed)
    yield k
    k.stop()


def test_cells(kernel):
    assert kernel.run("x := 6\nx * 7") == "42"
    assert kernel.run("x = 3\nfmt.Println(x)") == "3"


@pytest.mark.parametrize("how", ["message", "communication port"])
def test_interrupt(kernel, how):
    assert kernel.run("kept := 5") == ""
    text = interrupted(kernel, kernel.client.interrupt if how == "message" else lambda: kernel.request(b'{"signum": 2}'))
    assert "interrupted" in text
    assert kernel.run("kept") == "5"


def test_restart(kernel):
    kernel.run("lost := 5")
    before = kernel.process()
    kernel.client.restart()
    assert kernel.process() != before
    ended([before])
    assert "undefined" in kernel.client.execute("lost", timeout=TIMEOUT)[0]
    assert kernel.run("1 + 1") == "2"


def test_shutdown(gateway, distributed):
    kernel = gateway.start(distributed)
    kernel.run("1")
    processes = kernel.processes()
    kernel.client.shutdown()
    ended(processes)
    assert not gateway.lines("SIGKILL", kernel.id)


@pytest.mark.parametrize("message", [b'{"shutdown": 1}', b'{"signum": 15}'])
def test_end_by_request(gateway, distributed, message):
    """The gateway starts a new kernel if one ends without its doing and a client is connected."""
    kernel = gateway.start(distributed)
    assert kernel.run("1 + 1") == "2"  # before that, its client may wait for the old kernel
    before = kernel.process()
    kernel.request(message)
    ended([before])
    until(lambda: any(kernel.id in p.cmdline() for p in launchers()), "a new kernel")
    kernel.stop()


def test_killed(gateway, distributed):
    kernel = gateway.start(distributed)
    kernel.run("lost := 5")
    processes = kernel.processes()
    processes[0].kill()
    ended(processes)  # the worker ends with its kernel
    until(lambda: any(kernel.id in p.cmdline() for p in launchers()), "a new kernel")
    kernel.stop()


def test_wrong_requests(kernel):
    """Requests that are not understood change nothing."""
    for message in [b"", b"x" * 5000, b"[]", b'{"signum": 19}', b'{"signum": "2"}', b"{}"]:
        kernel.request(message)
    open_without_message = socket.create_connection(kernel.listener())
    assert kernel.run("1 + 1") == "2"
    assert "interrupted" in interrupted(kernel, lambda: kernel.request(b'{"signum": 2}'))
    open_without_message.close()


def test_port_range(gateway):
    kernel = gateway.start(gateway.install("range", DISTRIBUTED, {"port_range": "41000..42000"}))
    ports = {c.laddr.port for c in kernel.process().net_connections() if c.status == psutil.CONN_LISTEN}
    assert len(ports) == 6 and all(41000 <= p <= 42000 for p in ports), ports
    assert kernel.run("1 + 1") == "2"
    kernel.stop()


def test_wrong_key(gateway):
    """The gateway cannot read the report, waits for another, and ends the launcher."""
    key = base64.b64encode(RSA.generate(1024).publickey().export_key("DER")).decode()
    before = launchers()
    name = gateway.install("wrong_key", DISTRIBUTED, public_key=key)
    with pytest.raises(RuntimeError, match="launch timeout"):
        gateway.start(name, KERNEL_LAUNCH_TIMEOUT="4")
    assert gateway.lines("Failure occurred processing connection")
    until(lambda: not set(launchers()) - set(before), "the end of the launcher")


@pytest.mark.parametrize("accepts", [False, True])
def test_no_answer(gateway, accepts):
    """Nothing listens on the response address, or something that reads nothing."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    if not accepts:
        listener.close()
    before = launchers()
    name = gateway.install("no_answer", DISTRIBUTED, response_address=f"127.0.0.1:{port}")
    with pytest.raises(RuntimeError, match="launch timeout"):
        gateway.start(name, KERNEL_LAUNCH_TIMEOUT="4")
    until(lambda: not set(launchers()) - set(before), "the end of the launcher")
    listener.close()


def test_launcher_ends_without_gateway(tmp_path):
    key = base64.b64encode(RSA.generate(1024).publickey().export_key("DER")).decode()
    done = subprocess.run([QUERN, "launch", "--kernel-id", "1", "--response-address", "127.0.0.1:9", "--public-key", key],
                          env={**os.environ, "KERNEL_LAUNCH_TIMEOUT": "1"}, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 1 and "cannot report the ports of this kernel to the gateway at 127.0.0.1:9" in done.stderr, done


@pytest.fixture(scope="module")
def other_machine(tmp_path_factory):
    """A network namespace with an SSH server: for the gateway, a machine at 10.83.0.2."""
    missing = [c for c in ("ip", "sshd", "ssh-keygen") if not shutil.which(c)]
    if os.getuid() != 0 or missing:
        reason = f"needs root and {missing or 'nothing else'} (Debian: openssh-server, iproute2)"
        assert not os.environ.get("QUERN_TEST_STRICT"), reason
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("ssh")

    def run(*command):
        subprocess.run(command, check=True, capture_output=True)

    name = f"quern{os.getpid()}"
    run("ip", "netns", "add", name)
    server = None
    try:
        run("ip", "link", "add", "quern0", "type", "veth", "peer", "name", "quern1", "netns", name)
        run("ip", "addr", "add", "10.83.0.1/24", "dev", "quern0")
        run("ip", "link", "set", "quern0", "up")
        run("ip", "-n", name, "addr", "add", "10.83.0.2/24", "dev", "quern1")
        run("ip", "-n", name, "link", "set", "quern1", "up")
        run("ip", "-n", name, "link", "set", "lo", "up")
        (folder / ".ssh").mkdir(mode=0o700)
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "host")
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / ".ssh" / "id_ed25519")
        (folder / ".ssh" / "known_hosts").write_text("10.83.0.2 " + (folder / "host.pub").read_text())
        (folder / "config").write_text(
            f"ListenAddress 10.83.0.2\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/.ssh/id_ed25519.pub\n"
            "PermitRootLogin yes\nStrictModes no\nUsePAM no\nPidFile none\n")
        os.makedirs("/run/sshd", exist_ok=True)
        server = subprocess.Popen(["ip", "netns", "exec", name, shutil.which("sshd"), "-D", "-e", "-f", folder / "config"],
                                  stderr=open(folder / "log", "w"))
        until(lambda: "Server listening" in (folder / "log").read_text(), "the SSH server")
        yield folder
    finally:
        if server:
            server.terminate()
            server.wait()
        for pid in subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split():
            os.kill(int(pid), signal.SIGKILL)
        run("ip", "netns", "del", name)


def test_other_machine(other_machine, tmp_path):
    """The gateway starts the kernel by ssh, and reaches it only by the network."""
    gateway = Gateway(tmp_path, {"EG_RESPONSE_IP": "10.83.0.1", "HOME": str(other_machine)})
    try:
        kernel = gateway.start(gateway.install("ssh", DISTRIBUTED, {"remote_hosts": "10.83.0.2"}))
        assert kernel.listener()[0] == "10.83.0.2"
        assert "10.83.0.2" in kernel.run('import "net"\nnet.InterfaceAddrs()')
        assert "interrupted" in interrupted(kernel, kernel.client.interrupt)
        before = kernel.process()
        assert before.parent().pid != gateway.process.pid
        kernel.client.restart()
        ended([before])
        assert kernel.run("1 + 1") == "2"
        processes = kernel.processes()
        kernel.client.shutdown()
        ended(processes)
    finally:
        gateway.close()
