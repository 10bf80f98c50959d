package tensor

import "github.com/quernlab/quern/accel/internal/engine/ir"

// WithLengths runs f, a pass of a model, with the lengths of the sequences of its batch: [N], of type
// int32. The sequences are padded at the end to the given number of positions. Layers that work on
// sequences [N, positions, …], such as attention and recurrent layers, ignore the padding. A length
// outside of 1..positions is an *IndexError: now, or when the length is computed.
func WithLengths(lengths *Tensor, positions int, f func()) {
	if lengths != nil {
		lengths = checkLengths("WithLengths", lengths, 1, positions)
	}
	withScope(func(s *scope) { s.lengths, s.positions = lengths, positions }, f)
}

// Lengths returns what the innermost running [WithLengths] has set, nil if there is none.
func Lengths() (lengths *Tensor, positions int) {
	e := shared()
	e.enter()
	defer e.leave()
	return e.current.lengths, e.current.positions
}

// checkLengths returns lengths [N] of sequences, of type int32. It panics with an *IndexError if one is
// outside of from..to and already computed; else the result is computed with the check.
func checkLengths(op string, lengths *Tensor, from, to int) *Tensor {
	if known, _ := Lengths(); known == lengths {
		return lengths // WithLengths has checked them
	}
	return compute(composite{name: op}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		if v[0].DType() != Int32 || r.CheckRange(op, v[0], from, to+1) || r.Tracing() {
			return v[0]
		}
		// The check of an index begins at 0, and only floats have arithmetic.
		shift := func(v *ir.Value, by int, to DType) *ir.Value {
			return r.Record(ir.Cast{To: to}, r.Record(ir.AddScalar{Scalar: float64(by)}, r.Record(ir.Cast{To: Float64}, v)))
		}
		index := r.Record(ir.Index{For: op, From: from, Size: to - from + 1}, shift(v[0], -from, Int64))
		return shift(index, from, Int32)
	}, lengths)
}
