package ptx

import (
	"fmt"
	"math"
	"strings"
)

// reg is a virtual register or a literal.
type reg string

// The kinds of registers, by the letter that their names begin with.
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

// builder writes the body of a kernel in static single assignment, but for
// registers that a loop carries.
type builder struct {
	text   strings.Builder
	counts map[string]int
	tables map[string]string // of constants that are needed, by name
}

func newBuilder() *builder { return &builder{counts: map[string]int{}, tables: map[string]string{}} }

// new is a register that nothing was written to.
func (b *builder) new(kind string) reg {
	b.counts[kind]++
	return reg(fmt.Sprintf("%%%s%d", kind, b.counts[kind]-1))
}

func (b *builder) place(label string) { fmt.Fprintf(&b.text, "%s:\n", label) }

// do writes an instruction.
func (b *builder) do(instruction string, operands ...reg) {
	words := make([]string, len(operands))
	for i, o := range operands {
		words[i] = string(o)
	}
	fmt.Fprintf(&b.text, "\t%s %s;\n", instruction, strings.Join(words, ", "))
}

// op writes an instruction whose result is a new register of a kind.
func (b *builder) op(kind, instruction string, operands ...reg) reg {
	d := b.new(kind)
	b.do(instruction, append([]reg{d}, operands...)...)
	return d
}

// f is an op on float32.
func (b *builder) f(instruction string, operands ...reg) reg {
	return b.op(real32, instruction+".f32", operands...)
}

// d is an op on float64.
func (b *builder) d(instruction string, operands ...reg) reg {
	return b.op(real64, instruction+".f64", operands...)
}

// when is a predicate: compare is setp's, of a type.
func (b *builder) when(compare string, x, y reg) reg { return b.op(predicate, "setp."+compare, x, y) }

// choose is x where the predicate holds and else y, of float32.
func (b *builder) choose(p, x, y reg) reg { return b.f("selp", x, y, p) }

// jump goes to a label where the predicate holds.
func (b *builder) jump(p reg, label string) { fmt.Fprintf(&b.text, "\t@%s bra %s;\n", p, label) }

// declarations are the registers that were made.
func (b *builder) declarations() string {
	var out strings.Builder
	for _, d := range declared {
		if n := b.counts[d.kind]; n > 0 {
			fmt.Fprintf(&out, "\t.reg %s %%%s<%d>;\n", d.typ, d.kind, n)
		}
	}
	return out.String()
}

// single is a float32 literal, double one of float64, and word one of 32 bits.
func single(v float64) reg { return reg(fmt.Sprintf("0f%08X", math.Float32bits(float32(v)))) }
func double(v float64) reg { return reg(fmt.Sprintf("0d%016X", math.Float64bits(v))) }
func word(v int) reg       { return reg(fmt.Sprint(v)) }
