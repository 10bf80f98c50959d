package compare

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/quernlab/quern/display"
)

// FileBytes returns the size of the file that save writes.
func FileBytes(save func(path string) error) (size int, err error) {
	dir, err := os.MkdirTemp("", "quern-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "model.safetensors")
	if err := save(path); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}

// Quality adds rows of loss and accuracy, before and after, to the table of a report. An accuracy of NaN
// means that it was not measured.
func Quality(r *display.Report, loss, accuracy [2]float64) {
	r.Row("loss", fmt.Sprintf("%.4g", loss[0]), fmt.Sprintf("%.4g", loss[1]), fmt.Sprintf("%+.2g", loss[1]-loss[0]))
	if !math.IsNaN(accuracy[0]) {
		r.Row("accuracy", fmt.Sprintf("%.2f %%", 100*accuracy[0]), fmt.Sprintf("%.2f %%", 100*accuracy[1]), fmt.Sprintf("%+.2f points", 100*(accuracy[1]-accuracy[0])))
	}
}

// Faster adds a row with the times of each round before and after, in seconds, and their ratio.
func Faster(r *display.Report, what string, seconds [2][]float64) {
	before, after := Times(seconds[0]), Times(seconds[1])
	median, low, high := before.Ratio(after)
	r.Row(what, before.String(), after.String(), fmt.Sprintf("%.2f times as fast (%.2f to %.2f)", median, low, high))
}
