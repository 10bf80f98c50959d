package kernel

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// Comm messages go in both directions, even while a cell runs.
func TestComms(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	runs, end := make(chan struct{}), make(chan struct{})
	c.worker.execute = func(_ context.Context, r link.Execute) (link.Result, error) {
		err := c.kernel.Comm(link.Comm{Kind: link.CommOpen, ID: "ours", Target: "theirs", Data: json.RawMessage(`{"x":1}`),
			Metadata: json.RawMessage(`{"version":"2.1.0"}`), Buffers: [][]byte{[]byte("buffer")}, Cell: r.Cell})
		close(runs)
		<-end
		return link.Result{}, err
	}
	c.worker.comm = func(m link.Comm) (link.CommReply, error) {
		if m.Kind == link.CommMessage {
			return link.CommReply{}, c.kernel.Comm(link.Comm{Kind: link.CommMessage, ID: m.ID, Data: m.Data, Buffers: m.Buffers, Cell: 1})
		}
		return link.CommReply{Unknown: m.Kind == link.CommOpen && m.Target != "ours"}, nil
	}
	cell := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"x"}`)
	<-runs
	for _, want := range []string{busy, `execute_input {"code":"x","execution_count":1}`, `comm_open {"comm_id":"ours","target_name":"theirs","data":{"x":1}}`} {
		got := c.published()
		if got.text != want || got.ParentID != cell {
			t.Fatalf("got %s of %s, want %s of %s", got.text, got.ParentID, want, cell)
		}
		if got.Header.Type == wire.CommOpen && (string(got.Metadata) != `{"version":"2.1.0"}` || string(got.Buffers[0]) != "buffer") {
			t.Errorf("metadata %s, buffers %q", got.Metadata, got.Buffers)
		}
	}
	steps := []struct {
		typ     wire.Type
		content string
		want    []string
	}{
		{wire.CommOpen, `{"comm_id":"1","target_name":"ours","data":{}}`, nil},
		{wire.CommOpen, `{"comm_id":"1","target_name":"ours","data":{}}`, nil}, // again: rejected, and the first one stays open
		{wire.CommOpen, `{"comm_id":"2","target_name":"nobody's","data":{}}`, []string{`comm_close {"comm_id":"2","data":{}}`}},
		{wire.CommMsg, `{"comm_id":"1","data":{"y":2}}`, []string{`comm_msg {"comm_id":"1","data":{"y":2}}`}},
		{wire.CommMsg, `{"comm_id":"2","data":{}}`, nil},
	}
	for _, step := range steps {
		id := c.send(transport.Shell, step.typ, step.content)
		var got []string
		for {
			m := c.published()
			if m.text == idle && m.ParentID == id {
				break
			}
			if m.Header.Type != wire.Status {
				got = append(got, m.text)
			}
		}
		if again := c.published(); again.text != busy || again.ParentID != cell {
			t.Fatalf("the cell runs on, and %s of %s was published", again.text, again.ParentID)
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%s %s: got %q, want %q", step.typ, step.content, got, step.want)
		}
	}
	close(end)
	if got := c.published(); got.text != idle || got.ParentID != cell {
		t.Fatalf("the end of the cell: %s", got.text)
	}
	c.reply(transport.Shell, cell)

	_, reply := c.request(transport.Shell, wire.CommInfoRequest, `{}`)
	if want := `comm_info_reply {"status":"ok","comms":{"1":{"target_name":"ours"},"ours":{"target_name":"theirs"}}}`; reply != want {
		t.Errorf("got %s\nwant %s", reply, want)
	}
	_, reply = c.request(transport.Shell, wire.CommInfoRequest, `{"target_name":"theirs"}`)
	if want := `comm_info_reply {"status":"ok","comms":{"ours":{"target_name":"theirs"}}}`; reply != want {
		t.Errorf("got %s\nwant %s", reply, want)
	}

	// When the worker dies, its comms are closed.
	c.kernel.WorkerEnded(nil)
	for _, want := range []string{`comm_close {"comm_id":"1","data":{}}`, `comm_close {"comm_id":"ours","data":{}}`} {
		if got := c.published(); got.text != want {
			t.Errorf("got %s, want %s", got.text, want)
		}
	}
	if _, reply := c.request(transport.Shell, wire.CommInfoRequest, `{}`); reply != `comm_info_reply {"status":"ok","comms":{}}` {
		t.Errorf("after the worker's end: %s", reply)
	}
}
