package main

import "fmt"

// The instructions on vectors of four float32 that Go's assembler lacks, by their encoding without registers (Arm, Architecture
// Reference Manual for A-profile, chapter C7.2). Destination, first and second source are in bits 0, 5 and 16.
var encodings = map[string]uint32{
	// three registers
	"FADD":    0x4e20d400,
	"FSUB":    0x4ea0d400,
	"FMUL":    0x6e20dc00,
	"FDIV":    0x6e20fc00,
	"FMAX":    0x4e20f400, // NaN if either is NaN
	"FMIN":    0x4ea0f400,
	"FMLA":    0x4e20cc00,
	"FMLS":    0x4ea0cc00,
	"FCMEQ":   0x4e20e400,
	"FCMGT":   0x6ea0e400,
	"FADDP":   0x6e20d400,
	"ADD":     0x4ea08400,
	"SUB":     0x6ea08400,
	"AND":     0x4e201c00,
	"ORR":     0x4ea01c00,
	"EOR":     0x6e201c00,
	"BSL":     0x6e601c00, // the bits of the first source where the destination's are 1, else of the second
	"FMAXNM":  0x4e20c400, // the number if one of both is NaN
	"FADD.D":  0x4e60d400, // two float64
	"FADDP.D": 0x6e60d400,
	"FMAXP":   0x6e20f400, // the larger of neighbors, of the first source and then of the second
	"UMAX":    0x6e206400, // 16 bytes
	"MLA":     0x4ea09400,
	"SDOT":    0x4e809400, // FEAT_DotProd
	"BIC":     0x4e601c00, // the bits of the first source that the second does not have
	"UZP1":    0x4e801800, // even elements of the first source, then of the second
	"UZP2":    0x4e805800, // odd elements
	"ZIP1":    0x4e803800, // the lower elements of both, alternating
	"ZIP2":    0x4e807800, // the upper ones

	// two registers
	"FABS":     0x4ea0f800,
	"FSQRT":    0x6ea1f800,
	"FRINTN":   0x4e218800, // to the nearest integer, ties to even
	"FCVTZS":   0x4ea1b800,
	"UCVTF":    0x6e21d800,
	"FMAXNMV":  0x6e30c800, // the largest of the four, in element 0
	"FCVTL":    0x0e617800, // the lower two to float64
	"FCVTL2":   0x4e617800, // the upper two
	"UXTL.8":   0x2f08a400, // eight bytes to 16 bits
	"UXTL.16":  0x2f10a400, // the lower four to 32 bits
	"UXTL2.16": 0x6f10a400,

	"SCVTF":    0x4e21d800,
	"FCVTNS":   0x4e21a800, // to the nearest integer, ties to even
	"XTN.16":   0x0e612800, // the lower halves of 32 bits
	"XTN.8":    0x0e212800, // of 16
	"SXTL.8":   0x0f08a400, // the lower eight bytes to 16 bits, with sign
	"SXTL2.8":  0x4f08a400,
	"SXTL.16":  0x0f10a400,
	"SXTL2.16": 0x4f10a400,

	// with a number of bits
	"SHL":  0x4f205400, // plus shift<<16
	"SSHR": 0x4f400400, // minus shift<<16

	// by element, see byElement
	"FMLA.E":  0x4f801000,
	"FMUL.E":  0x4f809000,
	"SDOT.E":  0x4f80e000, // FEAT_DotProd
	"SUDOT.E": 0x4f00f000, // FEAT_I8MM

	// by element of 16 bits, see byShort
	"SMLAL.E":  0x0f402000,
	"SMLAL2.E": 0x4f402000,

	// a vector at the sum of two registers, see indexed
	"LDR.Q": 0x3ce06800,
	"STR.Q": 0x3ca06800,
}

// word returns an instruction on three registers; second is 0 for instructions on two.
func word(name string, d, first, second int) uint32 {
	base, ok := encodings[name]
	if !ok || d|first|second > 31 || d|first|second < 0 {
		panic(fmt.Sprint("neon: no encoding of ", name, d, first, second))
	}
	return base | uint32(second)<<16 | uint32(first)<<5 | uint32(d)
}

// byElement returns an instruction on Vd.4S, Vn.4S and Vm.S[element].
func byElement(name string, d, n, m, element int) uint32 {
	return word(name, d, n, m) | uint32(element&1)<<21 | uint32(element>>1)<<11
}

// byShort returns an instruction on Vd.4S, four elements of Vn.8H and Vm.H[element].
func byShort(name string, d, n, m, element int) uint32 {
	if m > 15 {
		panic("neon: 16-bit elements are those of V0 to V15")
	}
	return word(name, d, n, m) | uint32(element&1)<<20 | uint32(element>>1&1)<<21 | uint32(element>>2)<<11
}

// fmlaBy returns FMLA Vd.4S, Vn.4S, Vm.S[element].
func fmlaBy(d, n, m, element int) uint32 { return byElement("FMLA.E", d, n, m, element) }

// shift returns a shift of 32-bit integers by a constant.
func shift(name string, d, n, bits int) uint32 {
	if name == "SSHR" {
		return word(name, d, n, 0) - uint32(bits)<<16
	}
	return word(name, d, n, 0) + uint32(bits)<<16
}

// three writes an instruction on three registers.
func (o *output) three(name string, d, first, second int) {
	o.line("WORD $0x%08x // %s V%d, V%d, V%d", word(name, d, first, second), name, d, first, second)
}

// indexed writes a load or a store of a vector at a base plus an index.
func (o *output) indexed(name string, v, base, index int) {
	o.line("WORD $0x%08x // %s V%d, (R%d)(R%d)", word(name, v, base, index), name, v, base, index)
}

func (o *output) two(name string, d, from int) {
	o.line("WORD $0x%08x // %s V%d, V%d", word(name, d, from, 0), name, d, from)
}
