package link

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// TestOversizedMessageIsNotBuilt checks that a message which is too large for a frame is
// rejected without allocating its text, and that the connection remains usable.
func TestOversizedMessageIsNotBuilt(t *testing.T) {
	text := strings.Repeat("<", 32<<20)
	here, there := net.Pipe()
	defer there.Close()
	go func() { _, _ = io.Copy(io.Discard, there) }()
	c := NewConn(here)
	defer c.Close()
	many := make([]any, MaxFrame/len(text)+1)
	for i := range many {
		many[i] = text
	}
	zeros := make([]byte, MaxFrame+1) // of which nothing is read
	page := unsafe.String(&zeros[0], len(zeros))
	for name, data := range map[string]map[string]any{
		"page":  {"text/html": page, "text/plain": page},
		"list":  {"application/json": many},
		"map":   {"application/json": map[string]any{"a": many[:len(many)/2], "b": many[len(many)/2:]}},
		"bytes": {"image/png": make([]byte, MaxFrame/4*3+3)},
		"raw":   {"application/json": []json.RawMessage{make([]byte, MaxFrame/2), make([]byte, MaxFrame/2)}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := c.Notify("display", Display{Data: data})
		runtime.ReadMemStats(&after)
		var size *SizeError
		if !errors.As(err, &size) || size.Method != "display" {
			t.Errorf("%s: got %v", name, err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", name, grown)
		}
	}
	if err := c.Notify("display", Display{Data: map[string]any{"text/html": "<b>"}}); err != nil {
		t.Error(err)
	}
}

func TestEncodeKeepsMarkup(t *testing.T) {
	got, err := encode("display", map[string]any{"text/html": "<b>&amp;</b>", "n": 1.5, "cycle": (*int)(nil)})
	if want := `{"cycle":null,"n":1.5,"text/html":"<b>&amp;</b>"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
