package optim_test

import (
	"testing"

	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// BenchmarkAdamW updates 235,000 parameters, of which every tenth has a running mean that
// starts at the given value.
func BenchmarkAdamW(b *testing.B) {
	const n = 235_000
	for name, start := range map[string]float32{"zero": 0, "normal": 1, "denormal": 1e-40} {
		b.Run(name, func(b *testing.B) {
			p := tensor.Parameter(tensor.Zeros(n))
			g := tensor.Zeros(n)
			opt := optim.AdamW(p, 1e-3)
			step := func() {
				opt.ZeroGrad()
				p.Mul(g).Sum().Backward()
				opt.Step()
			}
			step()
			means := make([]float32, n)
			for i := 0; i < n; i += 10 {
				means[i] = start
			}
			optim.Means(opt, p)[0].SetData(means)
			for b.Loop() {
				step()
			}
		})
	}
}
