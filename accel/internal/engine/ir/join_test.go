package ir

import "testing"

func TestSumsOfPartsAreJoined(t *testing.T) {
	single := func(r *Recorder, shape ...int) *Value { return input(r, Float32, shape...) }
	pad := func(r *Recorder, axis, before, size int, v *Value) *Value {
		return r.Record(Pad{Axis: axis, Before: before, Size: size}, v)
	}
	slice := func(r *Recorder, axis, from, to int, v *Value) *Value {
		return r.Record(Slice{Axis: axis, From: from, To: to}, v)
	}
	exp := func(r *Recorder, v *Value) { r.Record(Exp{}, v).Hold() } // reads it in its layout
	for _, tt := range []struct {
		name   string
		record func(r *Recorder)
		want   string
	}{
		{"two that fill the whole, in either order", func(r *Recorder) {
			exp(r, r.join(pad(r, 1, 0, 5, single(r, 4, 2)), pad(r, 1, 2, 5, single(r, 4, 3))))
			exp(r, r.join(pad(r, 0, 2, 5, single(r, 3)), pad(r, 0, 0, 5, single(r, 2))))
		}, `0 Concat x0[4 2] x1[4 3] -> t4[4 5]
1 loop[4 5] t4[4 5] -> o5[4 5]: Exp(0)=0
2 Concat x3[2] x2[3] -> t6[5]
3 loop[5] t6[5] -> o7[5]: Exp(0)=0
arena 128 bytes
`},
		{"three, of which two are in the middle", func(r *Recorder) {
			a, b, c := pad(r, 0, 2, 6, single(r, 2)), pad(r, 0, 4, 6, single(r, 2)), pad(r, 0, 0, 6, single(r, 2))
			exp(r, r.join(r.join(a, b), c))
		}, `0 Concat x2[2] x0[2] x1[2] -> t3[6]
1 loop[6] t3[6] -> o4[6]: Exp(0)=0
arena 64 bytes
`},
		{"two that do not fill the whole", func(r *Recorder) {
			exp(r, r.join(pad(r, 0, 1, 6, single(r, 2)), pad(r, 0, 3, 6, single(r, 2))))
		}, `0 Concat x0[2] x1[2] -> t2[4]
1 Pad t2[4] -> t3[6]
2 loop[6] t3[6] -> o4[6]: Exp(0)=0
arena 128 bytes
`},
		{"not with a gap, an overlap, another axis, or another op", func(r *Recorder) {
			exp(r, r.join(pad(r, 0, 0, 6, single(r, 2)), pad(r, 0, 3, 6, single(r, 2))))
			exp(r, r.join(pad(r, 0, 0, 6, single(r, 3)), pad(r, 0, 2, 6, single(r, 3))))
			exp(r, r.join(pad(r, 0, 0, 4, single(r, 2, 4)), pad(r, 1, 2, 4, single(r, 4, 2))))
			exp(r, r.join(pad(r, 0, 0, 6, single(r, 2)), single(r, 6)))
		}, `0 Pad x0[2] -> t8[6]
1 Pad x1[2] -> t9[6]
2 loop[6] t8[6] t9[6] -> o10[6]: Add(0 1) Exp(2)=0
3 Pad x2[3] -> t11[6]
4 Pad x3[3] -> t12[6]
5 loop[6] t11[6] t12[6] -> o13[6]: Add(0 1) Exp(2)=0
6 Pad x4[2 4] -> t14[4 4]
7 Pad x5[4 2] -> t15[4 4]
8 loop[4 4] t14[4 4] t15[4 4] -> o16[4 4]: Add(0 1) Exp(2)=0
9 Pad x6[2] -> t17[6]
10 loop[6] t17[6] x7[6] -> o18[6]: Add(0 1) Exp(2)=0
arena 128 bytes
`},
		{"parts of one value", func(r *Recorder) {
			x := single(r, 4, 6)
			exp(r, r.join(pad(r, 1, 0, 6, slice(r, 1, 0, 2, x)), pad(r, 1, 2, 6, slice(r, 1, 2, 6, x)))) // all
			y := single(r, 8)
			exp(r, r.join(pad(r, 0, 0, 5, slice(r, 0, 2, 4, y)), pad(r, 0, 2, 5, slice(r, 0, 4, 7, y)))) // a range
			z := single(r, 3)
			exp(r, r.join(pad(r, 0, 0, 2, slice(r, 0, 0, 1, z)), pad(r, 0, 1, 2, slice(r, 0, 1, 2, z)))) // of one element each
		}, `0 loop[4 6] x0[4 6] -> o3[4 6]: Exp(0)=0
1 loop[5] x1[5]+2 -> o4[5]: Exp(0)=0
2 loop[2] x2[2] -> o5[2]: Exp(0)=0
arena 0 bytes
`},
		{"parts of a permuted value", func(r *Recorder) {
			x := r.Record(Permute{Perm: []int{1, 0, 2}}, single(r, 3, 2, 4)) // [2 3 4]
			exp(r, r.join(pad(r, 1, 0, 3, slice(r, 1, 0, 1, x)), pad(r, 1, 1, 3, slice(r, 1, 1, 3, x))))
		}, `0 loop[2 3 4] x0[2 3 4]/[4 8 1] -> o1[2 3 4]: Exp(0)=0
arena 0 bytes
`},
		{"copies of parts in another order, with a gap, or that are no range", func(r *Recorder) {
			x := single(r, 8)
			exp(r, r.join(pad(r, 0, 0, 4, slice(r, 0, 2, 4, x)), pad(r, 0, 2, 4, slice(r, 0, 0, 2, x))))
			exp(r, r.join(pad(r, 0, 0, 4, slice(r, 0, 0, 2, x)), pad(r, 0, 2, 4, slice(r, 0, 3, 5, x))))
			y := single(r, 4, 6)
			exp(r, r.join(pad(r, 1, 0, 4, slice(r, 1, 0, 2, y)), pad(r, 1, 2, 4, slice(r, 1, 2, 4, y))))
		}, `0 Concat x0[2]+2 x0[2] -> t2[4]
1 loop[4] t2[4] -> o3[4]: Exp(0)=0
2 Concat x0[2] x0[2]+3 -> t4[4]
3 loop[4] t4[4] -> o5[4]: Exp(0)=0
4 Copy x1[4 2]/[6 1] -> t6[4 2]
5 Copy x1[4 2]/[6 1]+2 -> t7[4 2]
6 Concat t6[4 2] t7[4 2] -> t8[4 4]
7 loop[4 4] t8[4 4] -> o9[4 4]: Exp(0)=0
arena 192 bytes
`},
		{"casts become one", func(r *Recorder) {
			x := input(r, BFloat16, 6)
			half := func(from int) *Value { return r.Record(Cast{To: Float32}, slice(r, 0, from, from+3, x)) }
			exp(r, r.join(pad(r, 0, 0, 6, half(0)), pad(r, 0, 3, 6, half(3))))
		}, `0 loop[6] x0[6]:bfloat16 -> o1[6]: Exp(0)=0
arena 0 bytes
`},
		{"zeros around zeros, and around what was cast", func(r *Recorder) {
			long := func(d DType) *Value { return r.pad(Pad{Axis: 0, Before: 1, Size: 5}, input(r, d, 2)) }
			exp(r, r.pad(Pad{Axis: 0, Before: 2, Size: 9}, long(Float32)))
			exp(r, r.pad(Pad{Axis: 0, Before: 3, Size: 9}, r.Record(Cast{To: Float32}, long(BFloat16))))
			wide := r.pad(Pad{Axis: 1, Before: 1, Size: 4}, single(r, 2, 2))
			exp(r, r.pad(Pad{Axis: 0, Before: 1, Size: 3}, wide)) // another axis
		}, `0 Pad x0[2] -> t3[9]
1 loop[9] t3[9] -> o4[9]: Exp(0)=0
2 Pad x1[2]:bfloat16 -> t5[9]:bfloat16
3 loop[9] t5[9]:bfloat16 -> o6[9]: Exp(0)=0
4 Pad x2[2 2] -> t7[2 4]
5 Pad t7[2 4] -> t8[3 4]
6 loop[3 4] t8[3 4] -> o9[3 4]: Exp(0)=0
arena 128 bytes
`},
		{"not casts of other types", func(r *Recorder) {
			x := single(r, 6)
			a := r.Record(Cast{To: Float32}, r.Record(Cast{To: BFloat16}, slice(r, 0, 0, 3, x)))
			b := r.Record(Cast{To: Float32}, r.Record(Cast{To: Float16}, slice(r, 0, 3, 6, x)))
			exp(r, r.join(pad(r, 0, 0, 6, a), pad(r, 0, 3, 6, b)))
		}, `0 loop[3] x0[3] -> t1[3]: Cast(0) Cast(1)=0
1 loop[3] x0[3]+3 -> t2[3]: Cast(0) Cast(1)=0
2 Concat t1[3] t2[3] -> t3[6]
3 loop[6] t3[6] -> o4[6]: Exp(0)=0
arena 192 bytes
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
