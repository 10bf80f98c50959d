package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/quernlab/quern/internal/failpoint"
)

// prefix is the beginning of the name of each temporary file; a number follows.
const prefix = ".save-"

// temporary is a new file or directory that no other process removes before lock is
// closed.
type temporary struct {
	name string
	file *os.File // nil for a directory
	lock io.Closer
}

// errRemoved reports that another process has removed a temporary file, or is about to,
// before it was locked.
var errRemoved = errors.New("the temporary file was removed by another process")

// ErrLocked reports that a file is locked by another process or call.
var ErrLocked = errors.New("the file is in use by another process or call")

// Lock marks a file as used until the result is closed or the process ends. If it is marked already,
// or has another name meanwhile, the error is [ErrLocked]. Systems without flock, and file systems
// without locks, mark nothing.
func Lock(name string) (io.Closer, error) {
	c, err := lock(name)
	if errors.Is(err, errRemoved) {
		return nil, ErrLocked
	}
	return c, err
}

// maxAttempts bounds how many names are tried.
const maxAttempts = 1000

// create creates a temporary file in a folder.
func create(folder string) (temporary, error) {
	return createBy(folder, func(t *temporary) error {
		return failpoint.Do(failpoint.FileCreate, func() (err error) {
			t.file, err = os.OpenFile(t.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
			return err
		})
	})
}

// createFolder creates a temporary directory in a folder.
func createFolder(folder string) (temporary, error) {
	return createBy(folder, func(t *temporary) error {
		return failpoint.Do(failpoint.FolderCreate, func() error { return os.Mkdir(t.name, 0o777) })
	})
}

func createBy(folder string, by func(*temporary) error) (t temporary, err error) {
	for range maxAttempts {
		t = temporary{name: filepath.Join(folder, prefix+strconv.FormatUint(uint64(rand.Uint32()), 10))}
		if err = by(&t); errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return t, err
		}
		if t.lock, err = lock(t.name); err == nil {
			return t, nil
		}
		if t.file != nil {
			t.file.Close()
		}
		if !errors.Is(err, errRemoved) {
			os.Remove(t.name)
			return t, err
		}
	}
	return t, err
}

// Clean removes the temporary files and directories in a folder that no process uses, as
// Replace and CreateFolder do first. Errors are ignored, since they must not prevent
// saving.
func Clean(folder string) {
	f, err := os.Open(folder)
	if err != nil {
		return
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return
	}
	for _, name := range names {
		number, ok := strings.CutPrefix(name, prefix)
		if _, err := strconv.ParseUint(number, 10, 32); !ok || err != nil {
			continue
		}
		_ = failpoint.Do(failpoint.FileClean, func() error {
			removeAbandoned(filepath.Join(folder, name))
			return nil
		})
	}
}
