package history

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// start is the line at the start of a session.
type start struct {
	Session int    `json:"session"`
	Started string `json:"started"`
}

const (
	maxSession = 1 << 30      // more sessions than a user can have
	maxLine    = 1 << 20      // bytes; longer than any line that is written
	maxScan    = 4 * maxBytes // how many bytes at the end of a file are read
)

// tail describes the end of a file.
type tail struct {
	size    int64
	lines   int   // number of lines read
	session int   // the highest session number
	start   int64 // offset of the last maxEntries lines, or of the last lines within maxBytes
}

// scan reads a file without decoding its lines, since it delays the start of a kernel.
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

// eachLine calls f with the offset and content of each complete line between from and
// size. A line that is too long is passed as empty.
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

// opening is the beginning of each line.
const opening = `{"session":`

// sessionOf returns the session number in a line, or 0 if the line is malformed.
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
