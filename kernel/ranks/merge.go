package ranks

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// The output of several ranks is mostly the same, since they run the same cell. The
// notebook shows
//
//   - what rank 0 prints, immediately;
//   - of another rank, the lines that rank 0 does not print, with the ranks in front: "[rank 1] ", or "[ranks 1–3] " for a line that these have in common.
//
// So a line of another rank is held until rank 0 has printed it too, until the cell ends,
// or until a timeout: showing a line twice is better than showing it late. A rank that is
// far ahead is blocked until the others catch up. Of a line that is rewritten with
// carriage returns, such as a progress bar, only the text that a terminal would show is
// compared.

// holdTime is how long a line is held for rank 0 to print it too.
const holdTime = 2 * time.Second

// Limits for each stream of a cell.
const (
	maxHeld   = 1 << 20 // bytes of held lines
	overhead  = 64      // bytes that a held line takes besides its text
	maxLine   = 64 << 10
	maxAhead  = 1 << 18 // distinct lines that rank 0 has printed and others have not
	maxStates = 64      // streams of cells, most of which have ended
)

// merger merges the outputs of all ranks into one.
type merger struct {
	ranks    int
	emit     func(cell int, name string, text []byte)
	holdTime time.Duration

	mu      sync.Mutex // also held while output is emitted, which orders it
	state   map[streamKey]*mergedStream
	timer   *time.Timer
	armed   bool          // the timer is running because lines are held
	changed chan struct{} // closed when blocked ranks should check again whether they may continue
}

// streamKey identifies a stream of a cell.
type streamKey struct {
	cell int
	name string
}

// mergedStream is the state of one stream of a cell.
type mergedStream struct {
	open     [][]byte                 // by rank: the beginning of a line whose end has not arrived
	ahead    map[string][]int         // by line and rank: how often rank 0 has printed the line more often than the rank
	held     []*heldLine              // in order of arrival, including those already matched
	waits    map[rankLine][]*heldLine // those not matched yet
	bytes    int                      // size of those not matched yet
	begun    bool                     // a line of rank 0 has been shown without its end
	diverged bool                     // the outputs differ: ranks are not blocked any more
}

// heldLine is a line of a rank other than 0 that is held until rank 0 prints it.
type heldLine struct {
	rank    int
	text    string
	since   time.Time
	matched bool // rank 0 has printed it too
}

func newMerger(ranks int, holdTime time.Duration, emit func(cell int, name string, text []byte)) *merger {
	m := &merger{ranks: ranks, emit: emit, holdTime: holdTime, state: map[streamKey]*mergedStream{}, changed: make(chan struct{})}
	m.timer = time.AfterFunc(time.Hour, m.expire)
	m.timer.Stop()
	return m
}

// stream takes output of a rank. It does not keep text.
func (m *merger) stream(rank, cell int, name string, text []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	from := streamKey{cell, name}
	s := m.of(from)
	if rank == 0 {
		m.emit(cell, name, text)
		s.begun = len(text) > 0 && text[len(text)-1] != '\n'
	}
	for line := range bytes.Lines(text) {
		s.add(rank, line)
	}
	if s.bytes > 0 && !m.armed {
		m.armed = true
		m.timer.Reset(m.holdTime)
	}
	if rank == 0 {
		m.signal()
		return
	}
	for s.bytes > maxHeld && !s.diverged {
		changed := m.changed
		m.mu.Unlock()
		<-changed // at the latest when the timer fires
		m.mu.Lock()
	}
	if s.bytes > maxHeld {
		m.release(from, s, time.Now())
	}
}

// signal wakes blocked ranks.
func (m *merger) signal() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// add takes a line of a rank, or a part of a line whose end has not arrived.
func (s *mergedStream) add(rank int, text []byte) {
	open := append(s.open[rank], text...)
	if open[len(open)-1] == '\n' {
		s.line(rank, visible(open))
		s.open[rank] = open[:0]
		return
	}
	if len(open) > maxLine {
		open = append(open[:0], open[max(0, bytes.LastIndexByte(open[:len(open)-1], '\r')):]...)
	}
	for len(open) > maxLine {
		s.line(rank, visible(open[:maxLine]))
		open = append(open[:0], open[maxLine:]...)
	}
	s.open[rank] = open
}

// of returns the state of a stream. It drops the oldest states, whose cells have ended.
func (m *merger) of(from streamKey) *mergedStream {
	s := m.state[from]
	if s == nil {
		for len(m.state) >= maxStates {
			oldest := slices.MinFunc(slices.Collect(maps.Keys(m.state)), func(a, b streamKey) int { return cmp.Compare(a.cell, b.cell) })
			m.finish(oldest, m.state[oldest])
			delete(m.state, oldest)
		}
		s = &mergedStream{open: make([][]byte, m.ranks), ahead: map[string][]int{}, waits: map[rankLine][]*heldLine{}}
		m.state[from] = s
	}
	return s
}

// visible returns what a terminal shows of a line.
func visible(line []byte) string {
	line = bytes.TrimRight(line, "\r\n")
	return string(line[bytes.LastIndexByte(line, '\r')+1:])
}

// line takes a complete line of a rank.
func (s *mergedStream) line(rank int, text string) {
	if text == "" {
		return // an empty line carries no information
	}
	if rank == 0 {
		s.printed(text)
		return
	}
	if counts := s.ahead[text]; counts != nil && counts[rank] > 0 {
		counts[rank]--
		s.forget(text)
		return
	}
	s.hold(rank, text)
}

func (s *mergedStream) hold(rank int, text string) {
	h := &heldLine{rank: rank, text: text, since: time.Now()}
	key := rankLine{rank, text}
	s.held, s.waits[key] = append(s.held, h), append(s.waits[key], h)
	s.bytes += len(text) + overhead
}

// rankLine is a line of a rank, however often the rank prints it.
type rankLine struct {
	rank int
	text string
}

// next removes and returns the oldest of equal held lines.
func (s *mergedStream) next(r rankLine) *heldLine {
	queue := s.waits[r]
	if len(queue) == 0 {
		return nil
	}
	if len(queue) == 1 {
		delete(s.waits, r)
	} else {
		s.waits[r] = queue[1:]
	}
	s.bytes -= len(r.text) + overhead
	return queue[0]
}

// printed records that rank 0 has printed a line. It matches one held line of each other
// rank, or the next one that arrives.
func (s *mergedStream) printed(text string) {
	counts := s.ahead[text]
	if counts == nil {
		if len(s.ahead) >= maxAhead {
			clear(s.ahead)
		}
		counts = make([]int, len(s.open))
		s.ahead[text] = counts
	}
	for rank := 1; rank < len(counts); rank++ {
		if h := s.next(rankLine{rank, text}); h != nil {
			h.matched = true
		} else {
			counts[rank]++
		}
	}
	s.forget(text)
}

// forget drops a line that all ranks have printed equally often.
func (s *mergedStream) forget(text string) {
	if !slices.ContainsFunc(s.ahead[text], func(n int) bool { return n > 0 }) {
		delete(s.ahead, text)
	}
}

// release emits the lines that have been held since until or longer. Equal lines of
// several ranks are emitted as one.
func (m *merger) release(from streamKey, s *mergedStream, until time.Time) {
	n := 0
	for n < len(s.held) && !s.held[n].since.After(until) {
		n++
	}
	var texts []string
	var by [][]int               // ranks of each text
	places := map[string][]int{} // indices in texts of each text, one for each repetition
	times := map[rankLine]int{}  // how often a rank has printed a text so far
	for _, h := range s.held[:n] {
		if h.matched {
			continue
		}
		key := rankLine{h.rank, h.text}
		s.next(key)
		time := times[key]
		times[key]++
		if time < len(places[h.text]) {
			at := places[h.text][time]
			by[at] = append(by[at], h.rank)
			continue
		}
		places[h.text] = append(places[h.text], len(texts))
		texts, by = append(texts, h.text), append(by, []int{h.rank})
	}
	s.held = slices.Delete(s.held, 0, n)
	if len(texts) == 0 {
		return
	}
	s.diverged = true
	m.signal()
	var b bytes.Buffer
	if s.begun {
		b.WriteByte('\n')
		s.begun = false
	}
	for i, text := range texts {
		slices.Sort(by[i])
		fmt.Fprintf(&b, "[%s] %s\n", names(by[i]), text)
	}
	m.emit(from.cell, from.name, b.Bytes())
}

// expire emits the lines that have been held for holdTime.
func (m *merger) expire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	var next time.Time // when the oldest of the other lines arrived
	for from, s := range m.state {
		m.release(from, s, now.Add(-m.holdTime))
		if s.bytes > 0 && (next.IsZero() || s.held[0].since.Before(next)) {
			next = s.held[0].since
		}
	}
	if m.armed = !next.IsZero(); m.armed {
		m.timer.Reset(max(next.Add(m.holdTime).Sub(now), time.Millisecond))
	}
}

// flush emits all held lines and unblocks the ranks, since the cell should end.
func (m *merger) flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for from, s := range m.state {
		s.diverged = true
		m.release(from, s, now)
	}
	m.signal()
}

// note adds a message to the standard error of a cell on behalf of some ranks.
func (m *merger) note(cell int, ranks []int, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.of(streamKey{cell, "stderr"})
	for _, rank := range ranks {
		s.hold(rank, text)
	}
}

// end emits the remaining output of a cell.
func (m *merger) end(cell int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range []string{"stdout", "stderr"} {
		from := streamKey{cell, name}
		if s := m.state[from]; s != nil {
			m.finish(from, s)
		}
	}
}

// finish emits the remaining output of a stream, including lines without a line end.
func (m *merger) finish(from streamKey, s *mergedStream) {
	for rank, open := range s.open {
		s.line(rank, visible(open))
		s.open[rank] = nil
	}
	m.release(from, s, time.Now())
}
