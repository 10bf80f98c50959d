package ptx

// doubleDouble is the unevaluated sum of two values. low is the rounding error of high.
type doubleDouble struct{ high, low reg }

// twoProduct computes x·y exactly.
func (b *builder) twoProduct(x, y reg) doubleDouble {
	high := b.real("mul.rn", x, y)
	return doubleDouble{high, b.real("fma.rn", x, y, b.real("neg", high))}
}

// fastTwoSum computes x+y exactly, for |x| ≥ |y|.
func (b *builder) fastTwoSum(x, y reg) doubleDouble {
	high := b.d("add.rn", x, y)
	return doubleDouble{high, b.d("sub.rn", y, b.d("sub.rn", high, x))}
}

// mulDD computes x·y.
func (b *builder) mulDD(x, y doubleDouble) doubleDouble {
	p := b.twoProduct(x.high, y.high)
	low := b.d("fma.rn", x.high, y.low, b.d("fma.rn", x.low, y.high, p.low))
	return b.fastTwoSum(p.high, low)
}

// addDD computes x+y, for |x| ≥ |y|.
func (b *builder) addDD(x, y doubleDouble) doubleDouble {
	s := b.fastTwoSum(x.high, y.high)
	return b.fastTwoSum(s.high, b.d("add.rn", s.low, b.d("add.rn", x.low, y.low)))
}
