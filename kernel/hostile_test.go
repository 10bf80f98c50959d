package kernel

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
	"github.com/quernlab/quern/kernel/wire/wiretest"
)

// Each field of each request with a value of each type, on shell and on control:
// busy, one reply where there is one, idle, and the next request is served.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	for typ := range specified {
		if typ == wire.ShutdownRequest {
			continue // see TestWrongShutdown
		}
		t.Run(string(typ), func(t *testing.T) {
			t.Parallel()
			for _, channel := range []transport.Channel{transport.Shell, transport.Control} {
				c := newClient(t)
				for _, content := range wiretest.Wrong(string(typ)) {
					id := c.send(channel, typ, content)
					c.untilIdle(id)
					if reply := table[typ].reply; reply != "" {
						if text := c.reply(channel, id); !strings.HasPrefix(text, string(reply)+" ") {
							t.Errorf("%s: %s", content, text)
						}
					}
				}
				c.quiet()
			}
		})
	}
}

// A shutdown whose content is wrong does not end the kernel.
func TestWrongShutdown(t *testing.T) {
	t.Parallel()
	for _, content := range []string{`{"restart":1}`, `{"restart":"no"}`, `{"restart":[]}`} {
		c := newClient(t)
		if _, reply := c.request(transport.Control, wire.ShutdownRequest, content); !strings.Contains(reply, `"status":"error"`) {
			t.Errorf("%s: %s", content, reply)
		}
		c.quiet()
	}
}

// Wrong answers to a question on stdin leave it open.
func TestWrongInput(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for _, content := range wiretest.Wrong("input_reply") {
		c.send(transport.Stdin, wire.InputReply, content)
	}
	c.send(transport.Stdin, wire.ExecuteRequest, `{"code":"x"}`)
	c.quiet()
}
