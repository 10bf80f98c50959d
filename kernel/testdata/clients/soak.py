"""Eight clients on one kernel, while it is interrupted, restarted, stopped and starved.

    python soak.py --cells 300      as many cells in each of three runs of the kernel
    python soak.py --time 20m       runs of that many cells until the time is over

Each client keeps a few requests in flight: cells that print, also parts of characters,
display, fail, never end, train a network or start a shell, and completions. A cell that
never ends is interrupted, or its worker is stopped (SIGSTOP) or killed, once its output
shows that it runs. Busy processes take the CPU for half of the cells. What comes back is
checked by history.py.

What happens next depends on what has been received, and never on the time. It prints a
report, and exits with status 1 if anything was wrong.
"""

import argparse
import collections
import contextlib
import itertools
import os
import random
import subprocess
import sys
import time

import psutil
import zmq
from history import TAG, WRONG, History, Request, Text
from jupyter_client.manager import KernelManager
from jupyter_client.session import Session

CLIENTS = 8
IN_FLIGHT = 3  # cells of each client
STALLED = 120  # seconds without any message after which the kernel counts as stuck
ENDLESS_OUTPUT = 2400  # messages with output, of which a cell has at most 20 a second, without a cell that ends: the same
HELD = 0.3  # minimum seconds for which a worker is stopped
SHOWN = 20  # number of descriptions to show

# Each cell prints numbered lines with its tag. These cells end.
ENDING = {
    "prints": ("""for i := range 20 {{ fmt.Printf("{tag} o %d\\n", i); fmt.Fprintf(os.Stderr, "{tag} e %d\\n", i) }}
"{tag}\"""", dict(stdout=20, stderr=20, value=True)),
    "prints much": ("""for i := range 5000 {{ fmt.Printf("{tag} o %d\\n", i) }}
"{tag}\"""", dict(stdout=5000, value=True)),
    "prints bytes": ("""for i := range 6 {{
	for _, b := range []byte(fmt.Sprintf("{tag} o %d é世🙂\\n", i)) {{ os.Stdout.Write([]byte{{b}}); time.Sleep(time.Millisecond) }}
}}
"{tag}\"""", dict(stdout=6, value=True, ending=" é世🙂")),
    "displays": ("""for i := range 10 {{ fmt.Printf("{tag} o %d\\n", i); display.Show(display.Text(fmt.Sprint("{tag} d ", i))) }}""",
                 dict(stdout=10, displays=10)),
    "panics": ("""fmt.Println("{tag} o 0"); panic("{tag}")""", dict(stdout=1, end="panic")),
    "prints late": ("""go func() {{ for i := range 30 {{ time.Sleep(2 * time.Millisecond); fmt.Printf("{tag} o %d\\n", i) }} }}()
"{tag}\"""", dict(stdout=30, value=True, late=True)),
    "starts a shell": ("""!for i in 0 1 2 3 4 5 6 7 8 9; do echo {tag} o $i; done""", dict(stdout=10)),
    "starts a child": ("""c{client} := exec.Command("sh", "-c", "for i in 0 1 2 3 4 5 6 7 8 9; do echo {tag} o $i; done")
c{client}.Stdout = os.Stdout
c{client}.Run()""", dict(stdout=10)),
}
# These cells do not end.
ENDLESS = {
    "prints without end": """for i := 0; ; i++ {{ fmt.Printf("{tag} o %d\\n", i); time.Sleep(time.Millisecond) }}""",
    "prints much and loops": """for i := range 5000 {{ fmt.Printf("{tag} o %d\\n", i) }}
for {{ }}""",
    "loops": """fmt.Println("{tag} o 0")
for {{ }}""",
    "sleeps": """fmt.Println("{tag} o 0")
time.Sleep(time.Hour)""",
    "receives": """fmt.Println("{tag} o 0")
<-make(chan time.Time)""",
    "a shell without end": """!i=0; while :; do echo {tag} o $i; i=$((i+1)); sleep 0.01; done""",
    "a child without end": """c{client} := exec.Command("sh", "-c", "i=0; while :; do echo {tag} o $i; i=$((i+1)); sleep 0.01; done")
c{client}.Stdout = os.Stdout
c{client}.Run()""",
    "trains": """train{client}, _, _ := data.Digits()
model{client} := nn.Sequential(nn.Flatten(), nn.Dense(512), nn.ReLU(), nn.Dense(512), nn.ReLU(), nn.Dense(10))
fmt.Println("{tag} o 0")
run{client}, err{client} := accel.Fit(ctx, model{client}, train{client}, accel.Epochs(1_000_000), accel.BatchSize(128), accel.AdamW(3e-3))
err{client}""",
}
OFTEN = (*ENDLESS, *["trains"] * 4)  # what its client looks at afterwards is lost if a worker is killed in between
CHILDREN = ("a shell without end", "a child without end")
LOOKS = "looks at what was trained"
TRAINED = """fmt.Println("{tag} o 0")
run{client} != nil"""
DISTURBANCES = ("interrupt",) * 6 + ("stop, then interrupt", "interrupt while stopped", "interrupt, then stop", "kill the worker")


class Client:
    """The sockets and requests of one client."""

    def __init__(self, number, context, info, seed):
        self.number = number
        self.session = Session(key=info["key"], signature_scheme=info["signature_scheme"])
        self.random = random.Random(f"{seed} {number}")
        self.sent = 0
        self.fitted = None  # the worker that has a training run of this client
        self.sockets = {}
        for channel, kind in {"shell": zmq.DEALER, "control": zmq.DEALER, "iopub": zmq.SUB}.items():
            socket = self.sockets[channel] = context.socket(kind)
            socket.linger = 0
            socket.rcvhwm = socket.sndhwm = 0
            if kind == zmq.SUB:
                socket.subscribe(b"")
            else:
                socket.identity = self.session.bsession
            socket.connect(f"tcp://{info['ip']}:{info[f'{channel}_port']}")

    def send(self, channel, typ, content):
        msg = self.session.msg(typ, content)
        self.session.send(self.sockets[channel], msg)
        return msg["header"]["msg_id"]

    def receive(self, channel):
        """Returns the frames and the message that are waiting, or None."""
        try:
            frames = self.sockets[channel].recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return None
        _, frames = self.session.feed_identities(frames)
        return frames, self.session.deserialize(frames)

    def close(self):
        for socket in self.sockets.values():
            socket.close()


class Stalled(Exception):
    """Raised when no more messages arrive."""


class Enough(Exception):
    """Raised at the deadline of a search, and as soon as it has found something: the rest of the run may not end."""


class Soak:
    """Controls the clients of one kernel and checks what they receive. With a deadline it searches for one thing that is wrong."""

    def __init__(self, seed=1, log=lambda text: None, program=None, deadline=None):
        self.log = log
        self.deadline = deadline
        self.random = random.Random(seed)
        self.totals = collections.Counter()
        self.wrong = []
        self.found = collections.Counter()
        self.output = 0  # messages with output since a cell has ended
        self.memory = []  # (when, MiB of the kernel process, MiB of the worker)
        self.runs = 0
        self.busy = []
        self.workers = 1  # number of workers so far
        self.awaited = {}  # disturbances, by the tag of the cell that must have begun
        self.due = collections.deque()  # disturbances whose cell has begun
        self.probes = {}  # by id: the client that has not received it
        self.history = History(CLIENTS)
        self.manager = KernelManager(kernel_name="quern")
        if program:  # instead of the installed one
            self.manager.kernel_spec.argv[0] = str(program)
        self.manager.start_kernel()
        self.context = zmq.Context()
        info = self.manager.get_connection_info()
        self.clients = [Client(n, self.context, info, seed) for n in range(CLIENTS)]
        self.poller = zmq.Poller()
        for client in self.clients:
            for socket in client.sockets.values():
                self.poller.register(socket, zmq.POLLIN)
        self.connect()

    def close(self):
        self.feed()
        for client in self.clients:
            client.close()
        self.context.term()
        self.manager.shutdown_kernel(now=True)

    # Processes.

    def kernel_process(self):
        return psutil.Process(self.manager.provisioner.process.pid)

    def worker(self):
        """Returns the worker, after a moment if a killed one has no successor yet."""
        end = time.monotonic() + STALLED
        while time.monotonic() < end:
            for process in self.kernel_process().children():
                with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                    if "worker" in process.cmdline():
                        return process
            time.sleep(0.01)
        raise Stalled(f"there was no worker for {STALLED} s")

    def starve(self):
        """Starves the kernel of CPU time with two busy processes per core."""
        self.busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]

    def feed(self):
        for process in self.busy:
            process.kill()
            process.wait()
        self.busy = []

    def measure(self, when):
        self.memory.append((f"run {self.runs}, {when}", *(p.memory_full_info().uss / 2**20 for p in (self.kernel_process(), self.worker()))))

    # What is received.

    def pump(self):
        """Handles the received messages, and waits if there are none."""
        if not self.poller.poll(1000 * STALLED):
            raise Stalled(f"nothing came for {STALLED} s")
        if self.output > ENDLESS_OUTPUT:
            self.output = 0
            raise Stalled(f"{ENDLESS_OUTPUT} messages with output came, and no cell ended")
        for client in self.clients:
            while got := client.receive("iopub"):
                if self.deadline and (self.history.wrong or time.monotonic() >= self.deadline):
                    raise Enough
                self.history.published(client.number, *got)
                if client.number == 0:
                    self.see(got[1])
                    self.output += got[1]["msg_type"] == "stream"
                if self.probes.get(got[1]["parent_header"].get("msg_id")) is client:
                    self.deaf.discard(client)
            for channel in ("shell", "control"):
                while got := client.receive(channel):
                    self.history.answered(client.number, got[1])
                    if got[1]["msg_type"] == "execute_reply":
                        self.output = 0
                    if self.probes.get(got[1]["parent_header"].get("msg_id")) is client and client in self.deaf:
                        self.probe(client)  # the subscription may not have been in effect

    def see(self, msg):
        """Makes the disturbances due whose cells have begun, that is, have printed or drawn something."""
        tags = TAG.findall(msg["content"]["text"]) if msg["msg_type"] == "stream" else ()
        if msg["msg_type"] == "update_display_data":
            request = self.history.requests.get(msg["parent_header"]["msg_id"])
            tags = (request.tag,) if request else ()
        for tag in tags:
            if tag in self.awaited and self.awaited[tag][0].figures == (msg["msg_type"] != "stream"):
                self.due.append(self.awaited.pop(tag))

    def until(self, done, disturb=False):
        while not done():
            self.pump()
            while disturb and self.due:
                self.disturb(*self.due.popleft())

    def connect(self):
        """Waits until the subscription of each client is in effect, as jupyter_client does."""
        self.deaf = set(self.clients)
        for client in self.clients:
            self.probe(client)
        self.until(lambda: not self.deaf)

    def probe(self, client):
        msg_id = client.send("shell", "kernel_info_request", {})
        self.probes[msg_id] = client
        self.history.probes.add(msg_id)

    # Sending.

    def request(self, client, channel, typ, content, **expected):
        request = Request(client.send(channel, typ, content), client.number, reply=typ.replace("_request", "_reply"), **expected)
        self.history.send(request)
        return request

    def execute(self, client, kind, code, stdout, *, stderr=None, ending="", value=False, end="ok", disturbance=None, **expected):
        """Sends a cell that prints a number of numbered lines; None means endless."""
        client.sent += 1
        tag = f"q{self.runs}x{client.number}x{client.sent}q"
        code = code.format(tag=tag, client=client.number)
        streams = {"stdout": Text(tag, "stdout", stdout, ending)} | ({} if stderr is None else {"stderr": Text(tag, "stderr", stderr)})
        request = self.request(
            client, "shell", "execute_request", {"code": code, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": False},
            kind=kind, tag=tag, code=code, streams=streams, end=end, value=f'"{tag}"' if value is True else value or None, **expected)
        if disturbance:
            self.awaited[tag] = (request, disturbance)
        return request

    def send(self, client):
        """Sends the next requests of a client."""
        fitted, client.fitted = client.fitted, None
        if fitted is not None and fitted == self.workers:
            self.execute(client, LOOKS, TRAINED, 1, value="true")
            return
        draw = client.random.random()
        if draw < 0.1:
            self.request(client, "shell", "complete_request", {"code": "fmt.Pri", "cursor_pos": 7}, kind="completes", end=None)
        if draw < 0.35:
            kind, disturbance = client.random.choice(OFTEN), client.random.choice(DISTURBANCES)
            self.execute(client, kind, ENDLESS[kind], None, end="interrupted", disturbance=disturbance,
                         figures=kind == "trains", child=kind in CHILDREN)
            if kind == "trains" and disturbance != "kill the worker":
                client.fitted = self.workers
            return
        kind = client.random.choice(list(ENDING))
        code, expected = ENDING[kind]
        self.execute(client, kind, code, **expected)

    # Disturbances.

    def disturb(self, request, how):
        self.totals[how] += 1
        self.history.disturb()
        match how:
            case "interrupt":
                self.interrupt(request)
            case "stop, then interrupt":
                with self.stopped():
                    self.hold()
                self.interrupt(request)
            case "interrupt while stopped":
                request.frozen = True
                with self.stopped():
                    self.interrupt(request)
                    self.hold()
            case "interrupt, then stop":
                request.frozen = True
                interrupt = self.control("interrupt_request", "interrupts", frozen=True)
                with self.stopped():
                    self.hold()
                self.until(lambda: interrupt.replied)
            case "kill the worker":
                request.end = "worker died"
                for other in self.history.requests.values():
                    other.cut = other.cut or other.kind == LOOKS and not other.idle  # its training run is lost
                self.workers += 1
                self.worker().kill()

    def interrupt(self, request):
        interrupt = self.control("interrupt_request", "interrupts", frozen=request.frozen)
        self.until(lambda: interrupt.replied)

    @contextlib.contextmanager
    def stopped(self):
        worker = self.worker()
        worker.suspend()
        try:
            yield
        finally:
            worker.resume()

    def hold(self):
        """Waits while the kernel answers requests that need no worker."""
        end = time.monotonic() + HELD
        for i in itertools.count():
            if i >= 5 and time.monotonic() >= end:
                return
            question = self.control("kernel_info_request", "asks")
            self.until(lambda q=question: q.replied)

    def control(self, typ, kind, **expected):
        return self.request(self.random.choice(self.clients), "control", typ, {}, kind=kind, **expected)

    # One run of the kernel.

    def run(self, cells, cut):
        """Sends about the given number of cells to a kernel that has just started, and restarts it; if cut is set, while a cell runs."""
        self.runs += 1
        self.history = History(CLIENTS)
        self.history.probes.update(self.probes)
        self.awaited.clear()
        self.due.clear()
        try:
            kind = "prints"
            self.execute(self.clients[0], kind, ENDING[kind][0], **ENDING[kind][1])
            self.finish()
            self.measure("start")
            for starved in (False, True):
                if starved:
                    self.starve()
                goal = self.history.counts["cells"] + cells // 2
                while self.history.counts["cells"] < goal:
                    for client in self.clients:
                        while len(self.history.unanswered[client.number]) < IN_FLIGHT:
                            self.send(client)
                    behind = [len(waiting) for waiting in self.history.unanswered]
                    self.until(lambda b=behind: any(len(w) < n for w, n in zip(self.history.unanswered, b)), disturb=True)
                self.finish()
            self.feed()
            self.measure("end")
            if cut:
                self.leave_something()
            self.history.cut()
            self.manager.restart_kernel()
            self.connect()
        except Stalled as stalled:
            self.recover(stalled)
        self.workers += 1
        self.totals["restarts"] += 1
        self.history.finish()
        self.totals.update(self.history.counts)
        self.wrong += self.history.wrong
        self.found += self.history.found
        self.log(f"run {self.runs}: {self.history.counts['cells']} cells, {self.history.found.total()} wrong")
        for kind, text in self.history.wrong[:SHOWN]:
            self.log(f"  {kind}: {text}")

    def finish(self):
        """Waits until all requests are complete."""
        self.until(lambda: not self.history.unfinished(), disturb=True)

    def leave_something(self):
        """Makes a cell run and others wait; the kernel has received all of them."""
        code = """for i := 0; ; i++ {{ fmt.Printf("{tag} o %d\\n", i); time.Sleep(time.Millisecond) }}"""
        running = self.execute(self.clients[0], "prints without end", code, None, end="interrupted")
        for client in self.clients[1:]:
            self.execute(client, "prints", ENDING["prints"][0], **ENDING["prints"][1])
        asked = [self.request(c, "shell", "kernel_info_request", {}, kind="asks") for c in self.clients]
        self.until(lambda: running.streams["stdout"].line and all(a.replied for a in asked))

    def recover(self, stalled):
        self.feed()
        with contextlib.suppress(psutil.Error, ValueError):
            self.worker().resume()
        waiting = ", ".join(f"{r.kind} {r.tag}" for r in self.history.unfinished()[:5])
        self.history.complain("no progress", f"{stalled}; these have no end: {waiting}")
        self.history.cut()
        self.manager.restart_kernel(now=True)
        self.connect()

    def report(self):
        """Returns the tables of what was done and found."""
        rows = [("done", "")]
        rows += [(name, self.totals[name]) for name in (
            "requests", "cells", "replies", "idle", "bytes", "displays", *dict.fromkeys(DISTURBANCES), "restarts", "cut by a restart",
            "reported as pending", "lines of children behind their cell")]
        rows += [("", ""), ("wrong", "")]
        rows += [(name, self.found[name]) for name in WRONG] + [("misattributed bytes", self.totals["misattributed bytes"])]
        lines = [f"{name:<34}{value:>14,}" if value != "" else name for name, value in rows]
        lines += ["", f"{'memory in MiB':<34}{'kernel':>14}{'worker':>14}"]
        lines += [f"{when:<34}{kernel:>14.1f}{worker:>14.1f}" for when, kernel, worker in self.memory]
        return "\n".join(lines)


def seconds(text):
    """A time such as 90s, 20m or 1h."""
    return float(text[:-1]) * {"s": 1, "m": 60, "h": 3600}[text[-1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=300, help="in each run of the kernel")
    parser.add_argument("--time", type=seconds, default=0, help="minimum duration; default: three runs")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    soak = Soak(arguments.seed, log=lambda text: print(text, flush=True))
    began = time.monotonic()
    try:
        while soak.runs < 3 or time.monotonic() - began < arguments.time:
            soak.run(arguments.cells, cut=soak.runs % 2 == 1)
    finally:
        soak.close()
        print(f"\n{time.monotonic() - began:.0f} s on {os.cpu_count()} cores, seed {arguments.seed}\n\n{soak.report()}")
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
