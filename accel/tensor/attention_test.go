package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

func attentionRef(causal bool) func(in []array) array {
	return func(in []array) array {
		q, k, v := in[0], in[1], in[2]
		d, s := q.shape[3], k.shape[2]
		return build([]int{q.shape[0], q.shape[1], q.shape[2], v.shape[3]}, func(i []int) float64 {
			n := s
			if causal {
				n = min(n, i[2]+1)
			}
			scores := make([]float64, n)
			for j := range scores {
				for c := range d {
					scores[j] += q.get(i[0], i[1], i[2], c) * k.get(i[0], i[1], j, c) / math.Sqrt(float64(d))
				}
			}
			y := 0.0
			for j, p := range softmaxLine(scores) {
				y += p * v.get(i[0], i[1], j, i[3])
			}
			return y
		})
	}
}

func attentionRows() []opRow {
	row := func(name string, causal bool, shapes func(m, n, k int) [][]int) opRow {
		return opRow{name: "Attention" + name, low: -2, high: 2, shapes: shapes, ref: attentionRef(causal),
			f: func(in []*Tensor) *Tensor { return Attention(in[0], in[1], in[2], causal) }}
	}
	same := func(m, n, k int) [][]int { return [][]int{{2, k % 4, m, n}, {2, k % 4, m, n}, {2, k % 4, m, n}} }
	cross := func(m, n, k int) [][]int { return [][]int{{1, 2, m, n}, {1, 2, k + 1, n}, {1, 2, k + 1, 3}} }
	return []opRow{row("", false, same), row(" causal", true, same), row(" to others", false, cross), row(" causal to others", true, cross)}
}

// TestLongAttention uses several blocks of queries and keys, with large scores, on each instruction
// set, and compares with the same attention made of other ops.
func TestLongAttention(t *testing.T) {
	for _, name := range cpu.Implementations() {
		withDevice(cpu.NewWith(name, 2), func() {
			for _, size := range []struct{ t, s, d int }{{200, 200, 20}, {65, 300, 7}, {300, 65, 33}, {290, 290, 16}, {129, 257, 32}} {
				for _, causal := range []bool{false, true} {
					ctx := fmt.Sprintf("%s, %+v, causal %v", name, size, causal)
					g := NewGenerator(2)
					var fused, plain [3]*Tensor
					for i, n := range []int{size.t, size.s, size.s} {
						x := Randn(g, 1, 2, n, size.d).MulScalar(3)
						fused[i], plain[i] = Parameter(x.Clone()), Parameter(x.Clone())
					}
					y := Attention(fused[0], fused[1], fused[2], causal)
					scores := plain[0].MatMul(plain[1].MT()).MulScalar(1 / math.Sqrt(float64(size.d)))
					if causal {
						mask := build([]int{size.t, size.s}, func(i []int) float64 { return step(float64(i[1] - i[0])) })
						scores = Where(New(mask.floats(), size.t, size.s), Full(math.Inf(-1)), scores)
					}
					want := scores.Softmax(3).MatMul(plain[2])
					compare(t, ctx, y, fromTensor(want), 1e-4)
					dy := Randn(g, y.Shape()...)
					y.Mul(dy).Sum().Backward()
					want.Mul(dy).Sum().Backward()
					for i := range fused {
						compare(t, fmt.Sprint(ctx, ", gradient ", i), fused[i].Grad(), fromTensor(plain[i].Grad()), 5e-4)
					}
				}
			}
		})
	}
}

func TestAttentionSameBitsOnAnyNumberOfThreads(t *testing.T) {
	var want []float32
	for _, threads := range []int{1, 2, 3} {
		withThreads(threads, func() {
			g := NewGenerator(8)
			q, k, v := Parameter(Randn(g, 2, 3, 70, 16)), Parameter(Randn(g, 2, 3, 140, 16)), Parameter(Randn(g, 2, 3, 140, 16))
			y := Attention(q, k, v, true)
			y.Square().Sum().Backward()
			got := slices.Concat(y.Data(), q.Grad().Data(), k.Grad().Data(), v.Grad().Data())
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d threads give other bits than 1", threads)
			}
		})
	}
}

// TestAttentionMemory doubles the sequence length: the memory of a plan must grow linearly.
func TestAttentionMemory(t *testing.T) {
	bytes := func(n int) int {
		used := 0
		withThreads(1, func() {
			x := Parameter(Ones(1, 1, n, 16))
			Attention(x, x, x, true).Sum().Backward()
			x.Grad().Data()
			used = tensors.Stats().PeakBytes
		})
		return used
	}
	if a, b := bytes(1024), bytes(2048); b > 2*a+64<<10 {
		t.Errorf("1024 queries take %d bytes, 2048 take %d", a, b)
	}
}

func TestAttentionErrors(t *testing.T) {
	q := Zeros(1, 2, 3, 4)
	for _, row := range []struct {
		k, v *Tensor
		want string
	}{
		{Zeros(1, 2, 3, 5), q, "Attention: [1 2 3 4] and [1 2 3 5] and [1 2 3 4]: queries"},
		{q, Zeros(1, 2, 2, 4), "Attention: [1 2 3 4] and [1 2 3 4] and [1 2 2 4]: queries"},
		{Zeros(1, 2, 0, 4), Zeros(1, 2, 0, 4), "Attention: [1 2 3 4] and [1 2 0 4] and [1 2 0 4]: there are queries but no keys"},
	} {
		if err := catch(func() { Attention(q, row.k, row.v, false) }); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("got %v, want %q", err, row.want)
		}
	}
}

// maskedRef hides keys and adds a bias that broadcasts to the scores.
func maskedRef(q, k, v, bias array) array {
	s := k.shape[2]
	return build([]int{q.shape[0], q.shape[1], q.shape[2], v.shape[3]}, func(i []int) float64 {
		scores := make([]float64, s)
		for j := range scores {
			scores[j] = bias.get(i[0], i[1], i[2], j)
			for c := range q.shape[3] {
				scores[j] += q.get(i[0], i[1], i[2], c) * k.get(i[0], i[1], j, c) / math.Sqrt(float64(q.shape[3]))
			}
		}
		if s == 0 || math.IsInf(largest(scores), -1) {
			return 0
		}
		y := 0.0
		for j, p := range softmaxLine(scores) {
			y += p * v.get(i[0], i[1], j, i[3])
		}
		return y
	})
}

// severalBlocks are numbers of queries and keys of more than one block.
var severalBlocks = [2]int{66, 131}

// maskSizes are the numbers of queries and keys of each kind of mask alone.
var maskSizes = severalBlocks

// TestMaskedAttention tests each kind of mask alone and combined, in float32 and float64.
func TestMaskedAttention(t *testing.T) {
	maskedAttention(t, maskSizes, "")
	if maskSizes != severalBlocks {
		maskedAttention(t, severalBlocks, "all")
	}
}

// maskedAttention tests the masks with a name, or all.
func maskedAttention(t *testing.T, sizes [2]int, name string) {
	r := rand.New(rand.NewPCG(4, 4))
	const b, h, d = 3, 2, 2
	queries, keys := sizes[0], sizes[1]
	inf := math.Inf(-1)
	hidden := func(shape []int, share float64) array { // 0 hides
		return build(shape, func([]int) float64 { return step(r.Float64() - share) })
	}
	full := hidden([]int{b, h, queries, keys}, 0.3)
	for i := range full.data[:3*keys] {
		full.data[i] = 0 // three queries attend to no key
	}
	lengths := []int{keys, 0, 2 * keys / 3} // the second example has no keys at all
	length := build([]int{b, 1, 1, keys}, func(i []int) float64 { return step(float64(lengths[i[0]]) - float64(i[3])) })
	perKey := hidden([]int{keys}, 0.5)
	slant := randomArray(r, -3, 3, h, 1, keys)
	square := randomArray(r, -3, 3, queries, keys)
	tensorOf := func(a array, d DType) *Tensor { return FromFloat64s(a.data, a.shape...).Cast(d) }
	causal := build([]int{queries, keys}, func(i []int) float64 { return step(float64(i[0]) + 0.5 - float64(i[1])) })
	for _, row := range []struct {
		name   string
		hides  []array // 0 hides
		adds   []array
		see    func(d DType) AttentionMask
		causal bool
	}{
		{"nothing", nil, nil, func(DType) AttentionMask { return AttentionMask{} }, false},
		{"bool of all scores", []array{full}, nil, func(DType) AttentionMask { return AttentionMask{Mask: tensorOf(full, Bool)} }, false},
		{"float of the keys", []array{perKey}, nil, func(DType) AttentionMask { return AttentionMask{Mask: tensorOf(perKey, Float32)} }, false},
		{"lengths", []array{length}, nil, func(DType) AttentionMask { return AttentionMask{Lengths: FromInts(lengths, b)} }, false},
		{"bias of each head", nil, []array{slant}, func(d DType) AttentionMask { return AttentionMask{Bias: tensorOf(slant, d)} }, false},
		{"bias of each pair", nil, []array{square}, func(d DType) AttentionMask { return AttentionMask{Bias: tensorOf(square, d)} }, false},
		{"all", []array{full, length, causal}, []array{slant}, func(d DType) AttentionMask {
			return AttentionMask{Causal: true, Mask: tensorOf(full, Uint8), Lengths: FromInts(lengths, b), Bias: tensorOf(slant, d)}
		}, true},
	} {
		if name != "" && row.name != name {
			continue
		}
		bias := build([]int{b, h, queries, keys}, func(i []int) float64 {
			sum := 0.0
			for _, m := range row.hides {
				if m.get(i...) == 0 {
					sum = inf
				}
			}
			for _, a := range row.adds {
				sum += a.get(i...)
			}
			return sum
		})
		q, k, v := randomArray(r, -2, 2, b, h, queries, d), randomArray(r, -2, 2, b, h, keys, d), randomArray(r, -2, 2, b, h, keys, 3)
		want := maskedRef(q, k, v, bias)
		weight := randomArray(r, -1, 1, want.shape...)
		var exact [3]array
		for _, dtype := range []DType{Float64, Float32} {
			tolerance := map[DType]float64{Float64: 1e-12, Float32: 3e-5}[dtype]
			var in [3]*Tensor
			for i, a := range []array{q, k, v} {
				in[i] = Parameter(tensorOf(a, dtype))
			}
			y := MaskedAttention(in[0], in[1], in[2], row.see(dtype))
			compare(t, row.name, y, want, tolerance)
			y.Mul(tensorOf(weight, dtype)).Sum().Backward()
			for i := range in {
				ctx := fmt.Sprintf("%s, %v, gradient %d", row.name, dtype, i)
				if dtype == Float32 {
					compare(t, ctx, in[i].Grad(), exact[i], 2e-4)
					continue
				}
				exact[i] = fromTensor(in[i].Grad())
				a := []array{q, k, v}[i] // central differences at some elements
				for range 2 {
					at, x := r.IntN(len(a.data)), 0.0
					loss := func(step float64) (sum float64) {
						a.data[at] = x + step
						for j, y := range maskedRef(q, k, v, bias).data {
							sum += y * weight.data[j]
						}
						return sum
					}
					x = a.data[at]
					slope := (loss(1e-5) - loss(-1e-5)) / 2e-5
					a.data[at] = x
					if !(math.Abs(slope-exact[i].data[at]) <= 1e-7*(1+math.Abs(slope))) {
						t.Errorf("%s: element %d is %v, want %v", ctx, at, exact[i].data[at], slope)
					}
				}
			}
		}
	}
}

// TestKeyPaddingMemory doubles a padded sequence: the mask is not expanded.
func TestKeyPaddingMemory(t *testing.T) {
	bytes := func(n int) (used int) {
		withThreads(1, func() {
			x := Parameter(Ones(2, 1, n, 16))
			MaskedAttention(x, x, x, AttentionMask{Causal: true, Lengths: FromInts([]int{n, n / 2}, 2)}).Sum().Backward()
			x.Grad().Data()
			used = tensors.Stats().PeakBytes
		})
		return used
	}
	a, b := bytes(1024), bytes(2048)
	t.Logf("1024 queries take %d bytes, 2048 take %d", a, b)
	if b > 2*a+64<<10 {
		t.Errorf("1024 queries take %d bytes, 2048 take %d", a, b)
	}
}

// TestMaskedAttentionTypes checks that each kind of mask leaves the element type of the queries, keys and values.
func TestMaskedAttentionTypes(t *testing.T) {
	for _, d := range []DType{Float16, BFloat16, Float32, Float64} {
		for name, see := range map[string]AttentionMask{
			"causal": {Causal: true}, "mask": {Mask: FromInts([]int{1, 0, 1}, 3)}, "bias": {Bias: Ones(3, 3)}, "lengths": {Lengths: FromInts([]int{2}, 1)},
		} {
			p := Parameter(Ones(1, 2, 3, 4).Cast(d))
			y := MaskedAttention(p, p, p, see)
			if y.DType() != d {
				t.Errorf("%s: the result of %v is %v", name, d, y.DType())
			}
			y.Sum().Backward()
			if g := p.Grad(); g.DType() != d {
				t.Errorf("%s: the gradient of %v is %v", name, d, g)
			}
		}
	}
}

func TestMaskedAttentionErrors(t *testing.T) {
	q := Zeros(2, 2, 3, 4)
	for name, see := range map[string]AttentionMask{
		"Attention: [2 2 3 4] and [2 2 3 4] and [2 2 3 4] and [1 1 2 3]: the tensor that is added to the scores must have the shape [2 2 3 3], or 1 in any dimension": {Mask: Ones(2, 3)},
		"MaskedAttention: [2 2 3 4] and [3]: keys must be [B H S D] and Lengths [B] of type int32":                                                                    {Lengths: FromInts([]int{1, 2, 3}, 3)},
		"MaskedAttention: Bias requires a gradient, which is not supported; call Detach, or write the attention with MatMul and Softmax":                              {Bias: Parameter(Ones(3, 3))},
	} {
		if err := catch(func() { MaskedAttention(q, q, q, see) }); err == nil || err.Error() != name {
			t.Errorf("got  %v\nwant %s", err, name)
		}
	}
}
