package device

import (
	"encoding/binary"
	"fmt"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// RecordBytes is the size of the fault record, whose bytes must be 255 before a launch, as those of the engine's ops. The first thread with a
// fault writes it:
//
//	offset  0  u32  1 after a fault
//	        4  u32  the instruction's site
//	        8  s64  index
//	       16  s64  length
//	       24  u32  position of the block: x, y, z
//	       36  u32  position of the thread: x, y, z
const RecordBytes = 48

const noFault = "4294967295" // the first word before a launch

// Fault returns the fault in a record, nil if there is none.
func Fault(p *program.Program, record []byte) *program.Fault {
	word := func(at int) int { return int(binary.LittleEndian.Uint32(record[at:])) }
	if word(0) != 1 {
		return nil
	}
	f := &program.Fault{Instr: p.Sites[word(4)-1], Kernel: p.Name}
	f.Index, f.Length = int64(binary.LittleEndian.Uint64(record[8:])), int64(binary.LittleEndian.Uint64(record[16:]))
	for i := range 3 {
		f.Block[i], f.Thread[i] = word(24+4*i), word(36+4*i)
	}
	return f
}

// check writes a check. A thread for which the condition does not hold records a fault and ends.
func (w *writer) check(i *program.Instr) {
	args := w.operands(i.Args)
	var p string
	index, length := "0", "0"
	switch i.Op {
	case program.Panic:
		p = w.op("p", "setp.ne.u32", w.constant("r", 0), "0")
	case program.CheckIndex:
		p = w.op("p", "setp.lt.u64", args[0], args[1])
		index, length = args[0], args[1]
	case program.CheckSlice:
		p = w.op("p", "and.pred", w.op("p", "setp.le.u64", args[0], args[1]), w.op("p", "setp.le.u64", args[1], args[2]))
		index, length = args[0], args[1]
	case program.CheckDivisor:
		p = w.op("p", "setp.ne."+suffix(i.Type), args[0], "0")
	case program.CheckShift:
		p = w.op("p", "setp.ge."+suffix(i.Type), args[0], "0")
		index = args[0]
		if i.Type.Size() < 8 {
			index = w.op("l", "cvt.s64.s32", args[0])
		}
	}
	good := w.label()
	fmt.Fprintf(&w.text, "\t@%s bra L%d;\n", p, good)
	other := w.op("p", "setp.ne.u32", w.op("r", "atom.global.cas.b32", "["+w.record+"]", noFault, "1"), noFault)
	fmt.Fprintf(&w.text, "\t@%s bra L%d;\n", other, good)
	w.do("st.global.u32", "["+w.record+"+4]", fmt.Sprint(i.Site))
	w.do("st.global.u64", "["+w.record+"+8]", index)
	w.do("st.global.u64", "["+w.record+"+16]", length)
	for k, name := range []string{"%ctaid.x", "%ctaid.y", "%ctaid.z", "%tid.x", "%tid.y", "%tid.z"} {
		w.do("st.global.u32", fmt.Sprintf("[%s+%d]", w.record, 24+4*k), w.op("r", "mov.u32", name))
	}
	// Not an exit above: the threads of the warp meet here, so none goes on before the record is written.
	fmt.Fprintf(&w.text, "L%d:\n\t@!%s exit;\n", good, p)
}

// endAfterFault ends the thread if one of the grid has recorded a fault. What that thread would have written is missing.
func (w *writer) endAfterFault() {
	if len(w.program.Sites) == 0 {
		return
	}
	r := w.op("r", "ld.volatile.global.u32", "["+w.record+"]")
	fmt.Fprintf(&w.text, "\t@%s exit;\n", w.op("p", "setp.ne.u32", r, noFault))
}
