package tensor

// WithLengths runs f, a pass of a model, with the lengths of the sequences of its batch: [N], of type
// int32. The sequences are padded at the end to the given number of positions. Layers that work on
// sequences [N, positions, …], such as attention and recurrent layers, ignore the padding.
func WithLengths(lengths *Tensor, positions int, f func()) {
	withScope(func(s *scope) { s.lengths, s.positions = lengths, positions }, f)
}

// Lengths returns what the innermost running [WithLengths] has set, nil if there is none.
func Lengths() (lengths *Tensor, positions int) {
	e := shared()
	e.enter()
	defer e.leave()
	return e.current.lengths, e.current.positions
}
