package ir

import "testing"

// lossDevice computes losses with their gradients, and computes nothing.
type lossDevice struct{ float16Device }

func (*lossDevice) FusesLosses() bool { return true }
func (*lossDevice) Reads16Bit(op Op, input int) bool {
	return op.Name() == "CrossEntropy" && input == 0
}
func (*lossDevice) Writes16Bit(Op) bool { return false }

func TestLossesWithGradientsAreOneStep(t *testing.T) {
	for _, tt := range []struct {
		name   string
		record func(r *Recorder)
		want   string
	}{
		{"a loss and its gradient", func(r *Recorder) {
			x, label := input(r, Float32, 4, 8), input(r, Int32, 4)
			r.Record(CrossEntropy{}, x, label).Hold()
			r.Record(CrossEntropyGradient{}, x, label, input(r, Float32)).Hold()
		}, `0 CrossEntropy+CrossEntropyGradient x0[4 8] x1[4]:int32 x2[] -> o3[4 8] o4[]
arena 0 bytes
`},
		{"the gradient is of a scaled loss", func(r *Recorder) {
			x, label := input(r, Float32, 4, 8), input(r, Int32, 4)
			r.Record(Tanh{}, r.Record(CrossEntropy{}, x, label)).Hold()
			r.Record(CrossEntropyGradient{}, x, label, r.Record(Tanh{}, input(r, Float32))).Hold()
		}, `0 loop[] x2[] -> t3[]: Tanh(0)=0
1 CrossEntropy+CrossEntropyGradient x0[4 8] x1[4]:int32 t3[] -> o4[4 8] t5[]
2 loop[] t5[] -> o6[]: Tanh(0)=0
arena 128 bytes
`},
		{"of reshaped logits", func(r *Recorder) {
			x, label := r.Record(Tanh{}, input(r, Float32, 2, 2, 8)), input(r, Int32, 4)
			r.Record(CrossEntropy{}, r.Reshape(x, []int{4, 8}), label).Hold()
			r.Record(CrossEntropyGradient{}, r.Reshape(x, []int{4, 8}), label, input(r, Float32)).Hold()
		}, `0 loop[2 2 8] x0[2 2 8] -> t3[2 2 8]: Tanh(0)=0
1 CrossEntropy+CrossEntropyGradient t3[4 8] x1[4]:int32 x2[] -> o4[4 8] o5[]
arena 128 bytes
`},
		{"not if the gradient needs the loss", func(r *Recorder) {
			x, label := input(r, Float32, 4, 8), input(r, Int32, 4)
			y := r.Record(CrossEntropy{}, x, label)
			r.Record(CrossEntropyGradient{}, x, label, y).Hold()
			r.Record(CrossEntropyGradient{}, x, label, r.Record(Tanh{}, y)).Hold()
		}, `0 CrossEntropy x0[4 8] x1[4]:int32 -> t2[]
1 CrossEntropyGradient x0[4 8] x1[4]:int32 t2[] -> o3[4 8]
2 loop[] t2[] -> t4[]: Tanh(0)=0
3 CrossEntropyGradient x0[4 8] x1[4]:int32 t4[] -> o5[4 8]
arena 128 bytes
`},
		{"nor of other labels or logits, and one gradient of two", func(r *Recorder) {
			x, label := input(r, Float32, 4, 8), input(r, Int32, 4)
			r.Record(CrossEntropy{}, x, label).Hold()
			r.Record(CrossEntropyGradient{}, x, input(r, Int32, 4), input(r, Float32)).Hold()
			r.Record(CrossEntropyGradient{}, input(r, Float32, 4, 8), label, input(r, Float32)).Hold()
			r.Record(CrossEntropyGradient{}, x, label, input(r, Float32)).Hold()
			r.Record(CrossEntropyGradient{}, x, label, input(r, Float32)).Hold()
		}, `0 CrossEntropyGradient x0[4 8] x2[4]:int32 x3[] -> o8[4 8]
1 CrossEntropyGradient x4[4 8] x1[4]:int32 x5[] -> o9[4 8]
2 CrossEntropy+CrossEntropyGradient x0[4 8] x1[4]:int32 x6[] -> o10[4 8] o11[]
3 CrossEntropyGradient x0[4 8] x1[4]:int32 x7[] -> o12[4 8]
arena 0 bytes
`},
		{"of a constant gradient, which others read, too", func(r *Recorder) {
			x, label := input(r, Float32, 4, 8), input(r, Int32, 4)
			one := r.scalar(1, Float32)
			r.Record(CrossEntropy{}, x, label).Hold()
			r.Record(CrossEntropyGradient{}, x, label, one).Hold()
			r.Record(CrossEntropyGradient{}, input(r, Float32, 4, 8), label, r.scalar(2, Float32)).Hold()
			r.Record(Tanh{}, r.Reshape(one, []int{1})).Hold()
		}, `0 loop[] -> t3[]: Fill()=0
1 CrossEntropy+CrossEntropyGradient x0[4 8] x1[4]:int32 -> o4[4 8] o5[]
2 CrossEntropyGradient x2[4 8] x1[4]:int32 -> o6[4 8]
3 loop[1] t3[1] -> o7[1]: Tanh(0)=0
arena 64 bytes
`},
		{"two losses", func(r *Recorder) {
			for range 2 {
				x, label := input(r, Float32, 4, 8), input(r, Int32, 4)
				r.Record(CrossEntropy{}, x, label).Hold()
				r.Record(CrossEntropyGradient{}, x, label, input(r, Float32)).Hold()
			}
		}, `0 CrossEntropy+CrossEntropyGradient x0[4 8] x1[4]:int32 x2[] -> o6[4 8] o7[]
1 CrossEntropy+CrossEntropyGradient x3[4 8] x4[4]:int32 x5[] -> o8[4 8] o9[]
arena 0 bytes
`},
	} {
		d := &lossDevice{}
		r := NewRecorder(d)
		tt.record(r)
		r.Flush()
		if got := d.programs[len(d.programs)-1].String(); got != tt.want {
			t.Errorf("%s:\ngot:\n%swant:\n%s", tt.name, got, tt.want)
		}
	}
}
