package explain

import (
	"fmt"
	"math"
	"strconv"

	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// DTypeTable is what [DTypes] returns. It displays itself as a table.
type DTypeTable struct {
	Rows []DTypeInfo // from the widest type to the narrowest
}

// DTypeInfo describes a floating-point type, with the quantities of torch.finfo.
type DTypeInfo struct {
	DType        tensor.DType // of package tensor
	Bytes        int          // of an element
	ExponentBits int          // besides a sign bit
	FractionBits int          // stored ones; a normal number has one more bit of precision
	// Epsilon is the distance from 1 to the next number. A result is rounded by at most Epsilon/2 of its size.
	Epsilon float64
	// Largest is the largest finite number. What rounds to more becomes infinite; E4M3 has no infinity, so there
	// it becomes NaN, or Largest if the conversion saturates.
	Largest float64
	// SmallestNormal is the smallest positive number with full precision.
	SmallestNormal float64
	// SmallestSubnormal is the smallest positive number. What is half of it or less becomes 0.
	SmallestSubnormal float64
}

// DTypes returns the range and the precision of the floating-point types in which layers compute: float32, the
// 16-bit types of accel.AMP, and the 8-bit types of tensor.AutocastFP8. float32 and float16 are binary32 and
// binary16 of IEEE 754-2019, bfloat16 is the upper half of a float32, and the 8-bit types are those of the OCP
// 8-bit Floating Point Specification, revision 1.0.
func DTypes() *DTypeTable {
	t := &DTypeTable{}
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16, tensortype.Float8E4M3, tensortype.Float8E5M2} {
		t.Rows = append(t.Rows, infoOf(d))
	}
	return t
}

// infoOf describes a type by its bits.
func infoOf(d tensor.DType) DTypeInfo {
	switch d {
	case tensor.Float16:
		return newInfo(d, 5, 10)
	case tensor.BFloat16:
		return newInfo(d, 8, 7)
	case tensortype.Float8E4M3:
		info := newInfo(d, 4, 3)
		info.Largest = 448 // the exponent of all ones has numbers, too; only the largest fraction is NaN
		return info
	case tensortype.Float8E5M2:
		return newInfo(d, 5, 2)
	}
	return newInfo(tensor.Float32, 8, 23)
}

// newInfo describes a type as IEEE 754 defines it by the widths of its fields.
func newInfo(d tensor.DType, exponent, fraction int) DTypeInfo {
	bias := 1<<(exponent-1) - 1
	return DTypeInfo{
		DType: d, Bytes: d.Size(), ExponentBits: exponent, FractionBits: fraction,
		Epsilon:           math.Ldexp(1, -fraction),
		Largest:           math.Ldexp(2-math.Ldexp(1, -fraction), bias),
		SmallestNormal:    math.Ldexp(1, 1-bias),
		SmallestSubnormal: math.Ldexp(1, 1-bias-fraction),
	}
}

// overflows reports whether a magnitude rounds to more than the largest number. A tie rounds to the even fraction,
// which is the next power of two, but in E4M3 the largest number.
func (i DTypeInfo) overflows(magnitude float64) bool {
	_, exponent := math.Frexp(i.Largest)
	limit := i.Largest + math.Ldexp(1, exponent-2-i.FractionBits) // plus half the spacing
	if i.DType == tensortype.Float8E4M3 {
		return magnitude > limit
	}
	return magnitude >= limit
}

// underflows reports whether a magnitude that is not 0 rounds to 0.
func (i DTypeInfo) underflows(magnitude float64) bool {
	return magnitude > 0 && magnitude <= i.SmallestSubnormal/2
}

// Report returns the table.
func (t *DTypeTable) Report() *display.Report {
	out := new(display.Report).Table("type", "bytes", "exponent", "fraction", "spacing at 1", "largest", "smallest normal", "smallest")
	for _, r := range t.Rows {
		out.Row(r.DType.String(), r.Bytes, strconv.Itoa(r.ExponentBits)+" bits", strconv.Itoa(r.FractionBits)+" bits",
			magnitude(r.Epsilon), magnitude(r.Largest), magnitude(r.SmallestNormal), magnitude(r.SmallestSubnormal))
	}
	return out
}

// magnitude formats a number with three significant digits, or all of a number below a million with few.
func magnitude(v float64) string {
	if exact := strconv.FormatFloat(v, 'g', -1, 64); len(exact) <= 6 {
		return exact
	}
	return fmt.Sprintf("%.3g", v)
}

// String returns the table as text.
func (t *DTypeTable) String() string { return t.Report().String() }
