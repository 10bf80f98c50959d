package data

import (
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/quernlab/quern/accel/download"
	"github.com/quernlab/quern/display"
)

// collection describes where the files of a published data set may be.
type collection struct {
	files   []file
	folders []string // searched in this order
	cache   string   // folder for downloads; "" if none
	address string   // URL of the folder, ending in "/"
	options []download.Option
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

// download downloads the missing files to the cache folder.
func (c collection) download(ctx context.Context) error {
	for _, f := range c.files {
		if _, err := f.locate(c.cache); err == nil {
			continue
		}
		name := f.name + ".gz"
		options := append([]download.Option{download.Check(f.verify), download.MaxSize(maxDownload)}, c.options...)
		if err := download.Get(ctx, c.address+name, filepath.Join(c.cache, name), options...); err != nil {
			return err
		}
	}
	return nil
}

// maxDownload is larger than any file of the data sets.
const maxDownload = 256 << 20

// isCorruptDeflate reports whether an error means that compressed data are corrupt.
func isCorruptDeflate(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.As(err, &corrupt) || errors.Is(err, io.ErrUnexpectedEOF)
}

// progressReader is a reader that reports to the progress bar of its file.
type progressReader struct{ io.Reader }

// withProgress displays the progress of reading r in a bar, unless r is already metered. The size may
// be unknown. The caller ends the meter, which may be nil.
func withProgress(r io.Reader, label string, bytes int64) (io.Reader, *display.Meter) {
	if _, ok := r.(progressReader); ok {
		return r, nil
	}
	meter := display.NewMeter(label, float64(max(bytes, 0))/1e6)
	return progressReader{meter.Reader(r)}, meter
}
