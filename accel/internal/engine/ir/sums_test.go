package ir

import "testing"

// sumDevice has products that sum factors of float32 and bfloat16, and computes nothing.
type sumDevice struct{ slopeDevice }

func (*sumDevice) SumsFactors(d DType) bool     { return d == Float32 || d == BFloat16 }
func (*sumDevice) Reads16Bit(op Op, _ int) bool { return op.Name() == "Sum" }
func (*sumDevice) Writes16Bit(op Op) bool       { return op.Name() == "Sum" }

func TestSumsAreInProducts(t *testing.T) {
	round := func(r *Recorder, v *Value) *Value { return r.Record(Cast{To: BFloat16}, v) }
	single := func(r *Recorder, shape ...int) *Value { return input(r, Float32, shape...) }
	rows := func(r *Recorder, v *Value) *Value { return r.Record(Sum{From: 0, To: 1}, v) }
	for _, tt := range []struct {
		name   string
		record func(r *Recorder)
		want   string
	}{
		{"of the first factor", func(r *Recorder) {
			dy := single(r, 5, 3)
			r.Record(MatMul{}, r.swapLast(dy), single(r, 5, 2)).Hold()
			rows(r, dy).Hold()
		}, `0 MatMul+Sum x0[3 5]/[1 3] x1[5 2] -> o2[3 2] o3[3]
arena 0 bytes
`},
		{"of the second, before the product and with an activation", func(r *Recorder) {
			dy := single(r, 5, 3)
			rows(r, dy).Hold()
			r.Record(ReLU{}, r.Record(MatMul{}, r.swapLast(single(r, 5, 2)), dy)).Hold()
		}, `0 MatMul+ReLU+Sum x1[2 5]/[1 2] x0[5 3] -> o2[2 3] o3[3]
arena 0 bytes
`},
		{"with a slope", func(r *Recorder) {
			dy, y := single(r, 5, 3), single(r, 2, 3)
			r.Record(ReLUGradient{}, r.Record(MatMul{}, r.swapLast(single(r, 5, 2)), dy), y).Hold()
			rows(r, dy).Hold()
		}, `0 MatMul+ReLUGradient+Sum x0[2 5]/[1 2] x1[5 3] x2[2 3] -> o3[2 3] o4[3]
arena 0 bytes
`},
		{"of what was computed before and reshaped", func(r *Recorder) {
			dy := r.Reshape(r.Record(Exp{}, single(r, 5, 3, 1)), []int{5, 3})
			r.Record(MatMul{}, r.swapLast(dy), single(r, 5, 2)).Hold()
			rows(r, dy).Hold()
		}, `0 loop[5 3 1] x0[5 3 1] -> t2[5 3 1]: Exp(0)=0
1 MatMul+Sum t2[3 5]/[1 3] x1[5 2] -> o3[3 2] o4[3]
arena 64 bytes
`},
		{"of 16 bits", func(r *Recorder) {
			dy, x := r.Record(Cast{To: Float32}, input(r, BFloat16, 5, 3)), r.Record(Cast{To: Float32}, input(r, BFloat16, 5, 2))
			round(r, r.Record(MatMul{}, r.swapLast(dy), x)).Hold()
			rows(r, dy).Hold()
		}, `0 MatMul+Sum x0[3 5]/[1 3]:bfloat16 x1[5 2]:bfloat16 -> o2[3 2]:bfloat16 o3[3]
arena 0 bytes
`},
		{"of 16 bits, rounded", func(r *Recorder) {
			dy, x := r.Record(Cast{To: Float32}, input(r, BFloat16, 5, 3)), r.Record(Cast{To: Float32}, input(r, BFloat16, 5, 2))
			r.Record(MatMul{}, r.swapLast(dy), x).Hold()
			round(r, rows(r, dy)).Hold()
		}, `0 MatMul+Sum x0[3 5]/[1 3]:bfloat16 x1[5 2]:bfloat16 -> o2[3 2] o3[3]:bfloat16
arena 0 bytes
`},
		{"not of float32, rounded", func(r *Recorder) {
			dy := single(r, 5, 3)
			r.Record(MatMul{}, r.swapLast(dy), single(r, 5, 2)).Hold()
			round(r, rows(r, dy)).Hold()
		}, `0 MatMul x0[3 5]/[1 3] x1[5 2] -> o2[3 2]
1 Sum x0[5 3] -> o3[3]:bfloat16
arena 0 bytes
`},
		{"one of two products, and one sum of two", func(r *Recorder) {
			dy := single(r, 5, 3)
			r.Record(MatMul{}, r.swapLast(dy), single(r, 5, 2)).Hold()
			r.Record(MatMul{}, r.swapLast(dy), single(r, 5, 2)).Hold()
			rows(r, dy).Hold()
			x := single(r, 5, 2)
			r.Record(MatMul{}, r.swapLast(single(r, 5, 3)), x).Hold()
			rows(r, x).Hold()
			rows(r, x).Hold()
		}, `0 MatMul x0[3 5]/[1 3] x2[5 2] -> o5[3 2]
1 MatMul+Sum x0[3 5]/[1 3] x1[5 2] -> o6[3 2] o7[3]
2 MatMul+Sum x3[3 5]/[1 3] x4[5 2] -> o8[3 2] o9[2]
3 Sum x4[5 2] -> o10[2]
arena 0 bytes
`},
		{"not of the gradient of the input, of means, or of others", func(r *Recorder) {
			dy := single(r, 4, 4)
			r.Record(MatMul{}, dy, single(r, 4, 2)).Hold() // dy is not transposed
			r.Record(MatMul{}, single(r, 2, 4), r.swapLast(dy)).Hold()
			rows(r, dy).Hold()
			x := single(r, 4, 4)
			r.Record(MatMul{}, r.swapLast(x), single(r, 4, 2)).Hold()
			r.Record(Sum{From: 0, To: 1, Mean: true}, x).Hold()
			r.Record(Sum{From: 1, To: 2}, x).Hold()
			r.Record(Sum{From: 0, To: 2}, x).Hold()
			rows(r, r.Record(Square{}, x)).Hold()
		}, `0 MatMul x0[4 4] x1[4 2] -> o5[4 2]
1 MatMul x2[2 4] x0[4 4]/[1 4] -> o6[2 4]
2 Sum x0[4 4] -> o7[4]
3 MatMul x3[4 4]/[1 4] x4[4 2] -> o8[4 2]
4 Sum x3[4 4] -> o9[4]
5 Sum x3[4 4] -> o10[4]
6 Sum x3[4 4] -> o11[]
7 loop[4 4] x3[4 4] -> t12[4 4]: Square(0)=0
8 Sum t12[4 4] -> o13[4]
arena 64 bytes
`},
		{"not of batches, of parts, or where nothing is multiplied", func(r *Recorder) {
			dy := single(r, 1, 5, 3)
			r.Record(MatMul{}, r.swapLast(dy), single(r, 1, 5, 2)).Hold()
			rows(r, r.Reshape(dy, []int{5, 3})).Hold()
			x := single(r, 6, 3)
			r.Record(MatMul{}, r.swapLast(x), single(r, 6, 2)).Hold()
			rows(r, r.part(r.Reshape(x, []int{18}), 0, []int{5, 3})).Hold()
			empty := single(r, 5, 3)
			r.Record(MatMul{}, r.swapLast(empty), single(r, 5, 0)).Hold()
			rows(r, empty).Hold()
		}, `0 MatMul x0[1 3 5]/[15 1 3] x1[1 5 2] -> o6[1 3 2]
1 Sum x0[5 3] -> o7[3]
2 MatMul x2[3 6]/[1 3] x3[6 2] -> o8[3 2]
3 Sum x2[5 3] -> o9[3]
4 MatMul x4[3 5]/[1 3] x5[5 0] -> o10[3 0]
5 Sum x4[5 3] -> o11[3]
arena 0 bytes
`},
		{"not if the product needs the sum, or the sum the product", func(r *Recorder) {
			dy := single(r, 2, 3)
			sum := rows(r, dy)
			r.Record(MatMul{}, r.swapLast(dy), r.Record(Expand{Shape: []int{2, 3}}, sum)).Hold()
		}, `0 Sum x0[2 3] -> t1[3]
1 MatMul x0[3 2]/[1 3] t1[2 3]/[0 1] -> o2[3 3]
arena 64 bytes
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &sumDevice{slopeDevice{float16Device{fp8Device{none: true}}}}
			r := NewRecorder(d)
			tt.record(r)
			r.Flush() // which verifies the program
			if got := d.programs[0].String(); got != tt.want {
				t.Errorf("the program is\n%swant\n%s", got, tt.want)
			}
		})
	}
}
