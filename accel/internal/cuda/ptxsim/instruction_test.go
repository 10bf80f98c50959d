package ptxsim

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// row is a test of an instruction: PTX that computes from a, b and c, and the expected
// result. Registers are named after their width: %ha %ra %da hold operand a in 16,
// 32 and 64 bits; the result goes to %h, %r, %d or the predicate %p.
type row struct {
	ptx    string
	inputs []uint64 // every combination is tried, by the number of operands that ptx names
	want   func(a, b, c uint64) uint64
}

// program wraps a row's text in a kernel over arrays.
func program(body string) string {
	result := "%d"
	switch {
	case strings.Contains(body, "%r,"), strings.Contains(body, "%r}"), strings.Contains(body, "%r|"):
		body += " cvt.u64.u32 %d, %r;"
	case strings.Contains(body, "%h,"):
		body += " cvt.u64.u16 %d, %h;"
	case strings.Contains(body, "%p,"), strings.Contains(body, "%p|"):
		body += " selp.b64 %d, 1, 0, %p;"
	}
	return `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{
	.reg .b16 %h, %ha, %hb, %hc; .reg .b32 %r, %ra, %rb, %rc, %i, %n; .reg .b64 %d, %da, %db, %dc, %at;
	.reg .pred %p, %q, %done; .reg .b32 %t<9>; .reg .b64 %u<9>; .reg .b16 %s<9>;
	mov.u32 %i, %tid.x; mov.u32 %t0, %ctaid.x; mad.lo.u32 %i, %t0, 32, %i;
	ld.param.u32 %n, [n]; setp.ge.u32 %done, %i, %n; @%done ret;
	ld.param.u64 %at, [in]; mad.wide.u32 %at, %i, 24, %at;
	ld.global.u64 %da, [%at]; ld.global.u64 %db, [%at+8]; ld.global.u64 %dc, [%at+16];
	cvt.u32.u64 %ra, %da; cvt.u32.u64 %rb, %db; cvt.u32.u64 %rc, %dc;
	cvt.u16.u64 %ha, %da; cvt.u16.u64 %hb, %db; cvt.u16.u64 %hc, %dc;
	` + body + `
	ld.param.u64 %at, [out]; mad.wide.u32 %at, %i, 8, %at; st.global.u64 [%at], ` + result + `;
	ret;
}`
}

// compute runs a row's text for all operands.
func compute(t *testing.T, body string, in [][3]uint64) []uint64 {
	t.Helper()
	m := newSimulator(t)
	k := m.load(program(body)).Kernel("k")
	out := m.alloc(8 * len(in))
	m.run(k, Dim{X: uint32(len(in)+31) / 32}, Dim{X: 32}, out, put(m, in), len(in))
	return get[uint64](m, out, len(in))
}

// combinations returns all combinations of the operands that a row's text names,
// limited to about 1000.
func combinations(row *row) (in [][3]uint64) {
	names := func(letter string) []uint64 {
		for _, width := range []string{"%h", "%r", "%d"} {
			if strings.Contains(row.ptx, width+letter) {
				return row.inputs
			}
		}
		return row.inputs[:1]
	}
	r := rand.New(rand.NewPCG(1, 2))
	as, bs, cs := names("a"), names("b"), names("c")
	keep := min(1, 1000/float64(len(as)*len(bs)*len(cs)))
	for _, a := range as {
		for _, b := range bs {
			for _, c := range cs {
				if r.Float64() < keep {
					in = append(in, [3]uint64{a, b, c})
				}
			}
		}
	}
	return in
}

func checkInstructions(t *testing.T, rows []row) {
	for _, row := range rows {
		t.Run(row.ptx, func(t *testing.T) {
			t.Parallel()
			in := combinations(&row)
			bad := 0
			for i, got := range compute(t, row.ptx, in) {
				want := row.want(in[i][0], in[i][1], in[i][2])
				if got != want {
					t.Errorf("a %#x b %#x c %#x: got %#x, want %#x", in[i][0], in[i][1], in[i][2], got, want)
					if bad++; bad > 5 {
						return
					}
				}
			}
		})
	}
}

var integers32 = append([]uint64{0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 100, 255, 256, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x12345678, 0xdeadbeef},
	randomBits(8, 32)...)

var integers64 = append([]uint64{0, 1, 2, 31, 32, 63, 64, 65, 0x7fffffff, 0xffffffff, 0x100000000, 1<<63 - 1, 1 << 63, 1<<63 + 1, ^uint64(0), ^uint64(1)}, randomBits(10, 64)...)

var integers16 = append([]uint64{0, 1, 2, 15, 16, 127, 128, 255, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff}, randomBits(8, 16)...)

func randomBits(n, width int) []uint64 {
	r := rand.New(rand.NewPCG(uint64(width), 7))
	v := make([]uint64, n)
	for i := range v {
		v[i] = r.Uint64() & lowBits(width)
	}
	return v
}

func u32(v int64) uint64 { return uint64(uint32(v)) }
func s32(v uint64) int64 { return int64(int32(v)) }
func s16(v uint64) int64 { return int64(int16(v)) }

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func TestIntegerInstructions(t *testing.T) {
	t.Parallel()
	clamp := func(v int64) uint64 { return u32(min(max(v, math.MinInt32), math.MaxInt32)) }
	checkInstructions(t, []row{
		{"add.s32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return u32(int64(a + b)) }},
		{"add.sat.s32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return clamp(s32(a) + s32(b)) }},
		{"sub.sat.s32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return clamp(s32(a) - s32(b)) }},
		{"sub.u16 %h, %ha, %hb;", integers16, func(a, b, _ uint64) uint64 { return uint64(uint16(a - b)) }},
		{"sub.s64 %d, %da, %db;", integers64, func(a, b, _ uint64) uint64 { return a - b }},
		{"mul.lo.s32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return u32(int64(a * b)) }},
		{"mul.hi.s32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return u32(s32(a) * s32(b) >> 32) }},
		{"mul.hi.u32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return a * b >> 32 }},
		{"mul.hi.u64 %d, %da, %db;", integers64, func(a, b, _ uint64) uint64 { h, _ := bits.Mul64(a, b); return h }},
		{"mul.hi.s64 %d, %da, %db;", integers64, func(a, b, _ uint64) uint64 {
			h, _ := bits.Mul64(a, b)
			return h - b*(a>>63) - a*(b>>63)
		}},
		{"mul.hi.s16 %h, %ha, %hb;", integers16, func(a, b, _ uint64) uint64 { return uint64(uint16(s16(a) * s16(b) >> 16)) }},
		{"mul.wide.s32 %d, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return uint64(s32(a) * s32(b)) }},
		{"mul.wide.u16 %r, %ha, %hb;", integers16, func(a, b, _ uint64) uint64 { return a * b }},
		{"mad.lo.s32 %r, %ra, %rb, %rc;", integers32, func(a, b, c uint64) uint64 { return u32(int64(a*b + c)) }},
		{"mad.hi.u32 %r, %ra, %rb, %rc;", integers32, func(a, b, c uint64) uint64 { return u32(int64(a*b>>32 + c)) }},
		{"mad.hi.sat.s32 %r, %ra, %rb, %rc;", integers32, func(a, b, c uint64) uint64 { return clamp(s32(a)*s32(b)>>32 + s32(c)) }},
		{"mad.wide.s32 %d, %ra, %rb, %dc;", integers32, func(a, b, c uint64) uint64 { return uint64(s32(a)*s32(b)) + c }},
		{"mul24.lo.u32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return u32(int64(a & 0xffffff * (b & 0xffffff))) }},
		{"div.s32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 {
			if b == 0 {
				return 0xffffffff
			}
			return u32(s32(a) / s32(b))
		}},
		{"div.u64 %d, %da, %db;", integers64, func(a, b, _ uint64) uint64 {
			if b == 0 {
				return ^uint64(0)
			}
			return a / b
		}},
		{"rem.s32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 {
			if b == 0 {
				return a
			}
			return u32(s32(a) % s32(b))
		}},
		{"rem.u32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 {
			if b == 0 {
				return a
			}
			return a % b
		}},
		{"abs.s32 %r, %ra;", integers32, func(a, _, _ uint64) uint64 { return u32(max(s32(a), -s32(a))) }},
		{"neg.s64 %d, %da;", integers64, func(a, _, _ uint64) uint64 { return -a }},
		{"min.s32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return u32(min(s32(a), s32(b))) }},
		{"max.s32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return u32(max(s32(a), s32(b))) }},
		{"max.u32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return max(a, b) }},
		{"min.s16x2 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 {
			return uint64(uint16(min(s16(a), s16(b)))) | uint64(uint16(min(s16(a>>16), s16(b>>16))))<<16
		}},
		{"add.u16x2 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 {
			return uint64(uint16(a+b)) | uint64(uint16(a>>16+b>>16))<<16
		}},
		{"sad.s32 %r, %ra, %rb, %rc;", integers32, func(a, b, c uint64) uint64 {
			d := s32(a) - s32(b)
			return u32(int64(c) + max(d, -d))
		}},
		{"dp4a.s32.u32 %r, %ra, %rb, %rc;", integers32, func(a, b, c uint64) uint64 {
			s := s32(c)
			for i := range 4 {
				s += int64(int8(a>>(8*i))) * int64(uint8(b>>(8*i)))
			}
			return u32(s)
		}},
		{"dp2a.hi.s32.s32 %r, %ra, %rb, %rc;", integers32, func(a, b, c uint64) uint64 {
			return u32(s32(c) + s16(a)*int64(int8(b>>16)) + s16(a>>16)*int64(int8(b>>24)))
		}},
		{"add.cc.u32 %t1, %ra, %rb; addc.u32 %r, %rc, 0;", integers32, func(a, b, c uint64) uint64 { return u32(int64(c + (a+b)>>32)) }},
		{"sub.cc.u64 %u1, %da, %db; subc.u64 %d, %dc, 0;", integers64, func(a, b, c uint64) uint64 { return c - truth(a < b) }},
		{"mad.lo.cc.u32 %t1, %ra, %rb, %rc; madc.hi.u32 %r, %ra, %rb, 0;", integers32, func(a, b, c uint64) uint64 { return (a*b + c) >> 32 }},
	})
}

func TestBitInstructions(t *testing.T) {
	t.Parallel()
	shl := func(a, n uint64) uint64 { return u32(int64(a << n)) }
	checkInstructions(t, []row{
		{"and.b32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return a & b }},
		{"not.b16 %h, %ha;", integers16, func(a, _, _ uint64) uint64 { return uint64(^uint16(a)) }},
		{"shl.b32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return shl(a, b) }},
		{"shr.u32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return a >> b }},
		{"shr.s32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return u32(s32(a) >> min(b, 31)) }},
		{"shr.s64 %d, %da, %rb;", integers64, func(a, b, _ uint64) uint64 { return uint64(int64(a) >> min(uint64(uint32(b)), 63)) }},
		{"shf.l.wrap.b32 %r, %ra, %rb, %rc;", integers32, func(a, b, c uint64) uint64 { return (b<<32 | a) << (c & 31) >> 32 }},
		{"shf.r.clamp.b32 %r, %ra, %rb, %rc;", integers32, func(a, b, c uint64) uint64 { return u32(int64((b<<32 | a) >> min(c, 32))) }},
		{"shf.l.clamp.b32 %r, %ra, %rb, %rc;", integers32, func(a, b, c uint64) uint64 { return (b<<32 | a) << min(c, 32) >> 32 }},
		{"lop3.b32 %r, %ra, %rb, %rc, 0x96;", integers32, func(a, b, c uint64) uint64 { return a ^ b ^ c }},
		{"lop3.b32 %r, %ra, %rb, %rc, 0xe4;", integers32, func(a, b, c uint64) uint64 { return c&a | ^c&b }},
		{"lop3.b32 %r, %ra, %rb, %rc, 0xb8;", integers32, func(a, b, c uint64) uint64 { return a&^b | c&b }},
		{"popc.b64 %r, %da;", integers64, func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
		{"clz.b32 %r, %ra;", integers32, func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(a))) }},
		{"clz.b64 %r, %da;", integers64, func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a)) }},
		{"brev.b32 %r, %ra;", integers32, func(a, _, _ uint64) uint64 { return uint64(bits.Reverse32(uint32(a))) }},
		{"bfind.u32 %r, %ra;", integers32, func(a, _, _ uint64) uint64 { return u32(int64(bits.Len32(uint32(a)) - 1)) }},
		{"bfind.shiftamt.s32 %r, %ra;", integers32, func(a, _, _ uint64) uint64 {
			v := uint32(s32(a) ^ s32(a)>>31)
			if v == 0 {
				return 0xffffffff
			}
			return uint64(bits.LeadingZeros32(v))
		}},
		{"bfe.u32 %r, %ra, %rb, %rc;", integers32, func(a, b, c uint64) uint64 {
			return a >> (b & 0xff) & lowBits(int(c&0xff))
		}},
		{"bfe.s32 %r, %ra, 4, 8;", integers32, func(a, _, _ uint64) uint64 { return u32(int64(int8(a >> 4))) }},
		{"bfe.s32 %r, %ra, 28, 20;", integers32, func(a, _, _ uint64) uint64 { return u32(s32(a) >> 28) }},
		{"bfe.s32 %r, %ra, 40, 3;", integers32, func(a, _, _ uint64) uint64 { return u32(s32(a) >> 31) }},
		{"bfe.s32 %r, %ra, 3, 0;", integers32, func(a, _, _ uint64) uint64 { return 0 }},
		{"bfi.b32 %r, %ra, %rb, 5, 7;", integers32, func(a, b, _ uint64) uint64 { return b&^(0x7f<<5) | a&0x7f<<5 }},
		{"bfi.b32 %r, %ra, %rb, 30, 9;", integers32, func(a, b, _ uint64) uint64 { return b&(1<<30-1) | a&3<<30 }},
		{"prmt.b32 %r, %ra, %rb, 0x5410;", integers32, func(a, b, _ uint64) uint64 { return a&0xffff | b&0xffff<<16 }},
		{"prmt.b32 %r, %ra, %rb, 0x0189;", integers32, func(a, _, _ uint64) uint64 {
			sign := func(v uint64) uint64 { return uint64(uint8(int8(v) >> 7)) }
			return sign(a>>8) | sign(a)<<8 | a&0xff00<<8 | a&0xff<<24
		}},
		{"prmt.b32.f4e %r, %ra, %rb, 1;", integers32, func(a, b, _ uint64) uint64 { return u32(int64((b<<32 | a) >> 8)) }},
		{"prmt.b32.rc16 %r, %ra, %rb, 1;", integers32, func(a, _, _ uint64) uint64 { return a>>16 | a>>16<<16 }},
		{"fns.b32 %r, %ra, 0, 2;", integers32, func(a, _, _ uint64) uint64 {
			a &= a - 1
			if a == 0 {
				return 0xffffffff
			}
			return uint64(bits.TrailingZeros64(a))
		}},
		{"mov.b64 {%t1, %r}, %da;", integers64, func(a, _, _ uint64) uint64 { return a >> 32 }},
		{"mov.b64 %d, {%rb, %ra};", integers32, func(a, b, _ uint64) uint64 { return a<<32 | b }},
		{"mov.b32 {%s1, %h}, %ra; mov.b32 %r, {%h, %s1};", integers32, func(a, _, _ uint64) uint64 { return a>>16 | a&0xffff<<16 }},
		{"setp.lt.s32 %p, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return truth(s32(a) < s32(b)) }},
		{"setp.hs.u32 %p, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return truth(a >= b) }},
		{"setp.ne.b64 %p, %da, %db;", integers64, func(a, b, _ uint64) uint64 { return truth(a != b) }},
		{"setp.gt.s16 %p, %ha, %hb;", integers16, func(a, b, _ uint64) uint64 { return truth(s16(a) > s16(b)) }},
		{"setp.eq.u32 %q, %rc, 0; setp.le.and.u32 %p, %ra, %rb, !%q;", integers32, func(a, b, c uint64) uint64 { return truth(a <= b && c != 0) }},
		{"setp.eq.u32 %q, %rc, 0; setp.le.xor.u32 %q|%p, %ra, %rb, %q;", integers32, func(a, b, c uint64) uint64 { return truth((a > b) != (c == 0)) }},
		{"set.lt.u32.s32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return u32(-int64(truth(s32(a) < s32(b)))) }},
		{"set.lt.f32.u32 %r, %ra, %rb;", integers32, func(a, b, _ uint64) uint64 { return truth(a < b) * 0x3f800000 }},
	})
}

func ExampleParse() {
	_, err := Parse(".version 7.0\n.target sm_80\n.visible .entry k() {\n\ttex.2d.v4.f32.f32 x;\n}")
	fmt.Println(err)
	// Output: ptx line 4: instruction tex is not supported: tex.2d.v4.f32.f32 x;
}
