package preprocess

import (
	"slices"
	"time"

	"github.com/quernlab/quern/accel/frame"
)

// DateColumns are columns of times; see [Dates].
type DateColumns struct{ names []string }

// Dates makes features of columns of times: year, month, day, weekday (from 0 for Sunday), hour and minute, as
// far as they differ among the training rows, standardized like [Numbers]. They are those of the value's time
// zone. A missing value is a [*ValueError].
func Dates(names ...string) DateColumns { return DateColumns{names} }

// dateParts are what Dates makes of a time.
var dateParts = []struct {
	name string
	of   func(time.Time) int
}{
	{"year", time.Time.Year},
	{"month", func(t time.Time) int { return int(t.Month()) }},
	{"day", time.Time.Day},
	{"weekday", func(t time.Time) int { return int(t.Weekday()) }},
	{"hour", time.Time.Hour},
	{"minute", time.Time.Minute},
}

func (c DateColumns) fit(train *frame.Frame) ([]encoder, error) {
	var encoders []encoder
	for _, name := range c.names {
		d := &date{Column: name}
		for k, part := range dateParts {
			values, err := d.values(train, k)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(values, func(v float64) bool { return v != values[0] }) {
				mean, scale := Scale(values)
				d.Parts = append(d.Parts, datePart{part.name, mean, scale})
			}
		}
		encoders = append(encoders, d)
	}
	return encoders, nil
}

// date is a fitted column of times.
type date struct {
	Column string
	Parts  []datePart
}

type datePart struct {
	Name        string
	Mean, Scale float64
}

func (d *date) column() string { return d.Column }

func (d *date) features() []string {
	var names []string
	for _, p := range d.Parts {
		names = append(names, d.Column+" "+p.Name)
	}
	return names
}

// values returns a part of each time.
func (d *date) values(f *frame.Frame, part int) ([]float64, error) {
	c := f.Column(d.Column)
	times := c.Times()
	values := make([]float64, len(times))
	for i, t := range times {
		if c.Missing(i) {
			return nil, &ValueError{Column: d.Column, Row: i, Value: "a missing value", Want: "a time: use FillMissing or DropMissing of the frame"}
		}
		values[i] = float64(dateParts[part].of(t))
	}
	return values, nil
}

func (d *date) encode(f *frame.Frame, rows [][]float32, at int) error {
	for k, p := range d.Parts {
		for index, part := range dateParts {
			if part.name != p.Name {
				continue
			}
			values, err := d.values(f, index)
			if err != nil {
				return err
			}
			for i, v := range values {
				rows[i][at+k] = float32((v - p.Mean) / p.Scale)
			}
		}
	}
	return nil
}
