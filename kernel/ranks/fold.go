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

// What several ranks print. Most of it is the same on all of them, since they run the
// same cell. A reader gets
//
//   - what rank 0 prints, as it comes;
//   - of what another rank prints, the lines that rank 0 does not, with the ranks
//     before them: "[rank 1] ", or "[ranks 1–3] " for a line that these have in common.
//
// So a line of another rank waits until rank 0 has come to it too, until the cell ends,
// or for a time: it is better to see a line twice than late. A rank that is far ahead
// waits with its lines. Of a line that rewrites itself, as a progress bar does, what a
// terminal would show counts.

// patience is how long a line waits for rank 0 to print it too.
const patience = 2 * time.Second

// The bounds of what waits, for a stream of a cell.
const (
	maxHeld   = 1 << 20 // bytes of lines that wait for rank 0
	overhead  = 64      // bytes that a line takes besides its text
	maxLine   = 64 << 10
	maxAhead  = 1 << 18 // different lines that rank 0 has printed and others have not
	maxStates = 64      // streams of cells, of which all but the last have ended
)

// fold makes one output of those of all ranks.
type fold struct {
	ranks    int
	give     func(cell int, name string, text []byte)
	patience time.Duration

	mu      sync.Mutex // also orders what is given
	state   map[source]*folded
	timer   *time.Timer
	armed   bool          // the timer runs, since lines wait
	changed chan struct{} // closed when there is room for lines again
}

// source is a stream of a cell.
type source struct {
	cell int
	name string
}

// folded is a stream of a cell.
type folded struct {
	open  [][]byte             // by rank: the last line, as far as it has come
	ahead map[string][]int     // how often rank 0 has printed a line, less how often each rank has; by rank
	held  []*held              // in the order in which they came, also of those that wait no more
	waits map[repeated][]*held // those that wait
	bytes int                  // of those that wait
	begun bool                 // a line of rank 0 is shown in part
	apart bool                 // lines have waited in vain: nobody waits for room any more
}

// held is a line of another rank than 0, which waits for rank 0.
type held struct {
	rank  int
	text  string
	since time.Time
	over  bool // rank 0 has printed it
}

func newFold(ranks int, give func(cell int, name string, text []byte)) *fold {
	f := &fold{ranks: ranks, give: give, patience: patience, state: map[source]*folded{}, changed: make(chan struct{})}
	f.timer = time.AfterFunc(time.Hour, f.expire)
	f.timer.Stop()
	return f
}

// stream takes output of a rank. The text is not kept.
func (f *fold) stream(rank, cell int, name string, text []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := source{cell, name}
	s := f.of(from)
	if rank == 0 {
		f.give(cell, name, text)
		s.begun = len(text) > 0 && text[len(text)-1] != '\n'
	}
	for line := range bytes.Lines(text) {
		s.add(rank, line)
	}
	if s.bytes > 0 && !f.armed {
		f.armed = true
		f.timer.Reset(f.patience)
	}
	if rank == 0 {
		f.signal()
		return
	}
	for s.bytes > maxHeld && !s.apart {
		changed := f.changed
		f.mu.Unlock()
		<-changed // at the latest when the timer ends
		f.mu.Lock()
	}
	if s.bytes > maxHeld {
		f.release(from, s, time.Now())
	}
}

// signal tells that there may be room again.
func (f *fold) signal() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// add takes a line of a rank, or a part of one that has not come to its end.
func (s *folded) add(rank int, text []byte) {
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

// of is the state of a stream. Those that nobody writes to any more are let go.
func (f *fold) of(from source) *folded {
	s := f.state[from]
	if s == nil {
		for len(f.state) >= maxStates {
			oldest := slices.MinFunc(slices.Collect(maps.Keys(f.state)), func(a, b source) int { return cmp.Compare(a.cell, b.cell) })
			f.finish(oldest, f.state[oldest])
			delete(f.state, oldest)
		}
		s = &folded{open: make([][]byte, f.ranks), ahead: map[string][]int{}, waits: map[repeated][]*held{}}
		f.state[from] = s
	}
	return s
}

// visible is what a terminal shows of a line.
func visible(line []byte) string {
	line = bytes.TrimRight(line, "\r\n")
	return string(line[bytes.LastIndexByte(line, '\r')+1:])
}

// line takes a whole line of a rank.
func (s *folded) line(rank int, text string) {
	if text == "" {
		return // it tells nothing
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

func (s *folded) hold(rank int, text string) {
	h := &held{rank: rank, text: text, since: time.Now()}
	key := repeated{rank, text}
	s.held, s.waits[key] = append(s.held, h), append(s.waits[key], h)
	s.bytes += len(text) + overhead
}

// repeated is a line of a rank, however often it prints it.
type repeated struct {
	rank int
	text string
}

// next takes the oldest of equal lines that wait.
func (s *folded) next(r repeated) *held {
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

// printed tells that rank 0 has printed a line: one each of the other ranks' waits no
// more, or need not be shown when it comes.
func (s *folded) printed(text string) {
	counts := s.ahead[text]
	if counts == nil {
		if len(s.ahead) >= maxAhead {
			clear(s.ahead)
		}
		counts = make([]int, len(s.open))
		s.ahead[text] = counts
	}
	for rank := 1; rank < len(counts); rank++ {
		if h := s.next(repeated{rank, text}); h != nil {
			h.over = true
		} else {
			counts[rank]++
		}
	}
	s.forget(text)
}

// forget lets a line go that all ranks have printed.
func (s *folded) forget(text string) {
	if !slices.ContainsFunc(s.ahead[text], func(n int) bool { return n > 0 }) {
		delete(s.ahead, text)
	}
}

// release gives out the lines that have waited since a time or longer, those of several
// ranks as one.
func (f *fold) release(from source, s *folded, until time.Time) {
	n := 0
	for n < len(s.held) && !s.held[n].since.After(until) {
		n++
	}
	var texts []string
	var by [][]int               // the ranks of each text
	places := map[string][]int{} // where a text stands, for each time that a rank has it
	times := map[repeated]int{}  // how often a rank has had a text
	for _, h := range s.held[:n] {
		if h.over {
			continue
		}
		key := repeated{h.rank, h.text}
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
	s.apart = true
	f.signal()
	var b bytes.Buffer
	if s.begun {
		b.WriteByte('\n')
		s.begun = false
	}
	for i, text := range texts {
		slices.Sort(by[i])
		fmt.Fprintf(&b, "[%s] %s\n", names(by[i]), text)
	}
	f.give(from.cell, from.name, b.Bytes())
}

// expire gives out what has waited long enough.
func (f *fold) expire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	var next time.Time // when the first of the others has
	for from, s := range f.state {
		f.release(from, s, now.Add(-f.patience))
		if s.bytes > 0 && (next.IsZero() || s.held[0].since.Before(next)) {
			next = s.held[0].since
		}
	}
	if f.armed = !next.IsZero(); f.armed {
		f.timer.Reset(max(next.Add(f.patience).Sub(now), time.Millisecond))
	}
}

// hurry gives out all that waits, and has nobody wait for room: the cell is to end.
func (f *fold) hurry() {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	for from, s := range f.state {
		s.apart = true
		f.release(from, s, now)
	}
	f.signal()
}

// note has ranks say something on the standard error of a cell.
func (f *fold) note(cell int, ranks []int, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.of(source{cell, "stderr"})
	for _, rank := range ranks {
		s.hold(rank, text)
	}
}

// end gives out what a cell has left.
func (f *fold) end(cell int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range []string{"stdout", "stderr"} {
		from := source{cell, name}
		if s := f.state[from]; s != nil {
			f.finish(from, s)
		}
	}
}

// finish gives out what a stream has left, lines without an end too.
func (f *fold) finish(from source, s *folded) {
	for rank, open := range s.open {
		s.line(rank, visible(open))
		s.open[rank] = nil
	}
	f.release(from, s, time.Now())
}
