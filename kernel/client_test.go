package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/kernel/history"
	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/transport/transporttest"
	"github.com/quernlab/quern/kernel/wire"
	"github.com/quernlab/quern/kernel/wire/wiretest"
)

// timeout ends a test whose message never arrives. Normally it takes milliseconds.
const timeout = 5 * time.Minute

// fakeWorker answers requests with its functions. Without them its cells do nothing.
type fakeWorker struct {
	link.Handlers
	execute     func(context.Context, link.Execute) (link.Result, error)
	complete    func(link.Complete) (link.Completion, error)
	interrupted chan struct{} // receives each interrupt
	evaluate    func(context.Context) (link.Evaluations, error)
	comm        func(link.Comm) (link.CommReply, error)
}

func newFakeWorker() *fakeWorker {
	w := &fakeWorker{Handlers: link.Handlers{}}
	link.On(w.Handlers, w.answerComplete)
	link.On(w.Handlers, w.answerInspect)
	link.On(w.Handlers, w.answerCheck)
	link.On(w.Handlers, w.answerEvaluate)
	link.On(w.Handlers, w.answerComm)
	return w
}

func (w *fakeWorker) Execute(ctx context.Context, r link.Execute) (link.Result, error) {
	if w.execute == nil {
		return link.Result{}, nil
	}
	return w.execute(ctx, r)
}

func (w *fakeWorker) answerComplete(_ context.Context, r link.Complete) (link.Completion, error) {
	if w.complete == nil {
		return link.Completion{Start: r.Offset, End: r.Offset}, nil
	}
	return w.complete(r)
}

func (w *fakeWorker) answerInspect(_ context.Context, r link.Inspect) (link.Inspection, error) {
	if r.Code == "" || r.Code == "unknown" {
		return link.Inspection{}, nil
	}
	return link.Inspection{Data: map[string]any{"text/plain": fmt.Sprintf("%s at %d in %d", r.Code, r.Offset, r.Detail)}}, nil
}

func (w *fakeWorker) answerCheck(_ context.Context, r link.Check) (link.Completeness, error) {
	if strings.HasSuffix(r.Code, "{") {
		return link.Completeness{Status: "incomplete", Indent: "\t"}, nil
	}
	return link.Completeness{Status: "complete"}, nil
}

func (w *fakeWorker) answerEvaluate(ctx context.Context, _ link.Evaluate) (link.Evaluations, error) {
	if w.evaluate == nil {
		return link.Evaluations{}, nil
	}
	return w.evaluate(ctx)
}

func (w *fakeWorker) answerComm(_ context.Context, c link.Comm) (link.CommReply, error) {
	if w.comm == nil {
		return link.CommReply{Unknown: c.Kind == link.CommOpen}, nil
	}
	return w.comm(c)
}

func (w *fakeWorker) Interrupt(context.Context) error {
	if w.interrupted != nil {
		w.interrupted <- struct{}{}
	}
	return nil
}

func (w *fakeWorker) Shutdown(context.Context) error { return nil }

// lines is a writer to a channel. Lines that do not fit are dropped.
type lines chan<- string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default:
	}
	return len(p), nil
}

// client is a client of a kernel that runs on the fake sockets.
type client struct {
	t       testing.TB
	ctx     context.Context
	sockets *transporttest.Sockets
	codec   *wire.Codec
	kernel  *Kernel
	worker  *fakeWorker
	log     chan string // lines of the kernel's log
	end     func()      // ends the kernel
}

var key = []byte("key")

func newClient(t testing.TB) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	codec := func() *wire.Codec {
		c, err := wire.NewCodec(wire.Scheme, key)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := &client{t: t, ctx: ctx, sockets: transporttest.New(), codec: codec(), worker: newFakeWorker(), log: make(chan string, 100)}
	c.kernel = newKernel(codec(), c.sockets, info("1.2.3"), history.New(), slog.New(slog.NewTextHandler(lines(c.log), nil)))
	c.kernel.worker = c.worker
	serving, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.kernel.serve(serving)
	}()
	c.end = func() { stop(); <-done }
	t.Cleanup(func() { c.end(); cancel() })
	if got := c.published(); got.text != `status {"execution_state":"starting"}` {
		t.Fatalf("first message: %s", got.text)
	}
	return c
}

// received is a message from the kernel.
type received struct {
	*wire.Message
	text string // type and content
}

func (c *client) receive(channel transport.Channel) received {
	c.t.Helper()
	frames, err := c.sockets.Sent(c.ctx, channel)
	if err != nil {
		c.t.Fatalf("nothing more on %s: %v", channel, err)
	}
	m, err := c.codec.Decode(frames)
	if err != nil {
		c.t.Fatalf("%s: %v: %q", channel, err, frames)
	}
	if err := wiretest.Check(string(m.Header.Type), m.Body); err != nil {
		c.t.Errorf("%s: %v", channel, err)
	}
	return received{m, string(m.Header.Type) + " " + string(m.Body)}
}

func (c *client) published() received { c.t.Helper(); return c.receive(transport.IOPub) }

// send sends a request and returns its id.
func (c *client) send(channel transport.Channel, typ wire.Type, content string) string {
	c.t.Helper()
	return c.sendMessage(channel, wire.Outgoing{Type: typ, Content: json.RawMessage(content)})
}

func (c *client) sendMessage(channel transport.Channel, m wire.Outgoing) string {
	c.t.Helper()
	m.ID = c.codec.NewID()
	m.Identities = [][]byte{[]byte("client")}
	frames, err := c.codec.Encode(m)
	if err != nil {
		c.t.Fatal(err)
	}
	c.sockets.Deliver(channel, frames)
	return m.ID
}

// untilIdle returns what is published for a request between its busy and its idle.
func (c *client) untilIdle(id string) []string {
	c.t.Helper()
	texts := []string{}
	for first := true; ; first = false {
		m := c.published()
		switch {
		case m.ParentID != id:
			c.t.Fatalf("%s has parent %q, want %q", m.text, m.ParentID, id)
		case first:
			if m.text != busy {
				c.t.Fatalf("first message of a request: %s", m.text)
			}
		case m.text == idle:
			return texts
		default:
			texts = append(texts, m.text)
		}
	}
}

const (
	busy = `status {"execution_state":"busy"}`
	idle = `status {"execution_state":"idle"}`
)

// reply returns the reply to a request.
func (c *client) reply(channel transport.Channel, id string) string {
	c.t.Helper()
	m := c.receive(channel)
	if m.ParentID != id {
		c.t.Fatalf("%s answers %q, want %q", m.text, m.ParentID, id)
	}
	if len(m.Identities) != 1 || string(m.Identities[0]) != "client" {
		c.t.Fatalf("%s goes to %q", m.text, m.Identities)
	}
	return m.text
}

// request sends a request and returns what is published for it and its reply.
func (c *client) request(channel transport.Channel, typ wire.Type, content string) (texts []string, reply string) {
	c.t.Helper()
	id := c.send(channel, typ, content)
	return c.untilIdle(id), c.reply(channel, id)
}

// quiet checks that no messages are left. It sends a request and expects only its own
// messages.
func (c *client) quiet() {
	c.t.Helper()
	if texts, reply := c.request(transport.Control, wire.InterruptRequest, `{}`); len(texts) != 0 || reply != `interrupt_reply {"status":"ok"}` {
		c.t.Errorf("not quiet: %q, %s", texts, reply)
	}
}
