package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/kernel/link"
)

const token = "0123456789abcdef"

// plain returns output with readable marks.
func plain(b *bytes.Buffer) string {
	return strings.NewReplacer("\x1eq:"+token, "<", "\x1e", ">").Replace(b.String())
}

// stubWorker runs a function as its cell.
type stubWorker struct {
	link.Worker
	execute func() error
}

func (w stubWorker) Execute(context.Context, link.Execute) (link.Result, error) {
	return link.Result{}, w.execute()
}

// stubHost keeps displays.
type stubHost struct {
	link.RankGroup
	displays []link.Display
}

func (f *stubHost) Display(d link.Display) error {
	f.displays = append(f.displays, d)
	return nil
}

func (f *stubHost) Comm(link.Comm) error { return nil }

func (f *stubHost) Input(_ context.Context, r link.InputRequest) (link.InputReply, error) {
	return link.InputReply{Line: fmt.Sprint(r.Mark)}, nil
}

func TestMarks(t *testing.T) {
	t.Parallel()
	var out, errout bytes.Buffer
	ours, theirs := net.Pipe()
	p := New(theirs, &out, &errout, token)
	host, worker := &stubHost{}, stubWorker{}
	worker.execute = func() error {
		for _, step := range []func() error{
			func() error { _, err := fmt.Fprint(p.Stdout(0), "a"); return err },
			func() error { return p.Host().Display(link.Display{Kind: "display"}) },
			func() error { _, err := fmt.Fprint(p.Stderr(0), "b"); return err },
			func() error { _, err := fmt.Fprint(p.Stderr(2), "c"); return err },
			func() error { _, err := fmt.Fprint(p.Stdout(7), "d"); return err },
			func() error {
				if p.Host().Display(link.Display{Kind: "display", Data: map[string]any{"x": func() {}}}) == nil {
					return errors.New("a function was sent")
				}
				return nil
			},
			func() error {
				reply, err := p.Host().Input(t.Context(), link.InputRequest{})
				if reply.Line != "5" {
					return fmt.Errorf("the prompt has mark %s", reply.Line)
				}
				return err
			},
		} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	}
	conn := link.NewConn(ours)
	var serving sync.WaitGroup
	serving.Go(func() { _ = link.ServeHost(t.Context(), conn, host, func() {}) })
	serving.Go(func() { _ = p.Serve(t.Context(), worker) })
	result, err := link.NewClient(conn).Execute(t.Context(), link.Execute{Cell: 7}, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Output after the end of a cell names its cell, since the next cell may have begun.
	fmt.Fprint(p.Stdout(7), "late")
	conn.Close()
	serving.Wait()
	if result.Mark != 6 {
		t.Errorf("the end has mark %d", result.Mark)
	}
	// c is the start of a cell, b output of another cell, m a display, t the switch to
	// the other stream, e a flush.
	if got, want := plain(&out), "<c7>a<m1><t2><t3>d<m4><e5><e6><b7>late<b0>"; got != want {
		t.Errorf("stdout\ngot  %s\nwant %s", got, want)
	}
	if got, want := plain(&errout), "<c7><m1><t2>b<b2>c<b0><t3><m4><e5><e6>"; got != want {
		t.Errorf("stderr\ngot  %s\nwant %s", got, want)
	}
	// For the display that cannot be encoded, only the mark was sent.
	if len(host.displays) != 2 || host.displays[0].Mark != 1 || host.displays[1].Kind != "" || host.displays[1].Mark != 4 {
		t.Errorf("displays %+v", host.displays)
	}
}

// Serve does not wait for a cell when the kernel process is gone.
func TestServeEndsWithTheFront(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	p := New(theirs, &bytes.Buffer{}, &bytes.Buffer{}, token)
	began, end := make(chan struct{}), make(chan struct{})
	served := make(chan error, 1)
	go func() {
		served <- p.Serve(t.Context(), stubWorker{execute: func() error { close(began); <-end; return nil }})
	}()
	conn := link.NewConn(ours)
	go func() { _ = link.ServeHost(t.Context(), conn, &stubHost{}, func() {}) }()
	go func() { _, _ = link.NewClient(conn).Execute(t.Context(), link.Execute{Cell: 1}, 1) }()
	<-began
	conn.Close()
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Minute):
		t.Error("it waits for the cell")
	}
	close(end)
}

func TestOpenWithoutAFront(t *testing.T) {
	t.Setenv(LinkVariable, "")
	if _, err := Open(); !errors.Is(err, ErrNoKernel) {
		t.Errorf("got %v", err)
	}
	t.Setenv(MarkVariable, token)
	t.Setenv(LinkVariable, "3,4")
	t.Setenv(RankVariable, "2/2")
	if _, err := Open(); err == nil || !strings.Contains(err.Error(), RankVariable) {
		t.Errorf("got %v", err)
	}
	t.Setenv(RankVariable, "1/2")
	t.Setenv(MarkVariable, token)
	t.Setenv(LinkVariable, "three")
	if _, err := Open(); err == nil || !strings.Contains(err.Error(), LinkVariable) {
		t.Errorf("got %v", err)
	}
}
