package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implement[ir.Bernoulli](newBernoulli)

// bernoulli fills a tensor from a Philox stream.
type bernoulli struct {
	out     ir.Operand
	word    int
	y       []float32
	below   uint64 // random words below it keep the element
	scale   float32
	key     uint64
	counter uint64
}

func newBernoulli(_ *Device, s ir.Step) (step, error) {
	return &bernoulli{out: s.Out[0], word: s.Word}, nil
}

func (k *bernoulli) run(p *program) error {
	k.y = elements[float32](p, k.out)
	k.below = uint64(p.scalar(k.word) * (1 << 32))
	k.scale = float32(p.scalar(k.word + 1))
	k.key, k.counter = p.words[k.word+2], p.words[k.word+3]
	p.device.pool.run((len(k.y)+moveLen-1)/moveLen, k)
	k.y = nil
	return nil
}

func (k *bernoulli) work(chunk, _ int) {
	end := min((chunk+1)*moveLen, len(k.y))
	for i := chunk * moveLen; i < end; i += 4 {
		r := ir.Philox(k.key, k.counter+uint64(i/4))
		for j, w := range r[:min(4, end-i)] {
			k.y[i+j] = 0
			if uint64(w) < k.below {
				k.y[i+j] = k.scale
			}
		}
	}
}
