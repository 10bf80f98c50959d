package main

import (
	"fmt"
	"math"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// isa is a vector instruction set.
type isa struct {
	name  string
	width int // bytes of a register
}

var (
	avx2   = isa{"AVX2", 32}
	avx512 = isa{"AVX512", 64}
)

func (s isa) lanes() int { return s.width / 4 }

func (s isa) wide() bool { return s.width == 64 }

func (s isa) register() VecVirtual {
	if s.wide() {
		return ZMM()
	}
	return YMM()
}

func (s isa) registers(n int) []VecVirtual {
	list := make([]VecVirtual, n)
	for i := range list {
		list[i] = s.register()
	}
	return list
}

// cleared returns registers of zeros.
func (s isa) cleared(n int) []VecVirtual {
	list := make([]VecVirtual, n)
	for i := range list {
		list[i] = s.zero()
	}
	return list
}

func (s isa) zero() VecVirtual {
	r := s.register()
	if s.wide() {
		VPXORD(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
	return r
}

func (s isa) and(a Op, b, dst VecVirtual) {
	if s.wide() {
		VPANDD(a, b, dst)
	} else {
		VANDPS(a, b, dst)
	}
}

func (s isa) or(a, b, dst VecVirtual) {
	if s.wide() {
		VPORD(a, b, dst)
	} else {
		VORPS(a, b, dst)
	}
}

// round rounds to the nearest integer.
func (s isa) round(x, dst VecVirtual) {
	if s.wide() {
		VRNDSCALEPS(Imm(0), x, dst)
	} else {
		VROUNDPS(Imm(0), x, dst)
	}
}

// Predicates of a comparison.
const (
	greaterThan = 30 // ordered
	equalTo     = 0
	unordered   = 3
)

// choose sets dst = yes where a ? b, else no.
func (s isa) choose(predicate uint8, a, b, yes, no, dst VecVirtual) {
	if s.wide() {
		k := K()
		VCMPPS(Imm(uint64(predicate)), b, a, k)
		VBLENDMPS(yes, no, k, dst)
		return
	}
	mask := YMM()
	VCMPPS(Imm(uint64(predicate)), b, a, mask)
	VBLENDVPS(mask, yes, no, dst)
}

var constants = map[uint32]Mem{}

// constant returns a float32 in read-only memory.
func constant(f float64) Mem { return bits(math.Float32bits(float32(f))) }

func bits(b uint32) Mem {
	m, ok := constants[b]
	if !ok {
		m = GLOBL(fmt.Sprintf("f32_%08x", b), 8|16)
		DATA(0, U32(b))
		constants[b] = m
	}
	return m
}

func (s isa) splat(m Mem) VecVirtual {
	r := s.register()
	VBROADCASTSS(m, r)
	return r
}

var vectorConstants = map[uint32]Mem{}

// operand returns a constant in all lanes for an instruction that can read its operand from memory. With AVX2 it lies there once for
// each lane, which saves an instruction and a register.
func (s isa) operand(b uint32) Op {
	if s.wide() {
		return s.splat(bits(b))
	}
	m, ok := vectorConstants[b]
	if !ok {
		m = GLOBL(fmt.Sprintf("f32x8_%08x", b), 8|16)
		for i := range s.lanes() {
			DATA(4*i, U32(b))
		}
		vectorConstants[b] = m
	}
	return m
}

// number is operand of a float32.
func (s isa) number(f float64) Op { return s.operand(math.Float32bits(float32(f))) }

// begin begins a function; doc continues its name.
func begin(name, signature, doc string) string {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(strings.Split(name+doc, "\n")...)
	return name
}

// begin begins the function of an instruction set.
func (s isa) begin(name, signature, doc string) string { return begin(name+s.name, signature, doc) }

// end returns from a function that used vector registers.
func end() {
	VZEROUPPER()
	RET()
}

// parameter loads an integer or a pointer.
func parameter(name string) Register { return Load(Param(name), GP64()) }

// scalar loads a float32 into all lanes.
func (s isa) scalar(name string) VecVirtual {
	at, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return s.splat(at.Addr)
}

// loop begins a loop that is hot and short, at a boundary of what a CPU fetches and decodes at once: elsewhere it runs up to a tenth
// slower, depending on the functions before it.
func loop(label string) {
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(64)}})
	Label(label)
}
