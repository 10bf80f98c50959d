package ir

import (
	"errors"
	"testing"
)

// fp8Device multiplies 16-bit and 8-bit floats, and computes nothing.
type fp8Device struct {
	nullDevice
	none bool
}

func (*fp8Device) Multiplies16Bit(op Op, _ DType, _ []Layout) bool {
	_, gradient := op.(AttentionGradient)
	return !gradient
}

func (d *fp8Device) MultipliesFP8() error {
	if d.none {
		return errors.New("too old")
	}
	return nil
}

// linear8 records what a Linear of 8-bit floats is, as package tensor does.
func linear8(r *Recorder, x, w, b *Value) *Value {
	round := func(v *Value) *Value { return r.Record(Cast{To: Float32}, r.Record(Round8{To: Float8E4M3}, v)) }
	y := r.Record(Linear{FP8: true}, round(x), round(w), r.Record(Cast{To: Float32}, r.Record(Cast{To: BFloat16}, b)))
	return r.Record(Cast{To: BFloat16}, y)
}

func TestFP8MatMul(t *testing.T) {
	for _, tt := range []struct {
		name   string
		none   bool
		record func(r *Recorder)
		want   string
	}{
		{"forward: the rows, as they lie", false, func(r *Recorder) {
			x, w, b := input(r, BFloat16, 3, 32), input(r, Float32, 16, 32), input(r, Float32, 16)
			linear8(r, x, w, b).Hold()
		}, `0 Round8 x0[3 32]:bfloat16 -> t3[3 32]+64:float8_e4m3
1 Round8 x1[16 32] -> t4[16 32]+64:float8_e4m3
2 Cast x2[16] -> t5[16]:bfloat16
3 Linear t3[3 32]+64:float8_e4m3 t4[16 32]+64:float8_e4m3 t5[16]:bfloat16 -> o6[3 16]:bfloat16
arena 832 bytes
`},
		{"without 8-bit products, the same numbers in 16 bits", true, func(r *Recorder) {
			x, w, b := input(r, BFloat16, 3, 32), input(r, Float32, 16, 32), input(r, Float32, 16)
			linear8(r, x, w, b).Hold()
		}, `0 Round8 x0[3 32]:bfloat16 -> t3[3 32]:bfloat16
1 Round8 x1[16 32] -> t4[16 32]:bfloat16
2 Cast x2[16] -> t5[16]:bfloat16
3 Linear t3[3 32]:bfloat16 t4[16 32]:bfloat16 t5[16]:bfloat16 -> o6[3 16]:bfloat16
arena 1280 bytes
`},
		{"backward: both orders, of one rounding", false, func(r *Recorder) {
			x := r.Leaf(input(r, Float32, 3, 32), &Leaf{})
			w, _ := parameter(r, 16, 32)
			b, _ := parameter(r, 16)
			r.Backward(r.Record(Sum{From: 0, To: 2}, r.Record(Cast{To: Float32}, linear8(r, x, w, b))))
		}, `0 Round8 x0[3 32] -> t3[3 32]+64:float8_e4m3 t4[3 32]/[1 16]+64:float8_e4m3
1 Round8 x1[16 32] -> t5[16 32]+64:float8_e4m3 t6[16 32]/[1 16]+64:float8_e4m3
2 loop[] -> t7[]: Fill()=0
3 Cast t7[3 16]/[0 0] -> t8[3 16]:bfloat16
4 loop[3 16] t8[3 16]:bfloat16 -> t9[3 16]: Cast(0)=0
5 Round8 t8[3 16]:bfloat16 -> t10[3 16]+64:float8_e5m2 t11[3 16]/[1 16]+64:float8_e5m2
6 MatMul t10[3 16]+64:float8_e5m2 t6[32 16]+64:float8_e4m3 -> t12[3 32]:bfloat16
7 MatMul t11[16 3]/[16 1]+64:float8_e5m2 t4[32 3]/[16 1]+64:float8_e4m3 -> t13[16 32]:bfloat16
8 Sum t9[3 16] -> t14[16]
9 Cast t14[16] -> t15[16]:bfloat16
10 loop[16] t15[16]:bfloat16 -> o16[16]: Cast(0)=0
11 loop[16 32] t13[16 32]:bfloat16 -> o17[16 32]: Cast(0)=0
12 loop[3 32] t12[3 32]:bfloat16 -> o18[3 32]: Cast(0)=0
arena 2304 bytes
`},
		{"another reader keeps the 16-bit numbers", false, func(r *Recorder) {
			x, w := input(r, BFloat16, 3, 32), input(r, Float32, 16, 32)
			q := r.Record(Round8{To: Float8E4M3}, x).Hold()
			a, b := r.Record(Cast{To: Float32}, q), r.Record(Cast{To: Float32}, r.Record(Round8{To: Float8E4M3}, w))
			r.Record(MatMul{}, a, r.swapLast(b)).Hold()
		}, `0 Round8 x0[3 32]:bfloat16 -> o2[3 32]:bfloat16 t3[3 32]+64:float8_e4m3
1 Round8 x1[16 32] -> t4[16 32]+64:float8_e4m3
2 MatMul t3[3 32]+64:float8_e4m3 t4[16 32]+64:float8_e4m3 -> o5[3 16]
arena 768 bytes
`},
		{"one factor alone is not enough", false, func(r *Recorder) {
			x, w := input(r, BFloat16, 3, 32), input(r, Float32, 32, 16)
			a := r.Record(Cast{To: Float32}, r.Record(Round8{To: Float8E4M3}, x))
			r.Record(MatMul{}, a, w).Hold()
		}, `0 Round8 x0[3 32]:bfloat16 -> t2[3 32]:bfloat16
1 loop[3 32] t2[3 32]:bfloat16 -> t3[3 32]: Cast(0)=0
2 MatMul t3[3 32] x1[32 16] -> o4[3 16]
arena 576 bytes
`},
		{"a slice of what was rounded", false, func(r *Recorder) {
			x, w := input(r, BFloat16, 6, 32), input(r, Float32, 32, 16)
			q := r.Record(Slice{Axis: 0, From: 2, To: 5}, r.Record(Cast{To: Float32}, r.Record(Round8{To: Float8E4M3}, x)))
			r.Record(MatMul{}, q, r.Record(Cast{To: Float32}, r.Record(Round8{To: Float8E4M3}, w))).Hold()
		}, `0 Round8 x0[6 32]:bfloat16 -> t2[6 32]:bfloat16
1 Round8 x1[32 16] -> t3[32 16]:bfloat16
2 MatMul t2[3 32]+64:bfloat16 t3[32 16]:bfloat16 -> o4[3 16]
arena 1408 bytes
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &fp8Device{none: tt.none}
			r := NewRecorder(d)
			tt.record(r)
			r.Flush() // which verifies the program
			got := d.programs[0].String()
			if got != tt.want {
				t.Errorf("the program is\n%swant\n%s", got, tt.want)
			}
		})
	}
}
