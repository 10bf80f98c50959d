"""The process proxy for Kubernetes and its launch_kubernetes.py, with the kernelspec of install/images/gateway.

The API server is a fake. It compares pods with the models of the Kubernetes client, which are generated from the published
schema, and starts the command of the container as a process of this machine, with nothing but the variables of the pod.
"""

import http.server
import json
import os
import pathlib
import shutil
import subprocess
import threading
import urllib.parse

import pytest
from conftest import QUERN, Gateway, ended, interrupted
from kubernetes import client

IMAGES = pathlib.Path(__file__).resolve().parents[3] / "install" / "images"


class APIServer(http.server.ThreadingHTTPServer):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.pods, self.processes, self.created = {}, {}, []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self):
        value = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        kind = self.path.rsplit("/", 1)[1]
        self.server.created.append((kind, value))
        if kind == "pods":
            if wrong := unknown(value):
                return self.answer(422, {"kind": "Status", "status": "Failure", "message": wrong})
            container = value["spec"]["containers"][0]
            value["status"] = {"phase": "Running", "podIP": "127.0.0.1", "hostIP": "127.0.0.1"}
            command = [str(QUERN) if c == "/usr/local/bin/quern" else c for c in container["command"]]
            process = subprocess.Popen(command, env={e["name"]: e["value"] for e in container["env"]}, start_new_session=True)
            self.server.pods[value["metadata"]["name"]], self.server.processes[value["metadata"]["name"]] = value, process
        self.answer(201, value)

    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        selector = dict(s.split("=") for s in urllib.parse.parse_qs(url.query)["labelSelector"][0].split(","))
        items = []
        for name, pod in list(self.server.pods.items()):
            if self.server.processes[name].poll() is not None:
                pod["status"]["phase"] = "Failed" if self.server.processes[name].returncode else "Succeeded"
            if selector.items() <= pod["metadata"]["labels"].items():
                items.append(pod)
        self.answer(200, {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items})

    def do_DELETE(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kind, name = self.path.split("?")[0].split("/")[-2:]
        if kind != "pods":
            return self.answer(200, {"kind": "Status", "status": "Success"})
        if name not in self.server.pods:
            return self.answer(404, {"kind": "Status", "status": "Failure"})
        self.server.processes[name].kill()  # the gateway grants no time
        self.server.processes[name].wait()
        pod = self.server.pods.pop(name)
        pod["status"]["phase"] = "Succeeded"
        self.answer(200, pod)


def unknown(pod):
    """Returns what of a pod is not in the schema."""
    api = client.ApiClient(client.Configuration())
    known = api.sanitize_for_serialization(api.deserialize(json.dumps(pod), "V1Pod", "application/json"))
    return "" if known == pod else f"{known} is not {pod}"


@pytest.fixture(scope="module")
def server():
    s = APIServer()
    threading.Thread(target=s.serve_forever, daemon=True).start()
    yield s
    for process in s.processes.values():
        process.kill()
    s.shutdown()


@pytest.fixture(scope="module")
def gateway(server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kubernetes")
    config = folder / "config"
    config.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": f"http://127.0.0.1:{server.server_address[1]}"}}],
        "users": [{"name": "test", "user": {}}], "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    }))
    g = Gateway(folder, {"KUBECONFIG": str(config), "EG_RESPONSE_IP": "127.0.0.1"})
    spec = g.kernels / "quern_kubernetes"
    shutil.copytree(IMAGES / "gateway", spec)
    shutil.copy(os.environ["LAUNCH_KUBERNETES"], spec / "scripts")
    file = spec / "kernel.json"
    file.write_text(file.read_text().replace("KERNEL_IMAGE", "registry.example.org/quern-kernel:1"))
    yield g
    g.close()


def test_kernel_in_a_pod(gateway, server):
    kernel = gateway.start("quern_kubernetes", KERNEL_GPUS="2", KERNEL_MEMORY="4Gi",
                           KERNEL_VOLUMES="[{name: data, persistentVolumeClaim: {claimName: data}}]",
                           KERNEL_VOLUME_MOUNTS="[{name: data, mountPath: /data}]")
    pod = next(value for kind, value in server.created if kind == "pods")
    assert pod["metadata"]["name"] == "alice-" + kernel.id
    container = pod["spec"]["containers"][0]
    assert container["image"] == "registry.example.org/quern-kernel:1"
    assert container["resources"] == {"requests": {"cpu": "1", "memory": "4Gi"}, "limits": {"memory": "4Gi", "nvidia.com/gpu": "2"}}
    assert [v["name"] for v in pod["spec"]["volumes"]] == [m["name"] for m in container["volumeMounts"]] == ["shared-memory", "data"]
    assert pod["spec"]["securityContext"] == {"runAsNonRoot": True, "runAsUser": 1000, "runAsGroup": 100, "fsGroup": 100}
    assert kernel.run("x := 6\nx * 7") == "42"
    assert kernel.run('os.Getenv("JPY_PARENT_PID")') == '""'
    assert "interrupted" in interrupted(kernel, kernel.client.interrupt)
    before = kernel.processes()
    kernel.client.restart()
    ended(before)
    assert kernel.run("1 + 1") == "2"
    before = kernel.processes()
    kernel.client.shutdown()
    ended(before)
    assert not server.pods


def test_failed_pod(gateway):
    """If the launcher cannot report, its pod fails, and the gateway waits no longer."""
    wrong = gateway.kernels / "wrong"
    shutil.copytree(gateway.kernels / "quern_kubernetes", wrong)
    file = wrong / "kernel.json"
    file.write_text(file.read_text().replace("{public_key}", "none"))
    with pytest.raises(RuntimeError, match="Error starting kernel container.*failed"):
        gateway.start("wrong")


def test_pod_with_unknown_field():
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "gpus": 1}]}}
    assert "gpus" in unknown(pod)
