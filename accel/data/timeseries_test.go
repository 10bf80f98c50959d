package data_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

func TestTimeSeries(t *testing.T) {
	values := [][]float32{{0, 10}, {1, 11}, {2, 12}, {3, 13}, {4, 14}}
	for _, tt := range []struct {
		past, future int
		targets      []int
		examples     int
		x, want      []float32 // of the last example
	}{
		{2, 1, nil, 3, []float32{2, 12, 3, 13}, []float32{4}},
		{1, 2, []int{1}, 3, []float32{2, 12}, []float32{13, 14}},
		{3, 2, []int{1, 0}, 1, []float32{0, 10, 1, 11, 2, 12}, []float32{13, 3, 14, 4}},
	} {
		set, err := data.TimeSeries(values, tt.past, tt.future, tt.targets...)
		if err != nil {
			t.Fatal(err)
		}
		last := set.Len() - 1
		if set.Len() != tt.examples || !slices.Equal(set.Shape(), []int{tt.past, 2}) ||
			!slices.Equal(set.Example(last), tt.x) || !slices.Equal(set.Target(last), tt.want) {
			t.Errorf("past %d, future %d, targets %v: %v, the last one is %v with the targets %v; want %v and %v",
				tt.past, tt.future, tt.targets, set, set.Example(last), set.Target(last), tt.x, tt.want)
		}
	}
}

func TestTimeSeriesErrors(t *testing.T) {
	nan := float32(math.NaN())
	for _, tt := range []struct {
		values       [][]float32
		past, future int
		targets      []int
		want         string
	}{
		{[][]float32{{1}, {2}}, 0, 1, nil, "past 0 and future 1 must both be at least 1"},
		{[][]float32{{1}, {2}}, 2, 1, nil, "2 times are too few for 2 of the past and 1 of the future"},
		{[][]float32{{1}, {2, 3}}, 1, 1, nil, "time 1"},
		{[][]float32{{1, 2}, {3, nan}}, 1, 1, nil, "feature 1 at time 1 is NaN"},
		{[][]float32{{1, 2}, {3, 4}}, 1, 1, []int{2}, "target 2 is not one of the features 0 to 1"},
	} {
		if _, err := data.TimeSeries(tt.values, tt.past, tt.future, tt.targets...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: got %v, want an error with %q", tt.values, err, tt.want)
		}
	}
}
