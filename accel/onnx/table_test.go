package onnx

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestEveryOpHasAConverter checks that every op has one converter or a reason why there is none.
func TestEveryOpHasAConverter(t *testing.T) {
	for _, op := range ir.Table() {
		if composed(op) {
			continue
		}
		_, err := converterOf(&step{ops: []ir.Op{op}})
		if err != nil && (!errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrRandom) || strings.HasSuffix(err.Error(), ErrUnsupported.Error())) {
			t.Errorf("%s has no converter, without a reason: %v", op.Name(), err)
		}
		if converters[reflect.TypeOf(op)] != nil && ir.ONNX(op).Name != "" {
			t.Errorf("%s has two converters", op.Name())
		}
	}
}

// TestCompositionIsExported exports an op that is no operator of ONNX and has no converter. The parities of CrossEntropy
// compare the values.
func TestCompositionIsExported(t *testing.T) {
	if !composed(ir.CrossEntropy{}) {
		t.Fatal("CrossEntropy has a converter: this test needs another op")
	}
	m, err := BuildFunc(func(in []*tensor.Tensor) []*tensor.Tensor {
		return []*tensor.Tensor{tensor.CrossEntropy(in[0], in[1])}
	}, []*tensor.Tensor{tensor.Zeros(2, 3), tensor.FromInts([]int{0, 2}, 2)})
	if err != nil {
		t.Fatal(err)
	}
	var ops []string
	for _, n := range m.nodes {
		ops = append(ops, n.op)
	}
	for _, want := range []string{"LogSoftmax", "OneHot", "Where", "ReduceSum", "ReduceMean", "Neg"} {
		if !slices.Contains(ops, want) {
			t.Errorf("no %s among the nodes: %v", want, ops)
		}
	}
}

// TestNamesOfTransposedWeights checks that an op is named after the layer whose transposed weight
// it uses.
func TestNamesOfTransposedWeights(t *testing.T) {
	model := nn.Sequential(nn.Flatten(), nn.Dense(3))
	x := tensor.Zeros(2, 4)
	model.Forward(x)
	weight := nn.State(model)[0]
	m, err := BuildFunc(func(in []*tensor.Tensor) []*tensor.Tensor {
		return []*tensor.Tensor{in[0].MatMul(weight.Tensor.T())}
	}, []*tensor.Tensor{x}, Uses(model))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range m.nodes {
		if n.name != "/1/"+n.op {
			t.Errorf("%s uses %s and has the name %s", n.op, weight.Name, n.name)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		name  string
		data  []float64
		shape []int
		want  int
	}{
		{"one axis", []float64{0, 1, 2}, []int{3}, 0},
		{"rows", []float64{0, 0, 1, 1}, []int{2, 2}, 0},
		{"columns", []float64{0, 1, 0, 1}, []int{2, 2}, 1},
		{"ones", []float64{0, 1, 2}, []int{1, 3, 1}, 1},
		{"not from 0", []float64{1, 2, 3}, []int{3}, -1},
		{"another step", []float64{0, 2, 4}, []int{3}, -1},
		{"all elements", []float64{0, 1, 2, 3}, []int{2, 2}, -1},
		{"one element", []float64{0}, []int{1}, -1},
		{"nothing", nil, []int{0}, -1},
	} {
		if got := counting(tt.data, tt.shape); got != tt.want {
			t.Errorf("%s: along %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestOnesAdded(t *testing.T) {
	fixed := func(shape ...int) (all []sizes) {
		for _, n := range shape {
			all = append(all, sizes{n, n})
		}
		return all
	}
	for _, tt := range []struct {
		from, to []sizes
		want     []int
		ok       bool
	}{
		{fixed(2, 3), fixed(2, 1, 3), []int{1}, true},
		{fixed(1, 3), fixed(1, 1, 3), []int{1}, true},
		{fixed(3), fixed(1, 3, 1), []int{0, 2}, true},
		{fixed(), fixed(1, 1), []int{0, 1}, true},
		{fixed(2, 3), fixed(2, 3), nil, false},
		{fixed(2, 3), fixed(3, 1, 2), nil, false},
		{fixed(2, 3), fixed(6, 1, 1), nil, false},
		{[]sizes{{2, 3}}, []sizes{{1, 1}, {2, 3}}, []int{0}, true},
		{[]sizes{{1, 2}}, []sizes{{1, 2}, {1, 2}}, nil, false},
	} {
		axes, ok := onesAdded(tt.from, tt.to)
		if ok != tt.ok || ok && len(axes) != len(tt.want) {
			t.Errorf("%v to %v: %v, %v, want %v, %v", tt.from, tt.to, axes, ok, tt.want, tt.ok)
		}
	}
}

// TestTooLarge exports weights of 3 GiB that share untouched memory.
func TestTooLarge(t *testing.T) {
	var m Model
	raw := make([]byte, 1<<30)
	for range 3 {
		m.weights = append(m.weights, weight{raw: raw})
	}
	if _, err := m.WriteTo(nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v", err)
	}
	if len(elements) != 8 || elements[tensor.Bool] != elementBool {
		t.Errorf("%v", elements)
	}
}
