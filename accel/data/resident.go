package data

import (
	"fmt"
	"math/rand/v2"

	"github.com/quernlab/quern/accel/tensor"
)

// resident holds the examples of a source as tensors on the device: batches are gathered there,
// and only their indices are copied to it.
type resident struct {
	x       *tensor.Tensor // [N, elements], uint8 or float32
	highest float32        // divisor for bytes; 0 for float32
	y       *tensor.Tensor // [N], [N, length] or [N, targets]

	positions [][]int // of packed sequences, which are not on the device; nil for none
}

// OnDevice returns the data set with all examples on the device, images as bytes. The batches
// and their order are bit-identical to those without it, but they are gathered, scaled and
// transformed on the device, so loading needs no copies. It supports [Normalize],
// [NormalizeChannels], [RandomHorizontalFlip], [RandomVerticalFlip], [RandomShift] and [Cutout], and
// fails with other transforms. accel.Mixup and accel.CutMix mix batches, wherever the examples are. It also fails if the examples cannot be read, and with
// a *tensor.OutOfMemoryError if they do not fit into memory.
func (s *Dataset) OnDevice() (on *Dataset, err error) {
	defer func() {
		if e, ok := recover().(error); ok {
			on, err = nil, fmt.Errorf("data: %s on the device: %w", s.name, e)
		}
	}()
	r := &resident{}
	n, size, form := s.Len(), s.size(), s.source.form()
	if form.random {
		return nil, fmt.Errorf("data: %s on the device: its examples draw random numbers: leave out OnDevice, so that the workers compute them", s.name)
	}
	if form.unlabeled {
		return nil, fmt.Errorf("data: %s on the device: its examples have no labels", s.name)
	}
	numbers, raw := []float32(nil), []byte(nil)
	if r.highest = form.highest; r.highest > 0 {
		raw = make([]byte, n*size)
	} else {
		numbers = make([]float32, n*size)
	}
	wanted, labels := make([]float32, n*form.targets), make([]int, n*form.labels())
	for i := range n {
		v := values{labels: rowOf(labels, i, form.labels()), targets: rowOf(wanted, i, form.targets), x: rowOf(numbers, i, size), bytes: rowOf(raw, i, size)}
		if form.packed {
			v.positions = make([]int, form.sequence)
			r.positions = append(r.positions, v.positions)
		}
		if err := s.source.read(s.at(i), v); err != nil {
			return nil, s.exampleError(i, err)
		}
	}
	if r.highest > 0 {
		r.x = tensor.FromBytes(raw, n, size)
	} else {
		r.x = tensor.New(numbers, n, size)
	}
	if form.targets > 0 {
		r.y = tensor.New(wanted, n, form.targets)
	} else {
		r.y = tensor.FromInts(labels, s.labelShape(n)...)
	}
	t := *s
	t.resident = r
	if s.index != nil { // the tensors have the order of the source
		t.source, t.index = &view{*s}, nil
	}
	if err := t.checkResident(); err != nil {
		return nil, err
	}
	return &t, nil
}

// rowOf returns row i of a matrix with rows of a length; nil if it has no elements.
func rowOf[T any](all []T, i, length int) []T {
	if len(all) == 0 {
		return nil
	}
	return all[i*length:][:length:length]
}

// checkResident returns an error if the transforms cannot be computed on the device.
func (s *Dataset) checkResident() error {
	if s.resident == nil {
		return nil
	}
	for _, f := range s.transforms {
		if f.device == nil {
			return fmt.Errorf("data: %v of %s cannot be computed on the device, but only Normalize, NormalizeChannels, RandomHorizontalFlip, RandomVerticalFlip, RandomShift and Cutout: leave out OnDevice, so that the workers compute it", f, s.name)
		}
	}
	return nil
}

// batch gathers examples of the data set on the device.
func (r *resident) batch(s *Dataset, index []int, l *loader) Batch {
	var w tensorScope
	defer w.done()
	rows := s.inSource(index)
	pick := w.keep(tensor.FromInts(rows, len(rows)))
	x := r.x.IndexSelect(pick)
	if r.highest > 0 {
		w.keep(x)
		x = w.keep(x.Cast(tensor.Float32)).Div(w.keep(tensor.Full(float64(r.highest))))
	}
	w.keep(x)
	x = x.Reshape(append([]int{len(index)}, s.shape...)...)
	if len(s.transforms) > 0 {
		random := make([]*rand.Rand, len(index))
		for i, e := range index {
			random[i] = l.randomFor(e)
		}
		for _, t := range s.transforms {
			x = t.device(w.keep(x), s.shape, random)
		}
	}
	b := Batch{X: x, Y: r.y.IndexSelect(pick), Index: index, Ignores: s.Ignores()}
	for k := range r.positions[:min(len(r.positions), len(rows))] {
		b.Positions = append(b.Positions, r.positions[rows[k]])
	}
	if b.Lengths, b.Padded = s.paddingOf(index); b.Padded > 0 && s.cutsPadding() {
		b.X = w.keep(x).Slice(1, 0, b.Padded)
		if s.SequenceLength() > 0 {
			b.Y = w.keep(b.Y).Slice(1, 0, b.Padded)
		}
	}
	return b
}

// tensorScope holds intermediate tensors, which are released at the end.
type tensorScope struct{ made []*tensor.Tensor }

func (w *tensorScope) keep(t *tensor.Tensor) *tensor.Tensor {
	w.made = append(w.made, t)
	return t
}

func (w *tensorScope) done() {
	for _, t := range w.made {
		t.Release()
	}
}

// column returns a value per example, which broadcasts to [N, C, H, W].
func (w *tensorScope) column(numbers []float64) *tensor.Tensor {
	return w.keep(tensor.FromFloat64s(numbers, len(numbers), 1, 1, 1))
}

// count returns 0 to n-1 along one of the dimensions of [N, C, H, W], times a factor.
func (w *tensorScope) count(n, along, factor int) *tensor.Tensor {
	numbers, shape := make([]float64, n), []int{1, 1, 1, 1}
	for i := range numbers {
		numbers[i] = float64(i * factor)
	}
	shape[along] = n
	return w.keep(tensor.FromFloat64s(numbers, shape...))
}

// images returns a batch as [N, C, H, W], with or without a channel dimension in the images.
func (w *tensorScope) images(x *tensor.Tensor, shape []int) *tensor.Tensor {
	if len(shape) == 3 {
		return x
	}
	return w.keep(x.Reshape(x.Size(0), 1, shape[0], shape[1]))
}

// flipOnDevice implements RandomHorizontalFlip, along axis 3, and RandomVerticalFlip, along axis 2.
func flipOnDevice(x *tensor.Tensor, shape []int, random []*rand.Rand, axis int) *tensor.Tensor {
	var w tensorScope
	defer w.done()
	flip := make([]float64, len(random))
	for i, r := range random {
		flip[i] = float64(r.Uint64() & 1)
	}
	images := w.images(x, shape)
	which := w.keep(w.column(flip).Cast(tensor.Float32))
	return w.keep(tensor.Where(which, w.keep(images.Flip(axis)), images)).Reshape(x.Shape()...)
}

// shiftOnDevice implements RandomShift: it pads the images, and gathers each pixel from its
// position before the shift. Positions are computed in float64, which is exact up to 2^53.
func shiftOnDevice(x *tensor.Tensor, shape []int, random []*rand.Rand, pixels int) *tensor.Tensor {
	var w tensorScope
	defer w.done()
	down, right := make([]float64, len(random)), make([]float64, len(random))
	for i, r := range random {
		down[i], right[i] = float64(r.IntN(2*pixels+1)-pixels), float64(r.IntN(2*pixels+1)-pixels)
	}
	images := w.images(x, shape)
	n, channels, height, width := images.Size(0), images.Size(1), images.Size(2), images.Size(3)
	padded := w.keep(w.keep(images.Pad(2, pixels, pixels)).Pad(3, pixels, pixels))
	row := width + 2*pixels
	plane := row * (height + 2*pixels)
	position := w.count(n, 0, channels*plane)
	for _, more := range []*tensor.Tensor{
		w.count(channels, 1, plane), w.count(height, 2, row), w.count(width, 3, 1),
		w.keep(w.column(down).MulScalar(float64(-row))), w.keep(w.column(right).MulScalar(-1)),
	} {
		position = w.keep(position.Add(more))
	}
	index := w.keep(w.keep(position.AddScalar(float64(pixels*row + pixels))).Cast(tensor.Int64))
	return w.keep(w.keep(padded.Reshape(-1)).IndexSelect(index)).Reshape(x.Shape()...)
}

// cutoutOnDevice implements Cutout.
func cutoutOnDevice(x *tensor.Tensor, shape []int, random []*rand.Rand, pixels int) *tensor.Tensor {
	var w tensorScope
	defer w.done()
	images := w.images(x, shape)
	height, width := images.Size(2), images.Size(3)
	before := [2][]float64{make([]float64, len(random)), make([]float64, len(random))} // the first row and column, minus 1
	for i, r := range random {
		before[0][i] = float64(r.IntN(height) - pixels/2 - 1)
		before[1][i] = float64(r.IntN(width) - pixels/2 - 1)
	}
	var hidden *tensor.Tensor
	for axis, n := range []int{height, width} {
		at, first := w.count(n, 2+axis, 1), w.column(before[axis])
		behind := w.keep(w.keep(first.AddScalar(float64(pixels + 1))).Greater(at))
		inside := w.keep(w.keep(at.Greater(first)).And(behind))
		if hidden == nil {
			hidden = inside
			continue
		}
		hidden = w.keep(hidden.And(inside))
	}
	return w.keep(tensor.Where(hidden, w.keep(tensor.Full(0)), images)).Reshape(x.Shape()...)
}
