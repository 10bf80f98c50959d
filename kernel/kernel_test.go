package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// specified are the messages of the protocol that clients send on shell and control, with
// the types of their replies. The debugger is not supported.
var specified = map[wire.Type]wire.Type{
	"execute_request":         "execute_reply",
	"inspect_request":         "inspect_reply",
	"complete_request":        "complete_reply",
	"history_request":         "history_reply",
	"is_complete_request":     "is_complete_reply",
	"comm_info_request":       "comm_info_reply",
	"kernel_info_request":     "kernel_info_reply",
	"shutdown_request":        "shutdown_reply",
	"interrupt_request":       "interrupt_reply",
	"usage_request":           "usage_reply",
	"create_subshell_request": "create_subshell_reply",
	"delete_subshell_request": "delete_subshell_reply",
	"list_subshell_request":   "list_subshell_reply",
	"comm_open":               "",
	"comm_msg":                "",
	"comm_close":              "",
}

func TestTableHoldsTheProtocol(t *testing.T) {
	t.Parallel()
	for typ, reply := range specified {
		row, ok := table[typ]
		if !ok {
			t.Errorf("%s has no row", typ)
		} else if row.reply != reply || (reply == "") != (row.failed == nil) {
			t.Errorf("%s: reply %q, want %q", typ, row.reply, reply)
		}
	}
	for typ := range table {
		if _, ok := specified[typ]; !ok {
			t.Errorf("%s is not of the protocol", typ)
		}
	}
}

// Each request is sent to one kernel after the other, and checked for what it publishes
// between busy and idle, and for its reply.
func TestRequests(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	c.worker.execute = func(_ context.Context, r link.Execute) (link.Result, error) {
		switch verb, rest, _ := strings.Cut(r.Code, " "); verb {
		case "value":
			return link.Result{Data: map[string]any{"text/plain": rest}}, nil
		case "format":
			return link.Result{Replacement: rest}, nil
		case "fail":
			return link.Result{Error: &link.CellError{Name: "panic", Value: rest, Traceback: []string{"cell[1]: " + rest}}}, nil
		case "gone":
			return link.Result{}, &link.CellError{Name: "worker died", Value: "signal: killed"}
		case "broken":
			return link.Result{}, errors.New("no pipe")
		case "print":
			c.kernel.Stream(r.Cell, "stdout", []byte(rest))
		case "show":
			for _, kind := range []string{"display", "update"} {
				if err := c.kernel.Display(link.Display{Cell: r.Cell, Kind: kind, ID: "id", Data: map[string]any{"text/html": rest}}); err != nil {
					return link.Result{}, err
				}
			}
			return link.Result{}, c.kernel.Display(link.Display{Cell: r.Cell, Kind: "clear", Wait: true})
		case "panic":
			panic("in the kernel process")
		}
		return link.Result{}, nil
	}
	c.worker.complete = func(r link.Complete) (link.Completion, error) {
		if r.Code == "" {
			return link.Completion{}, errors.New("no worker")
		}
		return link.Completion{Start: r.Offset - 2, End: r.Offset, Matches: []link.Match{{Text: "fmt", Kind: "module", Type: "package"}}}, nil
	}
	c.worker.evaluate = func(context.Context) (link.Evaluations, error) {
		return link.Evaluations{Values: map[string]link.Result{
			"a": {Data: map[string]any{"text/plain": "1"}},
			"b": {Error: &link.CellError{Name: "compile error", Value: "undefined: b"}},
		}}, nil
	}

	for _, row := range []struct {
		name    string
		channel transport.Channel
		typ     wire.Type
		content string
		want    []string
		reply   string // empty if there is none
	}{
		{
			name: "a cell without a value", typ: wire.ExecuteRequest, content: `{"code":"x"}`,
			want:  []string{`execute_input {"code":"x","execution_count":1}`},
			reply: `execute_reply {"status":"ok","execution_count":1,"payload":[],"user_expressions":{}}`,
		},
		{
			name: "a cell with a value", typ: wire.ExecuteRequest, content: `{"code":"value 2"}`,
			want: []string{
				`execute_input {"code":"value 2","execution_count":2}`,
				`execute_result {"execution_count":2,"data":{"text/plain":"2"},"metadata":{}}`,
			},
			reply: `execute_reply {"status":"ok","execution_count":2,"payload":[],"user_expressions":{}}`,
		},
		{
			name: "silent", typ: wire.ExecuteRequest, content: `{"code":"value 2","silent":true}`,
			want:  []string{},
			reply: `execute_reply {"status":"ok","execution_count":2,"payload":[],"user_expressions":{}}`,
		},
		{
			name: "not stored", typ: wire.ExecuteRequest, content: `{"code":"x","store_history":false}`,
			want:  []string{`execute_input {"code":"x","execution_count":2}`},
			reply: `execute_reply {"status":"ok","execution_count":2,"payload":[],"user_expressions":{}}`,
		},
		{
			name: "another text for the cell", typ: wire.ExecuteRequest, content: `{"code":"format x := 1","store_history":false}`,
			want:  []string{`execute_input {"code":"format x := 1","execution_count":2}`},
			reply: `execute_reply {"status":"ok","execution_count":2,"payload":[{"source":"set_next_input","text":"x := 1","replace":true}],"user_expressions":{}}`,
		},
		{
			name: "output", typ: wire.ExecuteRequest, content: `{"code":"print hello"}`,
			want: []string{
				`execute_input {"code":"print hello","execution_count":3}`,
				`stream {"name":"stdout","text":"hello"}`,
			},
			reply: `execute_reply {"status":"ok","execution_count":3,"payload":[],"user_expressions":{}}`,
		},
		{
			name: "displays", typ: wire.ExecuteRequest, content: `{"code":"show <b>"}`,
			want: []string{
				`execute_input {"code":"show <b>","execution_count":4}`,
				`display_data {"data":{"text/html":"<b>"},"metadata":{},"transient":{"display_id":"id"}}`,
				`update_display_data {"data":{"text/html":"<b>"},"metadata":{},"transient":{"display_id":"id"}}`,
				`clear_output {"wait":true}`,
			},
			reply: `execute_reply {"status":"ok","execution_count":4,"payload":[],"user_expressions":{}}`,
		},
		{
			name: "an error", typ: wire.ExecuteRequest, content: `{"code":"fail boom"}`,
			want: []string{
				`execute_input {"code":"fail boom","execution_count":5}`,
				`error {"ename":"panic","evalue":"boom","traceback":["cell[1]: boom"]}`,
			},
			reply: `execute_reply {"status":"error","execution_count":5,"ename":"panic","evalue":"boom","traceback":["cell[1]: boom"],"payload":[],"user_expressions":{}}`,
		},
		{
			name: "a worker that died", typ: wire.ExecuteRequest, content: `{"code":"gone"}`,
			want: []string{
				`execute_input {"code":"gone","execution_count":6}`,
				`error {"ename":"worker died","evalue":"signal: killed","traceback":[]}`,
			},
			reply: `execute_reply {"status":"error","execution_count":6,"ename":"worker died","evalue":"signal: killed","traceback":[],"payload":[],"user_expressions":{}}`,
		},
		{
			name: "a worker that cannot answer", typ: wire.ExecuteRequest, content: `{"code":"broken"}`,
			want: []string{
				`execute_input {"code":"broken","execution_count":7}`,
				`error {"ename":"worker error","evalue":"no pipe","traceback":["worker error: no pipe"]}`,
			},
			reply: `execute_reply {"status":"error","execution_count":7,"ename":"worker error","evalue":"no pipe","traceback":["worker error: no pipe"],"payload":[],"user_expressions":{}}`,
		},
		{
			name: "a handler that panics", typ: wire.ExecuteRequest, content: `{"code":"panic"}`,
			want:  []string{`execute_input {"code":"panic","execution_count":8}`},
			reply: `execute_reply {"status":"error","execution_count":8,"ename":"internal error","evalue":"the kernel failed at execute_request: in the kernel process","traceback":[],"payload":[],"user_expressions":{}}`,
		},
		{
			name: "user expressions", typ: wire.ExecuteRequest, content: `{"code":"x","user_expressions":{"a":"1","b":"b"}}`,
			want: []string{`execute_input {"code":"x","execution_count":9}`},
			reply: `execute_reply {"status":"ok","execution_count":9,"payload":[],"user_expressions":{` +
				`"a":{"status":"ok","data":{"text/plain":"1"},"metadata":{}},` +
				`"b":{"status":"error","ename":"compile error","evalue":"undefined: b","traceback":[]}}}`,
		},
		{
			name: "a cell without code", typ: wire.ExecuteRequest, content: `{"silent":false}`,
			want:  []string{},
			reply: `execute_reply {"status":"error","execution_count":9,"ename":"bad request","evalue":"content of execute_request: code is missing","traceback":[],"payload":[],"user_expressions":{}}`,
		},
		{
			name: "a cell that asks for help", typ: wire.ExecuteRequest, content: `{"code":" fmt.Println?? "}`,
			want: []string{`execute_input {"code":" fmt.Println?? ","execution_count":10}`},
			reply: `execute_reply {"status":"ok","execution_count":10,"payload":[` +
				`{"source":"page","data":{"text/plain":"fmt.Println at 11 in 1"},"start":0}],"user_expressions":{}}`,
		},
		{
			name: "a cell that asks for help without a user", typ: wire.ExecuteRequest, content: `{"code":"fmt ?","store_history":false,"allow_stdin":false}`,
			want: []string{
				`execute_input {"code":"fmt ?","execution_count":10}`,
				`display_data {"data":{"text/plain":"fmt at 3 in 0"},"metadata":{},"transient":{}}`,
			},
			reply: `execute_reply {"status":"ok","execution_count":10,"payload":[],"user_expressions":{}}`,
		},
		{
			name: "a cell that asks for help in vain", typ: wire.ExecuteRequest, content: `{"code":"unknown?"}`,
			want: []string{
				`execute_input {"code":"unknown?","execution_count":11}`,
				`error {"ename":"not found","evalue":"no documentation found for unknown; check its spelling","traceback":["no documentation found for unknown; check its spelling"]}`,
			},
			reply: `execute_reply {"status":"error","execution_count":11,"ename":"not found","evalue":"no documentation found for unknown; check its spelling","traceback":["no documentation found for unknown; check its spelling"],"payload":[],"user_expressions":{}}`,
		},
		{
			name: "completion behind a character of four bytes", typ: wire.CompleteRequest, content: `{"code":"𝛼 fm","cursor_pos":4}`,
			want: []string{},
			reply: `complete_reply {"status":"ok","matches":["fmt"],"cursor_start":2,"cursor_end":4,` +
				`"metadata":{"_jupyter_types_experimental":[{"text":"fmt","type":"module","signature":"package","start":2,"end":4}]}}`,
		},
		{
			name: "completion without a worker", typ: wire.CompleteRequest, content: `{"code":"","cursor_pos":0}`,
			want:  []string{},
			reply: `complete_reply {"status":"error","ename":"kernel error","evalue":"no worker","traceback":[]}`,
		},
		{
			name: "inspection", typ: wire.InspectRequest, content: `{"code":"é.f","cursor_pos":2,"detail_level":1}`,
			want:  []string{},
			reply: `inspect_reply {"status":"ok","found":true,"data":{"text/plain":"é.f at 3 in 1"},"metadata":{}}`,
		},
		{
			name: "inspection of nothing", typ: wire.InspectRequest, content: `{"code":""}`,
			want:  []string{},
			reply: `inspect_reply {"status":"ok","found":false,"data":{},"metadata":{}}`,
		},
		{name: "is_complete", typ: wire.IsCompleteRequest, content: `{"code":"x"}`, want: []string{}, reply: `is_complete_reply {"status":"complete"}`},
		{name: "is_complete of half a cell", typ: wire.IsCompleteRequest, content: `{"code":"func f() {"}`, want: []string{}, reply: `is_complete_reply {"status":"incomplete","indent":"\t"}`},
		{
			name: "history tail", typ: wire.HistoryRequest, content: `{"hist_access_type":"tail","n":2}`,
			want: []string{}, reply: `history_reply {"status":"ok","history":[[1,7,"broken"],[1,9,"x"]]}`,
		},
		{
			name: "history range with output", typ: wire.HistoryRequest, content: `{"hist_access_type":"range","session":0,"start":1,"stop":3,"output":true}`,
			want: []string{}, reply: `history_reply {"status":"ok","history":[[1,1,["x",null]],[1,2,["value 2","2"]]]}`,
		},
		{
			name: "history search", typ: wire.HistoryRequest, content: `{"hist_access_type":"search","pattern":"*a*e*","n":5}`,
			want: []string{}, reply: `history_reply {"status":"ok","history":[[1,2,"value 2"]]}`,
		},
		{
			name: "history of an unknown kind", typ: wire.HistoryRequest, content: `{"hist_access_type":"all"}`,
			want:  []string{},
			reply: `history_reply {"status":"error","ename":"bad request","evalue":"content of history_request: hist_access_type \"all\", want tail, range or search","traceback":[]}`,
		},
		{name: "comm_info", typ: wire.CommInfoRequest, content: `{}`, want: []string{}, reply: `comm_info_reply {"status":"ok","comms":{}}`},
		{name: "comm to an unknown target", typ: wire.CommOpen, content: `{"comm_id":"7","target_name":"x","data":{}}`, want: []string{`comm_close {"comm_id":"7","data":{}}`}},
		{name: "message to an unknown comm", typ: wire.CommMsg, content: `{"comm_id":"7","data":{}}`, want: []string{}},
		{name: "close of an unknown comm", typ: wire.CommClose, content: `{"comm_id":"7","data":{}}`, want: []string{}},
		{name: "comm without an id", typ: wire.CommMsg, content: `{}`, want: []string{}},
		{name: "an unknown type", typ: "dance_request", content: `{}`, want: []string{}},
		{name: "an unknown type on control", channel: transport.Control, typ: "debug_request", content: `{}`, want: []string{}},
		{name: "interrupt between cells", channel: transport.Control, typ: wire.InterruptRequest, content: `{}`, want: []string{}, reply: `interrupt_reply {"status":"ok"}`},
	} {
		id := c.send(row.channel, row.typ, row.content)
		got := c.untilIdle(id)
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: published\ngot  %q\nwant %q", row.name, got, row.want)
		}
		if row.reply == "" {
			continue
		}
		if got := c.reply(row.channel, id); got != row.reply {
			t.Errorf("%s: reply\ngot  %s\nwant %s", row.name, got, row.reply)
		}
	}
	c.quiet()
}

func TestKernelInfo(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for _, channel := range []transport.Channel{transport.Shell, transport.Control} {
		_, text := c.request(channel, wire.KernelInfoRequest, `{}`)
		var got wire.KernelInfo
		if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "kernel_info_reply ")), &got); err != nil {
			t.Fatal(err)
		}
		if got.ProtocolVersion != "5.5" || got.Implementation != "quern" || got.ImplementationVersion != "1.2.3" ||
			got.SupportedFeatures == nil || got.Banner == "" || len(got.HelpLinks) == 0 {
			t.Errorf("%s: %+v", channel, got)
		}
		want := wire.LanguageInfo{
			Name: "go", Version: strings.TrimPrefix(runtime.Version(), "go"), MIMEType: "text/x-go", FileExtension: ".go",
			PygmentsLexer: "go", CodeMirrorMode: "go", NBConvertExporter: "script",
		}
		if got.LanguageInfo != want {
			t.Errorf("%s: language_info\ngot  %+v\nwant %+v", channel, got.LanguageInfo, want)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	_, text := newClient(t).request(transport.Control, wire.UsageRequest, `{}`)
	var got wire.Usage
	if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "usage_reply ")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Status != "ok" || got.PID == 0 || got.Cores == 0 || runtime.GOOS == "linux" && (got.KernelMemory == 0 || got.HostMemory.Total == 0) {
		t.Errorf("%+v", got)
	}
}

func TestParentIsCopiedRaw(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	id := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"x"}`)
	for range 3 {
		m := c.published()
		if m.ParentID != id {
			t.Errorf("%s has parent %q, want %q", m.text, m.ParentID, id)
		}
		if string(m.Header.Session) == c.codec.Session() {
			t.Errorf("%s bears the session of the client", m.text)
		}
	}
}

// blockedCell makes cells run until their context or the test ends them.
func blockedCell(c *client) (began chan struct{}, finish chan link.Result) {
	began, finish = make(chan struct{}), make(chan link.Result)
	c.worker.execute = func(context.Context, link.Execute) (link.Result, error) {
		began <- struct{}{}
		return <-finish, nil
	}
	return began, finish
}

func TestAnswersWhileACellRuns(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	c.worker.interrupted = make(chan struct{}, 1)
	began, finish := blockedCell(c)
	cell := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"x"}`)
	<-began
	c.published() // busy
	c.published() // execute_input

	for _, row := range []struct {
		channel transport.Channel
		typ     wire.Type
		content string
	}{
		{transport.Control, wire.KernelInfoRequest, `{}`},
		{transport.Control, wire.InterruptRequest, `{}`},
		{transport.Control, wire.UsageRequest, `{}`},
		{transport.Shell, wire.KernelInfoRequest, `{}`},
		{transport.Shell, wire.CompleteRequest, `{"code":"x","cursor_pos":1}`},
		{transport.Shell, wire.InspectRequest, `{"code":"x","cursor_pos":1}`},
		{transport.Shell, wire.IsCompleteRequest, `{"code":"x"}`},
	} {
		c.request(row.channel, row.typ, row.content)
		// The cell says again that it runs: clients show the state they heard last.
		if m := c.published(); m.text != busy || m.ParentID != cell {
			t.Errorf("after %s on %s: %s of %s", row.typ, row.channel, m.text, m.ParentID)
		}
	}
	select {
	case <-c.worker.interrupted:
	default:
		t.Error("the worker was not interrupted")
	}
	finish <- link.Result{}
	if m := c.published(); m.text != idle || m.ParentID != cell {
		t.Errorf("at the end of the cell: %s", m.text)
	}
	c.reply(transport.Shell, cell)
}

// User expressions are code too and may run forever, so an interrupt ends them.
func TestInterruptOfUserExpressions(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	began := make(chan struct{})
	c.worker.evaluate = func(ctx context.Context) (link.Evaluations, error) {
		close(began)
		<-ctx.Done()
		return link.Evaluations{}, ctx.Err()
	}
	id := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"x","user_expressions":{"a":"f()"}}`)
	<-began
	c.reply(transport.Control, c.send(transport.Control, wire.InterruptRequest, `{}`))
	if reply := c.reply(transport.Shell, id); !strings.Contains(reply, `"a":{"status":"error","ename":"worker error","evalue":"context canceled"`) {
		t.Error(reply)
	}
}

func TestStopOnError(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		content string // content of the first cell
		want    string // status of the queued cells
	}{
		{"by default", `{"code":"fail"}`, "aborted"},
		{"asked for", `{"code":"fail","stop_on_error":true}`, "aborted"},
		{"declined", `{"code":"fail","stop_on_error":false}`, "ok"},
		{"no error", `{"code":"x"}`, "ok"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t)
			began, finish := blockedCell(c)
			blocked := c.worker.execute
			c.worker.execute = func(ctx context.Context, r link.Execute) (link.Result, error) {
				if r.Code == "next" {
					return link.Result{}, nil
				}
				return blocked(ctx, r)
			}
			first := c.send(transport.Shell, wire.ExecuteRequest, row.content)
			<-began
			queued := []string{
				c.send(transport.Shell, wire.ExecuteRequest, `{"code":"next"}`),
				c.send(transport.Shell, wire.ExecuteRequest, `{"code":"next"}`),
			}
			history := c.send(transport.Shell, wire.HistoryRequest, `{"hist_access_type":"tail","n":0}`)
			lane := c.kernel.lanes[cells]
			if err := lane.wait(c.ctx, func() bool { return len(lane.waiting) == 3 }); err != nil {
				t.Fatal(err)
			}
			result := link.Result{}
			if strings.Contains(row.content, "fail") {
				result.Error = &link.CellError{Name: "panic", Value: "boom"}
			}
			finish <- result
			c.untilIdle(first)
			c.reply(transport.Shell, first)
			for _, id := range queued {
				published := c.untilIdle(id)
				reply := c.reply(transport.Shell, id)
				if !strings.Contains(reply, `"status":"`+row.want+`","execution_count":`) || row.want == "aborted" && len(published) > 0 {
					t.Errorf("queued cell: %s, published %q", reply, published)
				}
			}
			// Only cells are aborted.
			c.untilIdle(history)
			if reply := c.reply(transport.Shell, history); reply != `history_reply {"status":"ok","history":[]}` {
				t.Errorf("history: %s", reply)
			}
			// What the client sends when it knows runs again.
			if _, reply := c.request(transport.Shell, wire.ExecuteRequest, `{"code":"next"}`); !strings.Contains(reply, `"status":"ok"`) {
				t.Errorf("the next cell: %s", reply)
			}
		})
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	c.worker.interrupted = make(chan struct{}, 1)
	c.worker.execute = func(ctx context.Context, r link.Execute) (link.Result, error) {
		c.kernel.Stream(r.Cell, "stdout", []byte("first"))
		c.kernel.Stream(r.Cell, "stdout", []byte(" and more"))
		reply, err := c.kernel.Input(ctx, link.InputRequest{Prompt: "name? ", Password: true})
		if err != nil {
			return link.Result{Error: &link.CellError{Name: "input", Value: err.Error()}}, nil
		}
		text, err := json.Marshal(reply)
		return link.Result{Data: map[string]any{"text/plain": string(text)}}, err
	}
	prompt := func(id string) received {
		t.Helper()
		m := c.receive(transport.Stdin)
		if m.text != `input_request {"prompt":"name? ","password":true}` || m.ParentID != id || string(m.Identities[0]) != "client" {
			t.Errorf("got %s for %s to %q", m.text, m.ParentID, m.Identities)
		}
		return m
	}
	result := func(id, want string) {
		t.Helper()
		texts := c.untilIdle(id)
		// All output came before the prompt, so it was joined at most.
		if joined := strings.Join(texts, "\n"); !strings.Contains(joined, want) {
			t.Errorf("got %s, want %s", joined, want)
		}
		c.reply(transport.Shell, id)
	}

	id := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"ask"}`)
	m := prompt(id)
	c.sendMessage(transport.Stdin, wire.Outgoing{Type: wire.InputReply, Parent: json.RawMessage(`{"msg_id":"another"}`), Content: wire.Line{Value: "wrong"}})
	c.sendMessage(transport.Stdin, wire.Outgoing{Type: wire.InputReply, Content: json.RawMessage(`{"value":7}`)})
	c.sendMessage(transport.Stdin, wire.Outgoing{Type: wire.InputReply, Parent: m.RawHeader, Content: wire.Line{Value: "Ada"}})
	result(id, `{\"line\":\"Ada\",\"eof\":false}`)

	id = c.send(transport.Shell, wire.ExecuteRequest, `{"code":"ask"}`)
	prompt(id)
	// jupyter_client does not say which request it answers.
	c.send(transport.Stdin, wire.InputReply, `{"value":"\u0004"}`)
	result(id, `{\"line\":\"\\u0004\",\"eof\":false}`) // link.EndOfInput

	id = c.send(transport.Shell, wire.ExecuteRequest, `{"code":"ask","allow_stdin":false}`)
	result(id, `{\"line\":\"\",\"eof\":true}`)

	id = c.send(transport.Shell, wire.ExecuteRequest, `{"code":"ask"}`)
	prompt(id)
	interrupt := c.send(transport.Control, wire.InterruptRequest, `{}`)
	c.reply(transport.Control, interrupt)
	if reply := c.reply(transport.Shell, id); !strings.Contains(reply, `"ename":"input","evalue":"interrupted"`) {
		t.Errorf("interrupted: %s", reply)
	}
}

func TestForgedAndGarbledMessagesAreIgnored(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	forger, err := wire.NewCodec(wire.Scheme, []byte("another key"))
	if err != nil {
		t.Fatal(err)
	}
	forged, err := forger.Encode(wire.Outgoing{Type: wire.ShutdownRequest, Content: wire.Shutdown{}})
	if err != nil {
		t.Fatal(err)
	}
	honest, err := c.codec.Encode(wire.Outgoing{ID: "once", Identities: [][]byte{[]byte("client")}, Type: wire.InterruptRequest, Content: empty{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, channel := range []transport.Channel{transport.Shell, transport.Control, transport.Stdin} {
		for _, frames := range [][][]byte{forged, {}, {nil}, {[]byte("<IDS|MSG>")}, {[]byte("id"), []byte("<IDS|MSG>"), {}, {}, {}, {}, {}}} {
			c.sockets.Deliver(channel, frames)
		}
	}
	c.sockets.Deliver(transport.Control, honest)
	c.sockets.Deliver(transport.Control, honest) // a replay
	c.untilIdle("once")
	c.reply(transport.Control, "once")
	c.quiet()
	for range 16 {
		select {
		case line := <-c.log:
			if !strings.Contains(line, "message dropped") || strings.Contains(line, string(key)+`"`) {
				t.Error(line)
			}
		case <-c.ctx.Done():
			t.Fatal("a message was dropped without a word")
		}
	}
}

func TestWelcome(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for _, topic := range []string{"", "stream", "\xff"} {
		c.sockets.Deliver(transport.IOPub, [][]byte{[]byte(topic)})
	}
	for _, topic := range []string{"", "stream"} {
		m := c.published()
		if m.text != `iopub_welcome {"subscription":"`+topic+`"}` || string(m.Identities[0]) != topic || m.ParentID != "" {
			t.Errorf("%s under topic %q with parent %q", m.text, m.Identities, m.ParentID)
		}
	}
	c.quiet()
}

func TestLateOutputKeepsItsParent(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	first := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"x"}`)
	c.untilIdle(first)
	second := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"y"}`)
	c.untilIdle(second)
	c.kernel.Stream(1, "stdout", []byte("late"))
	if m := c.published(); m.text != `stream {"name":"stdout","text":"late"}` || m.ParentID != first {
		t.Errorf("%s has parent %s, want %s", m.text, m.ParentID, first)
	}
}

// Requests that are not stored in the history have no execution count, and do not get
// output of other cells.
func TestLateOutputWithUncountedCells(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	first := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"x"}`)
	c.untilIdle(first)
	for _, content := range []string{`{"code":"y","silent":true}`, `{"code":"y","store_history":false}`} {
		c.untilIdle(c.send(transport.Shell, wire.ExecuteRequest, content))
		c.kernel.Stream(1, "stdout", []byte("late"))
		if m := c.published(); m.text != `stream {"name":"stdout","text":"late"}` || m.ParentID != first {
			t.Errorf("%s: %s has parent %s, want %s", content, m.text, m.ParentID, first)
		}
	}
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	for _, channel := range []transport.Channel{transport.Control, transport.Shell} {
		c := newClient(t)
		texts, reply := c.request(channel, wire.ShutdownRequest, `{"restart":true}`)
		const want = `shutdown_reply {"status":"ok","restart":true}`
		if reply != want || !slices.Equal(texts, []string{want}) {
			t.Errorf("%s: %s, published %q", channel, reply, texts)
		}
		select {
		case <-c.kernel.finished:
		case <-c.ctx.Done():
			t.Error("the kernel does not end")
		}
	}
}

// A cell that is running when the kernel shuts down is still answered.
func TestEndWhileACellRuns(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	began, finish := blockedCell(c)
	id := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"x"}`)
	<-began
	ended := make(chan struct{})
	go func() { c.end(); close(ended) }()
	finish <- link.Result{Error: &link.CellError{Name: "worker died"}}
	c.untilIdle(id)
	c.reply(transport.Shell, id)
	<-ended
}
