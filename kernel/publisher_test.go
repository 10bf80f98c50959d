package kernel

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quernlab/quern/kernel/wire"
)

// record contains what a publisher has sent.
type record struct {
	mu   sync.Mutex
	sent []string
}

func recorded() (*publisher, *record) {
	r := &record{}
	return newPublisher(func(m wire.Outgoing) {
		text := string(m.Type)
		if t, ok := m.Content.(wire.Text); ok {
			text = t.Name + " " + t.Text
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sent = append(r.sent, string(m.Parent)+" "+text)
	}), r
}

// take returns what was sent since the last call.
func (r *record) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent = nil
	return sent
}

func (r *record) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := r.take(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestPublisherJoinsWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, sent := recorded()
		parent := json.RawMessage("1")
		p.stream(parent, "stdout", []byte("a\n"))
		sent.expect(t, "1 stdout a\n") // the first write is seen at once
		p.stream(parent, "stdout", []byte("b\n"))
		p.stream(parent, "stdout", []byte("c\n"))
		sent.expect(t)
		time.Sleep(joinFor)
		synctest.Wait()
		sent.expect(t, "1 stdout b\nc\n")
		time.Sleep(joinFor)
		p.stream(parent, "stdout", []byte("d\n"))
		sent.expect(t, "1 stdout d\n")
		p.stream(json.RawMessage("2"), "stdout", []byte("e\n"))
		sent.expect(t, "2 stdout e\n") // of each cell, immediately
	})
}

func TestPublisherKeepsOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, sent := recorded()
		one, two := json.RawMessage("1"), json.RawMessage("2")
		p.stream(one, "stdout", []byte("a"))
		p.stream(one, "stdout", []byte("b"))
		p.stream(one, "stderr", []byte("c"))
		p.stream(two, "stderr", []byte("d"))
		p.publish(wire.Status, two, wire.State{})
		p.stream(two, "stderr", []byte("e"))
		p.close()
		p.stream(two, "stderr", []byte("f"))
		sent.expect(t, "1 stdout a", "1 stdout b", "1 stderr c", "2 stderr d", "2 status", "2 stderr e", "2 stderr f")
	})
}

func TestPublisherBoundsMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, sent := recorded()
		whole := strings.Repeat("é", joinBytes) // the limit is within a character
		p.stream(nil, "stdout", []byte("x"+whole))
		p.end()
		var text strings.Builder
		for _, s := range sent.take() {
			s = strings.TrimPrefix(s, " stdout ")
			if len(s) > joinBytes {
				t.Errorf("a message of %d bytes", len(s))
			}
			text.WriteString(s)
		}
		if text.String() != "x"+whole {
			t.Errorf("%d bytes of %d, or changed", text.Len(), len(whole)+1)
		}
	})
}

// A character that is split over two writes, with other output and a pause in between, is
// published as a whole. An incomplete one is published at the end.
func TestPublisherJoinsCharacters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, sent := recorded()
		alpha := "𝛼"
		p.stream(nil, "stdout", []byte("x"+alpha[:1]))
		time.Sleep(time.Second)
		p.stream(nil, "stderr", []byte("y"))
		p.stream(nil, "stdout", []byte(alpha[1:3]))
		p.stream(nil, "stdout", []byte(alpha[3:]))
		p.stream(nil, "stderr", []byte(alpha[:3]))
		p.end()
		sent.expect(t, " stdout x", " stderr y", " stdout "+alpha, " stderr "+alpha[:3])
	})
}

func TestUnheardEndsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		p := newPublisher(func(wire.Outgoing) { sent.Add(1) })
		defer p.close()
		p.awaitSubscriber(subscriberTime)
		p.publish(wire.Status, nil, nil)
		if n := sent.Load(); n != 0 {
			t.Errorf("%d sent before anybody subscribed", n)
		}
		time.Sleep(subscriberTime)
		synctest.Wait()
		if n := sent.Load(); n != 1 {
			t.Errorf("%d sent", n)
		}
	})
}

func TestUnheardIsBounded(t *testing.T) {
	t.Parallel()
	sent := 0
	p := newPublisher(func(wire.Outgoing) { sent++ })
	defer p.close()
	p.awaitSubscriber(subscriberTime)
	for range maxKept + 1 {
		p.publish(wire.Status, nil, nil)
	}
	if sent != maxKept+1 {
		t.Errorf("sent %d", sent)
	}
}
