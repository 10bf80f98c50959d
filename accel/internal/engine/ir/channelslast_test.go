package ir

import "testing"

// lastDevice is a float16Device with kernels for images that have the channels last.
type lastDevice struct{ float16Device }

func (*lastDevice) ChannelsLast(op Op) bool {
	_, images := op.(imageOp)
	return images
}

func (*lastDevice) Reads16Bit(op Op, input int) bool {
	images, ok := op.(imageOp)
	return ok && input < images.images()
}

func (*lastDevice) Writes16Bit(op Op) bool {
	_, ok := op.(BatchNorm)
	return ok
}

// Images of 16-bit convolutions have the channels last in memory, and so has what is computed from them.
func TestChannelsLast(t *testing.T) {
	op := Conv2D{Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1}
	round := func(r *Recorder, v *Value) *Value {
		return r.Record(Cast{To: Float32}, r.Record(Cast{To: BFloat16}, v))
	}
	conv := func(r *Recorder, x *Value) *Value {
		return round(r, r.Record(op, round(r, x), round(r, input(r, Float32, 4, x.shape[1], 1, 1))))
	}
	images := func(r *Recorder) *Value { return conv(r, input(r, Float32, 2, 3, 5, 6)) }
	norm := func(r *Recorder, x *Value) *Value {
		c := x.shape[1]
		return round(r, r.Record(BatchNorm{Training: true}, x, r.Record(BatchStatistics{}, x), input(r, Float32, c), input(r, Float32, c)))
	}
	for _, tt := range []struct {
		name   string
		record func(r *Recorder)
		want   string
	}{
		{"a block that outlives the list", func(r *Recorder) {
			x := images(r)
			r.Record(Add{}, norm(r, x), x).Hold()
		}, `0 loop[2 5 6 3] x0[2 5 6 3]/[90 6 1 30] -> t4[2 5 6 3]:bfloat16: Cast(0)=0
1 loop[4 3 1 1] x1[4 3 1 1] -> t5[4 3 1 1]:bfloat16: Cast(0)=0
2 Conv2D t4[2 3 5 6]/[90 1 18 3]:bfloat16 t5[4 3 1 1]:bfloat16 -> t6[2 4 5 6]/[120 1 24 4]:bfloat16
3 BatchStatistics t6[2 4 5 6]/[120 1 24 4]:bfloat16 -> t7[2 4]
4 BatchNorm t6[2 4 5 6]/[120 1 24 4]:bfloat16 t7[2 4] x2[4] x3[4] -> t8[2 4 5 6]/[120 1 24 4]:bfloat16
5 loop[2 5 6 4] t8[2 5 6 4]:bfloat16 t6[2 5 6 4]:bfloat16 -> o9[2 5 6 4]: Add(0 1)=0
arena 1088 bytes
`},
		{"a flatten of an elementwise result", func(r *Recorder) {
			r.Record(Softmax{}, r.Reshape(r.Record(Exp{}, images(r)), []int{2, 120})).Hold()
		}, `0 loop[2 5 6 3] x0[2 5 6 3]/[90 6 1 30] -> t2[2 5 6 3]:bfloat16: Cast(0)=0
1 loop[4 3 1 1] x1[4 3 1 1] -> t3[4 3 1 1]:bfloat16: Cast(0)=0
2 Conv2D t2[2 3 5 6]/[90 1 18 3]:bfloat16 t3[4 3 1 1]:bfloat16 -> t4[2 4 5 6]/[120 1 24 4]:bfloat16
3 loop[2 4 5 6] t4[2 4 5 6]/[120 1 24 4]:bfloat16 -> t5[2 4 5 6]: Exp(0)=0
4 Softmax t5[2 120] -> o6[2 120]
arena 1472 bytes
`},
		{"an op without kernels for the order", func(r *Recorder) {
			conv(r, r.Record(CumSum{Axis: 2}, images(r))).Hold()
		}, `0 loop[2 5 6 3] x0[2 5 6 3]/[90 6 1 30] -> t3[2 5 6 3]:bfloat16: Cast(0)=0
1 loop[4 3 1 1] x1[4 3 1 1] -> t4[4 3 1 1]:bfloat16: Cast(0)=0
2 Conv2D t3[2 3 5 6]/[90 1 18 3]:bfloat16 t4[4 3 1 1]:bfloat16 -> t5[2 4 5 6]/[120 1 24 4]:bfloat16
3 loop[2 4 5 6] t5[2 4 5 6]/[120 1 24 4]:bfloat16 -> t6[2 4 5 6]: Cast(0)=0
4 CumSum t6[2 4 5 6] -> t7[2 4 5 6]
5 loop[2 5 6 4] t7[2 5 6 4]/[120 6 1 30] -> t8[2 5 6 4]:bfloat16: Cast(0)=0
6 loop[4 4 1 1] x2[4 4 1 1] -> t9[4 4 1 1]:bfloat16: Cast(0)=0
7 Conv2D t8[2 4 5 6]/[120 1 24 4]:bfloat16 t9[4 4 1 1]:bfloat16 -> t10[2 4 5 6]/[120 1 24 4]:bfloat16
8 loop[2 5 6 4] t10[2 5 6 4]:bfloat16 -> o11[2 5 6 4]: Cast(0)=0
arena 1920 bytes
`},
		{"sums of channels, of pixels, and of images and pixels", func(r *Recorder) {
			x := images(r)
			r.Record(Sum{From: 1, To: 2}, x).Hold()
			pixels := r.Record(Sum{From: 2, To: 4}, x).Hold()
			r.Record(Sum{From: 0, To: 1}, pixels).Hold()
			r.Record(Sum{From: 1, To: 3}, r.Record(Sum{From: 0, To: 1}, x)).Hold()
		}, `0 loop[2 5 6 3] x0[2 5 6 3]/[90 6 1 30] -> t2[2 5 6 3]:bfloat16: Cast(0)=0
1 loop[4 3 1 1] x1[4 3 1 1] -> t3[4 3 1 1]:bfloat16: Cast(0)=0
2 Conv2D t2[2 3 5 6]/[90 1 18 3]:bfloat16 t3[4 3 1 1]:bfloat16 -> t4[2 4 5 6]/[120 1 24 4]:bfloat16
3 loop[2 5 6 4] t4[2 5 6 4]:bfloat16 -> t5[2 5 6 4]: Cast(0)=0
4 Sum t5[2 5 6 4] -> o6[2 5 6]
5 Sum t5[2 5 6 4] -> o7[2 4]
6 Sum t5[60 4] -> o8[4]
7 Sum t5[60 4] -> o9[4]
arena 1472 bytes
`},
		{"slices of channels, joined", func(r *Recorder) {
			x := images(r)
			low, high := r.Record(Slice{Axis: 1, From: 0, To: 2}, x), r.Record(Slice{Axis: 1, From: 2, To: 4}, x)
			conv(r, r.Record(Concat{Axis: 1}, high, low)).Hold()
		}, `0 loop[2 5 6 3] x0[2 5 6 3]/[90 6 1 30] -> t3[2 5 6 3]:bfloat16: Cast(0)=0
1 loop[4 3 1 1] x1[4 3 1 1] -> t4[4 3 1 1]:bfloat16: Cast(0)=0
2 Conv2D t3[2 3 5 6]/[90 1 18 3]:bfloat16 t4[4 3 1 1]:bfloat16 -> t5[2 4 5 6]/[120 1 24 4]:bfloat16
3 Copy t5[2 5 6 2]/[120 24 4 1]+2:bfloat16 -> t6[2 5 6 2]:bfloat16
4 Copy t5[2 5 6 2]/[120 24 4 1]:bfloat16 -> t7[2 5 6 2]:bfloat16
5 Concat t6[2 5 6 2]:bfloat16 t7[2 5 6 2]:bfloat16 -> t8[2 5 6 4]:bfloat16
6 loop[4 4 1 1] x2[4 4 1 1] -> t9[4 4 1 1]:bfloat16: Cast(0)=0
7 Conv2D t8[2 4 5 6]/[120 1 24 4]:bfloat16 t9[4 4 1 1]:bfloat16 -> t10[2 4 5 6]/[120 1 24 4]:bfloat16
8 loop[2 5 6 4] t10[2 5 6 4]:bfloat16 -> o11[2 5 6 4]: Cast(0)=0
arena 1088 bytes
`},
		{"an update of a weight", func(r *Recorder) {
			w, factor := input(r, Float32, 4, 3, 2, 2), input(r, Float32)
			x := round(r, input(r, Float32, 2, 3, 5, 6))
			y := round(r, r.Record(op, x, round(r, w)))
			dw := round(r, r.Record(Conv2DWeightGradient{Conv2D: op, KH: 2, KW: 2}, x, y))
			r.Record(Sub{}, r.Record(Mul{}, w, factor), dw).Hold()
		}, `0 loop[2 5 6 3] x0[2 5 6 3]/[90 6 1 30] -> t3[2 5 6 3]:bfloat16: Cast(0)=0
1 loop[4 2 2 3] x1[4 2 2 3]/[12 2 1 4] -> t4[4 2 2 3]:bfloat16: Cast(0)=0
2 Conv2D t3[2 3 5 6]/[90 1 18 3]:bfloat16 t4[4 3 2 2]/[12 1 6 3]:bfloat16 -> t5[2 4 4 5]/[80 1 20 4]:bfloat16
3 Conv2DWeightGradient t3[2 3 5 6]/[90 1 18 3]:bfloat16 t5[2 4 4 5]/[80 1 20 4]:bfloat16 -> t6[4 3 2 2]/[12 1 6 3]:bfloat16
4 loop[4 2 2 3] x1[4 2 2 3]/[12 2 1 4] x2[4 2 2 3]/[0 0 0 0] t6[4 2 2 3]:bfloat16 -> o7[4 2 2 3]: Mul(0 1) Sub(3 2)=0
arena 832 bytes
`},
		{"a convolution of float32", func(r *Recorder) {
			r.Record(op, images(r), input(r, Float32, 4, 4, 1, 1)).Hold()
		}, `0 loop[2 5 6 3] x0[2 5 6 3]/[90 6 1 30] -> t3[2 5 6 3]:bfloat16: Cast(0)=0
1 loop[4 3 1 1] x1[4 3 1 1] -> t4[4 3 1 1]:bfloat16: Cast(0)=0
2 Conv2D t3[2 3 5 6]/[90 1 18 3]:bfloat16 t4[4 3 1 1]:bfloat16 -> t5[2 4 5 6]/[120 1 24 4]:bfloat16
3 loop[2 4 5 6] t5[2 4 5 6]/[120 1 24 4]:bfloat16 -> t6[2 4 5 6]: Cast(0)=0
4 Conv2D t6[2 4 5 6] x2[4 4 1 1] -> o7[2 4 5 6]
arena 1472 bytes
`},
		{"one channel, one pixel", func(r *Recorder) {
			x := round(r, input(r, Float32, 2, 1, 5, 6))
			y := round(r, r.Record(op, x, round(r, input(r, Float32, 4, 1, 5, 6))))
			r.Record(Softmax{}, r.Reshape(y, []int{2, 4})).Hold()
		}, `0 loop[2 1 5 6] x0[2 1 5 6] -> t2[2 1 5 6]:bfloat16: Cast(0)=0
1 loop[4 1 5 6] x1[4 1 5 6] -> t3[4 1 5 6]:bfloat16: Cast(0)=0
2 Conv2D t2[2 1 5 6]:bfloat16 t3[4 1 5 6]:bfloat16 -> t4[2 4 1 1]:bfloat16
3 loop[2 4 1 1] t4[2 4 1 1]:bfloat16 -> t5[2 4 1 1]: Cast(0)=0
4 Softmax t5[2 4] -> o6[2 4]
arena 448 bytes
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &lastDevice{float16Device{fp8Device{none: true}}}
			r := NewRecorder(d)
			tt.record(r)
			r.Flush() // which verifies the program
			if got := d.programs[0].String(); got != tt.want {
				t.Errorf("the program is\n%swant\n%s", got, tt.want)
			}
		})
	}
}
