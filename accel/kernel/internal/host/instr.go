package host

import (
	"math"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// compileInstr returns the function that executes an instruction for a list of threads.
func (m *machine) compileInstr(i *program.Instr) func([]int32) {
	if m.grid.Unchecked && i.Op.ChecksBounds() {
		return func([]int32) {}
	}
	switch i.Op {
	case program.Move:
		d, x := m.vars[i.Dst.ID], m.source(i.Args[0])
		return func(threads []int32) {
			for _, k := range threads {
				d[k] = x[k]
			}
		}
	case program.Special:
		d, x := m.vars[i.Dst.ID], m.special[i.Args[0].Bits]
		return func([]int32) { copy(d, x) }
	case program.Math:
		return m.compileMath(i)
	case program.Load:
		return m.compileLoad(i)
	case program.Store:
		return m.compileStore(i)
	case program.AtomicAdd, program.AtomicMin, program.AtomicMax, program.AtomicExchange, program.AtomicCAS:
		return m.compileAtomic(i)
	case program.Sync:
		return m.compileSync(i)
	case program.SyncWarp:
		return m.compileSyncWarp(i)
	case program.Shuffle:
		return m.compileShuffle(i)
	case program.Any, program.All, program.Ballot:
		return m.compileVote(i)
	case program.Panic:
		return func(threads []int32) { m.fault(i, int(threads[0]), 0, 0, "") }
	}
	if i.Op.IsCheck() {
		return m.compileCheck(i)
	}
	d, x := m.vars[i.Dst.ID], m.source(i.Args[0])
	if len(i.Args) == 1 {
		f := unaryOp(i)
		return func(threads []int32) {
			for _, k := range threads {
				d[k] = f(x[k])
			}
		}
	}
	y := m.source(i.Args[1])
	if f := frequent(i, d, x, y); f != nil {
		return f
	}
	f := binaryOp(i.Op, i.Type)
	return func(threads []int32) {
		for _, k := range threads {
			d[k] = f(x[k], y[k])
		}
	}
}

// frequent returns the code for ops that kernels execute most, without a call for each thread.
func frequent(i *program.Instr, d, x, y []uint64) func([]int32) {
	switch {
	case i.Op == program.Add && i.Type.Size() == 8 && !i.Type.IsFloat():
		return func(threads []int32) {
			for _, k := range threads {
				d[k] = x[k] + y[k]
			}
		}
	case i.Op == program.Mul && i.Type.Size() == 8 && !i.Type.IsFloat():
		return func(threads []int32) {
			for _, k := range threads {
				d[k] = x[k] * y[k]
			}
		}
	case i.Op == program.Lt && i.Type.IsSigned():
		return func(threads []int32) {
			for _, k := range threads {
				v := uint64(0)
				if int64(x[k]) < int64(y[k]) {
					v = 1
				}
				d[k] = v
			}
		}
	case i.Op == program.Add && i.Type == program.Float32:
		return func(threads []int32) {
			for _, k := range threads {
				d[k] = bits32(f32(x[k]) + f32(y[k]))
			}
		}
	case i.Op == program.Mul && i.Type == program.Float32:
		return func(threads []int32) {
			for _, k := range threads {
				d[k] = bits32(f32(x[k]) * f32(y[k]))
			}
		}
	}
	return nil
}

func (m *machine) compileCheck(i *program.Instr) func([]int32) {
	x := m.source(i.Args[0])
	switch i.Op {
	case program.CheckIndex:
		n := m.source(i.Args[1])
		return func(threads []int32) {
			for _, k := range threads {
				if x[k] >= n[k] {
					m.fault(i, int(k), x[k], n[k], "")
				}
			}
		}
	case program.CheckSlice:
		high, limit := m.source(i.Args[1]), m.source(i.Args[2])
		return func(threads []int32) {
			for _, k := range threads {
				if x[k] > high[k] || high[k] > limit[k] {
					m.fault(i, int(k), x[k], high[k], "")
				}
			}
		}
	case program.CheckDivisor:
		return func(threads []int32) {
			for _, k := range threads {
				if x[k] == 0 {
					m.fault(i, int(k), 0, 0, "")
				}
			}
		}
	}
	return func(threads []int32) {
		for _, k := range threads {
			if int64(x[k]) < 0 {
				m.fault(i, int(k), x[k], 0, "")
			}
		}
	}
}

func (m *machine) compileMath(i *program.Instr) func([]int32) {
	d, x := m.vars[i.Dst.ID], m.source(i.Args[0])
	var f func(k int32) float64
	switch i.Text {
	case "Pow":
		y := m.source(i.Args[1])
		f = func(k int32) float64 { return math.Pow(f64(x[k]), f64(y[k])) }
	case "FMA":
		y, z := m.source(i.Args[1]), m.source(i.Args[2])
		f = func(k int32) float64 { return math.FMA(f64(x[k]), f64(y[k]), f64(z[k])) }
	default:
		g := functions[i.Text]
		f = func(k int32) float64 { return g(f64(x[k])) }
	}
	return func(threads []int32) {
		for _, k := range threads {
			d[k] = bits64(f(k))
		}
	}
}
