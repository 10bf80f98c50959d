package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/quernlab/quern/internal/atomicfile"
	"github.com/quernlab/quern/internal/failpoint"
	"github.com/quernlab/quern/kernel/statefile"
)

// file is a store in a file that several kernels may use concurrently.
type file struct {
	path    string
	lock    *flock.Flock
	f       *os.File // nil until it is open
	session int
}

var _ store = (*file)(nil)

func newFile(path string) *file {
	return &file{path: path, lock: flock.New(path+".lock", flock.SetFlag(os.O_CREATE|os.O_RDWR|statefile.Nonblock))}
}

// lockRetry is how often to retry when another kernel holds the lock.
const lockRetry = 20 * time.Millisecond

// locked calls f while holding the lock.
func (h *file) locked(ctx context.Context, f func() error) error {
	if err := statefile.Regular(h.lock.Path()); err != nil {
		return err
	}
	err := failpoint.Do(failpoint.HistoryLock, func() error {
		_, err := h.lock.TryLockContext(ctx, lockRetry)
		return err
	})
	if err != nil {
		return fmt.Errorf("lock %s: %w", h.lock.Path(), err)
	}
	return errors.Join(f(), h.lock.Unlock())
}

// withConsequence explains the consequence of an error.
func withConsequence(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the history is kept for this session only: %w; set QUERN_HISTORY to use another file", err)
}

// open opens the file and starts a session with the number after the last one.
func (h *file) open(ctx context.Context) (session int, err error) {
	if err := failpoint.Do(failpoint.HistoryFolder, func() error { return os.MkdirAll(filepath.Dir(h.path), 0o700) }); err != nil {
		return 0, withConsequence(err)
	}
	err = h.locked(ctx, func() error {
		if err := h.reopen(); err != nil {
			return err
		}
		last, err := h.tidy(2*maxEntries, 2*maxBytes)
		if err != nil {
			return err
		}
		h.session = last + 1
		line, err := json.Marshal(start{Session: h.session, Started: time.Now().UTC().Format(time.RFC3339)})
		if err != nil {
			return err
		}
		return h.write(append(line, '\n'))
	})
	return h.session, withConsequence(err)
}

// reopen opens the file unless it is open. Another kernel may have replaced it.
func (h *file) reopen() error {
	if err := statefile.Regular(h.path); err != nil {
		return err
	}
	if h.f != nil {
		at, err1 := os.Stat(h.path)
		own, err2 := h.f.Stat()
		if err1 == nil && err2 == nil && os.SameFile(at, own) {
			return nil
		}
		h.close()
	}
	var f *os.File
	err := failpoint.Do(failpoint.HistoryOpen, func() (err error) {
		f, err = statefile.Append(h.path)
		return err
	})
	if err != nil {
		return err
	}
	h.f = f
	return nil
}

// tidy shortens the file if it has more than the given number of lines or bytes. It
// returns the number of the last session.
func (h *file) tidy(lines int, size int64) (session int, err error) {
	t, err := scan(h.f)
	if err != nil {
		return 0, err
	}
	if t.lines > lines || t.size > size {
		// If that fails, because the disk is full or, on Windows, another kernel has the
		// file open, the file keeps its length.
		_ = h.shorten(t)
		err = h.reopen()
	}
	return t.session, err
}

// shorten replaces the file by its last lines and leaves it closed.
func (h *file) shorten(t tail) (err error) {
	path := h.path + ".new" // may be left by a kernel that was killed here
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var f *os.File
	err = failpoint.Do(failpoint.HistoryShorten, func() (err error) {
		f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(failpoint.Writer(failpoint.HistoryCopy, f), io.NewSectionReader(h.f, t.start, t.size-t.start))
	if err = errors.Join(err, failpoint.Do(failpoint.HistorySync, f.Sync), f.Close()); err == nil {
		h.close() // Windows cannot replace an open file
		err = failpoint.Do(failpoint.HistoryRename, func() error { return os.Rename(path, h.path) })
	}
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return failpoint.Do(failpoint.HistorySyncFolder, func() error { return atomicfile.SyncFolder(filepath.Dir(h.path)) })
}

// write appends complete lines. If that fails, nothing is appended.
func (h *file) write(lines []byte) error {
	info, err := h.f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size > 0 {
		var end [1]byte
		if _, err := h.f.ReadAt(end[:], size-1); err != nil {
			return err
		}
		if end[0] != '\n' { // the last line is truncated
			lines = append([]byte("\n"), lines...)
		}
	}
	if _, err := failpoint.Writer(failpoint.HistoryAppend, h.f).Write(lines); err != nil {
		return errors.Join(err, failpoint.Do(failpoint.HistoryTruncate, func() error { return h.f.Truncate(size) }))
	}
	return nil
}

// append implements store.
func (h *file) append(ctx context.Context, entries []Entry) error {
	var lines []byte
	for _, e := range entries {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	return withConsequence(h.locked(ctx, func() error {
		if err := h.reopen(); err != nil {
			return err
		}
		if err := h.write(lines); err != nil {
			return err
		}
		if info, err := h.f.Stat(); err != nil || info.Size() <= maxScan {
			return err
		}
		_, err := h.tidy(2*maxEntries, 2*maxBytes)
		return err
	}))
}

// past returns the entries before the start of this session; if there are too many, the
// last ones.
func (h *file) past() []Entry {
	info, err := h.f.Stat()
	if err != nil {
		return nil // without the file there are no earlier entries
	}
	var entries []Entry
	bytes, began := 0, false
	_ = eachLine(h.f, max(0, info.Size()-maxScan), info.Size(), func(_ int64, line []byte) {
		number := sessionOf(line)
		if began = began || number == h.session; began || number == 0 {
			return
		}
		var e Entry
		if json.Unmarshal(line, &e) != nil || e.Session != number || e.Line == 0 && e.Input == "" { // malformed, or the start of a session
			return
		}
		entries = append(entries, e)
		for bytes += e.size(); len(entries) > maxEntries || bytes > maxBytes; entries = entries[1:] {
			bytes -= entries[0].size()
		}
	})
	if !began {
		return nil // the start was dropped, and everything before it
	}
	return entries
}

func (h *file) close() {
	if h.f != nil {
		h.f.Close() // all writes have been checked
		h.f = nil
	}
}
