package ranks

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMerge compares the merged output with what ranks print. A step is a rank and its
// text, or the end of the cell.
func TestMerge(t *testing.T) {
	t.Parallel()
	type step struct {
		rank int
		text string
	}
	const end = -1
	long := strings.Repeat("x", maxLine)
	for _, row := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"rank 0 alone", []step{{0, "a\nb"}, {end, ""}}, "a\nb"},
		{"the same", []step{{0, "a\n"}, {1, "a\n"}, {2, "a\n"}, {end, ""}}, "a\n"},
		{"the same, rank 0 last", []step{{2, "a\n"}, {1, "a\n"}, {0, "a\n"}, {end, ""}}, "a\n"},
		{"in pieces", []step{{0, "ab"}, {1, "a"}, {0, "c\n"}, {1, "bc"}, {1, "\n"}, {end, ""}}, "abc\n"},
		{"another order", []step{{0, "a\nb\n"}, {1, "b\na\n"}, {end, ""}}, "a\nb\n"},
		{"another line", []step{{1, "from 1\n"}, {0, "from 0\n"}, {2, "from 2\n"}, {end, ""}}, "from 0\n[rank 1] from 1\n[rank 2] from 2\n"},
		{"others alike", []step{{1, "b\n"}, {0, "a\n"}, {2, "b\n"}, {end, ""}}, "a\n[ranks 1 and 2] b\n"},
		{"more often", []step{{0, "a\n"}, {1, "a\na\na\n"}, {2, "a\na\n"}, {end, ""}}, "a\n[ranks 1 and 2] a\n[rank 1] a\n"},
		{"less often", []step{{0, "a\na\na\n"}, {1, "a\n"}, {end, ""}}, "a\na\na\n"},
		{"without an end", []step{{0, "a"}, {1, "a"}, {2, "b"}, {end, ""}}, "a\n[rank 2] b\n"},
		{"blank lines", []step{{1, "\n\n"}, {2, "\r\n"}, {end, ""}}, ""},
		{"a bar", []step{{0, "1 %\r50 %\r100 %\n"}, {1, "2 %\r"}, {1, "100 %\n"}, {2, "3 %\r99 %\r"}, {end, ""}}, "1 %\r50 %\r100 %\n[rank 2] 99 %\n"},
		{"a long line", []step{{0, long + "a\n"}, {1, long}, {1, "a\n"}, {2, long[:100]}, {2, long[100:] + "b\n"}, {end, ""}},
			long + "a\n[rank 2] " + long + "b\n"},
		{"a long bar", []step{{0, "100 %\n"}, {1, strings.Repeat("10 %\r", maxLine)}, {1, "100 %\n"}, {end, ""}}, "100 %\n"},
	} {
		var got strings.Builder
		m := newMerger(3, time.Hour, func(cell int, name string, text []byte) {
			if cell != 7 || name != "stdout" {
				t.Errorf("%s: cell %d, %s", row.name, cell, name)
			}
			got.Write(text)
		})
		for _, s := range row.steps {
			if s.rank == end {
				m.end(7)
			} else {
				m.stream(s.rank, 7, "stdout", []byte(s.text))
			}
		}
		if got := got.String(); got != row.want {
			t.Errorf("%s:\n got %.200q\nwant %.200q", row.name, got, row.want)
		}
		if s := m.state[streamKey{7, "stdout"}]; s.bytes != 0 || len(s.waits) != 0 || len(s.held) != 0 {
			t.Errorf("%s: %d bytes, %d lines are left", row.name, s.bytes, len(s.held))
		}
	}
}

// A line that rank 0 does not print appears after the hold time, and not within another
// line.
func TestMergeWaitsForATime(t *testing.T) {
	t.Parallel()
	given := make(chan string, 10)
	m := newMerger(2, time.Millisecond, func(_ int, name string, text []byte) { given <- name + " " + string(text) })
	m.stream(0, 1, "stdout", []byte("begun"))
	m.stream(1, 1, "stdout", []byte("other\n"))
	for _, want := range []string{"stdout begun", "stdout \n[rank 1] other\n"} {
		if got := <-given; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	m.stream(1, 1, "stderr", []byte("again\n"))
	if got, want := <-given, "stderr [rank 1] again\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A rank that is far ahead or behind does not affect the order, and costs little time.
func TestMergeOfManyLines(t *testing.T) {
	t.Parallel()
	const n = 20_000
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	for _, first := range []int{0, 1} {
		var got strings.Builder
		m := newMerger(2, time.Hour, func(_ int, _ string, text []byte) { got.Write(text) })
		ended := make(chan struct{})
		go func() { // it blocks if it is the first
			defer close(ended)
			m.stream(1, 1, "stdout", []byte(text.String()))
			m.stream(1, 1, "stdout", []byte(strings.Repeat("same\n", n)))
		}()
		for waits := first == 0; !waits; runtime.Gosched() {
			m.mu.Lock()
			s := m.state[streamKey{1, "stdout"}]
			waits = s != nil && s.bytes > maxHeld
			m.mu.Unlock()
		}
		m.stream(0, 1, "stdout", []byte(text.String()))
		m.stream(0, 1, "stdout", []byte(strings.Repeat("same\n", n)))
		<-ended
		m.end(1)
		if want := text.String() + strings.Repeat("same\n", n); got.String() != want {
			t.Errorf("rank %d first: %d bytes, want %d", first, got.Len(), len(want))
		}
	}
}

// A rank that prints lines of its own is blocked only once, and not at all if the cell
// should end.
func TestMergeOfOneThatPrintsAlone(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("one of many lines\n", 20_000)
	for _, hurried := range []bool{false, true} {
		n := 0
		held := time.Millisecond
		if hurried {
			held = time.Hour
		}
		m := newMerger(2, held, func(_ int, _ string, text []byte) { n += strings.Count(string(text), "[rank 1] one of many lines\n") })
		if hurried {
			m.stream(0, 1, "stdout", nil)
			m.flush()
		}
		m.stream(1, 1, "stdout", []byte(lines))
		m.stream(1, 1, "stdout", []byte(lines))
		m.end(1)
		if want := 2 * strings.Count(lines, "\n"); n != want {
			t.Errorf("%d lines, want %d", n, want)
		}
	}
}

// The states of cells that print after their end do not accumulate.
func TestMergeLetsCellsGo(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	m := newMerger(2, time.Hour, func(cell int, _ string, text []byte) {
		if len(text) > 0 {
			fmt.Fprintf(&got, "%d %s", cell, text)
		}
	})
	m.stream(1, 1, "stdout", []byte("kept\nopen"))
	for cell := range 10 * maxStates {
		m.stream(0, 2+cell, "stdout", nil)
	}
	if len(m.state) > maxStates || got.String() != "1 [rank 1] kept\n[rank 1] open\n" {
		t.Errorf("%d states, %q", len(m.state), got.String())
	}
}
