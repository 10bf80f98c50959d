"""Checks the complete message history of a kernel that many clients use at once.

A driver reports what it sends and what each client receives. A History finds what is
wrong with that:

  order        a request is busy, has its output, and is idle; cells run one after the
               other, as each client sent them, and their execution counts grow by one
  parents      every byte of output, each display and each result has the request of its
               own cell as parent: they hold the tag of that request
  exactly one  reply, busy and idle for each request; no byte is lost or doubled
  the same     for all subscribers

The result does not depend on a clock.
"""

import collections
import dataclasses
import hashlib
import re

TAG = re.compile(r"q\d+x\d+x\d+q")
DEAD = "does not answer"  # in the error of a cell whose worker is reported as dead
PENDING = "interrupt pending: "  # start of the message that the kernel displays in a cell that takes long to stop
MOST_SHOWN = 200  # characters of a message in a description
MOST_KEPT = 1000  # descriptions; more are only counted

WRONG = ("misattributed", "lost", "doubled", "out of order", "garbled", "wrong end", "worker wrongly reported as dead",
         "different for a subscriber", "no progress")


class Text:
    """The expected output of a cell to one stream: numbered lines with the tag of its request."""

    def __init__(self, tag, stream, lines, ending=""):
        self.prefix = f"{tag} {stream[3]} "  # o for stdout, e for stderr
        self.ending = ending
        self.lines = lines  # number of lines; None if it is endless
        self.line = 0  # the number of the next line
        self.rest = ""  # the expected rest of the line before it

    def take(self, text):
        """Compares the next output. Returns False if it differs."""
        while text:
            if not self.rest:
                if self.whole():
                    return False
                self.rest = f"{self.prefix}{self.line}{self.ending}\n"
                self.line += 1
            n = min(len(self.rest), len(text))
            if self.rest[:n] != text[:n]:
                return False
            self.rest, text = self.rest[n:], text[n:]
        return True

    def whole(self):
        return not self.rest and self.line == self.lines


@dataclasses.dataclass
class Request:
    """A request: its expected outcome, and what has been received for it."""

    id: str
    client: int
    kind: str
    reply: str
    tag: str = ""
    code: str = ""
    end: str | None = "ok"  # or the name of the error; None means any
    value: str | None = None  # text of the result
    streams: dict = dataclasses.field(default_factory=dict)  # a Text for each stream
    displays: int = 0  # number of displays; each follows the stdout line with its number
    figures: bool = False  # it shows other displays too
    late: bool = False  # its goroutine goes on printing after idle
    ended: bool = False  # that goroutine has been stopped
    child: bool = False  # a child process prints; an interrupted cell does not wait for it
    frozen: bool = False  # its worker was stopped by a signal while it was interrupted
    cut: bool = False  # the kernel was ended: the request need not complete

    busy: bool = False
    idle: bool = False
    replied: bool = False
    broken: bool = False  # its output was wrong and is no longer checked
    count: int = 0
    shown: int = 0
    results: int = 0
    errors: int = 0
    cut_lines: dict = dataclasses.field(default_factory=dict)  # by stream: the received part of an incomplete line

    @property
    def cell(self):
        return self.reply == "execute_reply"

    @property
    def whole(self):
        return all(text.whole() for text in self.streams.values())


class History:
    """All messages that a kernel received and sent, from its start to its end."""

    def __init__(self, clients):
        self.requests = {}  # by id
        self.probes = set()  # ids of requests that are not checked
        self.wrong = []  # (one of WRONG, description)
        self.found = collections.Counter()  # by the elements of WRONG, also those that are not described
        self.counts = collections.Counter()
        self.running = None  # the cell that is busy
        self.last = 0  # execution count
        self.waiting = [collections.deque() for _ in range(clients)]  # by client: cells that are not busy yet
        self.unanswered = [collections.deque() for _ in range(clients)]  # by client: cells without a reply
        self.heard = [collections.deque() for _ in range(clients)]  # by client: digests of messages that not all clients have received
        self.owners = {}  # the cell of each display_id
        self.tags = {}  # the cell of each tag

    # Sent messages.

    def send(self, request):
        self.requests[request.id] = request
        self.counts["requests"] += 1
        if request.cell:
            self.counts["cells"] += 1
            self.tags[request.tag] = request
            self.waiting[request.client].append(request)
            self.unanswered[request.client].append(request)

    def disturb(self):
        """Records that an interrupt or the end of a worker ends the requests that run beside cells."""
        for request in self.requests.values():
            request.ended = True

    def cut(self):
        """Records that the kernel is asked to end: open requests need not complete."""
        for request in self.requests.values():
            request.cut = request.cut or self.open(request)

    def open(self, request):
        """Reports whether more messages are expected for a request."""
        if not request.idle or not request.replied:
            return True
        return request.late and not request.ended and not request.broken and not request.whole

    def unfinished(self):
        return [r for r in self.requests.values() if self.open(r)]

    def complain(self, kind, text):
        assert kind in WRONG
        self.found[kind] += 1
        if len(self.wrong) < MOST_KEPT:
            self.wrong.append((kind, text))

    # Received messages.

    def published(self, client, frames, msg):
        """Handles an iopub message: those of the first client are checked, those of the others compared with them."""
        parent = msg["parent_header"].get("msg_id")
        request = self.requests.get(parent)
        if request is None:
            if parent not in self.probes and msg["msg_type"] not in ("status", "iopub_welcome", "shutdown_reply"):
                self.complain("misattributed", f"{brief(msg)} has no parent")
            return
        self.heard[client].append(hashlib.blake2b(b"\0".join(frames), digest_size=8).digest())
        while all(self.heard):
            if len({h.popleft() for h in self.heard}) > 1:
                self.complain("different for a subscriber", f"near {brief(msg)} of {name(request)}")
        if client == 0:
            self.follow(request, msg)

    def follow(self, request, msg):
        typ, content = msg["msg_type"], msg["content"]
        if typ == "status":
            self.status(request, content["execution_state"])
            return
        if typ == "stream":
            self.counts["bytes"] += len(content["text"].encode())
            content = content | {"text": self.without_children(request, content["name"], content["text"])}
            if not content["text"]:
                return
        if not request.busy:
            self.complain("out of order", f"{brief(msg)} before {name(request)} is busy")
        if request.idle and request.child and typ == "stream":
            self.counts["lines of children behind their cell"] += content["text"].count("\n")
        elif request.idle and not (request.late and typ == "stream" or request.frozen):
            self.complain("out of order", f"{brief(msg)} after {name(request)} is idle")
        match typ:
            case "execute_input":
                self.last += 1
                request.count = content["execution_count"]
                if request.count != self.last or content["code"] != request.code:
                    self.complain("out of order", f"{name(request)} has the execution count {request.count}, not {self.last}")
                self.last = request.count
            case "stream":
                self.stream(request, content["name"], content["text"])
            case "display_data" | "update_display_data":
                self.display(request, content)
            case "execute_result":
                request.results += 1
                if content["data"].get("text/plain") != request.value or content["execution_count"] != request.count:
                    self.complain(self.foreign(request, str(content["data"])), f"{name(request)} has {brief(msg)}, not {request.value!r}")
            case "error":
                request.errors += 1
                self.error(request, content)
            case _:
                self.complain("garbled", f"{name(request)} has {brief(msg)}")

    def status(self, request, state):
        if state == "busy":
            if not request.busy:
                request.busy = True
                if request.cell:
                    self.begin(request)
            elif self.running is not request:  # a cell is busy again when another request ends
                self.complain("doubled", f"{name(request)} is busy again")
        elif state == "idle":
            if request.idle:
                self.complain("doubled", f"{name(request)} is idle again")
                return
            request.idle = True
            self.counts["idle"] += 1
            if request.cell:
                self.end(request)
        else:
            self.complain("garbled", f"{name(request)} is {state}")

    def begin(self, request):
        if self.running is not None:
            self.complain("out of order", f"{name(request)} begins while {name(self.running)} runs")
        self.running = request
        waiting = self.waiting[request.client]
        if not waiting or waiting[0] is not request:
            self.complain("out of order", f"{name(request)} begins before one that was sent before it")
        if request in waiting:
            waiting.remove(request)

    def end(self, request):
        if self.running is request:
            self.running = None
        for stream, rest in request.cut_lines.items():
            if rest:
                self.stream(request, stream, rest)
                request.cut_lines[stream] = ""
        if request.cut or request.broken:
            return
        if request.end == "ok":
            if not request.whole and not request.late or request.shown != request.displays and not request.figures:
                lines = {s: text.line for s, text in request.streams.items()}
                self.complain("lost", f"{name(request)} is idle without all of its output: {lines}, {request.shown} displays")
        if request.results != (request.end == "ok" and request.value is not None) or request.errors != (request.end != "ok"):
            self.complain("wrong end", f"{name(request)}: {request.results} results and {request.errors} errors")

    def without_children(self, request, stream, text):
        """Returns the complete lines of a text, without those of children whose interrupted cells have ended: they write to the same pipe, and
        their cells cannot be identified."""
        *lines, rest = (request.cut_lines.get(stream, "") + text).split("\n")
        request.cut_lines[stream] = rest
        kept = []
        for line in lines:
            owner = (tag := TAG.match(line)) and self.tags.get(tag[0])
            if owner and owner is not request and owner.child and owner.idle:
                self.counts["lines of children behind their cell"] += 1
            else:
                kept.append(line + "\n")
        return "".join(kept)

    def stream(self, request, stream, text):
        if tags := set(TAG.findall(text)) - {request.tag}:
            self.complain("misattributed", f"{name(request)} has {text[:MOST_SHOWN]!r} on {stream}, of {named(self.tags.get(tag) for tag in tags)}")
            self.counts["misattributed bytes"] += len(text)
            request.broken = True
        if request.broken:
            return
        expected = request.streams.get(stream)
        if expected is None or not expected.take(text):
            at = f"line {expected.line}" if expected else "nothing"
            self.complain("garbled", f"{name(request)} has {text[:MOST_SHOWN]!r} on {stream}, where {at} is next: lost, doubled or in disorder")
            request.broken = True

    def display(self, request, content):
        self.counts["displays"] += 1
        text = str(content["data"].get("text/plain"))
        if (text.startswith(PENDING) or text == "") and request.end != "ok":  # it disappears when the cell has stopped
            self.counts["reported as pending"] += text != ""
            return
        owner = self.owners.setdefault(content.get("transient", {}).get("display_id") or object(), request)
        if owner is not request:
            self.complain("misattributed", f"{name(request)} has a display of {name(owner)}")
        if request.figures:
            return
        if tags := set(TAG.findall(text)) - {request.tag}:
            self.complain("misattributed", f"{name(request)} has a display of {named(self.tags.get(tag) for tag in tags)}")
            return
        if request.tag not in text:
            self.complain("misattributed", f"{name(request)} has a display of nobody: {text[:MOST_SHOWN]!r}")
            return
        printed = request.streams["stdout"]
        if text != f"{request.tag} d {request.shown}" or printed.line != request.shown + 1 or printed.rest:
            self.complain("out of order", f"{name(request)} has {text!r} at display {request.shown} behind line {printed.line}")
        request.shown += 1

    def error(self, request, content):
        if DEAD in content["evalue"]:
            self.counts["reported as dead"] += 1
            if not request.frozen:
                self.complain("worker wrongly reported as dead", f"{name(request)}: {content['evalue']}")
        if content["ename"] != request.end and not request.cut:
            self.complain("wrong end", f"{name(request)} ends with {content['ename']}: {content['evalue']}, not with {request.end}")

    def foreign(self, request, text):
        return "misattributed" if set(TAG.findall(text)) - {request.tag} else "garbled"

    def answered(self, client, msg):
        """Handles a reply on shell or control."""
        request = self.requests.get(msg["parent_header"].get("msg_id"))
        if request is None:
            return
        content = msg["content"]
        self.counts["replies"] += 1
        if request.client != client or msg["msg_type"] != request.reply:
            self.complain("misattributed", f"client {client} has {msg['msg_type']} to {name(request)}")
        if request.replied:
            self.complain("doubled", f"{name(request)} is answered again")
            return
        request.replied = True
        if request.cell:
            unanswered = self.unanswered[client]
            if not unanswered or unanswered[0] is not request:
                self.complain("out of order", f"{name(request)} is answered before one that was sent before it")
            if request in unanswered:
                unanswered.remove(request)
        if request.cut or request.end is None:
            return
        ended = "ok" if content["status"] == "ok" else content.get("ename", content["status"])
        if ended != request.end and not (request.frozen and not request.cell):
            self.complain("wrong end", f"{name(request)} is answered with {ended}: {content.get('evalue')}, not with {request.end}")

    def finish(self):
        """Records that no more messages arrive."""
        for request in self.unfinished():
            if request.cut:
                self.counts["cut by a restart"] += 1
            else:
                self.complain("lost", f"{name(request)}: busy {request.busy}, idle {request.idle}, answered {request.replied}, "
                              f"lines {[t.line for t in request.streams.values()]}")
        left = [len(h) for h in self.heard]
        if any(left) and not any(r.cut for r in self.requests.values()):
            self.complain("different for a subscriber", f"messages that not all have heard: {left}")


def name(request):
    return f"{request.kind} {request.tag or request.id[-8:]} of client {request.client}"


def named(requests):
    return ", ".join(sorted(name(r) if r else "nobody" for r in requests))


def brief(msg):
    return f"{msg['msg_type']} {str(msg['content'])[:MOST_SHOWN]}"
