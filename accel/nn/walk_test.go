package nn

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/tensor"
)

func parameter() *Tensor { return tensor.Parameter(tensor.Zeros(1)) }

// block is a typical user module: unexported fields, no registration.
type block struct {
	up, down Module
	scale    *Tensor
	constant *Tensor
	ctx      context.Context
	values   []float64
	deep     map[string][]*DenseLayer
	next     *block
	any      any
}

func (b *block) Forward(x *Tensor) *Tensor { return x }

// value is a module without a pointer.
type value struct{ weight *Tensor }

func (v value) Forward(x *Tensor) *Tensor { return x }

type base struct{ Weight *Tensor }

type embedded struct {
	base
	Bias *Tensor
}

func names(model any) []string {
	var all []string
	for _, p := range NamedParameters(model) {
		all = append(all, p.Name)
	}
	return all
}

func TestNamedParameters(t *testing.T) {
	dense := func() *DenseLayer { return &DenseLayer{Weight: parameter(), Bias: parameter()} }
	cyclic := &block{scale: parameter()}
	cyclic.next = cyclic
	shared := dense()
	backing := []*Tensor{parameter(), parameter()}
	tests := []struct {
		name  string
		model any
		want  []string
	}{
		{"nothing", nil, nil},
		{"a nil module", (*block)(nil), nil},
		{"a tensor", parameter(), []string{""}},
		{"no parameter", tensor.Zeros(1), nil},
		{"tensors", []*Tensor{parameter(), tensor.Zeros(1), parameter()}, []string{"0", "2"}},
		{"layer", dense(), []string{"weight", "bias"}},
		{"chain", Sequential(dense(), ReLU(), Sequential(dense())), []string{"0.weight", "0.bias", "2.0.weight", "2.0.bias"}},
		{"residual", Residual(dense()), []string{"0.weight", "0.bias"}},
		{"custom", Lambda(func(x *Tensor) *Tensor { return x }, dense()), []string{"0.weight", "0.bias"}},
		{"private fields", &block{up: dense(), scale: parameter(), constant: tensor.Zeros(1)}, []string{"up.weight", "up.bias", "scale"}},
		{"a struct, no pointer", block{up: dense()}, []string{"up.weight", "up.bias"}},
		{"a module, no pointer", Sequential(value{parameter()}), []string{"0.weight"}},
		{"embedded", &embedded{base{parameter()}, parameter()}, []string{"weight", "bias"}},
		{"maps in order", &block{deep: map[string][]*DenseLayer{"b": {dense()}, "a": {nil, dense()}}},
			[]string{"deep.a.1.weight", "deep.a.1.bias", "deep.b.0.weight", "deep.b.0.bias"}},
		{"cycle", cyclic, []string{"scale"}},
		{"shared", Sequential(shared, shared), []string{"0.weight", "0.bias"}},
		{"parts of one slice", struct{ A, B []*Tensor }{backing[:1], backing}, []string{"A.0", "B.1"}},
		{"an interface with a slice", &block{any: []Module{dense()}}, []string{"any.0.weight", "any.0.bias"}},
		{"an interface with another's struct", &block{any: &embedded{Bias: parameter()}}, nil},
		{"an unnamed struct", &struct{ fc, Out, Xfc Module }{dense(), dense(), dense()}, []string{"fc.weight", "fc.bias", "Out.weight", "Out.bias", "Xfc.weight", "Xfc.bias"}},
		{"a struct in a chain", Sequential(&block{up: dense()}, dense()), []string{"0.up.weight", "0.up.bias", "1.weight", "1.bias"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := names(tt.model)
			if !slices.Equal(got, tt.want) {
				t.Errorf("want %q\n got  %q", tt.want, got)
			}
			if n := len(Parameters(tt.model)); n != len(tt.want) {
				t.Errorf("Parameters finds %d", n)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	for want, m := range map[string]Module{
		"Dense(3)": Dense(3),
		"nn.block": &block{},
		"nn.value": value{},
		"nil":      nil,
	} {
		if got := describe(m); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

// TestWalkStaysInTheModel has a module with large slices and unrelated data, which walk must
// not visit.
func TestWalkStaysInTheModel(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	b := &block{ctx: ctx, values: make([]float64, 1<<22), scale: parameter()}
	if got := names(b); !slices.Equal(got, []string{"scale"}) {
		t.Errorf("got %q", got)
	}
	for typ, want := range map[reflect.Type]bool{
		reflect.TypeFor[[]float64]():          false,
		reflect.TypeFor[map[string]int]():     false,
		reflect.TypeFor[*time.Time]():         false,
		reflect.TypeFor[func() *Tensor]():     false,
		reflect.TypeFor[chan *Tensor]():       false,
		reflect.TypeFor[[2][]*Tensor]():       true,
		reflect.TypeFor[struct{ b *block }](): true,
		reflect.TypeFor[dropout]():            false,
		reflect.TypeFor[*dropout]():           true,
	} {
		if mayHold(typ) != want {
			t.Errorf("mayHold(%v) is %v", typ, !want)
		}
	}
}

func BenchmarkParameters(b *testing.B) {
	model := Sequential()
	for range 10 {
		model.Add(&DenseLayer{Weight: parameter(), Bias: parameter()}, ReLU())
	}
	b.ReportAllocs()
	for b.Loop() {
		Parameters(model)
	}
}
