// Package mark writes and finds marks in the output streams of a worker.
//
// What a cell writes to file descriptors 1 and 2 reaches the front through two
// pipes, what it displays through the link. Marks tie the three together: the
// worker writes one into both pipes where something happened, and the front,
// which takes them out again, then knows that all it read before came before.
//
// A mark holds a token that is drawn for each worker, so that output which
// merely looks like one stays output.
package mark

import (
	"bytes"
	"strconv"
)

// Kind is what happened at a mark.
type Kind byte

const (
	// Cell: the worker begins the cell Number. What follows on this stream belongs to
	// it, up to the next such mark, but for what stands behind a Begin.
	Cell Kind = 'c'
	// Begin: what follows on this stream belongs to the cell Number; 0 ends this, and
	// what follows belongs to the cell that the worker has begun last.
	Begin Kind = 'b'
	// Meet: the event number Number of the link happened here. The front reads
	// on only when it has handled the event.
	Meet Kind = 'm'
	// Turn: the output moves to the other stream. The front reads on here only
	// when it has come to the same mark there.
	Turn Kind = 't'
	// End: all output up to the event number Number is in the pipe.
	End Kind = 'e'
)

// Mark is one mark.
type Mark struct {
	Kind   Kind
	Number uint64
}

const (
	opening   = "\x1eq:"
	closing   = '\x1e'
	maxNumber = 20 // digits of a uint64
)

// Append appends the bytes of m to b. They are few enough (token of up to 64
// bytes) for the write to a pipe to be atomic.
func (m Mark) Append(b []byte, token string) []byte {
	b = append(b, opening...)
	b = append(b, token...)
	b = append(b, byte(m.Kind))
	b = strconv.AppendUint(b, m.Number, 10)
	return append(b, closing)
}

// Scanner splits what was read from a stream into output and marks.
type Scanner struct {
	prefix []byte
	rest   []byte // the start of a possible mark at the end of what was read
}

// NewScanner returns a scanner for the marks with token.
func NewScanner(token string) *Scanner {
	return &Scanner{prefix: []byte(opening + token)}
}

// Scan takes what was read next and calls output and found for its parts, in
// their order. The bytes given to output may not be kept.
func (s *Scanner) Scan(read []byte, output func([]byte), found func(Mark)) {
	b := read
	if len(s.rest) > 0 {
		b = append(s.rest, read...)
		s.rest = nil
	}
	for len(b) > 0 {
		i := bytes.IndexByte(b, opening[0])
		if i < 0 {
			output(b)
			return
		}
		m, n, ok := s.parse(b[i:])
		switch {
		case ok:
			if i > 0 {
				output(b[:i])
			}
			found(m)
			b = b[i+n:]
		case n == 0: // cut: the rest decides
			if i > 0 {
				output(b[:i])
			}
			s.rest = bytes.Clone(b[i:])
			return
		default: // an ordinary byte
			output(b[:i+n])
			b = b[i+n:]
		}
	}
}

// Rest returns what the scanner still holds back, at the end of a stream.
func (s *Scanner) Rest() []byte {
	rest := s.rest
	s.rest = nil
	return rest
}

// parse reads the mark at the start of b. It returns n == 0 when b ends inside
// what may be a mark, and ok == false with n == 1 when it is none.
func (s *Scanner) parse(b []byte) (m Mark, n int, ok bool) {
	if len(b) <= len(s.prefix) {
		if bytes.HasPrefix(s.prefix, b) {
			return Mark{}, 0, false
		}
		return Mark{}, 1, false
	}
	if !bytes.HasPrefix(b, s.prefix) {
		return Mark{}, 1, false
	}
	kind, digits := Kind(b[len(s.prefix)]), b[len(s.prefix)+1:]
	end := bytes.IndexByte(digits, closing)
	switch {
	case end < 0 && len(digits) <= maxNumber:
		return Mark{}, 0, false
	case end < 0:
		return Mark{}, 1, false
	}
	number, err := strconv.ParseUint(string(digits[:end]), 10, 64)
	if err != nil {
		return Mark{}, 1, false
	}
	return Mark{kind, number}, len(s.prefix) + 1 + end + 1, true
}
