"""Interrupts of cells of every kind, through the protocol."""

import itertools
import time

import pytest

from conftest import TIMEOUT, cpu_time, text

SETUP = """
var keep = 42
clo := func() int { keep++; return keep }
var beats atomic.Int64
in, out := make(chan int), make(chan int)
go func() { for v := range in { out <- v * 2 } }()
go func() { for { func() { defer func() { recover() }(); beats.Add(1) }(); time.Sleep(time.Millisecond) } }()
"""

AFTER = """
before := beats.Load()
for beats.Load() < before+2 { time.Sleep(time.Millisecond) }
in <- 4
<-out + clo() - clo()
"""

ENDED = {
    "loop": "for { }",
    "receive": "<-make(chan int)",
    "send": "make(chan string) <- \"x\"",
    "range over a channel": "for range make(chan int) { }",
    "select": "select { case <-time.After(time.Hour): }",
    "sleep": "time.Sleep(time.Hour)",
    "lock": "var mu sync.Mutex; mu.Lock(); mu.Lock()",
    "loops beside": "var wg sync.WaitGroup; for range 4 { wg.Go(func() { for { } }) }; wg.Wait()",
    "less": "for { sort.Slice(make([]int, 1<<20), func(i, j int) bool { return i > j }) }",
    "method of a value": "type loops int; func (loops) String() string { for { } }; fmt.Println(loops(1))",
    "coroutine": "next, _ := iter.Pull(func(yield func(int) bool) { <-make(chan int) }); next()",
    "deferred loop": "func() { defer func() { for { } }() }()",
    "child of a shell": "exec.Command(\"sh\", \"-c\", \"sleep 1000; echo x\").Output()",
    "child that does not listen": "exec.Command(\"sh\", \"-c\", \"trap '' INT; sleep 1000; echo x\").Run()",
    "command": "!sleep 1000; echo x",
}

LEFT = {
    "condition": "c := sync.NewCond(&sync.Mutex{}); c.L.Lock(); c.Wait()",
    "network": "l, _ := net.Listen(\"tcp\", \"127.0.0.1:0\"); l.Accept()",
    "number": "new(big.Int).Exp(big.NewInt(3), new(big.Int).Exp(big.NewInt(10), big.NewInt(8), nil), nil)",
}


def interrupt(kernel, code):
    """Runs a cell and interrupts it when it has begun. Returns the reply and the CPU time from the interrupt.

    The elapsed time would depend on what else the machine does.
    """
    msg_id = kernel.send('fmt.Println("go")\n' + code.replace("; func (", "\nfunc ("))
    deadline = time.monotonic() + TIMEOUT
    while "go" not in text([message := kernel.client.get_iopub_msg(timeout=TIMEOUT)]):
        assert message["msg_type"] != "error" and time.monotonic() < deadline, message["content"]
    time.sleep(0.1)  # until it executes the code to be interrupted
    begin = cpu_time(kernel)
    kernel.client.control_channel.send(kernel.client.session.msg("interrupt_request", {}))
    _, reply = kernel.collect(msg_id)
    return reply["content"], cpu_time(kernel) - begin


@pytest.fixture(scope="module")
def prepared(kernel):
    kernel.ok(SETUP)
    return kernel


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in (ENDED | LEFT).items()])
def test_interrupt(prepared, code):
    content, used = interrupt(prepared, code)
    assert content["ename"] == "interrupted", content
    # The promise is 0.1 s.
    assert used < 3
    assert prepared.result(AFTER) == "7"


def test_copy_of_gigabytes(prepared):
    """While the Go runtime waits for a large copy, nothing in the worker runs, but the kernel process answers."""
    assert prepared.result("a, b := make([]byte, 1<<29), make([]byte, 1<<29)\n" + AFTER) == "7"
    content, used = interrupt(prepared, "for { copy(a, b) }")
    assert content["ename"] == "interrupted", content
    assert used < 3
    assert prepared.result("a, b = nil, nil\n" + AFTER) == "7"


numbers = itertools.count()

LONG = {
    "functions": "".join(f"func long{i}(x int) int {{ if x > {i} {{ return x }}; return x + {i} }}\n" for i in range(30_000)),
    "functions that the engine runs": "".join(f"func long{i}(x complex128) complex128 {{ return x + {i} }}\n" for i in range(10_000)),
    "statements": "long1 := 0\n" + "".join(f"long1 += {i}\n" for i in range(300_000)),
    "structs": "long1 := []struct{ A int; B string }{\n" + "".join(f'{{{i}, "s{i}"}},\n' for i in range(100_000)) + "}",
}


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in LONG.items()])
@pytest.mark.parametrize("part", [0.05, 0.5, 0.9])
def test_compilation(prepared, code, part):
    """An interrupt during compilation ends the cell at once, and it defines nothing."""
    name = f"long{next(numbers)}of"  # an earlier cell may have been faster and defined its names
    msg_id = prepared.send(code.replace("long", name))
    while prepared.client.get_iopub_msg(timeout=TIMEOUT)["msg_type"] != "execute_input":
        pass
    time.sleep(2 * part)  # to hit different phases of the compiler; any of them will do
    prepared.client.control_channel.send(prepared.client.session.msg("interrupt_request", {}))
    _, reply = prepared.collect(msg_id)
    if reply["content"]["status"] == "ok":
        return  # it ended before the interrupt
    assert reply["content"]["ename"] == "interrupted", reply["content"]
    assert prepared.result("1 + 1") == "2"
    assert prepared.result(AFTER) == "7"
    if "before it ran" not in reply["content"]["evalue"]:
        return  # it had been compiled and was running
    _, reply = prepared.run(name + "1")
    assert f"undefined: {name}1" in reply["content"]["evalue"]
