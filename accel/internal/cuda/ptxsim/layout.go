package ptxsim

// sharedBase is the first shared address, so that a null pointer faults.
const sharedBase = 1024

// sharedGap is the gap between shared variables, so that overruns fault.
const sharedGap = 64

// sharedAddress returns a register with an address in a shared variable.
func (b *builder) sharedAddress(s *symbol, offset int64) int {
	v, k := s.family, b.kernel
	if v.extern {
		k.dynamicAlign = max(k.dynamicAlign, v.align)
		slot, ok := b.dynamic[offset]
		if !ok {
			slot = b.register(valueTypes["b64"])
			b.written[slot] = true
			b.dynamic[offset] = slot
		}
		return slot
	}
	if s.offset < 0 {
		s.offset = roundUp(k.sharedEnd, v.align)
		k.static = append(k.static, span{uint64(s.offset), uint64(s.offset + v.bytes())})
		k.staticBytes = roundUp(k.staticBytes, v.align) + v.bytes()
		k.sharedEnd = s.offset + v.bytes() + sharedGap
	}
	return b.constant(uint64(int64(s.offset) + offset))
}

// layoutShared puts dynamic shared memory after the static variables: at an odd
// multiple of its alignment, so that code that relies on a larger alignment faults.
func (b *builder) layoutShared() {
	k := b.kernel
	if k.staticBytes > maxSharedBytes {
		panic(b.module.failure(k.function.line, "%d bytes of shared memory are more than the supported %d", k.staticBytes, maxSharedBytes))
	}
	align := max(k.dynamicAlign, 16)
	k.dynamicStart = roundUp(k.sharedEnd, align)
	if k.dynamicStart/align%2 == 0 {
		k.dynamicStart += align
	}
	for offset, slot := range b.dynamic {
		k.fixed = append(k.fixed, fixed{slot, uint64(int64(k.dynamicStart) + offset)})
	}
}

// template sets the initial values of the registers of a block. A register
// that the code reads before it writes it, which compilers leave if the
// value does not matter, contains a pattern that makes wrong results likely.
func (b *builder) template() {
	k := b.kernel
	k.start = make([]lanes, len(b.widths))
	for slot, width := range b.widths {
		fill(&k.start[slot], 0x7fc0_dead_7fc0_dead&lowBits(width))
	}
	for _, f := range k.fixed {
		fill(&k.start[f.slot], f.value)
	}
}

func fill(l *lanes, v uint64) {
	for i := range l {
		l[i] = v
	}
}
