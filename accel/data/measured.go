package data

import (
	"io"

	"github.com/quernlab/quern/display"
)

// metered is a reader that counts in the bar of its file.
type metered struct{ io.Reader }

// measured counts what is read of r, which may be of an unknown size, in a bar, unless r does
// that already. The caller ends the meter, which may be nil.
func measured(r io.Reader, label string, bytes int64) (io.Reader, *display.Meter) {
	if _, ok := r.(metered); ok {
		return r, nil
	}
	meter := display.NewMeter(label, float64(max(bytes, 0))/1e6)
	return metered{meter.Reader(r)}, meter
}
