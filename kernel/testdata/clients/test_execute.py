"""Cells as a client sees them."""

import json

import zmq
from conftest import TIMEOUT, cpu_time, text


def test_state_lives_between_cells(kernel):
    kernel.ok("x := 41")
    kernel.ok("func next() int { x++; return x }")
    assert kernel.result("next()") == "42"
    kernel.ok('x := "now a string"')
    assert kernel.result("x") == '"now a string"'


def test_busy_first_idle_last(kernel):
    messages = kernel.ok('fmt.Println("a")\n1')
    kinds = [m["msg_type"] for m in messages]
    assert kinds[0] == "status" and kinds[1] == "execute_input"
    assert kinds[2:] == ["stream", "execute_result"]


def test_all_lines_before_idle(kernel):
    messages = kernel.ok("for i := range 100_000 { fmt.Println(i) }")
    assert text(messages) == "".join(f"{i}\n" for i in range(100_000))
    assert kernel.quiet()


def test_every_type_error_with_its_place(kernel):
    messages, reply = kernel.run('var a int = "x"\n\nb := undefinedName + 1')
    content = reply["content"]
    assert content["status"] == "error" and content["ename"] == "compile error"
    n = content["execution_count"]
    assert f"cell[{n}]:1:13" in content["evalue"] and f"cell[{n}]:3:6" in content["evalue"], content["evalue"]
    assert [m["msg_type"] for m in messages if m["msg_type"] not in ("status", "execute_input")] == ["error"]
    _, reply = kernel.run("a")
    assert reply["content"]["status"] == "error", "a failed cell defined something"


def test_panic_names_the_line_and_the_kernel_goes_on(kernel):
    kernel.ok("data := []int{1, 2, 3}")
    _, reply = kernel.run("i := 5\n\ndata[i]")
    content = reply["content"]
    assert content["status"] == "error" and content["ename"] == "runtime error", content
    assert "index out of range" in content["evalue"]
    assert any(f"cell[{content['execution_count']}]:3" in line for line in content["traceback"]), content["traceback"]
    assert kernel.result("len(data)") == "3"


def test_positions_are_in_the_form_that_the_front_end_links(kernel, tmp_path):
    """JupyterLab links absolute paths; VS Code, whose cells have URIs as ids, lines of IPython."""
    (tmp_path / "go.mod").write_text("module example.com/linked\n\ngo 1.26\n")
    (tmp_path / "linked.go").write_text("package linked\n\nfunc Div(a, b int) int { return a / b }\n")
    kernel.ok(f'%get {tmp_path}\nimport "example.com/linked"')

    def traceback(cell_id):
        message = kernel.client.session.msg("execute_request", {"code": "linked.Div(1, 0)", "silent": False}, metadata={"cellId": cell_id})
        kernel.client.shell_channel.send(message)
        content = kernel.collect(message["header"]["msg_id"])[1]["content"]
        return content["execution_count"], content["traceback"]

    n, lines = traceback("9e1b")
    assert lines[0] == f"cell[{n}]:1:1" and lines[2] == f"{tmp_path}/linked.go:3:33 in Div", lines
    n, lines = traceback("vscode-notebook-cell:/home/me/a.ipynb#W0sZmlsZQ%3D%3D")
    assert lines[:5] == [f"Cell In[{n}], line 1", "----> 1 linked.Div(1, 0)", "", f"File {tmp_path}/linked.go:3, in Div", "----> 3 …"], lines


def test_stop_on_error_aborts_what_is_queued(kernel, tmp_path):
    file = tmp_path / "go"
    first = kernel.send(f'for _, err := os.Stat("{file}"); err != nil; _, err = os.Stat("{file}") {{ time.Sleep(time.Millisecond) }}\npanic("stop here")',
                        stop_on_error=True)
    second = kernel.send("ran := true")
    kernel.client.kernel_info(reply=True, timeout=TIMEOUT)  # the kernel has received the second cell
    file.touch()
    _, reply = kernel.collect(first)
    assert reply["content"]["status"] == "error"
    _, reply = kernel.collect(second)
    assert reply["content"]["status"] == "aborted"
    assert kernel.result("1 + 1") == "2"


def until_printed(kernel, msg_id):
    """Waits until a cell has printed something: it runs then."""
    while True:
        msg = kernel.client.get_iopub_msg(timeout=TIMEOUT)
        if msg["msg_type"] == "stream" and msg["parent_header"]["msg_id"] == msg_id:
            return


def test_interrupt_keeps_the_variables(kernel):
    kernel.ok("kept := 7")
    for code in ("for {}", "select {}", "time.Sleep(time.Hour)", "<-ctx.Done()\npanic(ctx.Err())"):
        msg_id = kernel.send('fmt.Println("started")\n' + code)
        until_printed(kernel, msg_id)
        before = cpu_time(kernel)
        kernel.manager.interrupt_kernel()
        _, reply = kernel.collect(msg_id)
        assert reply["content"]["status"] == "error", code
        assert cpu_time(kernel) - before < 3, code
        assert kernel.result("kept") == "7", code


def test_control_answers_while_a_cell_runs(kernel):
    msg_id = kernel.send('fmt.Println("started")\nselect {}')
    client = kernel.client
    until_printed(kernel, msg_id)
    request = client.session.msg("kernel_info_request", {})
    client.control_channel.send(request)
    reply = client.get_control_msg(timeout=TIMEOUT)
    assert reply["msg_type"] == "kernel_info_reply"
    kernel.manager.interrupt_kernel()
    _, reply = kernel.collect(msg_id)
    assert reply["content"]["ename"] == "interrupted", reply["content"]


def test_display_updates_in_place(kernel):
    messages = kernel.ok('h := display.Show(display.Text("one"))\nh.Update(display.Text("two"))')
    shown = next(m for m in messages if m["msg_type"] == "display_data")
    update = next(m for m in messages if m["msg_type"] == "update_display_data")
    assert shown["content"]["transient"] == update["content"]["transient"]
    assert update["content"]["data"]["text/plain"] == "two"


def test_user_expressions(kernel):
    kernel.ok("n := 20")
    _, reply = kernel.run("", user_expressions={"double": "n * 2", "bad": "nope"})
    got = reply["content"]["user_expressions"]
    assert got["double"]["data"]["text/plain"] == "40"
    assert got["bad"]["status"] == "error"


def test_input(kernel):
    msg_id = kernel.send('var name string\nfmt.Scanln(&name)\nname', allow_stdin=True)
    request = kernel.client.get_stdin_msg(timeout=TIMEOUT)
    assert request["msg_type"] == "input_request"
    kernel.client.input("gopher")
    messages, reply = kernel.collect(msg_id)
    assert reply["content"]["status"] == "ok", reply["content"]
    assert messages[-1]["content"]["data"]["text/plain"] == '"gopher"'


def test_a_forged_message_is_ignored(kernel):
    info = kernel.manager.get_connection_info()
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger = 0
    socket.connect(f"tcp://{info['ip']}:{info['shell_port']}")
    header = {"msg_id": "1", "session": "s", "username": "u", "date": "2026-01-01T00:00:00Z",
              "msg_type": "execute_request", "version": "5.3"}
    forged = [b"<IDS|MSG>", b"0" * 64, json.dumps(header).encode(), b"{}", b"{}", b'{"code": "os.Exit(1)"}']
    for frames in (forged, forged[:3], [b"<IDS|MSG>"], [b"garbage"], [b""]):
        socket.send_multipart(frames)
    assert kernel.result("1 + 2") == "3"
    socket.close()


def test_a_recursion_without_an_end_costs_a_cell(kernel):
    kernel.ok("stays := 1")
    _, reply = kernel.run("var f func(int) int\nf = func(n int) int { return f(n+1) + 1 }\nf(0)")
    assert reply["content"]["status"] == "error" and "stack overflow" in reply["content"]["evalue"], reply["content"]
    assert kernel.result("stays") == "1"


def test_a_dead_worker_fails_the_cell_and_comes_back(kernel):
    kernel.ok("lost := 1")
    for code, reason in (
        ("os.Exit(3)", "exit status 3"),
        ("syscall.Kill(syscall.Getpid(), syscall.SIGKILL)\nselect {}", "killed"),
    ):
        _, reply = kernel.run(code)
        content = reply["content"]
        assert content["status"] == "error" and content["ename"] == "worker died", content
        assert reason in content["evalue"] + "".join(content["traceback"]), content
        assert kernel.result("6 * 7") == "42"
    _, reply = kernel.run("lost")
    assert reply["content"]["status"] == "error"


def test_late_output_beside_cells_without_a_count(kernel):
    """Output of a goroutine belongs to its cell while cells without an execution count run."""
    first = kernel.send("next := make(chan string)\ngo func() { for s := range next { fmt.Println(s) } }()")
    kernel.collect(first)
    for options in ({"silent": True}, {"store_history": False}):
        kernel.send("next <- \"late\"\nnext <- \"later\"", **options)
        outputs = {}
        while "later" not in outputs.get(first, ""):
            msg = kernel.client.get_iopub_msg(timeout=TIMEOUT)
            if msg["msg_type"] == "stream":
                parent = msg["parent_header"]["msg_id"]
                outputs[parent] = outputs.get(parent, "") + msg["content"]["text"]
        assert outputs == {first: "late\nlater\n"}
        kernel.client.get_shell_msg(timeout=TIMEOUT)
    _, reply = kernel.run("panic(\"here\")", store_history=False)
    assert any("uncounted[" in line for line in reply["content"]["traceback"]), reply["content"]
    kernel.ok("close(next)")
