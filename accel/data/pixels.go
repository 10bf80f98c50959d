package data

import "github.com/quernlab/quern/accel/internal/cpu"

// pixels is a source of images stored as bytes, a quarter of the size of float32.
type pixels struct {
	size   int // bytes per example
	data   []byte
	labels []byte
	top    float32 // bytes are divided by this
}

// newPixels scales pixels from 0 … highest to [0, 1].
func newPixels(size int, data, labels []byte, highest float32) *pixels {
	return &pixels{size: size, data: data, labels: labels, top: highest}
}

func (p *pixels) len() int { return len(p.labels) }

func (p *pixels) example(i int, dst []float32) error {
	cpu.DivideBytes(dst[:p.size], p.data[i*p.size:(i+1)*p.size], p.top)
	return nil
}

func (p *pixels) bytes(i int, dst []byte) error { //nolint:unparam // other sources read files
	copy(dst, p.data[i*p.size:(i+1)*p.size])
	return nil
}

func (p *pixels) highest() float32      { return p.top }
func (p *pixels) label(i int) int       { return int(p.labels[i]) }
func (p *pixels) target(int, []float32) {}
func (p *pixels) targets() int          { return 0 }
