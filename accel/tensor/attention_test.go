package tensor

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
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

// TestLongAttention takes several blocks of queries and keys, with large scores,
// on every kernel set, and compares with the same made of other ops.
func TestLongAttention(t *testing.T) {
	for _, name := range cpu.Implementations() {
		withDevice(cpu.NewWith(name, 2), func() {
			for _, size := range []struct{ t, s, d int }{{200, 200, 20}, {65, 300, 7}, {300, 65, 33}} {
				for _, causal := range []bool{false, true} {
					ctx := fmt.Sprintf("%s, %+v, causal %v", name, size, causal)
					g := NewGenerator(2)
					var fused, plain [3]*Tensor
					for i, n := range []int{size.t, size.s, size.s} {
						x := Randn(g, 1, 2, n, size.d).MulScalar(3)
						fused[i], plain[i] = Parameter(x.Clone()), Parameter(x.Clone())
					}
					y := Attention(fused[0], fused[1], fused[2], causal)
					scores := plain[0].MatMul(plain[1].T()).MulScalar(1 / math.Sqrt(float64(size.d)))
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

// TestAttentionMemory doubles the sequence: what a plan takes doubles too.
func TestAttentionMemory(t *testing.T) {
	bytes := func(n int) int {
		used := 0
		withThreads(1, func() {
			x := Parameter(Ones(1, 1, n, 16))
			Attention(x, x, x, true).Sum().Backward()
			x.Grad().Data()
			used = Stats().PeakBytes
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
