package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implement[ir.Bernoulli](newBernoulli)

// newBernoulli returns a step that fills a tensor from a Philox stream.
func newBernoulli(_ *Device, s ir.Step) (step, error) {
	return stepFunc(func(p *program) error {
		y := elements[float32](p, s.Out[0])
		below := uint64(p.scalar(s.Word) * (1 << 32)) // random words below it keep the element
		scale := float32(p.scalar(s.Word + 1))
		key, counter := p.words[s.Word+2], p.words[s.Word+3]
		p.device.pool.split(len(y), moveLen, func(i, end, _ int) {
			for ; i < end; i += 4 {
				r := ir.Philox(key, counter+uint64(i/4))
				for j, w := range r[:min(4, end-i)] {
					y[i+j] = 0
					if uint64(w) < below {
						y[i+j] = scale
					}
				}
			}
		})
		return nil
	}), nil
}
