package main

import "math"

// program is a function that runs a body on four elements at a time. Its vectors are virtual registers: the body is straight-line code,
// so a register is free after its last use.
type program struct {
	*output
	body  []instruction
	count int         // virtual registers so far
	fixed map[reg]int // registers that keep their values from one round to the next
	table bool        // it uses the table of constants
}

// reg is a virtual register.
type reg int

// instruction writes text that refers to its registers by their numbers.
type instruction struct {
	to    reg   // -1 for none
	from  []reg // what it reads
	over  reg   // a source whose register it overwrites with the result; -1 for none
	write func(to int, from []int)
}

func (o *output) program() *program { return &program{output: o, fixed: map[reg]int{}} }

func (p *program) fresh() reg {
	p.count++
	return reg(p.count - 1)
}

// keep returns a register of the whole function, V31 and down.
func (p *program) keep() reg {
	r := p.fresh()
	p.fixed[r] = 31 - len(p.fixed)
	return r
}

// number returns the number of a register of the whole function.
func (p *program) number(r reg) int { return p.fixed[r] }

// op appends an instruction on two or three registers.
func (p *program) op(name string, from ...reg) reg {
	to := p.fresh()
	p.body = append(p.body, instruction{to, from, -1, func(to int, from []int) { p.encode(name, to, from) }})
	return to
}

func (p *program) encode(name string, to int, from []int) {
	if len(from) == 1 {
		p.two(name, to, from[0])
	} else {
		p.three(name, to, from[0], from[1])
	}
}

// onto appends an instruction that changes its first register: to is the changed value, and over stays as it is for later uses.
func (p *program) onto(name string, over, a, b reg) reg {
	to := p.fresh()
	p.body = append(p.body, instruction{to, []reg{a, b, over}, over, func(to int, from []int) { p.encode(name, to, from[:2]) }})
	return to
}

// into changes a register of the whole function.
func (p *program) into(name string, to reg, from ...reg) {
	p.body = append(p.body, instruction{-1, append(from, to), -1, func(_ int, numbers []int) {
		p.encode(name, p.number(to), numbers[:len(numbers)-1])
	}})
}

func (p *program) shifted(name string, from reg, bits int) reg {
	to := p.fresh()
	p.body = append(p.body, instruction{to, []reg{from}, -1, func(to int, from []int) {
		p.line("WORD $0x%08x // %s V%d, V%d, $%d", shift(name, to, from[0], bits), name, to, from[0], bits)
	}})
	return to
}

// fetch appends an instruction that only has a result, the last one of the format's values.
func (p *program) fetch(format string, a ...any) reg {
	to := p.fresh()
	p.body = append(p.body, instruction{to, nil, -1, func(to int, _ []int) { p.line(format, append(a, to)...) }})
	return to
}

// emit appends an instruction that only has a source, the first one of the format's values.
func (p *program) emit(format string, x reg, a ...any) {
	p.body = append(p.body, instruction{-1, []reg{x}, -1, func(_ int, from []int) { p.line(format, append([]any{from[0]}, a...)...) }})
}

// next loads the vector at a pointer, and store writes one; both advance the pointer.
func (p *program) next(pointer int) reg { return p.fetch("FMOVQ.P 16(R%d), F%d", pointer) }

func (p *program) store(from reg, pointer int) { p.emit("FMOVQ.P F%d, 16(R%d)", from, pointer) }

// c loads a constant, whose table is at R26.
func (p *program) c(f float64) reg { return p.bits(math.Float32bits(float32(f))) }

func (p *program) bits(b uint32) reg {
	p.table = true
	return p.fetch("FMOVQ %d(R26), F%d", p.constant(b))
}

// zero returns zeros.
func (p *program) zero() reg {
	to := p.fresh()
	p.body = append(p.body, instruction{to, nil, -1, func(to int, _ []int) { p.line("VEOR V%d.B16, V%d.B16, V%d.B16", to, to, to) }})
	return to
}

func (p *program) add(a, b reg) reg { return p.op("FADD", a, b) }
func (p *program) sub(a, b reg) reg { return p.op("FSUB", a, b) }
func (p *program) mul(a, b reg) reg { return p.op("FMUL", a, b) }
func (p *program) div(a, b reg) reg { return p.op("FDIV", a, b) }

// fma returns x·y + z, and fnma z - x·y, with one rounding.
func (p *program) fma(x, y, z reg) reg  { return p.onto("FMLA", z, x, y) }
func (p *program) fnma(x, y, z reg) reg { return p.onto("FMLS", z, x, y) }

// choose returns yes where the bits of mask are 1, else no.
func (p *program) choose(mask, yes, no reg) reg { return p.onto("BSL", mask, yes, no) }

// allocated writes the body with physical registers, and begins another one.
func (p *program) allocated() {
	defer func() { p.body = nil }()
	last := map[reg]int{}
	for i, x := range p.body {
		for _, r := range x.from {
			last[r] = i
		}
	}
	var free []int
	for v := 31 - len(p.fixed); v >= 0; v-- {
		free = append(free, v)
	}
	at := map[reg]int{}
	for r, v := range p.fixed {
		at[r] = v
	}
	take := func() int {
		if len(free) == 0 {
			panic("neon: out of registers")
		}
		v := free[len(free)-1]
		free = free[:len(free)-1]
		return v
	}
	for i, x := range p.body {
		from := make([]int, len(x.from))
		for j, r := range x.from {
			v, ok := at[r]
			if !ok {
				panic("neon: a register is read before it is written")
			}
			from[j] = v
		}
		dies := func(r reg) bool { _, kept := p.fixed[r]; return !kept && last[r] == i }
		to := -1
		if x.over >= 0 {
			others := x.from[:len(x.from)-1]
			shared := false // an operand besides is the same register
			for _, r := range others {
				shared = shared || r == x.over
			}
			if dies(x.over) && !shared {
				to = at[x.over]
				delete(at, x.over)
			} else {
				to = take()
				p.line("VORR V%d.B16, V%d.B16, V%d.B16", at[x.over], at[x.over], to)
			}
		}
		released := map[reg]bool{}
		for _, r := range x.from {
			if v, ok := at[r]; ok && dies(r) && !released[r] && x.over < 0 {
				released[r] = true
				free = append(free, v)
				delete(at, r)
			}
		}
		if x.to >= 0 && x.over < 0 {
			to = take()
		}
		x.write(to, from)
		if x.over >= 0 {
			for _, r := range x.from {
				if v, ok := at[r]; ok && dies(r) && !released[r] {
					released[r] = true
					free = append(free, v)
					delete(at, r)
				}
			}
		}
		if x.to >= 0 {
			at[x.to] = to
			if _, used := last[x.to]; !used {
				panic("neon: a result is never used")
			}
		}
	}
}

// constants loads the address of the table of constants.
func (p *program) constants() { p.line("MOVD $%s<>(SB), R26", p.output.table) }

// loop writes the body, once for each four of the n elements in R0, at least four.
func (p *program) loop() {
	if p.table {
		p.constants()
	}
	p.label("more")
	p.allocated()
	p.line("SUBS $4, R0, R0")
	p.line("BGT more")
}

// loops is loop with a body for each of some vectors at once, whose latencies overlap, and then for the remaining vectors.
func (p *program) loops(vectors int, body func(i int)) {
	p.blocks(lanes*vectors, lanes, func() {
		for i := range vectors {
			body(i)
		}
		p.allocated()
	}, func() {
		body(0)
		p.allocated()
	})
}

// kept loads a float32 into all elements of a register of the whole function.
func (p *program) kept(from string) reg {
	r := p.keep()
	p.line("FMOVS %s, F%d", from, p.number(r))
	p.line("VDUP V%d.S[0], V%d.S4", p.number(r), p.number(r))
	return r
}

// clear returns registers of the whole function that are zero at the beginning.
func (p *program) clear(n int) []reg {
	var list []reg
	for range n {
		list = append(list, p.keep())
		p.zeros(p.number(list[len(list)-1]), 1)
	}
	return list
}

// fold combines registers of the whole function, a power of two, in the first one.
func (p *program) fold(op string, list []reg) reg {
	for n := len(list) / 2; n > 0; n /= 2 {
		for i := range n {
			p.three(op, p.number(list[i]), p.number(list[i]), p.number(list[i+n]))
		}
	}
	return list[0]
}
