package ir

import (
	"maps"
	"strings"
	"testing"
)

// batchDevice runs batches, rounds in fused kernels, and computes nothing.
type batchDevice struct{ float16Device }

func (*batchDevice) RunsBatches() bool { return true }

func TestBatches(t *testing.T) {
	// update records p = p - scale·g.
	update := func(r *Recorder, p **Value, g *Value) {
		r.Assign(p, r.Record(Sub{}, *p, r.MulScalar(g, 0.5)).Hold(), nil)
	}
	for _, tt := range []struct {
		name   string
		record func(r *Recorder)
		want   string
	}{
		{"updates of any shapes", func(r *Recorder) {
			a, b, c := input(r, Float32, 3, 5), input(r, Float32, 7), input(r, Float32, 2)
			update(r, &a, input(r, Float32, 3, 5))
			update(r, &b, input(r, Float32, 7))
			update(r, &c, input(r, Float32, 2))
		}, `0 loop of 3 x0[3 5] x1[3 5] x2[7] x3[7] x4[2] x5[2] -> o6[3 5] o7[7] o8[2]: MulScalar(0) Sub(1 2)=0
arena 0 bytes
`},
		{"updates wait for the last gradient", func(r *Recorder) {
			a, b, x := input(r, Float32, 2, 2), input(r, Float32, 2, 2), input(r, Float32, 2, 2)
			y := r.Record(MatMul{}, x, x)
			update(r, &a, y)
			update(r, &b, r.Record(MatMul{}, y, x))
		}, `0 MatMul x0[2 2] x0[2 2] -> t3[2 2]
1 MatMul t3[2 2] x0[2 2] -> t4[2 2]
2 loop of 2 t3[2 2] x1[2 2] t4[2 2] x2[2 2] -> o5[2 2] o6[2 2]: MulScalar(0) Sub(1 2)=0
arena 128 bytes
`},
		{"transposed weights, and their gradients", func(r *Recorder) {
			for range 2 {
				w := r.swapLast(input(r, Float32, 2, 3))
				y := r.Record(MatMul{}, r.as(input(r, BFloat16, 4, 3), Float32), r.as(r.as(w, BFloat16), Float32))
				r.swapLast(r.as(r.as(r.swapLast(y), BFloat16), Float32)).Hold()
			}
		}, `0 loop of 2 x0[2 3] x2[2 3] -> t4[2 3]:bfloat16 t5[2 3]:bfloat16: Cast(0)=0
1 MatMul x1[4 3]:bfloat16 t4[3 2]/[1 3]:bfloat16 -> t6[4 2]:bfloat16
2 MatMul x3[4 3]:bfloat16 t5[3 2]/[1 3]:bfloat16 -> t7[4 2]:bfloat16
3 loop of 2 t6[4 2]:bfloat16 t7[4 2]:bfloat16 -> o8[4 2] o9[4 2]: Cast(0)=0
arena 192 bytes
`},
		{"one that others read does not wait for those that depend on them", func(r *Recorder) {
			a, b := input(r, Float32, 2, 2), input(r, Float32, 2, 2)
			update(r, &a, input(r, Float32, 2, 2))
			update(r, &b, r.Record(MatMul{}, a, a))
		}, `0 loop[2 2] x0[2 2] x1[2 2] -> o3[2 2]: MulScalar(0) Sub(1 2)=0
1 MatMul o3[2 2] o3[2 2] -> t4[2 2]
2 loop[2 2] t4[2 2] x2[2 2] -> o5[2 2]: MulScalar(0) Sub(1 2)=0
arena 64 bytes
`},
		{"gradients of any float, kept or not, and parameters that are rounded or not", func(r *Recorder) {
			for _, d := range []DType{Float32, BFloat16, Float16} {
				for kept := range 2 {
					p, g := input(r, Float32, 3), r.as(input(r, d, 3), Float32)
					if kept > 0 {
						g.Hold()
					}
					update(r, &p, g)
					if d != Float32 {
						r.as(p, d).Hold()
					}
				}
			}
		}, `0 loop of 6 x0[3] x1[3] x2[3] x3[3] x4[3]:bfloat16 x5[3] x6[3]:bfloat16 x7[3] x8[3]:float16 x9[3] x10[3]:float16 x11[3] ` +
			`-> o12[3] o13[3] o14[3] o15[3]:bfloat16 o16[3] o17[3] o18[3]:bfloat16 o19[3] o20[3]:float16 o21[3] o22[3] o23[3]:float16: ` +
			`MulScalar(0) Sub(1 2)=0 Cast(3)=1 Cast(0)=2 Cast(3)=3
arena 0 bytes
`},
		{"one element, and a scalar that all read", func(r *Recorder) {
			s := input(r, Float32)
			for _, n := range []int{1, 5} {
				p := input(r, Float32, n)
				r.Assign(&p, r.Record(Sub{}, p, r.Record(Mul{}, input(r, Float32, n), s)).Hold(), nil)
			}
		}, `0 loop of 2 x0[1] x1[1] x2[1] x3[5] x1[5]/[0] x4[5] -> o5[1] o6[5]: Mul(0 1) Sub(2 3)=0
arena 0 bytes
`},
		{"what is rounded and then computed with is apart", func(r *Recorder) {
			a, b := input(r, Float32, 3), input(r, Float32, 3)
			update(r, &a, r.as(r.as(r.Record(Tanh{}, input(r, Float32, 3)), BFloat16), Float32))
			update(r, &b, r.Record(Tanh{}, input(r, Float32, 3)))
		}, `0 loop[3] x0[3] x1[3] -> o4[3]: Tanh(0) Cast(2) MulScalar(3) Sub(1 4)=0
1 loop[3] x2[3] x3[3] -> o5[3]: Tanh(0) MulScalar(2) Sub(1 3)=0
arena 0 bytes
`},
		{"other ops, other types, scalars and transposes are apart", func(r *Recorder) {
			a, b, e := input(r, Float32, 3), input(r, Float32, 3), input(r, Float32, 2, 3)
			update(r, &a, input(r, Float32, 3))
			r.Assign(&b, r.Add(b, r.MulScalar(input(r, Float32, 3), 0.5)).Hold(), nil)
			update(r, &e, r.swapLast(input(r, Float32, 3, 2)))
			r.Record(Cast{To: Float32}, input(r, Float64, 3)).Hold()
			r.Record(Cast{To: Float32}, input(r, Float64, 3)).Hold()
			r.Record(Cast{To: Float32}, input(r, Int32, 3)).Hold()
		}, `0 loop[2 3] x4[2 3]/[1 2] x5[2 3] -> o9[2 3]: MulScalar(0) Sub(1 2)=0
1 loop[3] x6[3]:float64 -> o10[3]: Cast(0)=0
2 loop[3] x7[3]:float64 -> o11[3]: Cast(0)=0
3 loop[3] x8[3]:int32 -> o12[3]: Cast(0)=0
4 loop[3] x0[3] x1[3] -> o13[3]: MulScalar(0) Sub(1 2)=0
5 loop[3] x2[3] x3[3] -> o14[3]: MulScalar(0) Add(1 2)=0
arena 0 bytes
`},
		{"weights are rounded together, before the first is needed", func(r *Recorder) {
			round := func(v *Value) *Value { return r.Record(Cast{To: Float32}, r.Record(Cast{To: BFloat16}, v)) }
			x := r.Record(Cast{To: Float32}, input(r, BFloat16, 2, 2))
			y := r.Record(Cast{To: Float32}, r.Record(Cast{To: BFloat16}, r.Record(MatMul{}, x, round(input(r, Float32, 2, 4)))))
			r.Record(MatMul{}, y, round(input(r, Float32, 4, 2))).Hold()
		}, `0 loop of 2 x1[2 4] x2[4 2] -> t3[2 4]:bfloat16 t4[4 2]:bfloat16: Cast(0)=0
1 MatMul x0[2 2]:bfloat16 t3[2 4]:bfloat16 -> t5[2 4]:bfloat16
2 MatMul t5[2 4]:bfloat16 t4[4 2]:bfloat16 -> o6[2 2]
arena 192 bytes
`},
		{"a parameter that another part reads is not overwritten", func(r *Recorder) {
			a, b := input(r, Float32, 3), input(r, Float32, 3)
			old := a
			update(r, &a, b)
			r.Assign(&b, r.Record(Sub{}, b, r.MulScalar(old, 0.5)).Hold(), nil)
		}, `0 loop of 2 x0[3] x1[3] x1[3] x0[3] -> o2[3] o3[3]: MulScalar(0) Sub(1 2)=0
arena 0 bytes
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &batchDevice{float16Device{fp8Device{none: true}}}
			r := NewRecorder(d)
			tt.record(r)
			r.Flush()
			if got := d.programs[0].String(); got != tt.want {
				t.Errorf("the program is\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// A cast that only an update reads is part of it, however many ops were recorded in between.
func TestFusesFarApart(t *testing.T) {
	d := &batchDevice{float16Device{fp8Device{none: true}}}
	r := NewRecorder(d)
	p, q, x := input(r, Float32, 2, 2), input(r, Float32, 2, 2), input(r, Float32, 2, 2)
	g := r.as(input(r, BFloat16, 2, 2), Float32).Hold()
	other := r.as(input(r, BFloat16, 2, 2), Float32).Hold()
	read := r.Record(Softmax{}, other).Hold()
	for range maxReach + 10 {
		x = r.Record(Softmax{}, x)
	}
	x.Hold()
	r.Assign(&p, r.Record(Sub{}, p, r.MulScalar(g, 0.5)).Hold(), nil)
	r.Assign(&q, r.Record(Sub{}, q, r.MulScalar(r.Add(other, read), 0.5)).Hold(), nil)
	r.Flush()
	loops := map[string]int{}
	for _, s := range d.programs[0].Steps {
		var names []string
		for _, x := range s.Loop {
			names = append(names, x.Op.Name())
		}
		if s.Op == nil {
			loops[strings.Join(names, " ")]++
		}
	}
	// Softmax reads the other cast before the update does.
	if want := map[string]int{"Cast MulScalar Sub": 1, "Cast": 1, "Add MulScalar Sub": 1}; !maps.Equal(loops, want) {
		t.Errorf("fused kernels %v, want %v", loops, want)
	}
}

// A part overwrites what it alone reads.
func TestBatchesInPlace(t *testing.T) {
	for _, crossed := range []bool{false, true} {
		r := NewRecorder(&batchDevice{float16Device{fp8Device{none: true}}})
		a, b := input(r, Float32, 3), input(r, Float32, 3)
		c, d := input(r, Float32, 3), input(r, Float32, 3)
		if crossed {
			c, d = b, a
		}
		before := [2]*Buffer{a.buf, b.buf}
		nextA, nextB := r.Record(Sub{}, a, r.MulScalar(c, 0.5)).Hold(), r.Record(Sub{}, b, r.MulScalar(d, 0.5)).Hold()
		r.Assign(&a, nextA, nil)
		r.Assign(&b, nextB, nil)
		r.Flush()
		if got := [2]*Buffer{a.buf, b.buf} == before; got == crossed {
			t.Errorf("the parts read each other's parameters: %v; both are updated in place: %v", crossed, got)
		}
	}
}
