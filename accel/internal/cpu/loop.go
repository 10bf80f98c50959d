package cpu

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// A fused loop runs its instructions on chunks that are short enough to keep all values of
// a chunk in the L1 cache. A thread claims a block of chunks at a time.
const (
	chunkLen = 1024
	blockLen = 16 * chunkLen
)

// loop is a fused group of elementwise ops.
type loop struct {
	body      []instr
	in        []loopInput
	out       []loopOutput
	n         int
	registers int
	device    *Device
}

type instr struct {
	of     reflect.Type // the op; nil for a folding
	op     elementwise
	fold   *folding // replaces op if not nil
	args   [3]int   // indices: loop inputs first, then results of earlier instructions
	arity  int
	word   int // -1 without a dynamic scalar
	scalar float32
	out    int
	reg    int
	at     int // the instruction that computes it, a later one if that is fused with it

	words   []int // words of a folding's scalars
	scalars foldScalars
	moments *moments // instructions that it also computes; nil for none
}

type loopInput struct {
	ir.Operand
	kind  inputKind
	last  int // last instruction that reads it
	walk  ir.Layout
	base  unsafe.Pointer
	reg   int
	float []float32
}

type inputKind uint8

const (
	direct  inputKind = iota // row-major float32, read in place
	single                   // the same element for all
	gathers                  // gathered into a register, chunk by chunk
)

type loopOutput struct {
	ir.Operand
	from  int // instruction that computes it
	at    int // the instruction after which it is complete
	late  bool
	float []float32
}

func newLoop(d *Device, s ir.Step) (*loop, error) {
	l := &loop{device: d, n: ir.Len(s.Shape)}
	for _, o := range s.In {
		in := loopInput{Operand: o, last: -1, reg: -1}
		in.walk = o.Squeeze()
		switch {
		case len(in.walk.Shape) == 0 || allZero(in.walk.Stride):
			in.kind = single
		case o.DType == ir.Float32 && o.Contiguous():
			in.kind = direct
		default:
			in.kind = gathers
		}
		if in.kind != direct {
			in.reg = l.registers
			l.registers++
		}
		l.in = append(l.in, in)
	}
	values := make([]int, 0, len(l.in)+len(s.Loop)) // [input or op]: the index of its value
	for i := range l.in {
		values = append(values, i)
	}
	for _, x := range s.Loop {
		args := make([]int, len(x.Args))
		for i, a := range x.Args {
			args[i] = values[a]
		}
		word := -1
		if _, ok := x.Op.(ir.Dynamic); ok {
			word = x.Word
		}
		v, err := l.add(x.Op, args, word)
		if err != nil {
			return nil, err
		}
		l.body[len(l.body)-1].out = x.Out
		values = append(values, v)
	}
	l.body = fold(l.body, len(l.in))
	for i := range l.body {
		l.body[i].at = i
	}
	if d.vectors.momentStep != nil {
		joinMoments(l.body, len(l.in))
	}
	for _, k := range l.body {
		for _, a := range k.args[:k.arity] {
			if a < len(l.in) {
				l.in[a].last = max(l.in[a].last, k.at)
			}
		}
	}
	l.allocate()
	for _, o := range s.Out {
		l.out = append(l.out, loopOutput{Operand: o})
	}
	for i, k := range l.body {
		if k.out >= 0 {
			l.out[k.out].from, l.out[k.out].at = i, k.at
		}
	}
	d.reserve(0, l.registers*chunkLen)
	return l, nil
}

// add appends the instruction of an op, or those of its formula, and returns the index of the result.
func (l *loop) add(op ir.Op, args []int, word int) (value int, err error) {
	k := instr{of: reflect.TypeOf(op), op: elementwiseOps[reflect.TypeOf(op)], arity: len(args), word: word, out: -1}
	if k.op == nil {
		if f, ok := ir.FormulaOf(op); ok {
			return l.addFormula(f, args, word)
		}
		f := scalarOps[k.of]
		if f == nil {
			return 0, fmt.Errorf("cpu: there is no elementwise kernel for %s", op.Name())
		}
		k.op = scalarLoop(f)
	}
	copy(k.args[:], args)
	l.body = append(l.body, k)
	return len(l.in) + len(l.body) - 1, nil
}

// addFormula appends the instructions of a formula.
func (l *loop) addFormula(f ir.Formula, args []int, word int) (value int, err error) {
	number := func(word int, value float32) int {
		l.body = append(l.body, instr{of: reflect.TypeFor[ir.Fill](), op: elementwiseOps[reflect.TypeFor[ir.Fill]()], word: word, scalar: value, out: -1})
		return len(l.in) + len(l.body) - 1
	}
	a := ir.Arithmetic[int]{
		Inputs:   args,
		Scalar:   func() int { return number(word, 0) },
		Constant: func(value float64) int { return number(-1, float32(value)) },
		Apply: func(op ir.Op, args []int) int {
			v, e := l.add(op, args, -1)
			if e != nil {
				err = e
			}
			return v
		},
	}
	return a.Evaluate(f), err
}

func allZero(s []int) bool {
	for _, v := range s {
		if v != 0 {
			return false
		}
	}
	return true
}

// allocate assigns each instruction a register whose previous value is no longer needed.
func (l *loop) allocate() {
	last := make([]int, len(l.body))
	for i, k := range l.body {
		last[i] = max(last[i], k.at)
		if k.out >= 0 {
			last[i] = len(l.body) // live until it is stored
		}
		for _, a := range k.args[:k.arity] {
			if j := a - len(l.in); j >= 0 && last[j] < k.at {
				last[j] = k.at
			}
		}
	}
	var free []int
	for i := range l.body {
		if len(free) > 0 {
			l.body[i].reg = free[len(free)-1]
			free = free[:len(free)-1]
		} else {
			l.body[i].reg = l.registers
			l.registers++
		}
		for j := 0; j <= i; j++ {
			if last[j] == i {
				free = append(free, l.body[j].reg)
			}
		}
	}
}

func (l *loop) run(p *program) error {
	l.bind(p)
	p.device.pool.run((l.n+blockLen-1)/blockLen, l)
	l.unbind()
	return nil
}

// bind reads the memory and the scalars of a run.
func (l *loop) bind(p *program) {
	for i := range l.in {
		in := &l.in[i]
		in.base = p.memory[in.Slot]
		if in.kind == direct {
			in.float = elements[float32](p, in.Operand)
		}
	}
	for i := range l.out {
		o := &l.out[i]
		o.float = elements[float32](p, o.Operand)
		// An output that uses the memory of an input is stored after the last instruction
		// that reads the input.
		o.late = false
		for k := range l.in {
			o.late = o.late || l.in[k].base == p.memory[o.Slot] && l.in[k].last > o.at
		}
	}
	for i := range l.body {
		if k := &l.body[i]; k.word >= 0 {
			k.scalar = float32(p.scalar(k.word))
		} else {
			for j, w := range k.words {
				k.scalars[j] = float32(p.scalar(w))
			}
		}
		if k := &l.body[i]; k.moments != nil {
			m := k.moments
			m.scalars = [3]foldScalars{l.body[m.first].scalars, l.body[m.second].scalars, k.scalars}
		}
	}
}

// unbind releases the memory.
func (l *loop) unbind() {
	for i := range l.in {
		l.in[i].base, l.in[i].float = nil, nil
	}
	for i := range l.out {
		l.out[i].float = nil
	}
}

func (l *loop) work(block, worker int) {
	from := block * blockLen
	l.elements(from, min(from+blockLen, l.n), worker)
}

// elements computes some elements.
func (l *loop) elements(from, to, worker int) {
	if from >= to {
		return
	}
	scratch := l.device.scratch[worker]
	for i := range l.in {
		if in := &l.in[i]; in.kind == single {
			all := scratch[in.reg*chunkLen:][:min(chunkLen, to-from)]
			castTo(all[:1], in.base, in.DType, ir.Layout{Offset: in.Offset}, 0)
			fill(all, all[0])
		}
	}
	for at := from; at < to; at += chunkLen {
		n := min(chunkLen, to-at)
		for i := range l.in {
			if in := &l.in[i]; in.kind == gathers {
				castTo(scratch[in.reg*chunkLen:][:n], in.base, in.DType, in.walk, at)
			}
		}
		for i := range l.body {
			k := &l.body[i]
			if k.at > i {
				continue
			}
			if k.moments != nil {
				l.momentStep(k, scratch, at, n)
				continue
			}
			var v [3][]float32
			for j := range k.arity {
				v[j] = l.value(k.args[j], scratch, at, n)
			}
			if d := l.result(k, scratch, at, n); k.fold != nil {
				k.fold.run(l.device.vectors)(d, v[0], v[1], v[2], &k.scalars)
			} else {
				k.op(l.device.vectors, d, v[0], v[1], v[2], k.scalar)
			}
		}
		for i := range l.out {
			if o := &l.out[i]; o.late {
				copy(o.float[at:at+n], scratch[l.body[o.from].reg*chunkLen:])
			}
		}
	}
}

// momentStep runs an instruction and the two that are fused with it.
func (l *loop) momentStep(k *instr, scratch []float32, at, n int) {
	first, second := &l.body[k.moments.first], &l.body[k.moments.second]
	arg := func(i int) []float32 { return l.value(i, scratch, at, n) }
	l.device.vectors.momentStep(
		l.result(first, scratch, at, n), l.result(second, scratch, at, n), l.result(k, scratch, at, n),
		arg(first.args[0]), arg(first.args[1]), arg(second.args[0]), arg(k.args[0]), &k.moments.scalars)
}

func (l *loop) value(arg int, scratch []float32, at, n int) []float32 {
	if arg >= len(l.in) {
		return l.result(&l.body[arg-len(l.in)], scratch, at, n)
	}
	in := &l.in[arg]
	if in.kind == direct {
		return in.float[at : at+n]
	}
	return scratch[in.reg*chunkLen:][:n]
}

func (l *loop) result(k *instr, scratch []float32, at, n int) []float32 {
	if k.out >= 0 && !l.out[k.out].late {
		return l.out[k.out].float[at : at+n]
	}
	return scratch[k.reg*chunkLen:][:n]
}
