package seen

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/quernlab/quern/internal/atomicfile"
	"github.com/quernlab/quern/internal/failpoint"
	"github.com/quernlab/quern/kernel/statefile"
	"github.com/quernlab/quern/kernel/wire"
)

const (
	timeout    = 2 * time.Second
	maxAge     = 30 * 24 * time.Hour
	maxPast    = 1 << 16 // signatures read from a file
	maxWaiting = 1 << 12 // signatures queued for writing
)

// ErrOverflow reports that signatures are not stored because the file system does not
// respond.
var ErrOverflow = errors.New("the file system does not respond")

// Log is the file of one key. Its methods may be called from any goroutine.
type Log struct {
	timeout  time.Duration // the constant; longer in tests
	failed   func(error)
	past     []wire.Signature // valid once loaded is closed
	loaded   chan struct{}    // closed when reading the file has succeeded or failed
	add      chan wire.Signature
	closing  chan struct{}
	done     chan struct{}
	once     sync.Once // for Close
	reported sync.Once // for failed
}

// Open opens the file for a key in a directory and reads it in the background. failed is
// called with the first error; from then on signatures are not stored.
func Open(dir string, key []byte, failed func(error)) *Log {
	l := &Log{
		timeout: timeout, failed: failed, loaded: make(chan struct{}), add: make(chan wire.Signature, maxWaiting),
		closing: make(chan struct{}), done: make(chan struct{}),
	}
	go l.run(dir, name(key))
	return l
}

// name returns the file name for a key.
func name(key []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("quern: the file of the signatures")) // never equal to a message, which consists of JSON objects
	return hex.EncodeToString(mac.Sum(nil)[:nameBytes])
}

// isName reports whether a file name has the form of this package's.
func isName(file string) bool {
	_, err := hex.DecodeString(file)
	return err == nil && len(file) == nameBytes*2
}

// nameBytes is how many bytes of the hash are used in the name.
const nameBytes = 16

// Past returns the signatures of earlier runs; if there are too many, the last ones. It
// waits for at most [timeout] until they have been read.
func (l *Log) Past() []wire.Signature {
	timeout := time.NewTimer(l.timeout)
	defer timeout.Stop()
	select {
	case <-l.loaded:
		return l.past
	case <-timeout.C:
		l.report(ErrOverflow)
		return nil
	}
}

// Add stores the signature of a message. It does not wait for the file.
func (l *Log) Add(s wire.Signature) {
	select {
	case l.add <- s:
	default:
		l.report(ErrOverflow)
	}
}

// Close writes the queued signatures. It waits for at most [timeout].
func (l *Log) Close() {
	l.once.Do(func() { close(l.closing) })
	timeout := time.NewTimer(l.timeout)
	defer timeout.Stop()
	select {
	case <-l.done:
	case <-timeout.C:
	}
}

func (l *Log) report(err error) {
	l.reported.Do(func() { l.failed(err) })
}

func (l *Log) run(dir, name string) {
	defer close(l.done)
	f, past, err := load(dir, name)
	if err == nil {
		defer f.Close()
	}
	l.past = past
	close(l.loaded)
	if err != nil {
		l.report(err)
	}
	w := failpoint.Writer(failpoint.SeenAppend, f)
	for {
		select {
		case s := <-l.add:
			text := l.queued(s[:])
			if err != nil {
				continue
			}
			if _, err = w.Write(text); err != nil {
				l.report(err)
			}
		case <-l.closing:
			if text := l.queued(nil); err == nil && len(text) > 0 {
				if _, err = w.Write(text); err != nil {
					l.report(err)
				}
			}
			return
		}
	}
}

// queued appends all queued signatures to text.
func (l *Log) queued(text []byte) []byte {
	for {
		select {
		case s := <-l.add:
			text = append(text, s[:]...)
		default:
			return text
		}
	}
}

// load opens the file and reads its last signatures. Even if it fails, it returns the
// signatures that it could read.
func load(dir, name string) (f *os.File, past []wire.Signature, err error) {
	path := filepath.Join(dir, name)
	err = failpoint.Do(failpoint.SeenOpen, func() (err error) {
		f, err = statefile.Append(path)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	removeOld(dir, name)
	text, count, err := read(f)
	if err == nil && count > 2*maxPast {
		f, err = shorten(f, path, text)
	}
	if err != nil {
		f.Close()
	}
	for ; len(text) > 0; text = text[sha256.Size:] {
		past = append(past, wire.Signature(text))
	}
	return f, past, err
}

// read reads the last signatures and removes an incomplete one from the end of the file.
// count is the number of signatures in the file.
func read(f *os.File) (text []byte, count int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	const size = sha256.Size
	count = info.Size() / size
	text = make([]byte, min(count, maxPast)*size)
	if _, err := io.ReadFull(io.NewSectionReader(f, count*size-int64(len(text)), int64(len(text))), text); err != nil {
		return nil, 0, err
	}
	if count*size < info.Size() { // a kernel was killed while writing
		err = failpoint.Do(failpoint.SeenTruncate, func() error { return f.Truncate(count * size) })
	}
	return text, count, err
}

// shorten replaces the content of the file.
func shorten(f *os.File, path string, text []byte) (*os.File, error) {
	if err := f.Close(); err != nil { // Windows cannot replace an open file
		return f, fmt.Errorf("shorten: %w", err)
	}
	err := atomicfile.Replace(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return f, fmt.Errorf("shorten: %w", err)
	}
	shorter, err := statefile.Append(path)
	if err != nil {
		return f, fmt.Errorf("shorten: %w", err)
	}
	return shorter, nil
}

// removeOld removes files that have not been used for maxAge. Errors are ignored.
func removeOld(dir, name string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() != name && isName(e.Name()) && info.Mode().IsRegular() && time.Since(info.ModTime()) > maxAge {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
