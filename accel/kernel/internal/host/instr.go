package host

import (
	"math"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// compileInstr returns the code of an instruction.
func (m *machine) compileInstr(i *program.Instr) code {
	if m.grid.Unchecked && i.Op.ChecksBounds() {
		return nil
	}
	switch i.Op {
	case program.Move, program.Bits:
		return m.compileMove(m.vars[i.Dst.ID], m.operand(i.Args[0]), m.declares(i))
	case program.Special:
		return m.compileSpecial(i)
	case program.Math:
		return m.compileMath(i)
	case program.Load, program.Store, program.AtomicAdd, program.AtomicMin, program.AtomicMax, program.AtomicExchange, program.AtomicCAS:
		return typeOf(i.Type).access(m, i)
	case program.Sync:
		return m.compileSync(i)
	case program.SyncWarp:
		return func(t threads) threads { return m.warps(i, t, func(int, int) {}) }
	case program.Shuffle:
		return m.compileShuffle(i)
	case program.MMA:
		return m.compileMMA(i)
	case program.Any, program.All, program.Ballot:
		return m.compileVote(i)
	case program.Panic:
		return func(t threads) threads { return m.fault(i, t, t.lo, 0, 0, "") }
	case program.Convert:
		return typeOf(m.vars[i.Dst.ID].typ).convert(m, m.vars[i.Dst.ID], m.operand(i.Args[0]), m.declares(i))
	case program.CheckIndex, program.CheckSlice, program.CheckDivisor, program.CheckShift:
		return m.compileCheck(i)
	}
	c := typeOf(i.Type).instr(m, i)
	if i.Type == program.Int64 {
		c = m.compileIndex(i, c)
	}
	return c
}

// typed is the functions that compile what depends on a type.
type typed struct {
	instr   func(m *machine, i *program.Instr) code
	access  func(m *machine, i *program.Instr) code
	convert func(m *machine, d, x *column, declares bool) code // to the type
	check   func(m *machine, i *program.Instr) code            // nil for floats
}

func integerType[T integer]() typed {
	return typed{compileInteger[T], compileMemory[T], toInteger[T], compileCheckInteger[T]}
}

func floatType[T float]() typed { return typed{compileNumber[T], compileMemory[T], toNumber[T], nil} }

func typeOf(t program.Type) typed {
	switch t {
	case program.Int8:
		return integerType[int8]()
	case program.Int16:
		return integerType[int16]()
	case program.Int32:
		return integerType[int32]()
	case program.Int64:
		return integerType[int64]()
	case program.Bool, program.Uint8:
		return integerType[uint8]()
	case program.Uint16:
		return integerType[uint16]()
	case program.Uint32:
		return integerType[uint32]()
	case program.Uint64:
		return integerType[uint64]()
	case program.Float32:
		return floatType[float32]()
	}
	return floatType[float64]()
}

// operands returns the columns of an instruction; y is x if it has one operand.
func (m *machine) operands(i *program.Instr) (d, x, y *column, declares bool) {
	d, x = m.vars[i.Dst.ID], m.operand(i.Args[0])
	y = x
	if len(i.Args) > 1 {
		y = m.operand(i.Args[1])
	}
	return d, x, y, m.declares(i)
}

func compileInteger[T integer](m *machine, i *program.Instr) code {
	d, x, y, declares := m.operands(i)
	switch i.Op {
	case program.Shl, program.Shr:
		return compileShift[T](m, i)
	case program.Not:
		return apply(m, d, x, y, declares, mapping(func(x T) T { return x ^ 1 }))
	case program.Div, program.Rem:
		// Other threads may divide by zero.
		l, _ := integerLoops[T](i.Op)
		l.exact = true
		return apply(m, d, x, y, declares, l)
	}
	if l, ok := integerLoops[T](i.Op); ok {
		return apply(m, d, x, y, declares, l)
	}
	return compileNumber[T](m, i)
}

func compileNumber[T number](m *machine, i *program.Instr) code {
	d, x, y, declares := m.operands(i)
	switch i.Op {
	case program.Neg, program.Complement:
		return apply(m, d, x, y, declares, unaryLoops[T](i.Op))
	case program.Eq, program.Ne, program.Lt, program.Le:
		return apply(m, d, x, y, declares, compareLoops[T](i.Op))
	}
	l, ok := numberLoops[T](i.Op)
	if f := vectorized[i.Op]; f != nil && i.Type == program.Float32 {
		l.dense, _ = any(f).(func(d, x, y []T))
	}
	if !ok {
		panic("host: no code for " + i.Op.String() + " of " + i.Type.String())
	}
	return apply(m, d, x, y, declares, l)
}

// apply returns code that computes an op on columns.
func apply[D, T any](m *machine, d, x, y *column, declares bool, l loops[D, T]) code {
	return func(t threads) threads {
		if x.kind == uniform && y.kind == uniform && d.whole(t, declares) {
			l.dense(one[D](d), one[T](x), one[T](y))
			d.kind, d.filled = uniform, false
			return t
		}
		m.fill(x)
		m.fill(y)
		m.assigned(d, t, declares)
		dv, xv, yv := vec[D](m, d), vec[T](m, x), vec[T](m, y)
		if t.list == nil || declares && !l.exact && t.mostly() {
			l.dense(dv[t.lo:t.hi], xv[t.lo:t.hi], yv[t.lo:t.hi])
		} else {
			l.sparse(dv, xv, yv, t.list)
		}
		return t
	}
}

func compileShift[T integer](m *machine, i *program.Instr) code {
	d, x, y, declares := m.operands(i)
	dense, sparse := shiftLoops[T](i.Op)
	n, count := y, code(nil)
	if y.typ.Size() < 8 {
		n = m.newColumn(program.Uint64)
		count = typeOf(n.typ).convert(m, n, y, true) // CheckShift has found that it is not negative
	}
	return func(t threads) threads {
		if count != nil {
			count(t)
		}
		if x.kind == uniform && n.kind == uniform && d.whole(t, declares) {
			dense(one[T](d), one[T](x), one[uint64](n))
			d.kind, d.filled = uniform, false
			return t
		}
		m.fill(x)
		m.fill(n)
		m.assigned(d, t, declares)
		dv, xv, nv := vec[T](m, d), vec[T](m, x), vec[uint64](m, n)
		if t.list == nil {
			dense(dv[t.lo:t.hi], xv[t.lo:t.hi], nv[t.lo:t.hi])
		} else {
			sparse(dv, xv, nv, t.list)
		}
		return t
	}
}

// compileIndex returns code for an instruction on values of type Int64, which need not be computed for each thread if they are forms.
func (m *machine) compileIndex(i *program.Instr, general code) code {
	if i.Op == program.Neg || i.Op == program.Complement {
		return general
	}
	d, x, y, declares := m.operands(i)
	if y.typ.Size() < 8 { // a shift count
		return general
	}
	compares := i.Op == program.Eq || i.Op == program.Ne || i.Op == program.Lt || i.Op == program.Le
	return func(t threads) threads {
		if x.kind != linear && y.kind != linear {
			return general(t)
		}
		f, ok1 := formOf(x)
		g, ok2 := formOf(y)
		if !ok1 || !ok2 {
			return general(t)
		}
		if compares {
			if r, ok := m.decide(i.Op, f, g, t); ok && d.whole(t, declares) {
				d.kind, d.filled = uniform, false
				one[uint8](d)[0] = r
				return t
			}
			return general(t)
		}
		if r, ok := m.combine(i.Op, f, g, t); ok && d.whole(t, declares) {
			d.setForm(r)
			return t
		}
		return general(t)
	}
}

// compileMove compiles an assignment of values of the same size.
func (m *machine) compileMove(d, x *column, declares bool) code {
	if d == x {
		return nil
	}
	linearToo := d.typ == x.typ
	return func(t threads) threads {
		if (x.kind == uniform || x.kind == linear && linearToo) && d.whole(t, declares) {
			d.set(x)
			return t
		}
		m.fill(x)
		m.assigned(d, t, declares)
		m.copyThreads(d, x, t)
		return t
	}
}

func (m *machine) compileSpecial(i *program.Instr) code {
	d, what := m.vars[i.Dst.ID], program.SpecialValue(i.Args[0].Bits)
	declares := m.declares(i)
	return func(t threads) threads {
		f := form{}
		axis := int(what) % 3
		along := func(a int) {
			if m.sizes[a] > 1 {
				f.stride[a] = 1
			}
		}
		switch what - program.SpecialValue(axis) {
		case program.ThreadX:
			along(axis)
		case program.BlockX:
			f.base = int64(m.first[axis])
			if axis == 0 {
				along(blockAxis)
			}
		case program.BlockDimX:
			f.base = int64(m.grid.Block[axis])
		case program.GridDimX:
			f.base = int64(m.grid.Grid[axis])
		}
		d.whole(t, declares)
		d.setForm(f) // all threads of the block do it, first
		return t
	}
}

func (m *machine) compileMath(i *program.Instr) code {
	d, x, y, declares := m.operands(i)
	switch i.Text {
	case "Sqrt":
		return apply(m, d, x, x, declares, loops[float64, float64]{dense: func(d, x, _ []float64) {
			x = x[:len(d)]
			for i := range d {
				d[i] = math.Sqrt(x[i])
			}
		}, sparse: mapping(math.Sqrt).sparse})
	case "Pow":
		return apply(m, d, x, y, declares, loops[float64, float64]{dense: func(d, x, y []float64) {
			for i := range d {
				d[i] = math.Pow(x[i], y[i])
			}
		}, sparse: func(d, x, y []float64, list []int32) {
			for _, k := range list {
				d[k] = math.Pow(x[k], y[k])
			}
		}, exact: true})
	case "FMA":
		z := m.operand(i.Args[2])
		return func(t threads) threads {
			m.fill(x)
			m.fill(y)
			m.fill(z)
			m.assigned(d, t, declares)
			dv, xv, yv, zv := vec[float64](m, d), vec[float64](m, x), vec[float64](m, y), vec[float64](m, z)
			t.each(func(k int) { dv[k] = math.FMA(xv[k], yv[k], zv[k]) })
			return t
		}
	}
	l := mapping(functions[i.Text])
	l.exact = true // it is slow: not for threads that do not need it
	return apply(m, d, x, x, declares, l)
}
