package data

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/atomicfile"
)

// collection describes where the files of a published data set may be.
type collection struct {
	files   []file
	folders []string // searched in this order
	cache   string   // folder for downloads; "" if none
	address string   // URL of the folder, ending in "/"
	client  *http.Client
	// stall is the time without data after which a download is aborted; 0 means a minute.
	stall time.Duration
}

// find returns the first folder that has all the files. The error wraps fs.ErrNotExist if none
// has them.
func (c collection) find() (string, error) {
	for _, folder := range c.folders {
		missing := 0
		for _, f := range c.files {
			if _, err := f.locate(folder); errors.Is(err, fs.ErrNotExist) {
				missing++
			} else if err != nil {
				return "", fmt.Errorf("data: %w", err)
			}
		}
		if missing == 0 {
			return folder, nil
		}
	}
	return "", fmt.Errorf("data: %s was not found in %v: %w", c.files[0].name, c.folders, fs.ErrNotExist)
}

// download downloads the missing files to the cache folder and displays its progress. A file
// gets its final name only when it is complete and verified.
func (c collection) download(ctx context.Context) error {
	if err := os.MkdirAll(c.cache, 0o755); err != nil {
		return err
	}
	progress := &progress{shown: display.Show(display.Text("downloading to " + c.cache))}
	for _, f := range c.files {
		if _, err := f.locate(c.cache); err == nil {
			continue
		}
		progress.file, progress.read, progress.begun = f.name, 0, time.Now()
		if err := c.fetch(ctx, f, progress); err != nil {
			return err
		}
	}
	progress.shown.Update(display.Text("downloaded to " + c.cache))
	return nil
}

// fetch downloads one file.
func (c collection) fetch(ctx context.Context, f file, progress *progress) error {
	stall := c.stall
	if stall == 0 {
		stall = time.Minute
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(stall, func() { cancel(fmt.Errorf("no data for %v", stall)) })
	defer watchdog.Stop()

	address := c.address + f.name + ".gz"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return cause(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, response.Status)
	}
	progress.total = response.ContentLength
	var content bytes.Buffer
	body := io.TeeReader(io.LimitReader(response.Body, maxDownload), progress)
	for {
		n, err := io.CopyN(&content, body, 64<<10)
		if n > 0 {
			watchdog.Reset(stall)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", address, cause(ctx, err))
		}
	}
	if err := f.verify(content.Bytes()); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return atomicfile.Replace(filepath.Join(c.cache, f.name+".gz"), func(w io.Writer) error {
		_, err := w.Write(content.Bytes())
		return err
	})
}

// maxDownload is larger than any file of the data sets.
const maxDownload = 256 << 20

// cause returns the reason for which a context ended, if it did, otherwise the error.
func cause(ctx context.Context, err error) error {
	if reason := context.Cause(ctx); reason != nil {
		return reason
	}
	return err
}

// isCorruptDeflate reports whether an error means that compressed data are corrupt.
func isCorruptDeflate(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.As(err, &corrupt) || errors.Is(err, io.ErrUnexpectedEOF)
}

// progress displays how many bytes of a file have been downloaded, at most four times per
// second.
type progress struct {
	shown *display.Handle
	file  string
	read  int64
	total int64     // -1 if unknown
	begun time.Time // time of the request
	last  time.Time
}

func (p *progress) Write(b []byte) (int, error) {
	p.read += int64(len(b))
	if now := time.Now(); now.Sub(p.last) >= 250*time.Millisecond {
		p.last = now
		p.shown.Update(display.Progress{
			Label: "downloading " + p.file, Done: float64(p.read) / 1e6, Total: max(float64(p.total)/1e6, 0), Passed: time.Since(p.begun), Note: "MB",
		})
	}
	return len(b), nil
}
