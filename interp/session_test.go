package interp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/interp"
)

// limit is how long one cell may take in a test. The slowest takes a second on a slow machine
// under the race detector.
const limit = 5 * time.Minute

// buffer collects the output of cells. Its methods may be called from any goroutine.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// take returns what was written since the previous call.
func (b *buffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.text.String()
	b.text.Reset()
	return text
}

// notebook is a session with its streams.
type notebook struct {
	*interp.Session
	out, err *buffer
	cell     int
}

func newNotebook(t testing.TB, options ...interp.Option) *notebook {
	t.Helper()
	n := &notebook{out: &buffer{}, err: &buffer{}}
	s, err := interp.New(append([]interp.Option{interp.Stdout(n.out), interp.Stderr(n.err), interp.Stdin(strings.NewReader(""))}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	interp.BePatient(s)
	n.Session = s
	t.Cleanup(func() { s.Close() })
	return n
}

// run executes a cell and describes its outcome: the output, then "= value", or "! kind:
// message".
func (n *notebook) run(src string) string {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	n.cell++
	result, err := n.Execute(ctx, n.cell, src)
	text := n.out.take()
	if e := n.err.take(); e != "" {
		text += "stderr: " + e
	}
	var failure *interp.Error
	switch {
	case errors.As(err, &failure):
		text = line(text) + "! " + failure.Name + ": " + failure.Value
	case err != nil:
		text = line(text) + fmt.Sprintf("! %T is no *interp.Error: %v", err, err)
	case result.Data != nil:
		text = line(text) + fmt.Sprint("= ", result.Data["text/plain"])
	}
	return text
}

// line adds a line break to text if its last line has none.
func line(text string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// peek returns what was written since the last take.
func (b *buffer) peek() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// must runs a cell and compares its outcome.
func (n *notebook) must(t *testing.T, src, want string) {
	t.Helper()
	if got := n.run(src); got != want {
		t.Errorf("%q\n got %q\nwant %q", src, got, want)
	}
}
