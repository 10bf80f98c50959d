package ptxsim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// registers returns the declaration and the list of n registers.
func registerList(name string, n int) (declared, list string) {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%%%s%d", name, i))
	}
	return fmt.Sprintf(".reg .b32 %%%s<%d>;\n", name, n), "{" + strings.Join(all, ", ") + "}"
}

// wmmaKernel multiplies matrices of a shape. The numbers of registers are those of the PTX manual.
func wmmaKernel(shape, types, t, c string, a, b, d int) string {
	da, la := registerList("a", a)
	db, lb := registerList("b", b)
	dd, ld := registerList("c", d)
	return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc)\n{\n.reg .b64 %p<4>;\n" +
		da + db + dd + "ld.param.u64 %p1, [pa];\nld.param.u64 %p2, [pb];\nld.param.u64 %p3, [pc];\n" +
		fmt.Sprintf("wmma.load.a.sync.aligned.row.%s.global.%s %s, [%%p1];\n", shape, t, la) +
		fmt.Sprintf("wmma.load.b.sync.aligned.col.%s.global.%s %s, [%%p2];\n", shape, t, lb) +
		fmt.Sprintf("wmma.load.c.sync.aligned.row.%s.global.%s %s, [%%p3];\n", shape, c, ld) +
		fmt.Sprintf("wmma.mma.sync.aligned.row.col.%s.%s %s, %s, %s, %s;\n", shape, types, ld, la, lb, ld) +
		fmt.Sprintf("wmma.store.d.sync.aligned.row.%s.global.%s [%%p3], %s;\nret;\n}\n", shape, c, ld)
}

// All shapes and types multiply as their elements do.
func TestWmma(t *testing.T) {
	t.Parallel()
	shapes := map[string]tile{"m16n16k16": {16, 16, 16}, "m32n8k16": {32, 8, 16}, "m8n32k16": {8, 32, 16}, "m16n16k8": {16, 16, 8}}
	for _, row := range []struct {
		shape, types, t, c string
		a, b, d            int
	}{
		{"m16n16k16", "f32.f32", "f16", "f32", 8, 8, 8},
		{"m32n8k16", "f32.f32", "f16", "f32", 8, 8, 8},
		{"m8n32k16", "f32.f32", "f16", "f32", 8, 8, 8},
		{"m16n16k16", "f16.f16", "f16", "f16", 8, 8, 4},
		{"m16n16k16", "f32.bf16.bf16.f32", "bf16", "f32", 4, 4, 8},
		{"m32n8k16", "f32.bf16.bf16.f32", "bf16", "f32", 8, 2, 8},
		{"m8n32k16", "f32.bf16.bf16.f32", "bf16", "f32", 2, 8, 8},
		{"m16n16k8", "f32.tf32.tf32.f32", "tf32", "f32", 4, 4, 8},
		{"m16n16k16", "s32.s8.s8.s32", "s8", "s32", 2, 2, 8},
		{"m32n8k16", "s32.u8.u8.s32", "u8", "s32", 4, 1, 8},
		{"m8n32k16", "s32.s8.s8.s32.satfinite", "s8", "s32", 1, 4, 8},
	} {
		shape := shapes[row.shape]
		et, ec := elementOf(valueTypes[row.t]), elementOf(valueTypes[row.c])
		if row.c == "s32" {
			ec.bits = 32 // not an element of a or b
		}
		encode := func(e element, t string, v int) uint64 {
			if t[0] == 's' || t[0] == 'u' {
				return uint64(v) & lowBits(e.bits)
			}
			if t == "tf32" {
				return format32.encode(float64(v), toNearest)
			}
			f := formatOf(valueTypes[t])
			return f.encode(float64(v), toNearest)
		}
		number := func(i int) int { return i * 37 % 13 } // small, so that all sums are exact
		matrix := func(e element, t string, n, seed int) []byte {
			b := make([]byte, n*e.bits/8)
			for i := range n {
				putBits(b[i*e.bits/8:], encode(e, t, number(i+seed)), e.bits/8)
			}
			return b
		}
		m := newSimulator(t)
		k := m.load(wmmaKernel(row.shape, row.types, row.t, row.c, row.a, row.b, row.d)).Kernel("k")
		c := put(m, matrix(ec, row.c, shape.m*shape.n, 3))
		m.run(k, Dim{}, Dim{X: 32}, put(m, matrix(et, row.t, shape.m*shape.k, 1)), put(m, matrix(et, row.t, shape.k*shape.n, 2)), c)
		got := get[byte](m, c, shape.m*shape.n*ec.bits/8)
		for i := range shape.m * shape.n {
			want := number(i + 3)
			for p := range shape.k {
				want += number(i/shape.n*shape.k+p+1) * number(i%shape.n*shape.k+p+2)
			}
			if g := getBits(got[i*ec.bits/8:], ec.bits/8); g != encode(ec, row.c, want) {
				t.Errorf("%s.%s: element %d is %#x, want %d", row.shape, row.types, i, g, want)
				break
			}
		}
	}
}

func TestWmmaFaults(t *testing.T) {
	t.Parallel()
	whole := wmmaKernel("m16n16k16", "f32.f32", "f16", "f32", 8, 8, 8)
	for _, row := range []struct{ old, with, want string }{
		{"[%p1];", "[%p1+16];", "must begin at a multiple of 32 bytes"},
		{"[%p1];", "[%p1], 17;", "17 elements apart"},
		{"[%p1];", "[%p1], 1024;", "out of bounds"},
		{"ld.param.u64 %p2, [pb];", "ld.param.u64 %p2, [pb];\n.reg .pred %q<2>;\n.reg .b32 %i<2>;\nmov.u32 %i1, %tid.x;\nsetp.eq.u32 %q1, %i1, 5;\n@%q1 add.u64 %p1, %p1, 32;", "different addresses"},
		{"ld.param.u64 %p2, [pb];", "ld.param.u64 %p2, [pb];\n.reg .pred %q<2>;\n.reg .b32 %i<2>;\nmov.u32 %i1, %tid.x;\nsetp.eq.u32 %q1, %i1, 5;\n@%q1 ret;", "all 32 lanes"},
	} {
		m := newSimulator(t)
		k := m.load(strings.Replace(whole, row.old, row.with, 1)).Kernel("k")
		_, err := k.Run(context.Background(), Launch{Block: Dim{X: 32}, Params: params(k, put(m, make([]uint16, 256)), put(m, make([]uint16, 256)), put(m, make([]float32, 256)))})
		if f := (*Fault)(nil); !errors.As(err, &f) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", row.want, err)
		}
	}
	for old, want := range map[string]string{
		"m16n16k16.global.f16": "type .f64", "m16n16k16.f32.f32": "not supported", "wmma.load.a": "expected one of", "wmma.load.b.sync.aligned.col.m16n16k16": "shape",
	} {
		with := map[string]string{
			"m16n16k16.global.f16": "m16n16k16.global.f64", "m16n16k16.f32.f32": "m16n16k8.f32.f32", "wmma.load.a": "wmma.load.d",
			"wmma.load.b.sync.aligned.col.m16n16k16": "wmma.load.b.sync.aligned.col.m64n16k16",
		}[old]
		if _, err := Parse(strings.Replace(whole, old, with, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", with, err)
		}
	}
}

// Groups of lanes with different member masks execute one instruction.
func TestMemberGroups(t *testing.T) {
	t.Parallel()
	m := newSimulator(t)
	k := m.load(kernelOf(`setp.lt.u32 %p1, %r1, 8;
	selp.b32 %r5, 0xff, 0xffffff00, %p1;
	setp.gt.u32 %p2, %r1, 5;
	vote.sync.ballot.b32 %r2, %p2, %r5;
	redux.sync.add.u32 %r3, %r1, %r5;
	shfl.sync.bfly.b32 %r4, %r1, 1, 31, %r5;
	mad.wide.u32 %d3, %r1, 16, %d1;
	st.global.v4.u32 [%d3], {%r2, %r3, %r4, %r5};`)).Kernel("k")
	out := m.alloc(16 * 32)
	m.run(k, Dim{}, Dim{X: 32}, out, out)
	got := get[uint32](m, out, 4*32)
	for i := range 32 {
		want := [4]uint32{0xc0, 28, uint32(i ^ 1), 0xff}
		if i >= 8 {
			want = [4]uint32{0xffffff00, 496 - 28, uint32(i ^ 1), 0xffffff00}
		}
		if [4]uint32(got[4*i:]) != want {
			t.Errorf("lane %d: %v, want %v", i, got[4*i:4*i+4], want)
		}
	}
}
