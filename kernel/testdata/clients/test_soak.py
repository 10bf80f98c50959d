"""Eight clients while the kernel is interrupted, restarted, stopped and starved: a short run of soak.py."""

import pytest
from bugs import BUGS, ROOT
from history import MOST_KEPT, History, Request, Text
from soak import Soak

CELLS = 60  # in each of three runs of the kernel


@pytest.fixture(autouse=True)
def watchdog():
    """Disables the time limit of a test, which could end a busy kernel on a slow machine: soak.py reports a kernel that hangs."""


def test_soak():
    said = []
    soak = Soak(log=said.append)
    try:
        for cut in (False, True, False):
            soak.run(CELLS, cut)
    finally:
        soak.close()
    assert not soak.wrong, "\n".join([*said, soak.report()])
    for disturbance in ("interrupt", "stop, then interrupt", "interrupt while stopped", "interrupt, then stop", "kill the worker"):
        assert soak.totals[disturbance], f"nothing was disturbed by {disturbance!r}"


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bugs_apply(bug):
    """bugs.py, which takes long, can put each bug back into the source as it is now."""
    assert bug.source() != (ROOT / bug.file).read_text()


# What the checker finds in a constructed history. Each row changes a correct one.


def sequence():
    """Returns the messages of two cells of one client."""
    messages = []
    for n in (1, 2):
        tag = f"q1x0x{n}q"
        for typ, content in (
            ("status", {"execution_state": "busy"}),
            ("execute_input", {"code": tag, "execution_count": n}),
            ("stream", {"name": "stdout", "text": f"{tag} o 0\n{tag} o "}),
            ("stream", {"name": "stdout", "text": "1\n"}),
            ("execute_result", {"execution_count": n, "data": {"text/plain": tag}}),
            ("status", {"execution_state": "idle"}),
            ("execute_reply", {"status": "ok"}),
        ):
            messages.append({"msg_type": typ, "parent_header": {"msg_id": str(n)}, "content": content})
    return messages


def verdict(messages, other=None):
    """Returns the kinds of errors in what the first client and another one have received."""
    history = History(2)
    for n in (1, 2):
        tag = f"q1x0x{n}q"
        history.send(Request(str(n), 0, "prints", "execute_reply", tag=tag, code=tag, value=tag, streams={"stdout": Text(tag, "stdout", 2)}))
    for client, heard in enumerate((messages, messages if other is None else other)):
        for msg in heard:
            if msg["msg_type"] != "execute_reply":
                history.published(client, [repr(msg).encode()], msg)
            elif client == 0:
                history.answered(client, msg)
    history.finish()
    return {kind for kind, _ in history.wrong}


def of(messages, n, parent):
    """Returns a message with another parent."""
    return messages[n] | {"parent_header": {"msg_id": parent}}


def test_a_correct_history():
    assert verdict(sequence()) == set()


CHANGES = {
    "output in the next cell": (lambda m: m[:2] + m[3:9] + [of(m, 2, "2")] + m[9:], {"misattributed", "garbled"}),
    "output without a parent": (lambda m: m[:2] + [of(m, 2, "none")] + m[3:], {"misattributed", "garbled"}),
    "a result of another": (lambda m: m[:4] + [of(m, 11, "1")] + m[5:], {"misattributed"}),
    "a lost line": (lambda m: m[:3] + m[4:], {"lost"}),
    "a lost first line": (lambda m: m[:2] + m[3:], {"garbled"}),
    "a line twice": (lambda m: m[:4] + m[3:], {"garbled"}),
    "lines in disorder": (lambda m: m[:2] + [m[3], m[2]] + m[4:], {"garbled"}),
    "output when it is idle": (lambda m: m[:3] + m[4:6] + [m[3]] + m[6:], {"lost", "out of order"}),
    "two idles": (lambda m: m[:6] + m[5:], {"doubled"}),
    "no idle": (lambda m: m[:5] + m[6:], {"lost", "out of order"}),
    "two replies": (lambda m: m + m[-1:], {"doubled"}),
    "no reply": (lambda m: m[:-1], {"lost"}),
    "replies in disorder": (lambda m: m[:6] + m[7:] + [m[6]], {"out of order"}),
    "cells at once": (lambda m: m[:5] + [m[7]] + m[5:7] + m[8:], {"out of order"}),
    "cells in disorder": (lambda m: m[7:] + m[:7], {"out of order"}),
    "no result": (lambda m: m[:4] + m[5:], {"wrong end"}),
    "an error": (lambda m: m[:6] + [m[6] | {"content": {"status": "error", "ename": "panic"}}] + m[7:], {"wrong end"}),
}


@pytest.mark.parametrize("change, kinds", CHANGES.values(), ids=CHANGES.keys())
def test_the_checker_finds(change, kinds):
    messages = sequence()
    assert verdict(change(messages)) == kinds


def test_a_flood_of_errors_is_counted():
    history = History(1)
    for _ in range(3 * MOST_KEPT):
        history.complain("lost", "a line")
    assert len(history.wrong) == MOST_KEPT and history.found["lost"] == 3 * MOST_KEPT


def test_the_checker_compares_the_clients():
    messages = sequence()
    assert verdict(messages, messages[:2] + messages[3:]) == {"different for a subscriber"}
