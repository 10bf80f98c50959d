// Package mark writes and finds marks in the output streams of a worker.
//
// The output that a cell writes to file descriptors 1 and 2 reaches the kernel process
// through two pipes, its displays through the link. A mark is a short byte sequence that
// the worker writes into both pipes when something happens, such as a display. The kernel
// process removes the marks from the output. It knows that everything it read before a
// mark was written before that event.
//
// A mark contains a token that is drawn at random for each worker, so output that merely
// looks like a mark remains output.
package mark

import (
	"bytes"
	"strconv"
)

// Kind says what happened at a mark.
type Kind byte

const (
	// CellStart: the worker begins the cell Number. The output that follows on this
	// stream belongs to it, up to the next such mark, except between Attribute marks.
	CellStart Kind = 'c'
	// Attribute: the output that follows on this stream belongs to the cell Number. 0
	// ends this: the output belongs again to the cell that the worker has begun last.
	Attribute Kind = 'b'
	// Event: the event number Number of the link happened here. The reader of the stream
	// waits here until the event has been handled.
	Event Kind = 'm'
	// Switch: the output continues on the other stream. The reader of this stream waits
	// here until the reader of the other one has reached the same mark.
	Switch Kind = 't'
	// Flush: all output up to the event number Number is in the pipe.
	Flush Kind = 'e'
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

// Append appends the bytes of m to b. With a token of up to 64 bytes they are few enough
// for a write to a pipe to be atomic.
func (m Mark) Append(b []byte, token string) []byte {
	b = append(b, opening...)
	b = append(b, token...)
	b = append(b, byte(m.Kind))
	b = strconv.AppendUint(b, m.Number, 10)
	return append(b, closing)
}

// Scanner splits the bytes of a stream into output and marks.
type Scanner struct {
	prefix []byte
	rest   []byte // the beginning of a possible mark at the end of the bytes read so far
}

// NewScanner returns a scanner for marks with the given token.
func NewScanner(token string) *Scanner {
	return &Scanner{prefix: []byte(opening + token)}
}

// Scan takes the next bytes of the stream and calls output and found for their parts, in
// order. output must not keep the bytes.
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
		case n == 0: // the next bytes will show whether it is a mark
			if i > 0 {
				output(b[:i])
			}
			s.rest = bytes.Clone(b[i:])
			return
		default: // not a mark
			output(b[:i+n])
			b = b[i+n:]
		}
	}
}

// Rest returns, at the end of a stream, the bytes that the scanner still holds back.
func (s *Scanner) Rest() []byte {
	rest := s.rest
	s.rest = nil
	return rest
}

// parse reads the mark at the start of b. It returns n == 0 if b ends within what may be
// a mark, and ok == false with n == 1 if it is not a mark.
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
	end := bytes.IndexByte(digits[:min(len(digits), maxNumber+1)], closing)
	switch {
	case end < 0 && len(digits) <= maxNumber:
		return Mark{}, 0, false
	case end < 0: // more digits than Append writes, whether or not the closing byte has been read
		return Mark{}, 1, false
	}
	number, err := strconv.ParseUint(string(digits[:end]), 10, 64)
	if err != nil {
		return Mark{}, 1, false
	}
	return Mark{kind, number}, len(s.prefix) + 1 + end + 1, true
}
