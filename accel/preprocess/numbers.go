package preprocess

import (
	"fmt"
	"math"
	"strconv"

	"github.com/quernlab/quern/accel/frame"
)

// Filling is what replaces a missing number.
type Filling struct {
	statistic func(column string) frame.Statistic // of the training rows; nil: the value
	value     float64
}

// The statistics of the training rows that can replace a missing number.
var (
	Mean   = Filling{statistic: frame.Mean}
	Median = Filling{statistic: frame.Median}
)

// Constant is a value for missing numbers.
func Constant(value float64) Filling { return Filling{value: value} }

// NumberColumns are columns of numbers or bools; see [Numbers].
type NumberColumns struct {
	names     []string
	filling   *Filling
	indicator bool
	log, raw  bool
}

// Numbers standardizes columns of floats, ints or bools: it subtracts the mean of the training rows and
// divides by their standard deviation (with the divisor n, as StandardScaler of scikit-learn), unless that is zero. A missing
// value is a [*ValueError]; see [NumberColumns.Impute].
func Numbers(names ...string) NumberColumns { return NumberColumns{names: names} }

// Impute replaces missing values by Mean or Median of the training rows or by a Constant.
func (c NumberColumns) Impute(with Filling) NumberColumns {
	c.filling = &with
	return c
}

// Indicator adds a feature "name missing" that is 1 where the value is missing, and otherwise 0.
func (c NumberColumns) Indicator() NumberColumns {
	c.indicator = true
	return c
}

// Log replaces a value x by log(1+x) before it is standardized, for amounts and counts that are mostly
// small and sometimes very large. A value of -1 or less is a [*ValueError].
func (c NumberColumns) Log() NumberColumns {
	c.log = true
	return c
}

// Unscaled does not standardize the values.
func (c NumberColumns) Unscaled() NumberColumns {
	c.raw = true
	return c
}

func (c NumberColumns) fit(train *frame.Frame) ([]encoder, error) {
	var encoders []encoder
	for _, name := range c.names {
		n := &number{Column: name, Indicator: c.indicator, Log: c.log, Scale: 1}
		if c.filling != nil {
			v := c.filling.value
			if c.filling.statistic != nil {
				v = train.Aggregate(c.filling.statistic(name).As(name)).Column(name).Floats()[0]
			}
			if math.IsInf(v, 0) { // of an infinite value: without the filling its row is found
				for i, x := range train.Column(name).Floats() {
					if math.IsInf(x, 0) {
						return nil, infinite(name, i, x)
					}
				}
			}
			if math.IsNaN(v) {
				return nil, &ValueError{Column: name, Value: "no value in any training row", Want: "at least one, or Impute(Constant(…))"}
			}
			n.Fill = &v
		}
		values, err := n.values(train)
		if err != nil {
			return nil, err
		}
		if !c.raw {
			n.Mean, n.Scale = Scale(values)
		}
		encoders = append(encoders, n)
	}
	return encoders, nil
}

// Scale returns what [Numbers] subtracts from values and divides them by: their mean and their standard deviation
// with the divisor n. For equal values these are exactly the value and 1, so that they become 0; for none 0 and 1.
func Scale(values []float64) (mean, scale float64) {
	if len(values) == 0 {
		return 0, 1
	}
	// The distances from the first value are added: those of a constant are 0.
	n, first := float64(len(values)), values[0]
	for _, v := range values {
		mean += v - first
	}
	mean = first + mean/n
	for _, v := range values {
		scale += (v - mean) / n * (v - mean)
	}
	if scale = math.Sqrt(scale); scale == 0 {
		scale = 1
	}
	return mean, scale
}

// number is a fitted column of numbers.
type number struct {
	Column    string
	Fill      *float64 `json:",omitempty"` // for missing values; nil: they are errors
	Indicator bool     `json:",omitempty"`
	Log       bool     `json:",omitempty"`
	Mean      float64
	Scale     float64
}

func (n *number) column() string { return n.Column }

func (n *number) features() []string {
	if n.Indicator {
		return []string{n.Column, n.Column + " missing"}
	}
	return []string{n.Column}
}

// values returns the numbers before they are standardized.
func (n *number) values(f *frame.Frame) ([]float64, error) {
	values := f.Column(n.Column).Floats()
	for i, v := range values {
		if math.IsNaN(v) && n.Fill != nil {
			v = *n.Fill
		}
		switch {
		case math.IsNaN(v):
			return nil, &ValueError{Column: n.Column, Row: i, Value: "a missing value", Want: "a number: use Impute, or DropMissing of the frame"}
		case math.IsInf(v, 0):
			return nil, infinite(n.Column, i, v)
		case n.Log && v <= -1:
			return nil, &ValueError{Column: n.Column, Row: i, Value: strconv.FormatFloat(v, 'g', -1, 64), Want: "a number above -1 for Log"}
		case n.Log:
			v = math.Log1p(v)
		}
		values[i] = v
	}
	return values, nil
}

func infinite(column string, row int, v float64) error {
	return &ValueError{Column: column, Row: row, Value: strconv.FormatFloat(v, 'g', -1, 64), Want: "a finite number"}
}

func (n *number) encode(f *frame.Frame, rows [][]float32, at int) error {
	values, err := n.values(f)
	if err != nil {
		return err
	}
	c := f.Column(n.Column)
	for i, v := range values {
		x := float32((v - n.Mean) / n.Scale)
		if math.IsInf(float64(x), 0) {
			return &ValueError{Column: n.Column, Row: i, Value: fmt.Sprint(v), Want: "a number in the range of float32 after standardizing"}
		}
		if rows[i][at] = x; n.Indicator && c.Missing(i) {
			rows[i][at+1] = 1
		}
	}
	return nil
}
