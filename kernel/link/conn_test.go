package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// timeout ends a test whose event never comes; the slowest takes milliseconds.
const timeout = 5 * time.Minute

// pair returns two connected ends that are being served.
func pair(t *testing.T, left, right Handler) (*Conn, *Conn) {
	t.Helper()
	a, b := net.Pipe()
	ca, cb := NewConn(a), NewConn(b)
	var served sync.WaitGroup
	served.Go(func() { _ = Serve(t.Context(), ca, left) })
	served.Go(func() { _ = Serve(t.Context(), cb, right) })
	t.Cleanup(func() { ca.Close(); cb.Close(); served.Wait() })
	return ca, cb
}

var refuse = HandlerFunc(func(_ context.Context, method string, _ json.RawMessage) (any, error) {
	return nil, fmt.Errorf("unexpected %s", method)
})

func TestCallOverlapping(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	release := make(chan struct{})
	c, _ := pair(t, refuse, HandlerFunc(func(ctx context.Context, method string, body json.RawMessage) (any, error) {
		if method == "slow" {
			<-release
		}
		return body, nil
	}))
	slow := make(chan error, 1)
	go func() { slow <- c.Call(ctx, "slow", 1, nil) }()
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			var got int
			if err := c.Call(ctx, "echo", i, &got); err != nil || got != i {
				t.Errorf("echo of %d: %d, %v", i, got, err)
			}
		})
	}
	wg.Wait()
	close(release)
	if err := <-slow; err != nil {
		t.Error(err)
	}
}

func TestEventsComeBeforeTheResult(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var seen []int // needs no lock: events are handled in order
	var back *Conn
	worker := HandlerFunc(func(context.Context, string, json.RawMessage) (any, error) {
		for i := range 100 {
			if err := back.Notify("event", i); err != nil {
				return nil, err
			}
		}
		return none{}, nil
	})
	c, cb := pair(t, HandlerFunc(func(_ context.Context, _ string, body json.RawMessage) (any, error) {
		var i int
		err := json.Unmarshal(body, &i)
		seen = append(seen, i)
		return nil, err
	}), worker)
	back = cb
	if err := c.Call(ctx, "run", none{}, nil); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 100 {
		t.Fatalf("%d of 100 events before the result", len(seen))
	}
	for i, v := range seen {
		if i != v {
			t.Fatalf("event %d came as number %d", v, i)
		}
	}
}

func TestCallCanceled(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), make(chan struct{})
	c, _ := pair(t, refuse, HandlerFunc(func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
		close(started)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if err := c.Call(ctx, "wait", none{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	select {
	case <-ended:
	case <-time.After(timeout):
		t.Error("the handler was not canceled")
	}
}

func TestHandlerFailures(t *testing.T) {
	t.Parallel()
	c, _ := pair(t, refuse, HandlerFunc(func(_ context.Context, method string, _ json.RawMessage) (any, error) {
		switch method {
		case "panic":
			panic("boom")
		case "unencodable":
			return func() {}, nil
		}
		return nil, errors.New("refused")
	}))
	for method, want := range map[string]string{"panic": "boom", "unencodable": "json", "error": "refused"} {
		err := c.Call(t.Context(), method, none{}, nil)
		var remote *RemoteError
		if !errors.As(err, &remote) || remote.Method != method || !strings.Contains(remote.Message, want) {
			t.Errorf("%s: got %v, want a RemoteError with %q", method, err, want)
		}
	}
}

func TestClosedWhileWaiting(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(ours, theirs *Conn){
		"by us":   func(ours, _ *Conn) { ours.Close() },
		"by them": func(_, theirs *Conn) { theirs.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started := make(chan struct{})
			c, other := pair(t, refuse, HandlerFunc(func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
				close(started)
				<-ctx.Done()
				return nil, ctx.Err()
			}))
			go func() { <-started; end(c, other) }()
			if err := c.Call(t.Context(), "wait", none{}, nil); !errors.Is(err, ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
			if err := c.Notify("event", none{}); !errors.Is(err, ErrClosed) {
				t.Errorf("notify after the end: %v, want ErrClosed", err)
			}
			<-c.Done()
		})
	}
}

func TestServeReportsGarbage(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), NewConn(a), refuse) }()
	if _, err := io.WriteString(b, "this is no frame at all"); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Fatal(err)
	}
	if err := <-served; !errors.Is(err, errFrame) {
		t.Errorf("got %v, want a malformed frame", err)
	}
}

func TestServeEndsWithContext(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer b.Close()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, NewConn(a), refuse) }()
	cancel()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
