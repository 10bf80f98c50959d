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
type workload struct {
	step  func() error   // does the work once
	value func() float64 // returns a number computed by the last step
}

// ofTensor returns the workload of steps that compute a tensor, of which only the last one is kept.
func ofTensor(step func() *tensor.Tensor, value func(last *tensor.Tensor) float64) workload {
	var last *tensor.Tensor
	return workload{
		step: func() error {
			if last != nil {
				last.Release()
			}
			last = step()
			return nil
		},
		value: func() float64 { return value(last) },
	}
}

// constant is the value of a workload that computes no number.
func constant() float64 { return 1 }

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

// startTraining returns training steps that cycle through some batches.
func startTraining(make func() nn.Module, o objective) func(groups) (workload, error) {
	return func(g groups) (workload, error) {
		model := make()
		var x, y []*tensor.Tensor
		for i, a := range g.get("x") {
			x = append(x, a.tensorOf(o.tokens))
			y = append(y, g.get("y")[i].tensorOf(o.labels))
		}
		tensor.NoGrad(func() { model.Forward(x[0]) }) // creates the parameters
		if err := setParameters(model, g); err != nil {
			return workload{}, err
		}
		optimizer, steps := optim.Adam(model, 1e-3), 0
		return ofTensor(func() (loss *tensor.Tensor) {
			i := steps % len(x)
			steps++
			var output *tensor.Tensor
			tensor.Autocast(o.dtype, func() {
				output = model.Forward(x[i])
				loss = o.loss(output, y[i])
			})
			optimizer.ZeroGrad()
			loss.Backward()
			output.Release() // reference counting frees it in the other frameworks too
			optimizer.Step()
			return loss
		}, (*tensor.Tensor).Item), nil
	}
}

// inference returns steps that compute a tensor without gradients.
func inference(compute func() *tensor.Tensor, value func(*tensor.Tensor) float64) workload {
	return ofTensor(func() (y *tensor.Tensor) {
		tensor.NoGrad(func() { y = compute() })
		tensor.Flush()
		return y
	}, value)
}

// multiplication returns matrix multiplications.
func multiplication(multiply func() *tensor.Tensor) workload {
	return inference(multiply, func(y *tensor.Tensor) float64 { return float64(y.Data()[0]) })
}

func startMatMul(d tensor.DType) func(groups) (workload, error) {
	return func(g groups) (workload, error) {
		x := g.get("x")
		a, b := x[0].tensor().Cast(d), x[1].tensor().Cast(d)
		return multiplication(func() *tensor.Tensor { return a.MatMul(b) }), nil
	}
}

// startMatMulFP8 measures Linear in FP8, including the computation of the scales.
func startMatMulFP8(g groups) (workload, error) {
	if err := tensor.CheckFP8(); err != nil {
		return workload{}, &missingError{"FP8", err.Error()}
	}
	x := g.get("x")
	a, b := x[0].tensor().Cast(tensor.BFloat16), x[1].tensor().Cast(tensor.BFloat16)
	return multiplication(func() (y *tensor.Tensor) {
		tensor.AutocastFP8(func() { y = tensor.Linear(a, b, nil) })
		return y
	}), nil
}

// startAttention measures attention and its gradients.
func startAttention(g groups) (workload, error) {
	var in [3]*tensor.Tensor
	target := g.get("y")[0].tensor()
	for i, a := range g.get("x") {
		in[i] = tensor.Parameter(a.tensor())
	}
	return ofTensor(func() *tensor.Tensor {
		for _, t := range in {
			t.ZeroGrad()
		}
		y := tensor.Attention(in[0], in[1], in[2], true)
		weighted := y.Mul(target)
		sum := weighted.Sum()
		sum.Backward()
		y.Release()
		weighted.Release()
		tensor.Flush()
		return sum
	}, func(sum *tensor.Tensor) float64 { // plus an element of each gradient
		v := sum.Item()
		for i, t := range in {
			row := 0
			if i == 0 {
				row = attentionLength - 1
			}
			v += float64(t.Grad().Data()[row*t.Size(3)])
		}
		return v
	}), nil
}

// startCopy measures copies of memory.
func startCopy(groups) (workload, error) {
	from, to := tensor.Ones(copyElements), tensor.Zeros(copyElements)
	return workload{step: func() error {
		to.Assign(from.AddScalar(0))
		tensor.Flush()
		return nil
	}, value: constant}, nil
}

// startLoader measures batches of byte images.
func startLoader(g groups) (workload, error) {
	folder, err := os.MkdirTemp("", "bench-loader")
	if err != nil {
		return workload{}, err
	}
	defer os.RemoveAll(folder) // the mapped file remains readable until it is closed
	images, labels := filepath.Join(folder, "images"), filepath.Join(folder, "labels")
	if err := writeIDX(images, g.get("x")[0].bytes(), imageCount, 28, 28); err != nil {
		return workload{}, err
	}
	if err := writeIDX(labels, make([]byte, imageCount), imageCount); err != nil {
		return workload{}, err
	}
	set, err := data.OpenIDX(images, labels)
	if err != nil {
		return workload{}, err
	}
	var last data.Batch
	return workload{step: func() error {
		it := set.Batches(256, data.Shuffle(1))
		for it.Next() {
			if last.X != nil {
				last.X.Release()
				last.Y.Release()
			}
			last = it.Batch()
		}
		return it.Err()
	}, value: constant}, nil
}

// writeIDX writes bytes in the format of the MNIST family.
func writeIDX(path string, values []byte, shape ...int) error {
	head := []byte{0, 0, 8, byte(len(shape))}
	for _, n := range shape {
		head = binary.BigEndian.AppendUint32(head, uint32(n))
	}
	return os.WriteFile(path, append(head, values...), 0o600)
}
