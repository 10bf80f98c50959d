package tensor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Ops that are proved elsewhere, with the test that does it.
var (
	provedElsewhere = map[string]string{
		"Alias":      "TestNoGradAndDetach",
		"Bernoulli":  "TestDropout", // random numbers; those of torch are others
		"ByteLinear": "TestByteLinear in accel/internal/cpu",
		"Recompute":  "TestRecompute",
		"Fill":       "all that have a constant, with Ones and Zeros",
		"Finite":     "TestRequireFinite",
		"Index":      "TestIndicesOfAnyType",
		"Quantized":  "TestQuantizedNetworks in accel/internal/cpu",
		"Round8":     "TestAutocastFP8, and PyTorch's roundings in accel/internal/tensortype",
	}
	// without a case of torch's, since what they compute is told by another one
	withoutGolden = map[string]string{
		"Copy": "moves elements, and is compared bit for bit in TestOpsAgainstFloat64",
	}
	// with a gradient that is 0 or copies, so that no central difference is needed
	withoutSlopes = map[string]string{
		"Cast": "TestAutocastGradients, and in float64 the round trip of TestAgainstTorch",
		"Copy": "Clone in TestGradients is its only user",
	}
)

// TestEveryOpIsProved fails when an op of the table has no reference in float64,
// no gradient that is compared with central differences, or no case of PyTorch's.
func TestEveryOpIsProved(t *testing.T) {
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
			reference[name] = true // by way of the gradient
		}
	}
	for _, c := range readGolden(t).Cases {
		var in []*Tensor
		for _, x := range c.Inputs {
			a := x.array()
			in = append(in, Parameter(New(a.floats(), a.shape...)))
		}
		forward, backward := opsOf(func() *Tensor { return goldenFunctions[c.Name](in) }, len(c.Gradients) > 0 && c.Name != "floor")
		for _, name := range slices.Concat(forward, backward) {
			golden[name] = true
		}
	}
	for _, op := range ir.Table() {
		name := op.Name()
		if provedElsewhere[name] != "" {
			continue
		}
		if !reference[name] {
			t.Errorf("%s has no reference in float64", name)
		}
		if !golden[name] && withoutGolden[name] == "" {
			t.Errorf("%s has no case of PyTorch's", name)
		}
		if ir.Differentiable(op) && !slope[name] && withoutSlopes[name] == "" {
			t.Errorf("the gradient of %s is not compared with central differences", name)
		}
	}
}

// opsOf returns the names of the ops that f records, and of those that the gradient
// of its result records.
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

// TestIndicesOfAnyType picks rows by every type of index, and wants an error where
// an index is out of range, also when it would be in range in 32 bits.
func TestIndicesOfAnyType(t *testing.T) {
	x := New([]float32{10, 11, 12}, 3)
	for _, d := range []DType{Int32, Int64, Uint8} {
		for _, known := range []bool{true, false} {
			index := func(v ...float32) *Tensor {
				i := New(v, len(v)).Cast(d)
				if known {
					i.Ints()
				}
				return i
			}
			if got := x.IndexSelect(index(2, 0, 2)).Data(); !slices.Equal(got, []float32{12, 10, 12}) {
				t.Errorf("%v: rows %v", d, got)
			}
			if got := x.IndexAdd(index(1, 1, 0), 2).Data(); !slices.Equal(got, []float32{12, 21}) {
				t.Errorf("%v: sums %v", d, got)
			}
			if got := index(1, 0).OneHot(2).Data(); !slices.Equal(got, []float32{0, 1, 1, 0}) {
				t.Errorf("%v: one-hot %v", d, got)
			}
			outside := []float32{3}
			if d == Int64 {
				outside = append(outside, -1, 1<<32, 1<<32+1, -1<<32, 1<<62)
			}
			for _, v := range outside {
				for name, f := range map[string]func(){
					"IndexSelect":  func() { x.IndexSelect(index(v)).Data() },
					"OneHot":       func() { index(v).OneHot(3).Data() },
					"IndexAdd":     func() { Ones(1).IndexAdd(index(v), 3).Data() },
					"CrossEntropy": func() { CrossEntropy(Zeros(1, 3), index(v)).Data() },
					"Embedding":    func() { Embedding(Zeros(3, 2), index(v)).Data() },
				} {
					err := catch(f)
					bad, ok := err.(*IndexError)
					if !ok || bad.Index != int(v) || bad.Size != 3 || (bad.Op != name && name != "Embedding") {
						t.Errorf("%s of %v as %v, known %v: %v", name, v, d, known, err)
					}
				}
			}
		}
	}
}
