"""A real Enterprise Gateway whose process proxies start bin/quern."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time

import psutil
import pytest
import requests
from enterprise_gateway.client.gateway_client import GatewayClient

QUERN = pathlib.Path(__file__).resolve().parents[3] / "bin" / "quern"
TIMEOUT = 120  # ends a test whose event never comes

# The process proxy of Kubernetes looks for a service account when it is imported; outside of a pod it shall read KUBECONFIG.
SERVER = """
from kubernetes import config
config.load_incluster_config = config.load_kube_config
from enterprise_gateway.enterprisegatewayapp import launch_instance
launch_instance()
"""


def until(condition, what):
    """Returns the first true value of condition."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.1)
    raise AssertionError(f"not in {TIMEOUT} s: {what}")


class Gateway:
    def __init__(self, folder, environment):
        self.kernels = folder / "share" / "jupyter" / "kernels"
        self.kernels.mkdir(parents=True)
        self.log = folder / "gateway.log"
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        environment = {
            **os.environ, "JUPYTER_PATH": str(self.kernels.parent), "EG_KERNEL_LOG_DIR": str(folder), "HOME": str(folder),
            "EG_INHERITED_ENVS": "PATH,HOME,QUERN_LOG", "QUERN_LOG": "info", **environment,
        }
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", SERVER, "--ip=127.0.0.1", f"--port={port}", "--port_retries=0", "--debug",
                 "--RemoteKernelManager.shutdown_wait_time=10"], env=environment, stdout=log, stderr=log)
        self.url = f"http://127.0.0.1:{port}"
        self.client = GatewayClient(f"127.0.0.1:{port}")
        until(self.answers, "an answer of the gateway")

    def answers(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            return requests.get(self.url + "/api/kernelspecs", timeout=10).ok
        except requests.RequestException:
            return False

    def install(self, name, proxy, config=None, executable=QUERN, **replace):
        """Installs a kernelspec for a process proxy of this class. replace are other arguments for the launcher."""
        proxy = {"class_name": "enterprise_gateway.services.processproxies." + proxy, "config": config or {}}
        subprocess.run([QUERN, "install", "--prefix", self.kernels.parents[2], "--gateway", "--name", name, "--force",
                        "--executable", executable, "--metadata", json.dumps({"process_proxy": proxy})], check=True, capture_output=True)
        file = self.kernels / name / "kernel.json"
        spec = json.loads(file.read_text())
        for argument, value in replace.items():
            spec["argv"] = [value if a == "{" + argument + "}" else a for a in spec["argv"]]
        file.write_text(json.dumps(spec))
        return name

    def start(self, name, **env):
        return Kernel(self, self.client.start_kernel(name, username="alice", extra_env=env))

    def lines(self, *parts):
        return [line for line in self.log.read_text().splitlines() if all(part in line for part in parts)]

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        finally:
            self.process.kill()


def launchers():
    """The processes of quern launch."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cmdline()[:2] == [str(QUERN), "launch"] and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, IndexError):
            continue
    return found


def ended(processes):
    """Waits until the processes have ended. In a container, nobody may collect the status of some."""
    until(lambda: not [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE], f"the end of {processes}")


class Kernel:
    """A kernel behind a gateway."""

    def __init__(self, gateway, client):
        self.gateway, self.client, self.id = gateway, client, client.kernel_id

    def run(self, code):
        text, failed = self.client.execute(code, timeout=TIMEOUT)
        assert not failed, text
        return text.strip()

    def listener(self):
        """Where the launcher receives the requests of the gateway."""
        host, port = self.gateway.lines("Established gateway communication to: ", self.id)[-1].split(" to: ")[1].split(" ")[0].split(":")
        return host, int(port)

    def request(self, message):
        """Sends a request to the launcher as the gateway does."""
        with socket.create_connection(self.listener()) as s:
            s.sendall(message)

    def process(self):
        return next(p for p in launchers() if self.id in (*p.cmdline(), p.environ().get("KERNEL_ID")))

    def processes(self):
        """The kernel, its worker, and what that has started."""
        return [self.process(), *self.process().children(recursive=True)]

    def stop(self):
        self.client.shutdown()
        assert self.id not in {p.environ().get("KERNEL_ID") for p in launchers()}


def interrupted(kernel, interrupt):
    """Runs an endless cell, calls interrupt when it has begun, and returns its error."""
    result = []
    cell = threading.Thread(target=lambda: result.append(kernel.client.execute("for {\n}", timeout=TIMEOUT)))
    cell.start()
    until(lambda: requests.get(f"{kernel.gateway.url}/api/kernels/{kernel.id}", timeout=10).json()["execution_state"] == "busy", "busy")
    interrupt()
    cell.join(TIMEOUT)
    text, failed = result[0]
    assert failed
    return text


@pytest.fixture(scope="session")
def gateway(tmp_path_factory):
    g = Gateway(tmp_path_factory.mktemp("gateway"), {})
    yield g
    g.close()
    for process in launchers():
        process.kill()
