package tensor

import (
	"errors"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// equalProcesses is a group of processes that all have the elements of this one.
type equalProcesses struct {
	processes float64
	idle      bool
	sums      int // number of calls
	err       error
}

func (a *equalProcesses) AllReduce(t *Tensor) (*Tensor, error) {
	a.sums++
	return t.MulScalar(a.processes), a.err
}

func (a *equalProcesses) Idle() bool { return a.idle }

// TestSyncBatchNorm compares with a BatchNorm of one batch that repeats the elements once per
// process.
func TestSyncBatchNorm(t *testing.T) {
	for _, shape := range [][]int{{3, 4}, {2, 4}, {2, 4, 3, 3}} {
		for _, d := range []DType{Float32, Float64, BFloat16} {
			const processes = 3
			make := func() (x, w, b, mean, variance *Tensor) {
				parameter := func(v *Tensor) *Tensor { return Parameter(v.Cast(d).Detach()) }
				g := NewGenerator(4)
				x = parameter(Randn(g, shape...).MulScalar(2).Add(Full(5, 1)))
				w, b = parameter(Randn(g, 4)), parameter(Randn(g, 4))
				running := d
				if d.Is16Bit() { // the running statistics of layers are float32
					running = Float32
				}
				return x, w, b, Zeros(4).Cast(running), Ones(4).Cast(running)
			}
			loss := func(y *Tensor) *Tensor { return y.Cast(Float32).Square().Mul(y.Cast(Float32)).Sum() }

			group := &equalProcesses{processes: processes}
			x, w, b, mean, variance := make()
			y := syncBatchNorm(tensors.SyncBatch[*Tensor]{X: x, Weight: w, Bias: b, Mean: mean, Variance: variance, Momentum: 0.1, Epsilon: 1e-5, Group: group})
			loss(y).Backward()
			if group.sums != 2 {
				t.Errorf("%v of %v: %d calls of AllReduce", d, shape, group.sums)
			}

			x1, w1, b1, mean1, variance1 := make()
			all := BatchNorm(Concat(0, x1, x1, x1), w1, b1, mean1, variance1, 0.1, 1e-5, true)
			loss(all).Backward()
			tolerance := map[DType]float64{Float32: 2e-5, Float64: 2e-5, BFloat16: 0.03}[d]
			for _, c := range []struct {
				name      string
				got, want *Tensor
				factor    float64
			}{
				{"y", y, all.Slice(0, 0, shape[0]), 1},
				{"the gradient of x", x.Grad(), x1.Grad(), processes}, // each repetition adds to it
				{"the gradient of the weight", w.Grad(), w1.Grad(), processes},
				{"the gradient of the bias", b.Grad(), b1.Grad(), processes},
				{"the running mean", mean, mean1, 1},
				{"the running variance", variance, variance1, 1},
			} {
				if c.got.DType() != c.want.DType() {
					t.Errorf("%v of %v: %s is %v", d, shape, c.name, c.got.DType())
				}
				got, want := c.got.Cast(Float64).Float64s(), c.want.Cast(Float64).Float64s()
				for i := range want {
					if !(math.Abs(c.factor*got[i]-want[i]) <= tolerance*(1+math.Abs(want[i])*c.factor)) {
						t.Errorf("%v of %v: %s is %v, want %v / %v", d, shape, c.name, got[i], want[i], c.factor)
					}
				}
			}
		}
	}
}

// TestSyncBatchNormIdle checks that a process without examples contributes nothing and gets no
// gradient.
func TestSyncBatchNormIdle(t *testing.T) {
	group := &equalProcesses{processes: 1}
	numbers := Full(0, 9).Cast(Float64)
	x := Parameter(Randn(NewGenerator(1), 2, 4))
	y := syncBatchNorm(tensors.SyncBatch[*Tensor]{X: x, Momentum: 0.1, Epsilon: 1e-5, Group: idleProcess{group, numbers}})
	y.Sum().MulScalar(0).Backward()
	for i, g := range x.Grad().Data() {
		if g != 0 {
			t.Errorf("the gradient of element %d is %v", i, g)
		}
	}
}

// idleProcess has no examples; another process has four elements with mean 1 and variance 2.
type idleProcess struct {
	*equalProcesses
	numbers *Tensor
}

func (i idleProcess) Idle() bool { return true }

func (i idleProcess) AllReduce(t *Tensor) (*Tensor, error) {
	for _, v := range t.Float64s() {
		if v != 0 {
			return nil, errors.New("it counts")
		}
	}
	if t.Numel() != i.numbers.Numel() { // the sums of the gradient
		return Full(3, t.Numel()).Cast(Float64), nil
	}
	return FromFloat64s([]float64{4, 4, 4, 4, 12, 12, 12, 12, 4}, 9), nil
}

func TestSyncBatchNormThatFails(t *testing.T) {
	lost := errors.New("a rank was lost")
	defer func() {
		var failed *AllReduceError
		if err, _ := recover().(error); !errors.As(err, &failed) || !errors.Is(err, lost) {
			t.Errorf("got %v", err)
		}
	}()
	syncBatchNorm(tensors.SyncBatch[*Tensor]{X: Ones(2, 3), Momentum: 0.1, Epsilon: 1e-5, Group: &equalProcesses{processes: 1, err: lost}})
}
