package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fakeStore calls its functions. A nil function succeeds at once.
type fakeStore struct {
	opens  func() error
	past_  func() []Entry
	writes func([]Entry) error
	closed chan struct{}
}

func newFakeStore() *fakeStore { return &fakeStore{closed: make(chan struct{})} }

func (s *fakeStore) open(context.Context) (int, error) {
	if s.opens != nil {
		if err := s.opens(); err != nil {
			return 0, err
		}
	}
	return 7, nil
}

func (s *fakeStore) past() []Entry {
	if s.past_ == nil {
		return nil
	}
	return s.past_()
}

func (s *fakeStore) append(_ context.Context, entries []Entry) error {
	if s.writes == nil {
		return nil
	}
	return s.writes(entries)
}

func (s *fakeStore) close() { close(s.closed) }

// withStore returns a history over a store and a channel with its errors.
func withStore(s store) (*History, chan error) {
	failures := make(chan error, 100)
	return &History{writer: newWriter(s, func(err error) { failures <- err })}, failures
}

func inputs(entries []Entry) (texts []string) {
	for _, e := range entries {
		texts = append(texts, e.Input)
	}
	return texts
}

// A file system that hangs in any operation blocks neither cells nor queries nor the
// shutdown.
func TestStoreHangs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"open", "past", "append"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hang, hangs := make(chan struct{}), make(chan struct{}, 1)
			block := func() {
				select {
				case hangs <- struct{}{}:
				default:
				}
				<-hang
			}
			s := newFakeStore()
			switch name {
			case "open":
				s.opens = func() error { block(); return nil }
			case "past":
				s.past_ = func() []Entry { block(); return nil }
			case "append":
				s.writes = func([]Entry) error { block(); return nil }
			}
			h, _ := withStore(s)
			h.Add(1, "x", "")
			if name != "past" {
				<-hangs
			}
			for range 2 {
				if got := inputs(h.Tail(5)); !slices.Equal(got, []string{"x"}) {
					t.Errorf("tail: %q", got)
				}
				if got := h.Range(0, 1, nil); len(got) != 1 || got[0].Session != h.Session() {
					t.Errorf("this session: %+v", got)
				}
			}
			h.Close()
			close(hang)
			<-s.closed
		})
	}
}

// Entries that cannot be written are written later.
func TestWritesAreRetried(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	s := newFakeStore()
	var written []Entry
	tries := 0
	tried := make(chan struct{}, 10)
	s.writes = func(entries []Entry) error {
		defer func() { tried <- struct{}{} }()
		if tries++; tries <= 2 {
			return full
		}
		written = append(written, entries...)
		return nil
	}
	h, failures := withStore(s)
	for i := range 2 {
		h.Add(i, fmt.Sprint(i), "")
		<-tried
	}
	h.Close()
	<-s.closed
	if got := inputs(written); !slices.Equal(got, []string{"0", "1"}) || written[0].Session != 7 {
		t.Errorf("written: %+v", written)
	}
	if err := <-failures; !errors.Is(err, full) || len(failures) > 0 {
		t.Errorf("%v, and %d more errors", err, len(failures))
	}
}

// The queue of a store that hangs is limited.
func TestWaitingIsBounded(t *testing.T) {
	t.Parallel()
	hang, hangs := make(chan struct{}), make(chan struct{})
	s := newFakeStore()
	s.opens = func() error { close(hangs); <-hang; return nil }
	written := 0
	s.writes = func(entries []Entry) error { written += len(entries); return nil }
	h, failures := withStore(s)
	<-hangs
	text := strings.Repeat("x", maxText)
	const cells = 2 * maxBytes / maxText
	for i := range cells {
		h.Add(i, text, "")
	}
	if err := <-failures; !errors.Is(err, ErrOverflow) {
		t.Error(err)
	}
	if h.bytes > maxBytes || h.writer.bytes > maxWaitingBytes {
		t.Errorf("%d bytes in memory, %d wait", h.bytes, h.writer.bytes)
	}
	close(hang)
	h.Close()
	<-s.closed
	if written != maxWaitingBytes/maxText {
		t.Errorf("%d of %d cells are written", written, cells)
	}
}
