package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
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
	lines, err := h.load(path)
	if err == nil && lines > 2*maxEntries {
		err = rewrite(path, h.entries)
	}
	if err == nil {
		h.file, err = openFile(path)
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

// load reads the entries of a file and returns how many lines it has.
func (h *History) load(path string) (lines int, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, maxLine)
	for {
		line, tooLong, err := r.ReadLine()
		if err != nil {
			break // what can be read is what there is
		}
		for skip := tooLong; skip && err == nil; {
			_, skip, err = r.ReadLine()
		}
		lines++
		var e Entry
		if tooLong || json.Unmarshal(line, &e) != nil || e.Session < 1 || e.Session > maxSession {
			continue
		}
		h.keep(e)
		h.session = max(h.session, e.Session+1)
	}
	return lines, nil
}

// rewrite puts entries in the place of a file.
func rewrite(path string, entries []Entry) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // once renamed there is nothing to remove
	w := bufio.NewWriter(f)
	encoder := json.NewEncoder(w)
	for _, e := range entries {
		if err = encoder.Encode(e); err != nil {
			break
		}
	}
	if err = errors.Join(err, w.Flush(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// file is what entries are appended to.
type file struct{ f *os.File }

func openFile(path string) (*file, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &file{f}, nil
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
