package device

import (
	"fmt"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

var spaces = map[program.Space]string{program.Global: "global", program.Shared: "shared", program.Local: "local"}

// inMemory returns the type of an element in loads and stores.
func inMemory(t program.Type) string {
	switch t {
	case program.Bool:
		return "u8"
	case program.Float32:
		return "f32"
	case program.Float64:
		return "f64"
	}
	sign := "u"
	if t.IsSigned() {
		sign = "s"
	}
	return fmt.Sprintf("%s%d", sign, 8*t.Size())
}

// address returns the operand for an element.
func (w *writer) address(m *program.Memory, at program.Operand) string {
	size := m.Elem.Size()
	if at.IsConst() {
		return fmt.Sprintf("[%s+%d]", w.bases[m], int64(at.Bits)*int64(size))
	}
	return "[" + w.op("l", "mad.lo.s64", w.operand(at), fmt.Sprint(size), w.bases[m]) + "]"
}

var atomicNames = map[program.Op]string{
	program.AtomicAdd: "add", program.AtomicMin: "min", program.AtomicMax: "max", program.AtomicExchange: "exch", program.AtomicCAS: "cas",
}

// access writes an instruction that accesses memory; ok is false for any other.
func (w *writer) access(i *program.Instr) (ok bool) {
	switch i.Op {
	case program.Load:
		w.do("ld."+spaces[i.Mem.Space]+"."+inMemory(i.Type), w.register(i.Dst), w.address(i.Mem, i.Args[0]))
		return true
	case program.Store:
		w.do("st."+spaces[i.Mem.Space]+"."+inMemory(i.Type), w.address(i.Mem, i.Args[0]), w.operand(i.Args[1]))
		return true
	}
	name, ok := atomicNames[i.Op]
	if !ok {
		return false
	}
	t := inMemory(i.Type)
	switch {
	case i.Op == program.AtomicExchange || i.Op == program.AtomicCAS:
		t = bits(i.Type)
	case i.Op == program.AtomicAdd && t == "s64":
		t = "u64"
	}
	args := []string{w.register(i.Dst), w.address(i.Mem, i.Args[0])}
	w.do("atom."+spaces[i.Mem.Space]+"."+name+"."+t, append(args, w.operands(i.Args[1:])...)...)
	return true
}

var specialNames = [...]string{"%tid.x", "%tid.y", "%tid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%ntid.x", "%ntid.y", "%ntid.z",
	"%nctaid.x", "%nctaid.y", "%nctaid.z"}

// special writes special values, barriers, shuffles and votes; ok is false for any other instruction.
func (w *writer) special(i *program.Instr) (ok bool) {
	switch i.Op {
	case program.Special:
		w.do("cvt.u64.u32", w.register(i.Dst), w.op("r", "mov.u32", specialNames[i.Args[0].Bits]))
	case program.Sync:
		w.do("bar.sync", "0")
		w.endAfterFault()
	case program.SyncWarp:
		w.endAfterFault()
		w.do("bar.warp.sync", w.lanes())
	case program.Shuffle:
		w.endAfterFault()
		w.shuffle(i)
	case program.MMA:
		w.endAfterFault()
		w.multiply(i)
	case program.Any, program.All, program.Ballot:
		w.endAfterFault()
		p := w.op("p", "setp.ne.u32", w.operand(i.Args[0]), "0")
		d := w.register(i.Dst)
		switch i.Op {
		case program.Any:
			w.truth(d, w.op("p", "vote.sync.any.pred", p, w.lanes()))
		case program.All:
			w.truth(d, w.op("p", "vote.sync.all.pred", p, w.lanes()))
		default:
			w.do("vote.sync.ballot.b32", d, p, w.lanes())
		}
	default:
		return false
	}
	return true
}

// shuffle reads a value of another lane, which exists.
func (w *writer) shuffle(i *program.Instr) {
	d, x := w.register(i.Dst), w.operand(i.Args[0])
	lane := w.op("r", "cvt.u32.u64", w.operand(i.Args[1]))
	one := func(x string) string { return w.op("r", "shfl.sync.idx.b32", x, lane, "31", w.lanes()) }
	switch kindOf(i.Type) {
	case "r":
		w.do("mov.b32", d, one(x))
	case "f":
		w.do("mov.b32", d, one(w.op("r", "mov.b32", x)))
	default:
		low, high := w.new("r"), w.new("r")
		w.do("mov.b64", "{"+low+", "+high+"}", x)
		a, b := one(low), one(high)
		w.do("mov.b64", d, "{"+a+", "+b+"}")
	}
}

// lanes returns the register with a bit for each thread of the warp.
func (w *writer) lanes() string {
	if w.mask != "" {
		return w.mask
	}
	w.mask = w.new("r")
	line := func(format string, args ...any) { fmt.Fprintf(&w.start, "\t"+format+";\n", args...) }
	n, number, left, p := w.new("r"), w.new("r"), w.new("r"), w.new("p")
	x, y, z, dx, dy, dz := w.new("r"), w.new("r"), w.new("r"), w.new("r"), w.new("r"), w.new("r")
	for i, r := range []string{x, y, z, dx, dy, dz} {
		line("mov.u32 %s, %s", r, []string{"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z"}[i])
	}
	line("mul.lo.u32 %s, %s, %s", n, dx, dy)
	line("mul.lo.u32 %s, %s, %s", n, n, dz)
	line("mad.lo.u32 %s, %s, %s, %s", number, z, dy, y)
	line("mad.lo.u32 %s, %s, %s, %s", number, number, dx, x)
	line("and.b32 %s, %s, -32", number, number)
	line("sub.u32 %s, %s, %s", left, n, number) // threads from the first one of the warp on
	line("setp.ge.u32 %s, %s, 32", p, left)
	line("shl.b32 %s, 1, %s", w.mask, left)
	line("sub.u32 %s, %s, 1", w.mask, w.mask)
	line("selp.b32 %s, -1, %s, %s", w.mask, w.mask, p)
	return w.mask
}
