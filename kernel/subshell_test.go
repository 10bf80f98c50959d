package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// sendTo sends a request to a subshell.
func (c *client) sendTo(subshell string, typ wire.Type, content string) string {
	c.t.Helper()
	return c.sendMessage(transport.Shell, wire.Outgoing{Type: typ, Content: json.RawMessage(content), Subshell: subshell})
}

// Questions in different subshells do not wait for each other.
func TestSubshells(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	c.worker.complete = func(r link.Complete) (link.Completion, error) {
		if r.Code == "slow" {
			close(asked)
			<-answer
		}
		return link.Completion{Start: r.Offset, End: r.Offset}, nil
	}
	create := func() string {
		_, reply := c.request(transport.Control, wire.CreateSubshellRequest, `{}`)
		var content struct {
			ID string `json:"subshell_id"`
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(reply, "create_subshell_reply ")), &content); err != nil || content.ID == "" {
			t.Fatalf("%s: %v", reply, err)
		}
		return content.ID
	}
	first, second := create(), create()
	_, reply := c.request(transport.Control, wire.ListSubshellRequest, `{}`)
	low, high := min(first, second), max(first, second)
	if want := fmt.Sprintf(`list_subshell_reply {"status":"ok","subshell_id":[%q,%q]}`, low, high); reply != want {
		t.Errorf("got %s, want %s", reply, want)
	}

	slow := c.sendTo(first, wire.CompleteRequest, `{"code":"slow","cursor_pos":0}`)
	<-asked
	if got := c.published(); got.text != busy || got.ParentID != slow {
		t.Fatalf("published %s", got.text)
	}
	waiting := c.sendTo(first, wire.CompleteRequest, `{"code":"waits","cursor_pos":0}`)
	fast := c.sendTo(second, wire.CompleteRequest, `{"code":"fast","cursor_pos":0}`)
	c.untilIdle(fast)
	if reply := c.reply(transport.Shell, fast); !strings.Contains(reply, `"status":"ok"`) {
		t.Error(reply)
	}

	// Requests that are waiting in a deleted subshell are answered with an error.
	if texts, reply := c.request(transport.Control, wire.DeleteSubshellRequest, fmt.Sprintf(`{"subshell_id":%q}`, first)); reply != `delete_subshell_reply {"status":"ok"}` {
		t.Errorf("%q %s", texts, reply)
	}
	close(answer)
	if got := c.published(); got.text != idle || got.ParentID != slow {
		t.Fatalf("published %s", got.text)
	}
	c.reply(transport.Shell, slow)
	c.untilIdle(waiting)
	if reply := c.reply(transport.Shell, waiting); !strings.Contains(reply, "there is no subshell") {
		t.Error(reply)
	}

	// So are requests to a subshell that does not exist; execute_reply has its execution
	// count.
	for typ, content := range map[wire.Type]string{wire.CompleteRequest: `{"code":"x","cursor_pos":0}`, wire.ExecuteRequest: `{"code":"x"}`} {
		id := c.sendTo("none", typ, content)
		c.untilIdle(id)
		if reply := c.reply(transport.Shell, id); !strings.Contains(reply, `"ename":"bad request"`) || !strings.Contains(reply, `"status":"error"`) {
			t.Error(reply)
		}
	}
	if _, reply := c.request(transport.Control, wire.DeleteSubshellRequest, `{"subshell_id":"none"}`); !strings.Contains(reply, `"status":"error"`) {
		t.Error(reply)
	}
}

// Cells run in order, whichever subshell they name.
func TestCellInSubshell(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	c.worker.execute = func(_ context.Context, r link.Execute) (link.Result, error) {
		return link.Result{Data: map[string]any{"text/plain": r.Code}}, nil
	}
	id, err := c.kernel.subshells.create()
	if err != nil {
		t.Fatal(err)
	}
	cell := c.sendTo(id, wire.ExecuteRequest, `{"code":"x"}`)
	if got := c.untilIdle(cell); len(got) != 2 || !strings.Contains(got[1], `"text/plain":"x"`) {
		t.Errorf("published %q", got)
	}
	c.reply(transport.Shell, cell)
}

// The number of subshells is limited.
func TestSubshellsAreBounded(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for range maxSubshells {
		if _, err := c.kernel.subshells.create(); err != nil {
			t.Fatal(err)
		}
	}
	if _, reply := c.request(transport.Control, wire.CreateSubshellRequest, `{}`); !strings.Contains(reply, "256 subshells") {
		t.Error(reply)
	}
}
