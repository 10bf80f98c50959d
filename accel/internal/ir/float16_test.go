package ir

import "testing"

// float16Device multiplies 16-bit floats, has fused kernels that round to them, and computes
// nothing.
type float16Device struct{ fp8Device }

func (*float16Device) FusedKernelsRound() bool { return true }

// What autocast puts between matrix multiplications is one fused kernel, which reads and writes 16 bits.
func TestFusedRounding(t *testing.T) {
	toBFloat16 := func(r *Recorder, v *Value) *Value { return r.Record(Cast{To: BFloat16}, v) }
	toFloat32 := func(r *Recorder, v *Value) *Value { return r.Record(Cast{To: Float32}, v) }
	for _, tt := range []struct {
		name   string
		record func(r *Recorder)
		want   string
	}{
		{"an activation of 16 bits", func(r *Recorder) {
			toBFloat16(r, r.Record(Tanh{}, toFloat32(r, input(r, BFloat16, 3, 4)))).Hold()
		}, `0 loop[3 4] x0[3 4]:bfloat16 -> o1[3 4]:bfloat16: Cast(0) Tanh(1) Cast(2)=0
arena 0 bytes
`},
		{"a whole op, roundings, an activation", func(r *Recorder) {
			y := toBFloat16(r, r.Record(Softmax{}, input(r, Float32, 3, 4)))
			toBFloat16(r, r.Record(Tanh{}, toFloat32(r, y))).Hold()
		}, `0 Softmax x0[3 4] -> t1[3 4]
1 loop[3 4] t1[3 4] -> o2[3 4]:bfloat16: Cast(0) Cast(1) Tanh(2) Cast(3)=0
arena 64 bytes
`},
		{"what is rounded is read by others, too", func(r *Recorder) {
			y := toBFloat16(r, r.Record(Tanh{}, input(r, Float32, 4, 4)))
			toBFloat16(r, r.Record(MatMul{}, toFloat32(r, y), toFloat32(r, y))).Hold()
		}, `0 loop[4 4] x0[4 4] -> t1[4 4]:bfloat16: Tanh(0) Cast(1)=0
1 MatMul+Cast t1[4 4]:bfloat16 t1[4 4]:bfloat16 -> o2[4 4]:bfloat16
arena 64 bytes
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
