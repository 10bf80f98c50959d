package history

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// start is the line that begins a session.
type start struct {
	Session int    `json:"session"`
	Started string `json:"started"`
}

const (
	maxSession = 1 << 30      // a number that no user gets to
	maxLine    = 1 << 20      // bytes, more than the longest line that is written
	maxScan    = 4 * maxBytes // bytes that are read of a file: its last ones
)

// tail is what a file holds.
type tail struct {
	size    int64
	lines   int   // in what was read
	session int   // the highest number
	start   int64 // where the last maxEntries lines begin, or those of the last maxBytes
}

// scan reads a file without decoding its lines: a kernel that starts has other
// things to do.
func scan(f *os.File) (tail, error) {
	info, err := f.Stat()
	if err != nil {
		return tail{}, err
	}
	t := tail{size: info.Size()}
	from := max(0, t.size-maxScan)
	starts := make([]int64, 0, maxEntries) // of the last lines, in a ring
	err = eachLine(f, from, t.size, func(at int64, line []byte) {
		if len(starts) < maxEntries {
			starts = append(starts, at)
		} else {
			starts[t.lines%maxEntries] = at
		}
		t.lines++
		if session := sessionOf(line); session < maxSession {
			t.session = max(t.session, session)
		}
	})
	t.start = t.size
	for i := range len(starts) { // from the last line back
		at := starts[(t.lines-1-i)%maxEntries]
		if t.size-at > maxBytes {
			break
		}
		t.start = at
	}
	return t, err
}

// eachLine calls f with where each line begins and the line, from the first whole one
// behind from to size. A line that is too long is empty.
func eachLine(file *os.File, from, size int64, f func(at int64, line []byte)) error {
	r := bufio.NewReaderSize(io.NewSectionReader(file, from, size-from), 64<<10)
	cut := from > 0
	for at := from; ; {
		line, err := r.ReadSlice('\n')
		n := int64(len(line))
		var long []byte
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(long) <= maxLine {
				long = append(long, line...)
			}
			line, err = r.ReadSlice('\n')
			n += int64(len(line))
		}
		if long != nil {
			if line = append(long, line...); len(line) > maxLine {
				line = nil
			}
		}
		if n > 0 && !cut {
			f(at, bytes.TrimSuffix(line, []byte("\n")))
		}
		cut = false
		if at += n; errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// opening is how every line begins.
const opening = `{"session":`

// sessionOf is the number of the session in a line as it is written; 0 for another
// one.
func sessionOf(line []byte) (session int) {
	rest, ok := bytes.CutPrefix(line, []byte(opening))
	if !ok || !bytes.HasSuffix(line, []byte("}")) {
		return 0
	}
	for i, b := range rest {
		switch {
		case b == ',' && i > 0:
			return session
		case b < '0' || b > '9':
			return 0
		}
		if session = 10*session + int(b-'0'); session > maxSession {
			return 0
		}
	}
	return 0
}
