package explain

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// RangeTable is what [Range] measured. It displays itself as a table.
type RangeTable struct {
	Dataset   string       // name of the data set
	Examples  int          // that were used, at most 512
	Loss      float64      // mean over these examples
	LossScale float64      // of float16 gradients: that with which accel.AMP(accel.FP16) begins
	Rows      []LayerRange // in the order in which the layers run; the first is the input
}

// LayerRange describes the elements of some tensors of a layer.
type LayerRange struct {
	Layer             string   // index and Go code of the layer, such as "2 Dense(10)"
	Of                Quantity // which tensors
	Elements          int      // number of elements
	Zeros             int      // those that are 0 in float32
	Smallest, Largest float64  // magnitudes of the others; 0 if there are none
	Lost              []Lost   // for each type
}

// Lost is the number of elements that a type cannot represent.
type Lost struct {
	DType tensor.DType // to which elements are rounded
	// Scaled says that elements are multiplied before they are rounded: float16 gradients by the LossScale, and 8-bit
	// floats by a scale of each tensor, the largest power of two for which its largest element does not overflow, as in
	// tensor.AutocastFP8.
	Scaled   bool
	Scale    float64 // 1 unless scaled; of 8-bit floats that of the last tensor
	ToZero   int     // elements that are not 0 and become 0
	TooLarge int     // elements that overflow
}

// In returns what a type loses, with or without scaling. It is the zero value if that was not measured: float32, and
// scaled bfloat16, whose range is that of float32.
func (r LayerRange) In(d tensor.DType, scaled bool) Lost {
	for _, l := range r.Lost {
		if l.DType == d && l.Scaled == scaled {
			return l
		}
	}
	return Lost{}
}

// rangeColumn is a column for a type.
type rangeColumn struct {
	dtype  tensor.DType
	scaled bool
}

var rangeColumns = []rangeColumn{
	{tensor.Float16, false}, {tensor.Float16, true}, {tensor.BFloat16, false},
	{tensortype.Float8E4M3, false}, {tensortype.Float8E4M3, true}, {tensortype.Float8E5M2, false}, {tensortype.Float8E5M2, true},
}

func (t *RangeTable) heading(c rangeColumn) string {
	switch {
	case !c.scaled:
		return c.dtype.String()
	case c.dtype == tensor.Float16:
		return fmt.Sprintf("× %g", t.LossScale)
	}
	return "scaled"
}

// Report returns the table.
func (t *RangeTable) Report() *display.Report {
	columns := []string{"layer", "of", "smallest", "largest"}
	for _, c := range rangeColumns {
		columns = append(columns, t.heading(c))
	}
	out, last := new(display.Report).Table(columns...), ""
	for _, r := range t.Rows {
		name := r.Layer
		if name == last {
			name = ""
		}
		last = r.Layer
		row := []any{name, string(r.Of), fmt.Sprintf("%.2g", r.Smallest), fmt.Sprintf("%.2g", r.Largest)}
		for _, c := range rangeColumns {
			row = append(row, r.loss(c))
		}
		out.Row(row...)
	}
	return out.Text(fmt.Sprintf("%s, one batch of %d examples, loss %.4g; shares of the elements that are not 0", t.Dataset, t.Examples, t.Loss))
}

// loss describes what a type loses as shares of the elements that are not 0; "" if it was not measured.
func (r LayerRange) loss(c rangeColumn) string {
	l := r.In(c.dtype, c.scaled)
	if l.Scale == 0 {
		return ""
	}
	share := func(n int) string { return percentOf(n, r.Elements-r.Zeros) }
	switch {
	case l.ToZero > 0 && l.TooLarge > 0:
		return share(l.ToZero) + " → 0, " + share(l.TooLarge) + " too large"
	case l.ToZero > 0:
		return share(l.ToZero) + " → 0"
	case l.TooLarge > 0:
		return share(l.TooLarge) + " too large"
	}
	return "fits"
}

// percentOf formats a share; only all of them are 100 %.
func percentOf(n, all int) string {
	switch p := 100 * float64(n) / float64(all); {
	case n == all:
		return "100 %"
	case p < 10:
		return fmt.Sprintf("%.2g %%", p)
	default:
		return fmt.Sprintf("%.3g %%", min(p, 99.9))
	}
}

// String returns the table as text.
func (t *RangeTable) String() string { return t.Report().String() }
