package interp_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/quernlab/quern/interp"
)

// person is a standard input that returns some lines and then blocks until its reader gives up.
// It counts the reads.
type person struct {
	lines  []string
	asked  atomic.Int64
	folder string // in which the first read creates the file asked
	closed bool   // after the last line, return io.EOF
}

func (p *person) Read(b []byte) (int, error) { return p.ReadContext(context.Background(), b) }

func (p *person) ReadContext(ctx context.Context, b []byte) (int, error) {
	if p.asked.Add(1) == 1 {
		if err := os.WriteFile(filepath.Join(p.folder, "asked"), nil, 0o600); err != nil {
			return 0, err
		}
	}
	if len(p.lines) > 0 {
		n := copy(b, p.lines[0])
		p.lines = p.lines[1:]
		return n, nil
	}
	if p.closed {
		return 0, io.EOF
	}
	<-ctx.Done()
	return 0, ctx.Err()
}

// A child process that is started with os.Stdin reads the input of cells. If it does not read,
// the session does not read either.
func TestChildInput(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, cell string
		lines      []string
		closed     bool
		want       string
		asked      int64 // at least; a busy machine may let the session ask once more
	}{
		{"all", `c := exec.Command("cat"); c.Stdin = os.Stdin; out, err := c.Output(); string(out), err`, []string{"a\n", "b\n"}, true, `= "a\nb\n", <nil>`, 3},
		{"the first line", `c := exec.Command("head", "-n", "1"); c.Stdin = os.Stdin; out, err := c.CombinedOutput(); string(out), err`, []string{"a\n"}, false, `= "a\n", <nil>`, 1},
		{"asked for, and ended", `c := exec.Command("sh", "-c", "cat & until [ -e FOLDER/asked ]; do sleep 0.01; done; kill $!; true"); c.Stdin = os.Stdin; c.Start(); c.Wait()`, nil, false, "", 1},
		{"a process", "r, w, _ := os.Pipe()\np, _ := os.StartProcess(\"/bin/sh\", []string{\"sh\", \"-c\", \"read x; echo got $x\"}, &os.ProcAttr{Files: []*os.File{os.Stdin, w, nil}})\n" +
			"w.Close()\np.Wait()\nout, _ := io.ReadAll(r)\nstring(out)", []string{"a\n"}, false, `= "got a\n"`, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := &person{lines: row.lines, closed: row.closed, folder: t.TempDir()}
			n := newNotebook(t, interp.Stdin(p))
			n.must(t, strings.ReplaceAll(row.cell, "FOLDER", p.folder), row.want)
			if got := p.asked.Load(); got < row.asked || got > row.asked+1 {
				t.Errorf("asked %d times, want %d", got, row.asked)
			}
		})
	}
	p := &person{folder: t.TempDir()}
	n := newNotebook(t, interp.Stdin(p))
	interp.AskLate(n.Session)
	n.must(t, `c := exec.Command("true"); c.Stdin = os.Stdin; c.Run()`, "")
	if got := p.asked.Load(); got != 0 {
		t.Errorf("a child that reads nothing was asked for %d times", got)
	}
}
