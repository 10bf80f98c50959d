package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implement[ir.Bernoulli](newBernoulli)

// bernoulli fills a tensor from a Philox stream.
type bernoulli struct {
	out  ir.Operand
	word int
}

func newBernoulli(_ *Device, s ir.Step) (step, error) {
	return &bernoulli{out: s.Out[0], word: s.Word}, nil
}

func (k *bernoulli) run(p *program) error {
	y := elements[float32](p, k.out)
	below := uint64(p.scalar(k.word) * (1 << 32)) // random words below it keep the element
	scale := float32(p.scalar(k.word + 1))
	key, counter := p.words[k.word+2], p.words[k.word+3]
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
}
