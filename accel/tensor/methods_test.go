package tensor

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// method is a method of *Tensor with tensors as parameters and one tensor as result, so that tests
// can call it without a row.
type method struct {
	arity int // with the receiver
	call  func(in []*Tensor) *Tensor
}

// methods are these methods by name.
var methods = func() map[string]method {
	all, of := map[string]method{}, reflect.TypeFor[*Tensor]()
	for i := range of.NumMethod() {
		m := of.Method(i)
		f := m.Func
		fits := !f.Type().IsVariadic() && f.Type().NumOut() == 1 && f.Type().Out(0) == of
		for k := range f.Type().NumIn() {
			fits = fits && f.Type().In(k) == of
		}
		if !fits {
			continue
		}
		all[m.Name] = method{f.Type().NumIn(), func(in []*Tensor) *Tensor {
			args := make([]reflect.Value, len(in))
			for k, x := range in {
				args[k] = reflect.ValueOf(x)
			}
			return f.Call(args)[0].Interface().(*Tensor)
		}}
	}
	return all
}()

// methodNamed returns the method with the name of PyTorch's function.
func methodNamed(torch string) func(in []*Tensor) *Tensor {
	for name, m := range methods {
		if strings.EqualFold(name, torch) {
			return m.call
		}
	}
	return nil
}

// Ops that are tested elsewhere, by the test named here.
var (
	testedElsewhere = map[string]string{
		"Alias":      "TestNoGradAndDetach",
		"Bernoulli":  "TestDropout", // torch draws other random numbers
		"Exchange":   "TestExchange",
		"Int8Linear": "TestInt8Linear in accel/internal/cpu",
		"Recompute":  "TestRecompute",
		"Unfold":     "TestCompositions: compositions record it",
		"Fill":       "every test with a constant, such as Ones or Zeros",
		"Finite":     "TestRequireFinite",
		"Index":      "TestIndicesOfAnyType",
		"Quantized":  "TestQuantizedNetworks in accel/internal/cpu",
		"Rounded":    "TestRoundedParameters",
		"Round8":     "TestAutocastFP8, and PyTorch's roundings in accel/internal/engine/tensortype",
	}
	// ops without a case of PyTorch's because another test covers them
	withoutGolden = map[string]string{
		"Copy":              "moves elements, and is compared bit for bit in TestOpsAgainstFloat64",
		"GELUTanh":          "TestMoreModulesEqualPyTorch in accel/nn",
		"GELUTanhGradient":  "TestMoreModulesEqualPyTorch in accel/nn",
		"Recurrent":         "TestRecurrentLayersEqualPyTorch in accel/nn",
		"RecurrentGradient": "TestRecurrentLayersEqualPyTorch in accel/nn",
	}
	// ops whose gradient is 0 or a copy, so that central differences add nothing
	withoutNumericalGradient = map[string]string{
		"Cast": "TestAutocastGradients, and in float64 the round trip of TestAgainstTorch",
		"Copy": "Clone in TestGradients is its only user",
	}
)

// TestEveryOpIsTested fails if an op of the table has no float64 reference, no gradient that is
// compared with central differences, or no case of PyTorch's.
func TestEveryOpIsTested(t *testing.T) {
	reference, slope, golden := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, row := range opRows {
		r := rand.New(rand.NewPCG(1, 2))
		var in []*Tensor
		for _, shape := range row.shapes(2, 3, 4) {
			a := randomArray(r, row.low, row.high, shape...)
			in = append(in, Parameter(New(a.floats(), a.shape...)))
		}
		forward, backward := opsOf(func() *Tensor { return row.f(in) }, !row.noGrad)
		for _, name := range forward {
			reference[name] = true
			slope[name] = slope[name] || !row.noGrad
		}
		for _, name := range backward {
			reference[name] = true // through the gradient
		}
	}
	for _, c := range readGolden(t).Cases {
		var in []*Tensor
		for _, x := range c.Inputs {
			a := x.array()
			in = append(in, Parameter(New(a.floats(), a.shape...)))
		}
		forward, backward := opsOf(func() *Tensor { return goldenFunction(c.Name)(in) }, len(c.Gradients) > 0)
		for _, name := range slices.Concat(forward, backward) {
			golden[name] = true
		}
	}
	for _, op := range ir.Table() {
		name := op.Name()
		if testedElsewhere[name] != "" {
			continue
		}
		if !reference[name] {
			t.Errorf("%s has no reference in float64", name)
		}
		if !golden[name] && withoutGolden[name] == "" {
			t.Errorf("%s has no case of PyTorch's", name)
		}
		if ir.Differentiable(op) && !slope[name] && withoutNumericalGradient[name] == "" {
			t.Errorf("the gradient of %s is not compared with central differences", name)
		}
	}
}

// opsOf returns the names of the ops that f records and of those that Backward of its result
// records.
func opsOf(f func() *Tensor, gradient bool) (forward, backward []string) {
	Flush()
	recorded := func() (names []string) {
		locked(func(r *ir.Recorder) { names = r.Recorded() })
		return names
	}
	y := f()
	forward = recorded()
	if gradient {
		y = y.Sum()
		n := len(recorded())
		y.Backward()
		backward = recorded()[n:]
	}
	Flush()
	return forward, backward
}
