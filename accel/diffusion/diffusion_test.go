package diffusion_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/diffusion"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	_ "github.com/quernlab/quern/accel/simulated"
	"github.com/quernlab/quern/accel/tensor"
)

// golden has results of numpy; see testdata/make_diffusion.py.
type golden struct {
	Linear, Cosine, X, Noise   []float64
	T                          []int
	Noisy, Velocity, Embedding []float64
	DDIM, DDPM                 map[string][]float64
}

func read(t *testing.T) (g golden) {
	t.Helper()
	text, err := os.ReadFile("testdata/diffusion.json")
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// requireClose requires float32 results to be those of numpy.
func requireClose(t *testing.T, what string, got *tensor.Tensor, want []float64) {
	t.Helper()
	values := got.Float64s()
	if len(values) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(values), len(want))
	}
	for i, v := range values {
		if !(math.Abs(v-want[i]) <= 2e-5*max(1, math.Abs(want[i]))) {
			t.Errorf("%s: %v at %d, want %v", what, v, i, want[i])
		}
	}
}

// known is the model of the golden values: sin(0.7 x) + 0.1 t/T.
func known(steps int) nn.Module {
	return nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor {
		in := nn.Unpack(x, []int{4}, []int{1})
		return in[0].MulScalar(0.7).Sin().Add(in[1].MulScalar(0.1 / float64(steps)))
	})
}

func TestEqualsNumpy(t *testing.T) {
	g := read(t)
	linear, cosine := diffusion.Linear(1000, 1e-4, 0.02), diffusion.Cosine(1000)
	for k := range g.Linear {
		if a, b := linear.AlphaBar(111*k), cosine.AlphaBar(111*k); math.Abs(a/g.Linear[k]-1) > 1e-12 || math.Abs(b/g.Cosine[k]-1) > 1e-12 {
			t.Errorf("step %d: %v and %v, want %v and %v", 111*k, a, b, g.Linear[k], g.Cosine[k])
		}
	}
	defer func() {
		if err := tensors.SetDevice("cpu"); err != nil {
			t.Error(err)
		}
	}()
	for _, device := range []string{"cpu", "simulated"} {
		if err := tensors.SetDevice(device); err != nil {
			t.Fatal(err)
		}
		x, noise := tensor.FromFloat64s(g.X, 3, 4).Cast(tensor.Float32), tensor.FromFloat64s(g.Noise, 3, 4).Cast(tensor.Float32)
		steps := tensor.FromInts(g.T, 3)
		s := diffusion.Linear(20, 1e-3, 0.3)
		requireClose(t, "AddNoise", s.AddNoise(x, noise, steps), g.Noisy)
		requireClose(t, "AddNoise of images", s.AddNoise(x.Reshape(3, 1, 2, 2), noise.Reshape(3, 1, 2, 2), steps), g.Noisy)
		requireClose(t, "Velocity", s.Velocity(x, noise, steps), g.Velocity)
		embedding := diffusion.TimeEmbedding(8)
		requireClose(t, "TimeEmbedding", embedding.Forward(tensor.FromInts([]int{0, 1, 500}, 3)), g.Embedding)
		requireClose(t, "TimeEmbedding", embedding.Forward(tensor.New([]float32{0, 1, 500}, 3, 1)), g.Embedding)
		for name, want := range g.DDIM {
			kind, n := "", 0
			if _, err := fmt.Sscan(name, &kind, &n); err != nil {
				t.Fatal(err)
			}
			y, err := of(s, kind).DDIM(t.Context(), known(20), x, n)
			if err != nil {
				t.Fatal(err)
			}
			requireClose(t, device+", DDIM, "+name, y, want)
		}
		for name, want := range g.DDPM {
			kind, limit := "", 0.0
			if _, err := fmt.Sscan(name, &kind, &limit); err != nil {
				t.Fatal(err)
			}
			options := []diffusion.Option{diffusion.Generator(tensor.NewGenerator(1))}
			if limit > 0 {
				options = append(options, diffusion.Clip(limit))
			}
			y, err := of(diffusion.Linear(2, 0.1, 0.3), kind).DDPM(t.Context(), known(2), x, options...)
			if err != nil {
				t.Fatal(err)
			}
			requireClose(t, device+", DDPM, "+name, y, want)
		}
	}
}

func of(s *diffusion.Schedule, kind string) *diffusion.Schedule {
	if kind == "velocity" {
		return s.PredictVelocity()
	}
	return s
}

// TestEmbed requires the parts of the result to be the example, the embedding of its step, and the vector of its class.
func TestEmbed(t *testing.T) {
	x := tensor.New([]float32{0.5, -1, 7, 1, 2, 3, 0, 0}, 2, 4)
	with, without := diffusion.Embed(8, 3), diffusion.Embed(8, 0)
	y := with.Forward(x)
	vectors := nn.Parameters(with)
	if len(vectors) != 1 || len(nn.Parameters(without)) != 0 || y.Size(1) != 2+8+8 {
		t.Fatalf("%d parameters, the result is %v", len(vectors), y.Shape())
	}
	requireClose(t, "example", y.Slice(1, 0, 2), []float64{0.5, -1, 2, 3})
	requireClose(t, "step", y.Slice(1, 2, 10), diffusion.TimeEmbedding(8).Forward(tensor.New([]float32{7, 0}, 2)).Float64s())
	requireClose(t, "class", y.Slice(1, 10, 18), vectors[0].IndexSelect(tensor.FromInts([]int{1, 0}, 2)).Float64s())
	if y := without.Forward(x); y.Size(1) != 3+8 {
		t.Errorf("without classes, the result is %v", y.Shape())
	}
	if got := fmt.Sprint(with); got != "diffusion.Embed(8, 3)" {
		t.Error(got)
	}
}

// TestDataset requires x_t to be the example with the noise of the target, at steps that are all drawn.
func TestDataset(t *testing.T) {
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	train = train.First(200)
	for _, s := range []*diffusion.Schedule{diffusion.Cosine(10), diffusion.Cosine(10).PredictVelocity()} {
		noisy, err := s.Dataset(train)
		if err != nil {
			t.Fatal(err)
		}
		clean, err := train.Tensors()
		if err != nil {
			t.Fatal(err)
		}
		b, err := noisy.Tensors()
		if err != nil {
			t.Fatal(err)
		}
		in, x := nn.Unpack(b.X, []int{64}, []int{}, []int{}), clean.X.Flatten(1)
		steps, noise := in[1].Cast(tensor.Int32), b.Y
		if strings.Contains(s.String(), "Velocity") { // ε = √ᾱ·v + √(1-ᾱ)·x_t
			noise = s.PredictVelocity().Velocity(in[0].Neg(), b.Y, steps)
		}
		requireClose(t, s.String(), s.AddNoise(x, noise, steps), in[0].Float64s())
		requireClose(t, "classes", in[2], clean.Y.Float64s())
		if counts := steps.BinCount(10).Ints(); min(counts[0], counts[9]) < 5 {
			t.Errorf("the steps are %v", counts)
		}
		if mean, deviation := noise.Mean().Item(), noise.Std(0).Item(); math.Abs(mean) > 0.05 || math.Abs(deviation-1) > 0.05 {
			t.Errorf("the noise has the mean %v and the deviation %v", mean, deviation)
		}
	}
	pairs, err := data.FromTargets([][]float32{{1, 2}}, [][]float32{{3}})
	if err != nil {
		t.Fatal(err)
	}
	if noisy, err := diffusion.Cosine(10).Dataset(pairs); err != nil || noisy.Shape()[0] != 3 || noisy.Targets() != 2 {
		t.Errorf("without classes: %v, %v", noisy, err)
	}
}

// TestResume requires that a training that is interrupted and resumed has the same weights.
func TestResume(t *testing.T) {
	weights := func(resumed bool) []float32 {
		points, err := data.FromTensors(tensor.Randn(tensor.NewGenerator(1), 64, 2), tensor.Zeros(64, 1))
		if err != nil {
			t.Fatal(err)
		}
		noisy, err := diffusion.Cosine(10).Dataset(points)
		if err != nil {
			t.Fatal(err)
		}
		model := func() nn.Module { accel.Seed(1); return nn.Sequential(nn.Dense(8), nn.Tanh(), nn.Dense(2)) }
		m, path := model(), t.TempDir()+"/training"
		options := []accel.Option{accel.Epochs(3), accel.BatchSize(16), accel.Adam(0.01), accel.Resume(path), accel.Quiet()}
		if resumed {
			stop := errors.New("stop")
			if _, err := accel.Fit(t.Context(), m, noisy, append(options, accel.SaveEvery(1), accel.AfterStep(func(n int) error {
				if n == 6 {
					return stop
				}
				return nil
			}))...); !errors.Is(err, stop) {
				t.Fatal(err)
			}
			m = model()
		}
		if _, err := accel.Fit(t.Context(), m, noisy, options...); err != nil {
			t.Fatal(err)
		}
		return nn.Parameters(m)[0].Data()
	}
	if a, b := weights(false), weights(true); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("%v after resuming, want %v", b, a)
	}
}

// TestGenerates requires that a trained model generates the two clusters it was trained with, in equal parts, by both
// samplers, with noise and with velocities; and with a condition, the cluster that is wanted.
func TestGenerates(t *testing.T) {
	const n = 512
	g := tensor.NewGenerator(1)
	classes := tensor.RandInt(g, 0, 2, n)
	centers := tensor.New([]float32{-1, 1, 1, -1}, 2, 2).IndexSelect(classes)
	points, err := data.FromTensors(centers.Add(tensor.Randn(g, n, 2).MulScalar(0.1)), classes)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*diffusion.Schedule{diffusion.Linear(50, 1e-3, 0.2), diffusion.Cosine(50).PredictVelocity()} {
		accel.Seed(1)
		model := nn.Sequential(diffusion.Embed(16, 2), nn.Dense(64), nn.SiLU(), nn.Dense(64), nn.SiLU(), nn.Dense(2))
		noisy, err := s.Dataset(points)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := accel.Fit(t.Context(), model, noisy, accel.Epochs(150), accel.BatchSize(128), accel.AdamW(3e-3), accel.Quiet()); err != nil {
			t.Fatal(err)
		}
		wanted := tensor.Arange(0, 200, 1, tensor.Int32).Cast(tensor.Float32).MulScalar(0.01).Cast(tensor.Int32) // 100 of each
		for name, sample := range map[string]func(noise *tensor.Tensor) (*tensor.Tensor, error){
			"DDPM": func(noise *tensor.Tensor) (*tensor.Tensor, error) {
				return s.DDPM(t.Context(), model, noise, diffusion.Condition(wanted), diffusion.Clip(1.5))
			},
			"DDIM": func(noise *tensor.Tensor) (*tensor.Tensor, error) {
				return s.DDIM(t.Context(), model, noise, 20, diffusion.Condition(wanted), diffusion.Clip(1.5))
			},
		} {
			y, err := sample(tensor.Randn(nil, 200, 2))
			if err != nil {
				t.Fatal(err)
			}
			right := 0
			values, labels := y.Data(), wanted.Ints()
			for i, c := range labels {
				x := 2*float32(c) - 1
				if d := math.Hypot(float64(values[2*i]-x), float64(values[2*i+1]+x)); d < 0.4 {
					right++
				}
			}
			if right < 180 {
				t.Errorf("%v, %s: %d of 200 points are near the center of their class", s, name, right)
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	s, noise := diffusion.Cosine(4), tensor.Zeros(2, 4)
	nan := nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(1, 0, 4).MulScalar(math.NaN()) })
	done, cancel := context.WithCancel(t.Context())
	cancel()
	sample := func(ctx context.Context, m nn.Module, x *tensor.Tensor, steps int, options ...diffusion.Option) error {
		made, err := s.DDIM(ctx, m, x, steps, options...)
		if err != nil && made != nil {
			t.Errorf("%v, and examples", err)
		}
		return err
	}
	var finite *tensor.NonFiniteError
	var shape *tensor.ShapeError
	if err := sample(t.Context(), nan, noise, 4); !errors.As(err, &finite) {
		t.Errorf("NaN: %v", err)
	}
	if err := sample(t.Context(), nn.Identity(), noise, 4); !errors.As(err, &shape) {
		t.Errorf("another shape: %v", err)
	}
	if err := sample(done, known(4), noise, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	for name, err := range map[string]error{
		"no model":       sample(t.Context(), nil, noise, 4),
		"no noise":       sample(t.Context(), known(4), nil, 4),
		"no steps":       sample(t.Context(), known(4), noise, 0),
		"too many steps": sample(t.Context(), known(4), noise, 5),
		"eta":            sample(t.Context(), known(4), noise, 4, diffusion.Eta(2)),
		"clip":           sample(t.Context(), known(4), noise, 4, diffusion.Clip(math.NaN())),
		"integers":       sample(t.Context(), known(4), noise.Cast(tensor.Int32), 4),
		"empty":          sample(t.Context(), known(4), tensor.Zeros(0, 4), 4),
		"condition":      sample(t.Context(), known(4), noise, 4, diffusion.Condition(tensor.Zeros(3))),
		"nil data set":   func() error { _, err := s.Dataset(nil); return err }(),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, f := range map[string]func(){
		"Linear(0)":     func() { diffusion.Linear(0, 0.1, 0.2) },
		"Linear":        func() { diffusion.Linear(4, 0.2, 0.1) },
		"Linear(NaN)":   func() { diffusion.Linear(4, math.NaN(), 0.1) },
		"nothing left":  func() { diffusion.Linear(1000000, 1e-4, 0.02) },
		"Cosine(0)":     func() { diffusion.Cosine(0) },
		"width":         func() { diffusion.TimeEmbedding(5) },
		"embedding":     func() { diffusion.TimeEmbedding(4).Forward(tensor.Zeros(2, 2)) },
		"noise":         func() { s.AddNoise(noise, tensor.Zeros(2, 3), tensor.FromInts([]int{0, 0}, 2)) },
		"steps":         func() { s.AddNoise(noise, noise, tensor.FromInts([]int{0}, 1)) },
		"classes":       func() { diffusion.Embed(4, -1) },
		"width of both": func() { diffusion.Embed(3, 1) },
		"too narrow":    func() { diffusion.Embed(4, 2).Forward(tensor.Zeros(5, 2)) },
		"no such class": func() { diffusion.Embed(4, 2).Forward(tensor.Full(2, 5, 3)).Data() },
		"no such step":  func() { s.AddNoise(noise, noise, tensor.FromInts([]int{0, 4}, 2)).Data() },
		"negative step": func() { s.Velocity(noise, noise, tensor.FromInts([]int{0, -1}, 2)).Data() },
	} {
		func() {
			defer func() {
				if _, ok := recover().(error); !ok {
					t.Errorf("%s: no panic with an error", name)
				}
			}()
			f()
		}()
	}
}

// A model for points learns to generate them.
func Example() {
	points, err := data.FromTensors(tensor.Ones(256, 2), tensor.Zeros(256, 1)) // all are (1, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	schedule := diffusion.Cosine(20)
	noisy, err := schedule.Dataset(points)
	if err != nil {
		fmt.Println(err)
		return
	}
	accel.Seed(1)
	model := nn.Sequential(diffusion.Embed(8, 0), nn.Dense(32), nn.ReLU(), nn.Dense(2))
	ctx := context.Background()
	if _, err := accel.Fit(ctx, model, noisy, accel.Epochs(200), accel.AdamW(3e-3), accel.Quiet()); err != nil {
		fmt.Println(err)
		return
	}
	drawn, err := schedule.DDIM(ctx, model, tensor.Randn(nil, 100, 2), 10, diffusion.Clip(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("near (1, 1):", drawn.AddScalar(-1).Abs().Max(1).LessScalar(0.5).Mean().Item() > 0.9)
	// Output: near (1, 1): true
}

// In a custom loop, the steps and the noise are tensors.
func ExampleSchedule_AddNoise() {
	schedule := diffusion.Linear(1000, 1e-4, 0.02)
	x, noise := tensor.Ones(2, 1), tensor.Zeros(2, 1)
	fmt.Printf("%.2f\n", schedule.AddNoise(x, noise, tensor.FromInts([]int{0, 999}, 2)).Data())
	// Output: [1.00 0.01]
}

// TestCustomLoop trains in a custom loop, on the CPU and on a simulated GPU: the loss falls, and has the same value on both.
func TestCustomLoop(t *testing.T) {
	defer func() {
		if err := tensors.SetDevice("cpu"); err != nil {
			t.Error(err)
		}
	}()
	losses := map[string][]float64{}
	for _, device := range []string{"cpu", "simulated"} {
		if err := tensors.SetDevice(device); err != nil {
			t.Fatal(err)
		}
		accel.Seed(1)
		schedule, g := diffusion.Cosine(20), tensor.NewGenerator(1)
		x := tensor.Ones(16, 1, 1, 2)
		model := nn.Sequential(diffusion.Embed(4, 0), nn.Dense(16), nn.SiLU(), nn.Dense(2))
		var opt *optim.Optimizer
		for range 30 {
			steps, noise := tensor.RandInt(g, 0, schedule.Steps(), 16), tensor.Randn(g, x.Shape()...)
			noisy := nn.Pack(schedule.AddNoise(x, noise, steps), steps.Cast(tensor.Float32))
			loss := nn.MSE(model.Forward(noisy), noise.Flatten(1))
			if opt == nil { // the parameters exist after the first forward pass
				opt = optim.Adam(model, 0.02)
			}
			opt.ZeroGrad()
			loss.Backward()
			opt.Step()
			losses[device] = append(losses[device], loss.Item())
		}
	}
	cpu, gpu := losses["cpu"], losses["simulated"]
	if mean := func(l []float64) float64 { return (l[0] + l[1] + l[2]) / 3 }; !(mean(cpu[27:]) < 0.7*mean(cpu)) {
		t.Errorf("the losses are %v", cpu)
	}
	for i, v := range cpu {
		if math.Abs(v-gpu[i]) > 1e-3*v {
			t.Errorf("step %d: %v on the CPU, %v on the GPU", i, v, gpu[i])
		}
	}
}

// TestOtherOptions gives functions of the package options that only others of them take.
func TestOtherOptions(t *testing.T) {
	for want, f := range map[string]func() error{
		`diffusion: DDPM does not take Eta(0.5): its options are Condition, Clip and Generator`: func() error {
			_, err := diffusion.Cosine(4).DDPM(t.Context(), nn.ReLU(), tensor.Zeros(1, 1), diffusion.Eta(0.5))
			return err
		},
	} {
		if err := f(); err == nil || err.Error() != want {
			t.Errorf("want %s\ngot  %v", want, err)
		}
	}
}
