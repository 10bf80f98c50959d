package kernel

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// lateWorker runs cells whose lines are late output of other cells: "print 1 text", "show
// 1 id text", "update 1 id text", "clear 1". "go" leaves a goroutine running.
func lateWorker(c *client) {
	c.worker.execute = func(_ context.Context, r link.Execute) (result link.Result, err error) {
		for line := range strings.Lines(r.Code) {
			verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			var cell int
			var id, text string
			switch verb {
			case "go":
				result.Goroutines = true
			case "print":
				number, text, _ := strings.Cut(rest, " ")
				fmt.Sscan(number, &cell)
				c.kernel.Stream(cell, "stdout", []byte(text+"\n"))
			case "show", "update":
				fmt.Sscan(rest, &cell, &id, &text)
				kind := map[string]string{"show": "display", "update": "update"}[verb]
				err = c.kernel.Display(link.Display{Cell: cell, Kind: kind, ID: id, Data: map[string]any{"text/plain": text, "text/html": "<b>" + text + "</b>"}})
			case "clear":
				fmt.Sscan(rest, &cell)
				err = c.kernel.Display(link.Display{Cell: cell, Kind: "clear"})
			}
		}
		return result, err
	}
}

// own returns the messages of a request, except busy, execute_input and idle, as received
// by a client that drops messages of other requests.
func (c *client) own(t *testing.T, user, silent bool, code string) []string {
	t.Helper()
	id := c.send(transport.Shell, wire.ExecuteRequest, fmt.Sprintf(`{"code":%q,"allow_stdin":%v,"silent":%v}`, code, user, silent))
	texts := []string{}
	for {
		m := c.published()
		switch {
		case m.ParentID != id || m.text == busy || strings.HasPrefix(m.text, "execute_input"):
		case m.text == idle:
			c.reply(transport.Shell, id)
			return texts
		default:
			texts = append(texts, m.text)
		}
	}
}

func display(kind, id, data string) string {
	return fmt.Sprintf(`%s {"data":%s,"metadata":{},"transient":{"display_id":"%s"}}`, kind, data, id)
}

func TestLateOutputReachesClientsOfOneCell(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	lateWorker(c)
	for i, row := range []struct {
		before       func()
		user, silent bool
		code         string
		want         []string
	}{
		{code: "go\nshow 1 shown in", want: []string{
			display("display_data", "shown", `{"text/html":"<b>in</b>","text/plain":"in"}`),
			display("display_data", "late-1", `{}`),
		}},
		{code: "print 1 tick 1\nprint 2 mine", want: []string{ // cell 2
			`stream {"name":"stdout","text":"mine\n"}`,
			display("update_display_data", "late-1", `{"text/plain":"tick 1\n"}`),
		}},
		{code: "", want: []string{}}, // nothing has changed
		{
			before: func() { c.kernel.Stream(1, "stderr", []byte("between <cells>\n")) },
			want:   []string{display("update_display_data", "late-1", `{"text/plain":"tick 1\nbetween <cells>\n"}`)},
		},
		// A display of the cell's own time keeps its place.
		{code: "update 1 shown now", want: []string{
			display("update_display_data", "shown", `{"text/html":"<b>now</b>","text/plain":"now"}`),
		}},
		{code: "clear 1\nshow 1 figure first", want: []string{
			display("update_display_data", "late-1", `{"text/html":"<b>first</b>","text/plain":"first"}`),
		}},
		{code: "update 1 figure last\nprint 1 <end>", want: []string{
			display("update_display_data", "late-1", `{"text/html":"<div><b>last</b></div>\n<pre>&lt;end&gt;\n</pre>\n","text/plain":"last\n<end>\n"}`),
		}},
		// A silent cell publishes nothing; the next one does.
		{code: "clear 1\nprint 1 unheard", silent: true, want: []string{}},
		{want: []string{display("update_display_data", "late-1", `{"text/plain":"unheard\n"}`)}},
		// Goroutines that the session does not know, of compiled code.
		{code: "print 3 server", want: []string{display("display_data", "late-3", `{"text/plain":"server\n"}`)}},
		{code: "print 3 again", want: []string{display("update_display_data", "late-3", `{"text/plain":"server\nagain\n"}`)}},
		// JupyterLab shows what has another parent, and gets nothing twice.
		{user: true, code: "go\nprint 1 late\nupdate 1 shown later", want: []string{}},
		{user: true, want: []string{}},
	} {
		if row.before != nil {
			row.before()
		}
		if got := c.own(t, row.user, row.silent, row.code); strings.Join(got, "\n") != strings.Join(row.want, "\n") {
			t.Errorf("cell %d (%q):\ngot  %s\nwant %s", i+1, row.code, strings.Join(got, "\n     "), strings.Join(row.want, "\n     "))
		}
	}
}

// The message with its own cell as parent is published for all clients.
func TestLateOutputKeepsItsParentForAllClients(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"true", "false"} {
		c := newClient(t)
		lateWorker(c)
		first := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"go","allow_stdin":`+user+`}`)
		c.untilIdle(first)
		c.send(transport.Shell, wire.ExecuteRequest, `{"code":"print 1 tick\nshow 1 id text\nupdate 1 id text","allow_stdin":`+user+`}`)
		got := map[string]int{}
		for range 6 { // busy, execute_input, and these
			if m := c.published(); m.ParentID == first {
				got[string(m.Header.Type)]++
			}
		}
		if fmt.Sprint(got) != "map[display_data:1 stream:1 update_display_data:1]" {
			t.Errorf("user %s: published for the first cell: %v", user, got)
		}
	}
}

// Comm messages have the running cell as parent, for clients that drop others.
func TestLateMessagesToWidgets(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	c.own(t, false, false, "")
	message := func(i int) {
		if err := c.kernel.Comm(link.Comm{Kind: link.CommMessage, ID: "id", Cell: 1, Data: fmt.Appendf(nil, `{"i":%d}`, i)}); err != nil {
			t.Error(err)
		}
	}
	message(1) // between cells
	c.worker.execute = func(context.Context, link.Execute) (link.Result, error) {
		message(2)
		return link.Result{}, nil
	}
	want := `comm_msg {"comm_id":"id","data":{"i":1}} comm_msg {"comm_id":"id","data":{"i":2}}`
	if got := strings.Join(c.own(t, false, false, ""), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLateOutputIsBounded(t *testing.T) {
	t.Parallel()
	var l lateOutput
	l.begin(1, nil, false)
	l.end(1, true)
	chunk := make([]byte, 1<<20)
	for range 100 {
		l.stream(1, chunk)
	}
	for cell := range 2 * maxAreas {
		l.stream(cell+2, []byte("x"))
	}
	if l.size > maxLate || len(l.areas) > maxAreas || len(l.order) > maxAreas {
		t.Errorf("%d bytes in %d areas", l.size, len(l.areas))
	}
	l.begin(3*maxAreas, nil, false)
	for _, m := range l.end(3*maxAreas, false) {
		if text, _ := m.Content.(wire.Display).Data["text/plain"].(string); text == "" {
			t.Errorf("an empty message: %v", m)
		}
	}
	a := lateArea{total: new(int), pieces: []piece{{text: []byte("begin")}}, full: true}
	if data, _ := a.bundle(); !strings.Contains(fmt.Sprint(data), "is left out") {
		t.Errorf("the missing output is not reported: %v", data)
	}
}

// After a request that nbclient does not send, late output is published only once.
func TestLateOutputIsDoubledForOneClientOnly(t *testing.T) {
	t.Parallel()
	request := func(session string, typ wire.Type) func(*lateOutput) {
		return func(l *lateOutput) {
			l.observe(&request{Message: &wire.Message{Header: wire.Header{Session: session, Type: typ}}})
		}
	}
	for _, row := range []struct {
		name string
		do   []func(*lateOutput)
		want int // number of messages at the end of the next cell
	}{
		{"nbclient", []func(*lateOutput){request("a", wire.KernelInfoRequest)}, 1},
		{"a second client", []func(*lateOutput){request("b", wire.KernelInfoRequest)}, 0},
		{"completion", []func(*lateOutput){request("a", wire.CompleteRequest)}, 0},
		{"a widget that a user moves", []func(*lateOutput){request("a", wire.CommMsg)}, 0},
		{"two cells at once", []func(*lateOutput){request("a", wire.ExecuteRequest), request("a", wire.ExecuteRequest)}, 0},
		{"a user", []func(*lateOutput){func(l *lateOutput) { l.begin(7, nil, true) }, func(l *lateOutput) { l.end(7, false) }}, 0},
	} {
		var l lateOutput
		first := request("a", wire.ExecuteRequest)
		first(&l)
		l.begin(1, nil, false)
		l.end(1, true)
		l.answered()
		for _, do := range row.do {
			do(&l)
		}
		l.stream(1, []byte("tick"))
		first(&l)
		l.begin(2, nil, false)
		if got := l.end(2, false); len(got) != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}
