package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var quiet = slog.New(slog.DiscardHandler)

func TestAssembler(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	messages := []string{
		frame(0, ""),
		frame(0, "a"),
		frame(flagMore, "a") + frame(flagMore, "") + frame(0, long),
		frame(flagCommand, readyName),
		frame(0, long) + "",
		frame(flagMore, "") + frame(0, ""),
	}
	in := strings.Repeat("g", greetingBytes) + strings.Join(messages, "")
	for step := 1; step < 80; step++ {
		a, got := assembler{skip: greetingBytes}, []string{}
		for rest := []byte(in); len(rest) > 0; {
			n := min(step, len(rest))
			err := a.write(rest[:n], func(message net.Buffers, size int64) error {
				text := string(bytes.Join(message, nil))
				if int64(len(text)) != size {
					t.Errorf("%d bytes counted as %d", len(text), size)
				}
				got = append(got, text)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", messages) {
			t.Fatalf("in steps of %d: %.200q", step, got)
		}
	}
}

// box returns an outbox and the other end of its connection.
func box(t *testing.T, limits limits, drops bool) (*outbox, net.Conn) {
	t.Helper()
	ours, theirs := net.Pipe()
	o := newOutbox(ours, limits, drops, quiet)
	var running sync.WaitGroup
	running.Go(o.run)
	t.Cleanup(func() {
		o.close()
		theirs.Close()
		running.Wait()
	})
	return o, theirs
}

func put(o *outbox, texts ...string) error {
	var message net.Buffers
	size := 0
	for _, text := range texts {
		message, size = append(message, []byte(text)), size+len(text)
	}
	return o.put(message, int64(size))
}

func TestOutboxWritesInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // in real time, a slow machine might exceed the time linger
		o, peer := box(t, defaultLimits, false)
		var want strings.Builder
		for i := range 2000 {
			text := fmt.Sprint(i, " ")
			want.WriteString(text + "|")
			if err := put(o, text, "|"); err != nil {
				t.Fatal(err)
			}
		}
		big := strings.Repeat("y", 3<<20+1)
		want.WriteString(big)
		if err := put(o, big); err != nil {
			t.Fatal(err)
		}
		o.close()
		got, err := io.ReadAll(peer)
		if err != nil || string(got) != want.String() {
			t.Errorf("%d bytes of %d, %v", len(got), want.Len(), err)
		}
		if err := put(o, "late"); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
		if err := o.drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A lagging subscriber loses large messages, but not those that say that a cell has
// ended, up to a limit.
func TestOutboxOfALaggingPeerKeepsSmallMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limits := smallLimits
		limits.small, limits.spare = 4, 10
		o, peer := box(t, limits, true)
		for _, text := range []string{strings.Repeat("x", 100), "too large", "idle", "large", "busy", "done"} {
			if err := put(o, text); err != nil {
				t.Fatal(err)
			}
		}
		o.close()
		got, err := io.ReadAll(peer)
		if want := strings.Repeat("x", 100) + "idlebusy"; err != nil || string(got) != want {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

var smallLimits = limits{queue: 100, stall: time.Second, progress: 10, batch: 2, linger: time.Second}

// A peer that does not read loses its connection, or messages if it is a subscriber, and
// delays the others only once, for the time stall.
func TestOutboxOfAPeerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	fill := strings.Repeat("x", 100)
	t.Run("disconnected", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			o, peer := box(t, smallLimits, false)
			start := time.Now()
			if err := put(o, fill); err != nil {
				t.Fatal(err)
			}
			if err := put(o, "one too many"); !errors.Is(err, net.ErrClosed) {
				t.Errorf("got %v", err)
			}
			if waited := time.Since(start); waited != smallLimits.stall {
				t.Errorf("waited %v", waited)
			}
			if _, err := io.ReadAll(peer); err != nil {
				t.Errorf("the connection is not closed: %v", err)
			}
		})
	})
	t.Run("subscriber", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			o, peer := box(t, smallLimits, true)
			start := time.Now()
			for _, text := range []string{fill, "lost", "lost", "lost"} {
				if err := put(o, text); err != nil {
					t.Fatal(err)
				}
			}
			if waited := time.Since(start); waited != smallLimits.stall {
				t.Errorf("waited %v", waited)
			}
			if err := o.drain(t.Context()); err != nil {
				t.Errorf("drained: %v", err)
			}
			got := make([]byte, 100)
			if _, err := io.ReadFull(peer, got); err != nil || string(got) != fill {
				t.Fatalf("%q, %v", got, err)
			}
			synctest.Wait()
			if err := put(o, "again"); err != nil {
				t.Fatal(err)
			}
			if n, err := io.ReadFull(peer, got[:5]); err != nil || string(got[:n]) != "again" {
				t.Errorf("%q, %v", got[:n], err)
			}
		})
	})
}

// The kernel waits for a peer that reads slowly, but not for one that only pretends to
// read.
func TestOutboxOfASlowPeer(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		bytes int // read twice in each stall time
		want  error
	}{{"slow", 10, nil}, {"trickling", 2, net.ErrClosed}} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o, peer := box(t, smallLimits, false)
				stop := make(chan struct{})
				defer close(stop)
				go func() {
					got := make([]byte, row.bytes)
					for {
						select {
						case <-time.After(smallLimits.stall / 2):
							if _, err := io.ReadFull(peer, got); err != nil {
								return
							}
						case <-stop:
							return
						}
					}
				}()
				var err error
				for range 100 { // messages of two bytes, so that each write is visible
					if err = put(o, "xy"); err != nil {
						break
					}
				}
				if !errors.Is(err, row.want) {
					t.Errorf("got %v, want %v", err, row.want)
				}
				peer.Close()
			})
		})
	}
}

func TestOutboxDrain(t *testing.T) {
	t.Parallel()
	o, peer := box(t, defaultLimits, false)
	if err := put(o, "x"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.drain(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a message waiting: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, peer) }()
	if err := o.drain(t.Context()); err != nil {
		t.Error(err)
	}
}

// Messages taken from the queue stay in memory until they are written, so not all of them
// may be taken at once.
func TestTakeIsBounded(t *testing.T) {
	t.Parallel()
	limits := defaultLimits
	limits.batch = 1000
	ours, theirs := net.Pipe()
	defer theirs.Close()
	defer ours.Close()
	o := newOutbox(ours, limits, true, quiet)
	for i := range 10 {
		if err := o.put(net.Buffers{[]byte{byte(i)}, make([]byte, 299)}, 300); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.put(net.Buffers{[]byte{10}, make([]byte, 5000)}, 5001); err != nil {
		t.Fatal(err)
	}
	o.close()
	var taken []int
	var next byte
	for messages := o.take(); messages != nil; messages = o.take() {
		taken = append(taken, len(messages))
		for _, m := range messages {
			if m[0][0] != next {
				t.Errorf("message %d came as number %d", m[0][0], next)
			}
			next++
		}
	}
	if want := []int{4, 4, 3}; !slices.Equal(taken, want) {
		t.Errorf("taken %v at a time, want %v", taken, want)
	}
}
