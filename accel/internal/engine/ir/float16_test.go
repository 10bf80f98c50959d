package ir

import "testing"

// float16Device multiplies 16-bit floats, has fused kernels that round to them, and computes
// nothing.
type float16Device struct{ fp8Device }

func (*float16Device) FusedKernelsRound() bool { return true }

// What autocast puts between matrix multiplications is one fused kernel, which reads and writes 16 bits.
func TestFusedRounding(t *testing.T) {
	toBFloat16 := func(r *Recorder, v *Value) *Value { return r.Record(Cast{To: BFloat16}, v) }
	toFloat16 := func(r *Recorder, v *Value) *Value { return r.Record(Cast{To: Float16}, v) }
	toFloat32 := func(r *Recorder, v *Value) *Value { return r.Record(Cast{To: Float32}, v) }
	for _, tt := range []struct {
		name   string
		record func(r *Recorder)
		want   string
	}{
		{"an activation of 16 bits", func(r *Recorder) {
			toBFloat16(r, r.Record(Tanh{}, toFloat32(r, input(r, BFloat16, 3, 4)))).Hold()
		}, `0 loop[3 4] x0[3 4]:bfloat16 -> o1[3 4]:bfloat16: Tanh(0) Cast(1)=0
arena 0 bytes
`},
		{"a whole op, roundings, an activation", func(r *Recorder) {
			y := toBFloat16(r, r.Record(Softmax{}, input(r, Float32, 3, 4)))
			toBFloat16(r, r.Record(Tanh{}, toFloat32(r, y))).Hold()
		}, `0 Softmax x0[3 4] -> t1[3 4]
1 loop[3 4] t1[3 4] -> o2[3 4]:bfloat16: Cast(0) Tanh(1) Cast(2)=0
arena 64 bytes
`},
		{"what is rounded is read by others, too", func(r *Recorder) {
			y := toBFloat16(r, r.Record(Tanh{}, input(r, Float32, 4, 4)))
			toBFloat16(r, r.Record(MatMul{}, toFloat32(r, y), toFloat32(r, y))).Hold()
		}, `0 loop[4 4] x0[4 4] -> t1[4 4]:bfloat16: Tanh(0) Cast(1)=0
1 MatMul t1[4 4]:bfloat16 t1[4 4]:bfloat16 -> o2[4 4]:bfloat16
arena 64 bytes
`},
		{"a view between a multiplication and its rounding", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 4, 4))
			toBFloat16(r, r.Reshape(r.Record(MatMul{}, a, a), []int{2, 2, 4})).Hold()
		}, `0 MatMul x0[4 4]:bfloat16 x0[4 4]:bfloat16 -> o1[4 4]:bfloat16
arena 0 bytes
`},
		{"a multiplication that is rounded twice, and once differently", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 4, 4))
			y := r.Record(MatMul{}, a, a)
			toBFloat16(r, y).Hold()
			toFloat16(r, y).Hold()
		}, `0 MatMul x0[4 4]:bfloat16 x0[4 4]:bfloat16 -> t1[4 4]
1 loop[4 4] t1[4 4] -> o2[4 4]:bfloat16: Cast(0)=0
2 loop[4 4] t1[4 4] -> o3[4 4]:float16: Cast(0)=0
arena 64 bytes
`},
		{"a multiplication that is rounded, and read", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 4, 4))
			y := r.Record(MatMul{}, a, a)
			toBFloat16(r, r.Reshape(y, []int{16})).Hold()
			r.Record(Tanh{}, y).Hold()
		}, `0 MatMul x0[4 4]:bfloat16 x0[4 4]:bfloat16 -> t1[4 4]
1 loop[16] t1[16] -> o2[16]:bfloat16: Cast(0)=0
2 loop[4 4] t1[4 4] -> o3[4 4]: Tanh(0)=0
arena 64 bytes
`},
		{"a view of a rounded multiplication outlives the list", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 4, 4))
			y := r.Record(MatMul{}, a, a)
			toBFloat16(r, y).Hold()
			r.Reshape(y, []int{16}).Hold()
		}, `0 MatMul x0[4 4]:bfloat16 x0[4 4]:bfloat16 -> o1[4 4]
1 loop[4 4] o1[4 4] -> o2[4 4]:bfloat16: Cast(0)=0
arena 0 bytes
`},
		{"what several ops round is rounded once to each type", func(r *Recorder) {
			y := r.Record(Softmax{}, input(r, Float32, 4, 4)).Hold()
			for range 2 {
				r.Record(MatMul{}, toFloat32(r, toBFloat16(r, y)), toFloat32(r, toBFloat16(r, y))).Hold()
			}
			toFloat16(r, y).Hold()
			toBFloat16(r, y).Hold()
		}, `0 Softmax x0[4 4] -> o1[4 4]
1 loop[4 4] o1[4 4] -> o2[4 4]:bfloat16: Cast(0)=0
2 MatMul o2[4 4]:bfloat16 o2[4 4]:bfloat16 -> o3[4 4]
3 MatMul o2[4 4]:bfloat16 o2[4 4]:bfloat16 -> o4[4 4]
4 loop[4 4] o1[4 4] -> o5[4 4]:float16: Cast(0)=0
arena 0 bytes
`},
		{"what is permuted back is rounded in the order of memory", func(r *Recorder) {
			swap := func(v *Value) *Value { return r.Record(Permute{Perm: []int{1, 0, 2}}, v) }
			back := r.Reshape(swap(toBFloat16(r, swap(r.Record(Softmax{}, input(r, Float32, 2, 3, 4))))), []int{6, 4})
			r.Record(MatMul{}, toFloat32(r, back), toFloat32(r, input(r, BFloat16, 4, 4))).Hold()
		}, `0 Softmax x0[2 3 4] -> t2[2 3 4]
1 loop[2 3 4] t2[2 3 4] -> t3[2 3 4]:bfloat16: Cast(0)=0
2 MatMul t3[6 4]:bfloat16 x1[4 4]:bfloat16 -> o4[6 4]
arena 192 bytes
`},
		{"and otherwise in that of the rows", func(r *Recorder) {
			y := toBFloat16(r, r.Record(Permute{Perm: []int{1, 0, 2}}, r.Record(Softmax{}, input(r, Float32, 2, 3, 4))))
			r.Record(MatMul{}, toFloat32(r, r.Reshape(y, []int{6, 4})), toFloat32(r, input(r, BFloat16, 4, 4))).Hold()
			r.Record(Permute{Perm: []int{1, 0, 2}}, y).Hold()
		}, `0 Softmax x0[2 3 4] -> t2[2 3 4]
1 loop[3 2 4] t2[3 2 4]/[4 12 1] -> o3[3 2 4]:bfloat16: Cast(0)=0
2 MatMul o3[6 4]:bfloat16 x1[4 4]:bfloat16 -> o4[6 4]
arena 128 bytes
`},
		{"an activation is rounded after a view", func(r *Recorder) {
			y := r.Record(Tanh{}, toFloat32(r, input(r, BFloat16, 3, 4)))
			r.Record(MatMul{}, toFloat32(r, toBFloat16(r, r.swapLast(y))), toFloat32(r, input(r, BFloat16, 3, 3))).Hold()
		}, `0 loop[3 4] x0[3 4]:bfloat16 -> t2[3 4]:bfloat16: Tanh(0)=0
1 MatMul t2[4 3]/[1 4]:bfloat16 x1[3 3]:bfloat16 -> o3[4 3]
arena 64 bytes
`},
		{"ReLU between 16 bits, and its gradient", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 4, 4))
			y := r.Record(ReLU{}, toFloat32(r, toBFloat16(r, r.Record(MatMul{}, a, a))))
			toBFloat16(r, y).Hold()
			toBFloat16(r, r.Record(ReLUGradient{}, a, y)).Hold()
		}, `0 MatMul+ReLU x0[4 4]:bfloat16 x0[4 4]:bfloat16 -> o1[4 4]:bfloat16
1 loop[4 4] x0[4 4]:bfloat16 o1[4 4]:bfloat16 -> o2[4 4]:bfloat16: ReLUGradient(0 1) Cast(2)=0
arena 0 bytes
`},
		{"ReLU of 16 bits that outlives the list", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 4, 4))
			y := r.Record(ReLU{}, toFloat32(r, toBFloat16(r, r.Record(MatMul{}, a, a)))).Hold()
			toBFloat16(r, y).Hold()
		}, `0 MatMul x0[4 4]:bfloat16 x0[4 4]:bfloat16 -> t1[4 4]:bfloat16
1 loop[4 4] t1[4 4]:bfloat16 -> o2[4 4] o3[4 4]:bfloat16: ReLU(0)=0 Cast(1)=1
arena 64 bytes
`},
		{"ReLU of 16 bits that is rounded to others", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 4, 4))
			toFloat16(r, r.Record(ReLU{}, toFloat32(r, toBFloat16(r, r.Record(MatMul{}, a, a))))).Hold()
		}, `0 MatMul+ReLU x0[4 4]:bfloat16 x0[4 4]:bfloat16 -> t1[4 4]:bfloat16
1 loop[4 4] t1[4 4]:bfloat16 -> o2[4 4]:float16: Cast(0)=0
arena 64 bytes
`},
		{"ReLU of 16 bits that an op without 16 bits reads", func(r *Recorder) {
			y := r.Record(ReLU{}, toFloat32(r, input(r, BFloat16, 6)))
			toBFloat16(r, y).Hold()
			r.Record(CumSum{}, y).Hold()
		}, `0 loop[6] x0[6]:bfloat16 -> o1[6]:bfloat16 t2[6]: ReLU(0)=0 Cast(1)=1
1 CumSum t2[6] -> o3[6]
arena 64 bytes
`},
		{"a rounded ReLU of a multiplication in 32 bits", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 4, 4))
			toBFloat16(r, r.Record(ReLU{}, r.Record(MatMul{}, a, a))).Hold()
		}, `0 MatMul+ReLU x0[4 4]:bfloat16 x0[4 4]:bfloat16 -> t1[4 4]
1 loop[4 4] t1[4 4] -> o2[4 4]:bfloat16: Cast(0)=0
arena 64 bytes
`},
		{"copies and concatenations in 16 bits, then rounded", func(r *Recorder) {
			a, b := toFloat32(r, input(r, BFloat16, 2, 3)), toFloat32(r, input(r, BFloat16, 6))
			moved := r.Reshape(r.swapLast(a), []int{6})
			toBFloat16(r, r.Record(Concat{}, moved, b)).Hold()
		}, `0 Reshape x0[3 2]/[1 3]:bfloat16 -> t2[6]:bfloat16
1 Concat t2[6]:bfloat16 x1[6]:bfloat16 -> o3[12]:bfloat16
arena 64 bytes
`},
		{"a concatenation of 16 and 32 bits", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 6))
			toBFloat16(r, r.Record(Concat{}, a, input(r, Float32, 6))).Hold()
		}, `0 loop[6] x0[6]:bfloat16 -> t2[6]: Cast(0)=0
1 Concat t2[6] x1[6] -> t3[12]
2 loop[12] t3[12] -> o4[12]:bfloat16: Cast(0)=0
arena 128 bytes
`},
		{"a copy that outlives the list", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 2, 3))
			r.Reshape(r.swapLast(a), []int{6}).Hold()
		}, `0 loop[2 3] x0[2 3]:bfloat16 -> t1[2 3]: Cast(0)=0
1 Reshape t1[3 2]/[1 3] -> o2[6]
arena 64 bytes
`},
		{"a view of a copy outlives the list", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 2, 3))
			r.Reshape(r.Reshape(r.swapLast(a), []int{6}), []int{3, 2}).Hold()
		}, `0 loop[2 3] x0[2 3]:bfloat16 -> t1[2 3]: Cast(0)=0
1 Reshape t1[3 2]/[1 3] -> o2[6]
arena 64 bytes
`},
		{"a copy that an op without 16 bits reads", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 2, 3))
			r.Record(CumSum{}, r.Reshape(r.swapLast(a), []int{6})).Hold()
		}, `0 Reshape x0[3 2]/[1 3]:bfloat16 -> t1[6]:bfloat16
1 loop[6] t1[6]:bfloat16 -> t2[6]: Cast(0)=0
2 CumSum t2[6] -> o3[6]
arena 128 bytes
`},
		{"a rounding of what was rounded", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 2, 3))
			toBFloat16(r, r.swapLast(a)).Hold()
			toFloat16(r, r.swapLast(a)).Hold()
		}, `0 loop[3 2] x0[3 2]/[1 3]:bfloat16 -> o1[3 2]:float16: Cast(0)=0
arena 0 bytes
`},
		{"what was widened outlives the list", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 2, 3)).Hold()
			r.Record(Tanh{}, a).Hold()
		}, `0 loop[2 3] x0[2 3]:bfloat16 -> o1[2 3] o2[2 3]: Cast(0)=0 Tanh(1)=1
arena 0 bytes
`},
		{"a rounded multiplication is concatenated with 32 bits", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 4, 4))
			toBFloat16(r, r.Record(Concat{}, r.Record(MatMul{}, a, a), input(r, Float32, 4, 4))).Hold()
		}, `0 MatMul x0[4 4]:bfloat16 x0[4 4]:bfloat16 -> t2[4 4]:bfloat16
1 loop[4 4] t2[4 4]:bfloat16 -> t3[4 4]: Cast(0)=0
2 Concat t3[4 4] x1[4 4] -> t4[8 4]
3 loop[8 4] t4[8 4] -> o5[8 4]:bfloat16: Cast(0)=0
arena 192 bytes
`},
		{"the same part of a result is rounded once, other parts and types apart", func(r *Recorder) {
			x := r.Record(Softmax{}, input(r, Float32, 8))
			for _, from := range []int{0, 0, 4} {
				part := r.Reshape(r.Record(Slice{Axis: 0, From: from, To: from + 4}, x), []int{2, 2})
				y := toFloat32(r, toBFloat16(r, part))
				r.Record(MatMul{}, y, y).Hold()
			}
			y := toFloat32(r, toFloat16(r, r.part(x, 0, []int{2, 2})))
			r.Record(MatMul{}, y, r.swapLast(y)).Hold()
		}, `0 Softmax x0[8] -> t1[8]
1 loop[2 2] t1[2 2] -> t2[2 2]:bfloat16: Cast(0)=0
2 MatMul t2[2 2]:bfloat16 t2[2 2]:bfloat16 -> o3[2 2]
3 MatMul t2[2 2]:bfloat16 t2[2 2]:bfloat16 -> o4[2 2]
4 loop[2 2] t1[2 2]+4 -> t5[2 2]:bfloat16: Cast(0)=0
5 MatMul t5[2 2]:bfloat16 t5[2 2]:bfloat16 -> o6[2 2]
6 loop[2 2] t1[2 2] -> t7[2 2]:float16: Cast(0)=0
7 MatMul t7[2 2]:float16 t7[2 2]/[1 2]:float16 -> o8[2 2]
arena 128 bytes
`},
		{"a parameter is rounded once", func(r *Recorder) {
			x, w := toFloat32(r, input(r, BFloat16, 4, 4)), input(r, Float32, 4, 4)
			y := toFloat32(r, toBFloat16(r, r.Record(MatMul{}, x, toFloat32(r, toBFloat16(r, w)))))
			r.Record(MatMul{}, y, toFloat32(r, toBFloat16(r, w))).Hold()
			toFloat16(r, w).Hold()
		}, `0 loop[4 4] x1[4 4] -> t2[4 4]:bfloat16: Cast(0)=0
1 MatMul x0[4 4]:bfloat16 t2[4 4]:bfloat16 -> t3[4 4]:bfloat16
2 MatMul t3[4 4]:bfloat16 t2[4 4]:bfloat16 -> o4[4 4]
3 loop[4 4] x1[4 4] -> o5[4 4]:float16: Cast(0)=0
arena 128 bytes
`},
		{"a transposed parameter is rounded as it lies, once", func(r *Recorder) {
			x, w := toFloat32(r, input(r, BFloat16, 4, 2)), r.swapLast(input(r, Float32, 3, 2))
			y := toFloat32(r, toBFloat16(r, r.Record(MatMul{}, x, toFloat32(r, toBFloat16(r, w)))))
			r.Record(MatMul{}, y, r.swapLast(toFloat32(r, toBFloat16(r, w)))).Hold()
			toFloat16(r, w).Hold()
		}, `0 loop[3 2] x1[3 2] -> t2[3 2]:bfloat16: Cast(0)=0
1 MatMul x0[4 2]:bfloat16 t2[2 3]/[1 2]:bfloat16 -> t3[4 3]:bfloat16
2 MatMul t3[4 3]:bfloat16 t2[3 2]:bfloat16 -> o4[4 2]
3 loop[3 2] x1[3 2] -> o5[3 2]:float16: Cast(0)=0
arena 128 bytes
`},
		{"a transposed 16-bit result is widened as it lies", func(r *Recorder) {
			y := toBFloat16(r, r.Record(MatMul{}, toFloat32(r, input(r, BFloat16, 3, 4)), toFloat32(r, input(r, BFloat16, 4, 2))))
			r.swapLast(toFloat32(r, r.swapLast(y))).Hold()
		}, `0 MatMul x0[3 4]:bfloat16 x1[4 2]:bfloat16 -> t2[3 2]:bfloat16
1 loop[3 2] t2[3 2]:bfloat16 -> o3[3 2]: Cast(0)=0
arena 64 bytes
`},
		{"a part of columns is rounded in order", func(r *Recorder) {
			toBFloat16(r, r.Record(Slice{Axis: 0, From: 1, To: 3}, r.swapLast(input(r, Float32, 3, 4)))).Hold()
			toBFloat16(r, r.Record(Expand{Shape: []int{2, 3}}, input(r, Float32, 3))).Hold()
		}, `0 loop[2 3] x0[2 3]/[1 4]+1 -> o2[2 3]:bfloat16: Cast(0)=0
1 loop[2 3] x1[2 3]/[0 1] -> o3[2 3]:bfloat16: Cast(0)=0
arena 0 bytes
`},
		{"an op after a rounding of what was rounded is in the same kernel", func(r *Recorder) {
			y := toFloat32(r, toBFloat16(r, r.Record(Tanh{}, input(r, Float32, 4))))
			toBFloat16(r, r.Record(Exp{}, toFloat32(r, toBFloat16(r, y)))).Hold()
		}, `0 loop[4] x0[4] -> o1[4]:bfloat16: Tanh(0) Cast(1) Exp(2) Cast(3)=0
arena 0 bytes
`},
		{"an activation of a rounded multiplication is not part of it", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 4, 4))
			r.Record(ReLU{}, toFloat32(r, toBFloat16(r, r.Record(MatMul{}, a, a)))).Hold()
		}, `0 MatMul x0[4 4]:bfloat16 x0[4 4]:bfloat16 -> t1[4 4]:bfloat16
1 loop[4 4] t1[4 4]:bfloat16 -> o2[4 4]: ReLU(0)=0
arena 64 bytes
`},
		{"an activation of a multiplication of 16 bits", func(r *Recorder) {
			a := toFloat32(r, input(r, BFloat16, 4, 4))
			r.Record(ReLU{}, r.Record(MatMul{}, a, a)).Hold()
		}, `0 MatMul+ReLU x0[4 4]:bfloat16 x0[4 4]:bfloat16 -> o1[4 4]
arena 0 bytes
`},
		{"integers are cast by themselves", func(r *Recorder) {
			toBFloat16(r, input(r, Int32, 4)).Hold()
		}, `0 Cast x0[4]:int32 -> o1[4]:bfloat16
arena 0 bytes
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &float16Device{fp8Device{none: true}}
			r := NewRecorder(d)
			tt.record(r)
			r.Flush() // which verifies the program
			if got := d.programs[0].String(); got != tt.want {
				t.Errorf("the program is\n%swant\n%s", got, tt.want)
			}
		})
	}
}
