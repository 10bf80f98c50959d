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
	s, err := newSeries("TimeSeries", values, past, future, targets)
	if err != nil {
		return nil, err
	}
	return &Dataset{name: "time series", shape: []int{past, s.width}, source: s}, nil
}

// TimeSeriesKnown is [TimeSeries] with inputs that are known in advance for the future, such as the hour,
// the day of the week and holidays: known has a row of K features for each time. An example is the past
// rows of values and then the future rows of known, past·F + future·K numbers, which a model divides
// with nn.Unpack:
//
//	in := nn.Unpack(x, []int{past, F}, []int{future, K})
//
// Errors are those of TimeSeries, also for known, and another number of times.
func TimeSeriesKnown(values, known [][]float32, past, future int, targets ...int) (*Dataset, error) {
	const call = "TimeSeriesKnown"
	s, err := newSeries(call, values, past, future, targets)
	if err != nil {
		return nil, err
	}
	if len(known) != len(values) {
		return nil, fmt.Errorf("data: %s: the known features have %d times, but the values have %d", call, len(known), len(values))
	}
	if s.known, s.knownWidth, err = timeRows(call, "known feature", known); err != nil {
		return nil, err
	}
	return &Dataset{name: "time series", shape: []int{past*s.width + future*s.knownWidth}, source: s}, nil
}

// timeRows returns finite values as rows of one width; what names them in errors.
func timeRows(call, what string, values [][]float32) (rows []float32, width int, err error) {
	if rows, width, err = flatten("time", values); err != nil {
		return nil, 0, err
	}
	for i, v := range rows {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, 0, fmt.Errorf("data: %s: %s %d at time %d is %g: fill it in, or divide the series there", call, what, i%width, i/width, v)
		}
	}
	return rows, width, nil
}

func newSeries(call string, values [][]float32, past, future int, targets []int) (*series, error) {
	if past < 1 || future < 1 {
		return nil, fmt.Errorf("data: %s: past %d and future %d must both be at least 1", call, past, future)
	}
	if len(values) < past+future {
		return nil, fmt.Errorf("data: %s: %d times are too few for %d of the past and %d of the future", call, len(values), past, future)
	}
	rows, width, err := timeRows(call, "feature", values)
	if err != nil {
		return nil, err
	}
	if len(targets) == 0 {
		targets = []int{0}
	}
	for _, t := range targets {
		if t < 0 || t >= width {
			return nil, fmt.Errorf("data: %s: target %d is not one of the features 0 to %d", call, t, width-1)
		}
	}
	return &series{rows: rows, width: width, past: past, future: future, targets: slices.Clone(targets)}, nil
}

// series is a source of overlapping windows of the rows of a time series.
type series struct {
	rows                []float32 // [times, width]
	width, past, future int
	targets             []int
	known               []float32 // [times, knownWidth]; nil for none
	knownWidth          int
}

func (s *series) len() int { return len(s.rows)/s.width - s.past - s.future + 1 }

func (s *series) form() form { return form{targets: s.future * len(s.targets)} }

func (s *series) read(i int, v values) error {
	n := copy(v.x, s.rows[i*s.width:(i+s.past)*s.width])
	if n < len(v.x) {
		copy(v.x[n:], s.known[(i+s.past)*s.knownWidth:])
	}
	for k := range v.targets {
		time, column := k/len(s.targets), s.targets[k%len(s.targets)]
		v.targets[k] = s.rows[(i+s.past+time)*s.width+column]
	}
	return nil
}
