package ir

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// wordDevice computes nothing, has no kernel for RMSNorm, and keeps the dynamic words of the last run.
type wordDevice struct {
	nullDevice
	words []uint64
}

func (d *wordDevice) HasKernel(op Op, _ DType) bool { return op.Name() != RMSNorm{}.Name() }

func (d *wordDevice) Compile(p *Program) (Executable, error) {
	d.programs = append(d.programs, p)
	return wordProgram{d}, nil
}

type wordProgram struct{ d *wordDevice }

func (e wordProgram) Run(_ []Storage, words []uint64) (int, error) {
	e.d.words = slices.Clone(words)
	return len(e.d.programs[len(e.d.programs)-1].Steps), nil
}

var weighted = &Composing{Name: "Weighted", Scalars: 2, Record: func(r *Recorder, in []*Value, s []float64) *Value {
	x := r.MulScalar(r.Record(Exp{}, in[0]), s[0])
	return r.Record(AddScalar{Scalar: s[1]}, r.Record(Mul{}, x, in[1]))
}}

// scalars describes the ops of the newest program with the scalars that they got in its last run.
func (d *wordDevice) scalars() string {
	var b strings.Builder
	p := d.programs[len(d.programs)-1]
	for _, s := range p.Steps {
		for _, x := range s.Loop {
			fmt.Fprint(&b, x)
			if _, ok := x.Op.(Dynamic); ok {
				fmt.Fprintf(&b, " %g", math.Float64frombits(d.words[x.Word]))
			}
			b.WriteByte('\n')
		}
	}
	return p.String() + b.String()
}

// TestComposite records a Composite, and the ops of its composition instead, between other ops with scalars, one of which the device
// computes by a composition that has some, too. The programs must be the same, and each op must get its own scalar in every run of a plan.
func TestComposite(t *testing.T) {
	record := func(r *Recorder, x, y *Value, whole bool, s float64) *Value {
		a := r.Record(RMSNorm{Epsilon: 0.5}, r.MulScalar(x, s), y)
		if whole {
			a = r.Record(Composite{Of: weighted, Scalars: Scalars{s + 1, s + 2}}, a, y)
		} else {
			a = weighted.Record(r, []*Value{a, y}, []float64{s + 1, s + 2})
		}
		return r.Record(AddScalar{Scalar: s + 3}, r.Record(RMSNorm{Epsilon: 0.25}, a, y)).Hold()
	}
	var got [2]string
	for i, whole := range []bool{true, false} {
		d := &wordDevice{}
		r := NewRecorder(d)
		x, y := input(r, Float32, 4, 8), input(r, Float32, 8)
		for _, s := range []float64{10, 20} {
			z := record(r, x, y, whole, s)
			r.Flush()
			r.Release(z)
			got[i] += d.scalars()
		}
		if len(d.programs) != 1 {
			t.Errorf("other scalars make another plan: %d plans", len(d.programs))
		}
	}
	if got[0] != got[1] {
		t.Errorf("with a Composite:\n%s\nwith its ops:\n%s", got[0], got[1])
	}
	for _, want := range []string{" 0.5\n", " 0.25\n", " 10\n", " 11\n", " 12\n", " 13\n", " 20\n", " 21\n", " 22\n", " 23\n"} {
		if !strings.Contains(got[0], want) {
			t.Errorf("no op gets the scalar%s\n%s", want, got[0])
		}
	}
}

// TestCompositeOverwrites updates a value in place with a Composite whose result another one reads.
func TestCompositeOverwrites(t *testing.T) {
	d := &wordDevice{}
	r := NewRecorder(d)
	x, y, g := input(r, Float32, 8), input(r, Float32, 8), input(r, Float32, 8)
	one := func(in ...*Value) *Value {
		return r.Record(Composite{Of: weighted, Scalars: Scalars{2, 3}}, in...).Hold()
	}
	r.Assign(&x, one(x, g), nil)
	r.Assign(&y, one(y, x), nil)
	r.Flush()
	if got, want := d.programs[0].String(), "0 loop[8] x0[8] x1[8] x2[8] -> o3[8] o4[8]: Exp(0) MulScalar(3) Mul(4 1) AddScalar(5)=0 Exp(2) MulScalar(7) Mul(8 6) AddScalar(9)=1\narena 0 bytes\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if d.allocs != 3 {
		t.Errorf("%d allocations, want those of the three inputs", d.allocs)
	}
}

// TestInvalidComposites plans Composites that have not the scalars of their ops, or whose last op does not compute the result.
func TestInvalidComposites(t *testing.T) {
	for name, record := range map[string]func(r *Recorder, in []*Value, s []float64) *Value{
		"another scalar": func(r *Recorder, in []*Value, s []float64) *Value { return r.MulScalar(in[0], s[0]+1) },
		"no scalar":      func(r *Recorder, in []*Value, _ []float64) *Value { return r.Record(Exp{}, in[0]) },
		"an earlier op": func(r *Recorder, in []*Value, s []float64) *Value {
			y := r.MulScalar(in[0], s[0])
			r.Record(Exp{}, y)
			return y
		},
		"an input, no op": func(_ *Recorder, in []*Value, _ []float64) *Value { return in[0] },
	} {
		r := NewRecorder(&wordDevice{})
		x := input(r, Float32, 8)
		r.Record(Composite{Of: &Composing{Name: name, Scalars: 1, Record: record}, Scalars: Scalars{2}}, x).Hold()
		func() {
			defer func() {
				if p, ok := recover().(string); !ok || !strings.Contains(p, "the last op of "+name) {
					t.Errorf("%s: the panic is %v", name, p)
				}
			}()
			r.Flush()
		}()
	}
}
