package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// New returns a history in memory.
func New() *History { return &History{session: 1} }

// Open returns the history that is kept in a file, which it makes if need be
// with its folders. When that fails it returns a history in memory, and the
// error.
func Open(path string) (*History, error) {
	h := New()
	lines, whole, err := h.scan(path)
	if err == nil && lines > 2*maxEntries {
		whole, err = true, rewrite(path, lines-maxEntries)
	}
	if err == nil {
		h.file, err = openFile(path, whole)
	}
	if err != nil {
		return h, fmt.Errorf("history is kept for this session only: %w", err)
	}
	return h, nil
}

// maxSession is a number that no user gets to.
const maxSession = 1 << 30

// maxLine is more than the longest line that is written.
const maxLine = 1 << 20

// eachLine calls f with the lines of r, those that are too long empty. It reports
// whether the last one is whole.
func eachLine(from io.Reader, f func(line []byte)) (whole bool) {
	r := bufio.NewReaderSize(from, 64<<10)
	whole = true
	for {
		line, err := r.ReadSlice('\n')
		var long []byte
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(long) <= maxLine {
				long = append(long, line...)
			}
			line, err = r.ReadSlice('\n')
		}
		if long != nil {
			if line = append(long, line...); len(line) > maxLine {
				line = []byte("\n")
			}
		}
		if len(line) > 0 {
			whole = err == nil
			f(bytes.TrimSuffix(line, []byte("\n")))
		}
		if err != nil {
			return whole // what can be read is what there is
		}
	}
}

// eachLineOf is eachLine for a file; one that is not there has no lines.
func eachLineOf(path string, f func(line []byte)) (whole bool, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	return eachLine(file, f), nil
}

// scan counts the lines of a file and finds the number of this session, without
// decoding what is in them: a kernel that starts has other things to do.
func (h *History) scan(path string) (lines int, whole bool, err error) {
	whole, err = eachLineOf(path, func(line []byte) {
		lines++
		if session := sessionOf(line); session > 0 {
			h.session = max(h.session, session+1)
		}
	})
	return lines, whole, err
}

// start is how every line begins.
const start = `{"session":`

// sessionOf is the number of the session in a line as append writes it; 0 for
// another one.
func sessionOf(line []byte) (session int) {
	rest, ok := bytes.CutPrefix(line, []byte(start))
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

// rewrite takes the first lines of a file away.
func rewrite(path string, drop int) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // once renamed there is nothing to remove
	w := bufio.NewWriter(f)
	_, err = eachLineOf(path, func(line []byte) {
		if drop--; drop < 0 && len(line) > 0 {
			_, _ = w.Write(append(line, '\n')) // Flush tells the error
		}
	})
	if err = errors.Join(err, w.Flush(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// file is what entries are appended to.
type file struct {
	f    *os.File
	size int64 // bytes that earlier sessions have written
}

// openFile opens a file to append to it. Where its last line is not whole, that
// is ended.
func openFile(path string, whole bool) (*file, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !whole {
		_, err = f.WriteString("\n")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{f, info.Size()}, nil
}

// past decodes the entries of earlier sessions, the last ones if there are many.
func (f *file) past() []Entry {
	var entries []Entry
	eachLine(io.NewSectionReader(f.f, 0, f.size), func(line []byte) {
		var e Entry
		if session := sessionOf(line); session == 0 || json.Unmarshal(line, &e) != nil || e.Session != session {
			return
		}
		if len(entries) == 2*maxEntries {
			entries = append(entries[:0], entries[maxEntries:]...)
		}
		entries = append(entries, e)
	})
	return entries
}

// append writes a line at once, so that those of several kernels do not mix.
func (f *file) append(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := f.f.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("history is kept for this session only: %w", err)
	}
	return nil
}

func (f *file) close() { f.f.Close() }
