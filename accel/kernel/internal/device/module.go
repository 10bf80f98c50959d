package device

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/internal/cuda/ptx"
	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// Entry is the name of the kernel in its module.
const Entry = "kernel"

// Options change the code.
type Options struct {
	Threads   int  // the maximum number of threads of a block
	Unchecked bool // no checks of indices
}

// The parameters of the entry have 8 bytes each: for a slice its address and its length, for a scalar its value, and last the address
// of the fault record.

// Params returns the parameters of a launch: the scalars by parameter, and the addresses and lengths of the slices in the order of their
// parameters.
func Params(p *program.Program, scalars, addresses []uint64, lengths []int, record uint64) (b []byte) {
	for i, param := range p.Params {
		if param.Scalar != nil {
			b = binary.LittleEndian.AppendUint64(b, scalars[i])
			continue
		}
		b = binary.LittleEndian.AppendUint64(b, addresses[0])
		b = binary.LittleEndian.AppendUint64(b, uint64(lengths[0]))
		addresses, lengths = addresses[1:], lengths[1:]
	}
	return binary.LittleEndian.AppendUint64(b, record)
}

// writer writes one module.
type writer struct {
	program   *program.Program
	options   Options
	text      strings.Builder // of the body
	start     strings.Builder // what the entry begins with
	registers map[string]int  // number of registers by kind
	vars      map[*program.Var]string
	constants map[constant]string
	bases     map[*program.Memory]string
	blocks    map[*program.Block]int
	labels    int
	mask      string // register with the lanes of the warp; "" until it is needed
	functions ptx.Functions
	files     []string
	at        string // the last .loc
	record    string // register with the address of the fault record
}

type constant struct {
	kind string
	bits uint64
}

// The kinds of registers, by the letter with which their names begin.
var kinds = []struct{ letter, typ string }{{"p", ".pred"}, {"r", ".b32"}, {"l", ".b64"}, {"f", ".f32"}, {"d", ".f64"}}

// kindOf returns the kind of the register for a type.
func kindOf(t program.Type) string {
	switch {
	case t == program.Float32:
		return "f"
	case t == program.Float64:
		return "d"
	case t.Size() == 8:
		return "l"
	}
	return "r"
}

// Write returns the module.
func Write(p *program.Program, o Options) (string, error) {
	w := &writer{
		program: p, options: o, registers: map[string]int{}, vars: map[*program.Var]string{}, constants: map[constant]string{},
		bases: map[*program.Memory]string{}, blocks: map[*program.Block]int{},
	}
	params := w.parameters()
	var memories strings.Builder
	for _, m := range p.Memories {
		if m.Space == program.Global {
			continue
		}
		name := fmt.Sprintf("memory%d", m.ID)
		space := map[program.Space]string{program.Shared: "shared", program.Local: "local"}[m.Space]
		fmt.Fprintf(&memories, "\t.%s .align 16 .b8 %s[%d];\n", space, name, max(1, m.Len*m.Elem.Size()))
		base := w.new("l")
		fmt.Fprintf(&w.start, "\tmov.u64 %s, %s;\n", base, name)
		w.bases[m] = base
	}
	for _, s := range p.Body.Body {
		if err := w.statement(s); err != nil {
			return "", err
		}
	}
	var out strings.Builder
	out.WriteString(".version 7.0\n.target sm_80\n.address_size 64\n\n")
	for i, f := range w.files {
		fmt.Fprintf(&out, ".file %d \"%s\"\n", i+1, f)
	}
	out.WriteString(w.functions.String())
	fmt.Fprintf(&out, ".visible .entry %s(%s)\n.maxntid %d, 1, 1\n{\n", Entry, strings.Join(params, ", "), o.Threads)
	for _, k := range kinds {
		if n := w.registers[k.letter]; n > 0 {
			fmt.Fprintf(&out, "\t.reg %s %%%s<%d>;\n", k.typ, k.letter, n)
		}
	}
	out.WriteString(memories.String())
	out.WriteString(w.start.String())
	out.WriteString(w.text.String())
	out.WriteString("\tret;\n}\n")
	return out.String(), nil
}

// parameters loads the parameters and returns their declarations.
func (w *writer) parameters() (params []string) {
	load := func() string {
		name := fmt.Sprintf("p%d", len(params))
		params = append(params, ".param .u64 "+name)
		r := w.new("l")
		fmt.Fprintf(&w.start, "\tld.param.u64 %s, [%s];\n", r, name)
		return r
	}
	for _, p := range w.program.Params {
		value := load()
		if p.Scalar == nil {
			w.bases[p.Slice] = value
			w.vars[p.Len] = load()
			continue
		}
		switch kindOf(p.Scalar.Type) {
		case "l":
			w.vars[p.Scalar] = value
		case "d":
			w.vars[p.Scalar] = w.new("d")
			fmt.Fprintf(&w.start, "\tmov.b64 %s, %s;\n", w.vars[p.Scalar], value)
		case "r":
			w.vars[p.Scalar] = w.new("r")
			fmt.Fprintf(&w.start, "\tcvt.u32.u64 %s, %s;\n", w.vars[p.Scalar], value)
		case "f":
			low := w.new("r")
			w.vars[p.Scalar] = w.new("f")
			fmt.Fprintf(&w.start, "\tcvt.u32.u64 %s, %s;\n\tmov.b32 %s, %s;\n", low, value, w.vars[p.Scalar], low)
		}
	}
	w.record = load()
	return params
}

// new declares a register.
func (w *writer) new(kind string) string {
	w.registers[kind]++
	return fmt.Sprintf("%%%s%d", kind, w.registers[kind]-1)
}

// do writes an instruction.
func (w *writer) do(instruction string, operands ...string) {
	fmt.Fprintf(&w.text, "\t%s %s;\n", instruction, strings.Join(operands, ", "))
}

// op writes an instruction with a new register as result.
func (w *writer) op(kind, instruction string, operands ...string) string {
	d := w.new(kind)
	w.do(instruction, append([]string{d}, operands...)...)
	return d
}

// register returns the register of a variable.
func (w *writer) register(v *program.Var) string {
	r, ok := w.vars[v]
	if !ok {
		r = w.new(kindOf(v.Type))
		w.vars[v] = r
	}
	return r
}

// operand returns the register of an operand. Constants have registers that the entry sets when it begins.
func (w *writer) operand(x program.Operand) string {
	if x.Var != nil {
		return w.register(x.Var)
	}
	kind := kindOf(x.Type)
	bits := x.Bits
	if kind == "r" {
		bits = uint64(uint32(bits))
	}
	return w.constant(kind, bits)
}

func (w *writer) constant(kind string, bits uint64) string {
	key := constant{kind, bits}
	if r, ok := w.constants[key]; ok {
		return r
	}
	r := w.new(kind)
	w.constants[key] = r
	switch kind {
	case "f":
		fmt.Fprintf(&w.start, "\tmov.f32 %s, 0f%08X;\n", r, uint32(bits))
	case "d":
		fmt.Fprintf(&w.start, "\tmov.f64 %s, 0d%016X;\n", r, bits)
	case "r":
		fmt.Fprintf(&w.start, "\tmov.b32 %s, %d;\n", r, int32(uint32(bits)))
	default:
		fmt.Fprintf(&w.start, "\tmov.b64 %s, %d;\n", r, int64(bits))
	}
	return r
}

func (w *writer) operands(args []program.Operand) []string {
	out := make([]string, len(args))
	for i, x := range args {
		out[i] = w.operand(x)
	}
	return out
}

func (w *writer) label() int {
	w.labels++
	return w.labels
}
