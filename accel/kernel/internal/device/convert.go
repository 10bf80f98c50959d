package device

import (
	"fmt"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// convert writes a conversion.
func (w *writer) convert(d, x string, from, to program.Type) {
	switch {
	case from.IsFloat() && to.IsFloat():
		if from == program.Float32 {
			w.do("cvt.f64.f32", d, x)
		} else {
			w.do("cvt.rn.f32.f64", d, x)
		}
	case to.IsFloat():
		w.do("cvt.rn."+suffix(to)+"."+suffix(from), d, x)
	case from.IsFloat():
		w.toInteger(d, x, from, to)
	case bits(from) == bits(to):
		w.do("mov."+bits(to), d, x)
		w.wrap(d, to)
	case to.Size() == 8:
		sign := suffix(from)[:1]
		w.do("cvt."+sign+"64."+suffix(from), d, x)
	default:
		w.do("cvt.u32.u64", d, x)
		w.wrap(d, to)
	}
}

// toInteger rounds toward zero. PTX clamps what does not fit the register; that of a smaller type is clamped here. NaN is 0.
func (w *writer) toInteger(d, x string, from, to program.Type) {
	v := w.op(kindOf(to), "cvt.rzi."+suffix(to)+"."+suffix(from), x)
	if n := 8 * to.Size(); n < 32 && to.IsSigned() {
		v = w.op("r", "max.s32", w.op("r", "min.s32", v, fmt.Sprint(1<<(n-1)-1)), fmt.Sprint(-1<<(n-1)))
	} else if n < 32 {
		v = w.op("r", "min.u32", v, fmt.Sprint(1<<n-1))
	}
	w.do("selp."+bits(to), d, "0", v, w.op("p", "setp.nan."+suffix(from), x, x))
}
