package data

import (
	"io"

	"github.com/quernlab/quern/display"
)

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
