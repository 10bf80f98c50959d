package data

import "github.com/quernlab/quern/accel/internal/cpu"

// pixels is a source of images stored as bytes, a quarter of the size of float32.
type pixels struct {
	labeling
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

func (p *pixels) read(i int, v values) error {
	if v.x != nil {
		divide(v.x, p.data[i*p.size:(i+1)*p.size], p.top)
	}
	v.setLabel(int(p.labels[i]))
	return nil
}

// divide scales bytes to floats.
func divide(x []float32, pixels []byte, highest float32) { cpu.DivideBytes(x, pixels, highest) }

func (p *pixels) bytes(i int, dst []byte) error { //nolint:unparam // other sources read files
	copy(dst, p.data[i*p.size:(i+1)*p.size])
	return nil
}

func (p *pixels) highest() float32 { return p.top }
