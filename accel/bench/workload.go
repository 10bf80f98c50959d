package main

import (
	"encoding/binary"
	"os"
	"path/filepath"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// workload is a benchmark that is ready to run in Quern.
type workload interface {
	// step does the work once.
	step() error
	// value returns a number computed by the last step.
	value() float64
}

// objective is a loss, the form of the inputs and targets, and the type of autocast.
type objective struct {
	loss   func(y, target *nn.Tensor) *nn.Tensor
	labels bool // of the targets
	tokens bool // of the inputs
	dtype  tensor.DType
}

var (
	images  = objective{loss: nn.CrossEntropy, labels: true, dtype: tensor.Float32}
	vectors = objective{loss: nn.MSE, dtype: tensor.Float32}
)

// trainingStep is a training step that cycles through some batches.
type trainingStep struct {
	objective
	model     nn.Module
	optimizer *optim.Optimizer
	x, y      []*tensor.Tensor
	steps     int
	last      *tensor.Tensor
}

func startTraining(make func() nn.Module, o objective) func(groups) (workload, error) {
	return func(g groups) (workload, error) {
		t := &trainingStep{objective: o, model: make()}
		for i, a := range g.get("x") {
			t.x = append(t.x, a.tensorOf(o.tokens))
			t.y = append(t.y, g.get("y")[i].tensorOf(o.labels))
		}
		tensor.NoGrad(func() { t.model.Forward(t.x[0]) }) // creates the parameters
		if err := setParameters(t.model, g); err != nil {
			return nil, err
		}
		t.optimizer = optim.Adam(t.model, 1e-3)
		return t, nil
	}
}

func (t *trainingStep) step() error {
	i := t.steps % len(t.x)
	t.steps++
	if t.last != nil {
		t.last.Release()
	}
	var y *tensor.Tensor
	tensor.Autocast(t.dtype, func() {
		y = t.model.Forward(t.x[i])
		t.last = t.loss(y, t.y[i])
	})
	t.optimizer.ZeroGrad()
	t.last.Backward()
	y.Release() // reference counting frees it in the other frameworks too
	t.optimizer.Step()
	return nil
}

func (t *trainingStep) value() float64 { return t.last.Item() }

// matmulWorkload is a matrix multiplication.
type matmulWorkload struct {
	multiply func() *tensor.Tensor
	last     *tensor.Tensor
}

func startMatMul(d tensor.DType) func(groups) (workload, error) {
	return func(g groups) (workload, error) {
		x := g.get("x")
		a, b := x[0].tensor().Cast(d), x[1].tensor().Cast(d)
		return &matmulWorkload{multiply: func() *tensor.Tensor { return a.MatMul(b) }}, nil
	}
}

// startMatMulFP8 measures Linear in FP8, including the computation of the scales.
func startMatMulFP8(g groups) (workload, error) {
	if err := tensor.CheckFP8(); err != nil {
		return nil, &missingError{"FP8", err.Error()}
	}
	x := g.get("x")
	a, b := x[0].tensor().Cast(tensor.BFloat16), x[1].tensor().Cast(tensor.BFloat16)
	return &matmulWorkload{multiply: func() (y *tensor.Tensor) {
		tensor.AutocastFP8(func() { y = tensor.Linear(a, b, nil) })
		return y
	}}, nil
}

func (p *matmulWorkload) step() error {
	if p.last != nil {
		p.last.Release()
	}
	tensor.NoGrad(func() { p.last = p.multiply() })
	tensor.Flush()
	return nil
}

func (p *matmulWorkload) value() float64 { return float64(p.last.Data()[0]) }

// attentionWorkload is attention and its gradients.
type attentionWorkload struct {
	in     [3]*tensor.Tensor
	target *tensor.Tensor
	last   *tensor.Tensor
}

func startAttention(g groups) (workload, error) {
	w := &attentionWorkload{target: g.get("y")[0].tensor()}
	for i, a := range g.get("x") {
		w.in[i] = tensor.Parameter(a.tensor())
	}
	return w, nil
}

func (w *attentionWorkload) step() error {
	for _, t := range w.in {
		t.ZeroGrad()
	}
	if w.last != nil {
		w.last.Release()
	}
	y := tensor.Attention(w.in[0], w.in[1], w.in[2], true)
	weighted := y.Mul(w.target)
	w.last = weighted.Sum()
	w.last.Backward()
	y.Release()
	weighted.Release()
	tensor.Flush()
	return nil
}

// value returns the result plus an element of each gradient.
func (w *attentionWorkload) value() float64 {
	v := w.last.Item()
	for i, t := range w.in {
		row := 0
		if i == 0 {
			row = attentionLength - 1
		}
		v += float64(t.Grad().Data()[row*t.Size(3)])
	}
	return v
}

// copyWorkload copies memory.
type copyWorkload struct{ from, to *tensor.Tensor }

func startCopy(groups) (workload, error) {
	return &copyWorkload{from: tensor.Ones(copyElements), to: tensor.Zeros(copyElements)}, nil
}

func (c *copyWorkload) step() error {
	c.to.Assign(c.from.AddScalar(0))
	tensor.Flush()
	return nil
}

func (c *copyWorkload) value() float64 { return 1 }

// loaderWorkload makes batches of byte images.
type loaderWorkload struct {
	set  *data.Dataset
	last data.Batch
}

func startLoader(g groups) (workload, error) {
	folder, err := os.MkdirTemp("", "bench-loader")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) // the mapped file remains readable until it is closed
	images, labels := filepath.Join(folder, "images"), filepath.Join(folder, "labels")
	if err := writeIDX(images, g.get("x")[0].bytes(), imageCount, 28, 28); err != nil {
		return nil, err
	}
	if err := writeIDX(labels, make([]byte, imageCount), imageCount); err != nil {
		return nil, err
	}
	set, err := data.OpenIDX(images, labels)
	if err != nil {
		return nil, err
	}
	return &loaderWorkload{set: set}, nil
}

// writeIDX writes bytes in the format of the MNIST family.
func writeIDX(path string, values []byte, shape ...int) error {
	head := []byte{0, 0, 8, byte(len(shape))}
	for _, n := range shape {
		head = binary.BigEndian.AppendUint32(head, uint32(n))
	}
	return os.WriteFile(path, append(head, values...), 0o600)
}

func (l *loaderWorkload) step() error {
	it := l.set.Batches(256, data.Shuffle(1))
	for it.Next() {
		if l.last.X != nil {
			l.last.X.Release()
			l.last.Y.Release()
		}
		l.last = it.Batch()
	}
	return it.Err()
}

func (l *loaderWorkload) value() float64 { return 1 }
