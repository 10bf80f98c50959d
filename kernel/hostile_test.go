package kernel

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
	"github.com/quernlab/quern/kernel/wire/wiretest"
)

// Each field of each request gets a value of each type, on shell and on control. The
// kernel must publish busy, send a reply if the type has one, publish idle, and serve the
// next request.
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

// Invalid replies on stdin leave the request for input open.
func TestWrongInput(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for _, content := range wiretest.Wrong("input_reply") {
		c.send(transport.Stdin, wire.InputReply, content)
	}
	c.send(transport.Stdin, wire.ExecuteRequest, `{"code":"x"}`)
	c.quiet()
}
