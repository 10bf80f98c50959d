package ptx

import (
	"fmt"
	"math"
	"strings"
)

// reg is a virtual register or a literal.
type reg string

// The kinds of registers. A register's name begins with the letter of its kind.
const (
	predicate = "p" // .pred
	bits16    = "h" // .b16
	bits32    = "r" // .b32
	bits64    = "l" // .b64
	real32    = "f" // .f32
	real64    = "d" // .f64
)

var declared = []struct{ kind, typ string }{
	{predicate, ".pred"}, {bits16, ".b16"}, {bits32, ".b32"}, {bits64, ".b64"}, {real32, ".f32"}, {real64, ".f64"},
}

// builder writes the body of a kernel in static single assignment form, except for
// registers that a loop carries.
type builder struct {
	double bool // ops are on float64, not on float32
	text   strings.Builder
	counts map[string]int
	tables map[string]string // definitions of the constant tables in use, by name
}

func newBuilder(double bool) *builder {
	return &builder{double: double, counts: map[string]int{}, tables: map[string]string{}}
}

// new declares a register.
func (b *builder) new(kind string) reg {
	b.counts[kind]++
	return reg(fmt.Sprintf("%%%s%d", kind, b.counts[kind]-1))
}

// newAll declares registers.
func (b *builder) newAll(kind string, n int) []reg {
	out := make([]reg, n)
	for i := range out {
		out[i] = b.new(kind)
	}
	return out
}

func (b *builder) label(name string) { fmt.Fprintf(&b.text, "%s:\n", name) }

// do writes an instruction.
func (b *builder) do(instruction string, operands ...reg) {
	words := make([]string, len(operands))
	for i, o := range operands {
		words[i] = string(o)
	}
	fmt.Fprintf(&b.text, "\t%s %s;\n", instruction, strings.Join(words, ", "))
}

// op writes an instruction that stores its result in a new register of the given kind.
func (b *builder) op(kind, instruction string, operands ...reg) reg {
	d := b.new(kind)
	b.do(instruction, append([]reg{d}, operands...)...)
	return d
}

// f writes an op on float32.
func (b *builder) f(instruction string, operands ...reg) reg {
	return b.op(real32, instruction+".f32", operands...)
}

// d writes an op on float64.
func (b *builder) d(instruction string, operands ...reg) reg {
	return b.op(real64, instruction+".f64", operands...)
}

// setp returns a predicate. compare is the comparison and the type, such as "lt.f32".
func (b *builder) setp(compare string, x, y reg) reg { return b.op(predicate, "setp."+compare, x, y) }

// jump branches to a label where the predicate holds.
func (b *builder) jump(p reg, label string) { fmt.Fprintf(&b.text, "\t@%s bra %s;\n", p, label) }

// declarations returns the declarations of all registers in use.
func (b *builder) declarations() string {
	var out strings.Builder
	for _, d := range declared {
		if n := b.counts[d.kind]; n > 0 {
			fmt.Fprintf(&out, "\t.reg %s %%%s<%d>;\n", d.typ, d.kind, n)
		}
	}
	return out.String()
}

// single returns a float32 literal, double a float64 literal, and word a 32-bit integer.
func single(v float64) reg { return reg(fmt.Sprintf("0f%08X", math.Float32bits(float32(v)))) }
func double(v float64) reg { return reg(fmt.Sprintf("0d%016X", math.Float64bits(v))) }
func word(v int) reg       { return reg(fmt.Sprint(v)) }

func typeOf(double bool) string {
	if double {
		return "f64"
	}
	return "f32"
}
