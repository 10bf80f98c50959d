package data

import (
	"fmt"
	"math"
	"slices"
)

// TimeSeries makes a data set that predicts the future of a series from its past: values has a row
// of F features for each time, in order, and example i is the past rows from i on, of shape [past,
// F]. Its targets are the columns targets, by default the first, in the future rows that follow:
// future·len(targets) values, with those of one time beside each other. There are len(values) -
// past - future + 1 examples, which overlap.
//
// [Dataset.Split] divides a series into its earlier and its later part; a random split would
// test a model on times that it was trained with. The last past+future-1 examples of the first
// part overlap with the second: leave them out with [Dataset.First] if no value may be in both.
//
// A row of another length, a value that is NaN or infinite, and a series that is too short are
// errors.
func TimeSeries(values [][]float32, past, future int, targets ...int) (*Dataset, error) {
	if past < 1 || future < 1 {
		return nil, fmt.Errorf("data: TimeSeries: past %d and future %d must both be at least 1", past, future)
	}
	if len(values) < past+future {
		return nil, fmt.Errorf("data: TimeSeries: %d times are too few for %d of the past and %d of the future", len(values), past, future)
	}
	rows, width, err := flatten("time", values)
	if err != nil {
		return nil, err
	}
	for i, v := range rows {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("data: TimeSeries: feature %d at time %d is %g: fill it in, or divide the series there", i%width, i/width, v)
		}
	}
	if len(targets) == 0 {
		targets = []int{0}
	}
	for _, t := range targets {
		if t < 0 || t >= width {
			return nil, fmt.Errorf("data: TimeSeries: target %d is not one of the features 0 to %d", t, width-1)
		}
	}
	return &Dataset{
		name:   "time series",
		shape:  []int{past, width},
		source: &series{rows: rows, width: width, past: past, future: future, targets: slices.Clone(targets)},
	}, nil
}

// series is a source of overlapping windows of the rows of a time series.
type series struct {
	rows                []float32 // [times, width]
	width, past, future int
	targets             []int
}

func (s *series) len() int { return len(s.rows)/s.width - s.past - s.future + 1 }

func (s *series) form() form { return form{targets: s.future * len(s.targets)} }

func (s *series) read(i int, v values) error {
	copy(v.x, s.rows[i*s.width:(i+s.past)*s.width])
	for k := range v.targets {
		time, column := k/len(s.targets), s.targets[k%len(s.targets)]
		v.targets[k] = s.rows[(i+s.past+time)*s.width+column]
	}
	return nil
}
