package nn_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

func TestFreezeStatistics(t *testing.T) {
	m := nn.Sequential(nn.Dense(3), nn.BatchNorm())
	x := tensor.Randn(tensor.NewGenerator(1), 6, 4)
	m.Forward(x)
	nn.Train(m, false)
	want := m.Forward(x).Float64s()
	nn.Train(m, true)
	frozen := nn.Freeze(m, nn.FreezeStatistics())
	if got := m.Forward(x).Float64s(); !slices.Equal(got, want) || len(nn.Parameters(m)) != 0 {
		t.Errorf("got %v, want %v as in evaluation mode; %d parameters", got, want, len(nn.Parameters(m)))
	}
	frozen.Thaw()
	if got := m.Forward(x).Float64s(); slices.Equal(got, want) || len(nn.Parameters(m)) != 4 {
		t.Errorf("still as in evaluation mode after Thaw; %d parameters", len(nn.Parameters(m)))
	}
}

func TestReplaceHead(t *testing.T) {
	type net struct {
		Body nn.Module
		Head nn.Module `nn:"fc"`
	}
	body := nn.Dense(4)
	chain := nn.Sequential(nn.Flatten(), nn.Sequential(body, nn.ReLU(), nn.Dense(10)), nn.Dropout(0.5))
	own := &net{nn.Dense(4), nn.Dense(10)}
	for want, model := range map[string]any{"1.2": chain, "fc": own} {
		head := nn.Dense(3)
		name, err := nn.ReplaceHead(model, head)
		if err != nil || name != want {
			t.Errorf("replaced %q, %v; want %q", name, err, want)
		}
		found := false
		for _, m := range nn.NamedModules(model) {
			found = found || m.Module == nn.Module(head) && m.Name == want
		}
		if !found {
			t.Errorf("%s: the head was not replaced", want)
		}
	}
	if y := chain.Forward(tensor.Zeros(2, 5)); y.Size(1) != 3 {
		t.Errorf("shape %v", y.Shape())
	}
	for _, c := range []struct {
		name string
		by   nn.Module
	}{{"7", nn.ReLU()}, {"1.2.Weight", nn.ReLU()}, {"1", nil}, {"", nn.ReLU()}} {
		var state *tensor.StateError
		if err := nn.Replace(chain, c.name, c.by); !errors.As(err, &state) {
			t.Errorf("%q: %v, want a StateError", c.name, err)
		}
	}
}

// TestReplaceSharedModules replaces uses of a module that a model has under several names.
func TestReplaceSharedModules(t *testing.T) {
	type net struct {
		A, B  *nn.SequentialLayer
		Cycle *net
	}
	newNet := func() (*net, *nn.DenseLayer) {
		d := nn.Dense(2)
		chain := nn.Sequential(nn.Dense(3), nn.ReLU(), nn.Sequential(d))
		n := &net{A: chain, B: chain}
		n.Cycle = n
		return n, d
	}
	for _, name := range []string{"A", "B", "A.0", "B.0", "B.2", "B.2.0"} {
		n, _ := newNet()
		by := nn.Sequential(nn.Dense(7))
		if err := nn.Replace(n, name, by); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, use := range []string{"A", "B"} {
			found := false
			for _, m := range nn.NamedModules(map[string]any{"A": n.A, "B": n.B}[use]) {
				found = found || m.Module == nn.Module(by)
			}
			// A part of the shared chain is a part of both, and a use of the chain is a use of its own.
			if want := strings.Contains(name, ".") || use == name; found != want {
				t.Errorf("%s: the new module is in %s: %v, want %v", name, use, found, want)
			}
		}
	}
	n, _ := newNet()
	if err := nn.Replace(n, "Cycle.B.3", nn.ReLU()); err == nil {
		t.Error("replaced a module that is not there")
	}

	if name, err := nn.ReplaceHead(n, nn.Dense(9)); err != nil || n.B.Forward(tensor.Zeros(1, 4)).Size(1) != 9 {
		t.Errorf("a head in a chain that is used twice: %q, %v", name, err)
	}
	_, d := newNet()
	for _, model := range []*nn.SequentialLayer{nn.Sequential(d, nn.ReLU(), d), nn.Sequential(nn.Dense(4), d, nn.Dense(5), d)} {
		before := model.String()
		var state *tensor.StateError
		if name, err := nn.ReplaceHead(model, nn.Dense(9)); !errors.As(err, &state) || !strings.Contains(err.Error(), "is used as") || model.String() != before {
			t.Errorf("the head of %s: %q, %v, then %s", before, name, err, model)
		}
	}
}

func TestLoRA(t *testing.T) {
	m := nn.Sequential(nn.Dense(6), nn.Tanh(), nn.Dense(2))
	x := tensor.Randn(tensor.NewGenerator(1), 5, 4)
	y := m.Forward(x).Float64s()
	weights := func() (w []float64) {
		for _, l := range []int{0, 2} {
			w = append(w, m.Layers()[l].(*nn.DenseLayer).Weight.Float64s()...)
		}
		return w
	}
	before := weights()
	layers, err := nn.LoRA(m, 2, 4, "0")
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "start", m.Forward(x).Float64s(), y, 0)
	var names []string
	for _, p := range nn.NamedParameters(m) {
		names = append(names, p.Name)
	}
	if want := []string{"0.lora_A.weight", "0.lora_B.weight"}; !slices.Equal(names, want) {
		t.Fatalf("parameters %v, want %v", names, want)
	}
	opt := optim.SGD(m, 0.5)
	for range 3 {
		opt.ZeroGrad()
		m.Forward(x).Square().Mean().Backward()
		opt.Step()
	}
	if !slices.Equal(before, weights()) {
		t.Error("training changed frozen weights")
	}
	trained := m.Forward(x).Float64s()
	if slices.Equal(trained, y) {
		t.Error("training changed nothing")
	}
	layers.Merge()
	closeTo(t, "merged", m.Forward(x).Float64s(), trained, 1e-6)
	if slices.Equal(before, weights()) || len(nn.NamedParameters(m)) != 4 {
		t.Errorf("Merge has not changed the weights, or left %d parameters", len(nn.NamedParameters(m)))
	}
	for name, f := range map[string]func() (*nn.LoRALayers, error){
		"rank":      func() (*nn.LoRALayers, error) { return nn.LoRA(m, 0, 1) },
		"pattern":   func() (*nn.LoRALayers, error) { return nn.LoRA(m, 1, 1, "5") },
		"malformed": func() (*nn.LoRALayers, error) { return nn.LoRA(m, 1, 1, "[") },
		"no weight": func() (*nn.LoRALayers, error) { return nn.LoRA(nn.Dense(3), 1, 1) },
	} {
		var state *tensor.StateError
		if _, err := f(); !errors.As(err, &state) || len(nn.NamedParameters(m)) != 4 {
			t.Errorf("%s: %v, %d parameters", name, err, len(nn.NamedParameters(m)))
		}
	}
}

// TestLoRALayers trains adapters of each kind of layer. Their gradients must be those that the gradient
// of the merged weight implies, and the merged model must compute the same.
// TestLoRAMergesInto16BitWeights merges adapters, which are float32, into 16-bit weights, which keep their type.
func TestLoRAMergesInto16BitWeights(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		layer := nn.Dense(5)
		x := tensor.Randn(tensor.NewGenerator(1), 3, 4)
		layer.Forward(x)
		layer.Weight = tensor.Parameter(layer.Weight.Detach().Cast(d))
		adapted, err := nn.LoRA(layer, 2, 4)
		if err != nil {
			t.Fatal(err)
		}
		before := layer.Weight.Clone()
		for _, p := range nn.Parameters(layer) {
			p.Assign(tensor.Randn(tensor.NewGenerator(2), p.Shape()...))
		}
		want := layer.Forward(x).Data()
		adapted.Merge()
		if layer.Weight.DType() != d || slices.Equal(layer.Weight.Data(), before.Data()) {
			t.Errorf("%v: the weight is of type %v after the merge, from %v to %v", d, layer.Weight.DType(), before, layer.Weight)
		}
		for i, v := range layer.Forward(x).Data() {
			if math.Abs(float64(v-want[i])) > 0.1 {
				t.Errorf("%v: output %d is %v, want %v", d, i, v, want[i])
			}
		}
	}
}

func TestLoRALayers(t *testing.T) {
	sequences, images := tensor.Randn(tensor.NewGenerator(1), 2, 3, 8), tensor.Randn(tensor.NewGenerator(2), 2, 3, 6, 6)
	memory := tensor.Randn(tensor.NewGenerator(3), 2, 5, 8)
	cross := nn.MultiHeadAttention(2)
	tests := []struct {
		name     string
		model    nn.Module
		x        *nn.Tensor
		patterns []string
		forward  func(x *nn.Tensor) *nn.Tensor // nil for Forward
		want     []string                      // names of the parameters
	}{
		{"self-attention", nn.SelfAttention(2, nn.Causal()), sequences, nil, nil,
			[]string{"out_proj.lora_A.weight", "out_proj.lora_B.weight", "lora_A.weight", "lora_B.weight"}},
		{"cross-attention", cross, sequences, []string{""}, func(x *nn.Tensor) *nn.Tensor { return cross.Attend(x, memory, tensor.AttentionMask{}) },
			[]string{"lora_A.weight", "lora_B.weight"}},
		{"grouped attention", nn.GroupedQueryAttention(2, 1), sequences, []string{"[qv]_proj"}, nil,
			[]string{"q_proj.lora_A.weight", "q_proj.lora_B.weight", "v_proj.lora_A.weight", "v_proj.lora_B.weight"}},
		{"encoder", nn.TransformerEncoderLayer(2, nn.FeedForward(4), nn.TransformerDropout(0)), sequences, []string{"self_attn"}, nil,
			[]string{"self_attn.lora_A.weight", "self_attn.lora_B.weight"}},
		{"convolution", nn.Sequential(nn.Conv2D(4, 3, nn.Stride(2), nn.Padding(1)), nn.ReLU()), images, []string{"0"}, nil,
			[]string{"0.lora_A.weight", "0.lora_B.weight"}},
		{"dilated convolution", nn.Conv2D(4, 2, nn.Dilation(2), nn.NoBias()), images, []string{"*"}, nil,
			[]string{"lora_A.weight", "lora_B.weight"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			forward := tt.forward
			if forward == nil {
				forward = tt.model.Forward
			}
			before := forward(tt.x).Float64s()
			const rank, alpha = 2, 3
			layers, err := nn.LoRA(tt.model, rank, alpha, tt.patterns...)
			if err != nil {
				t.Fatal(err)
			}
			closeTo(t, "start", forward(tt.x).Float64s(), before, 0)
			parameters := nn.NamedParameters(tt.model)
			var names []string
			for i, p := range parameters {
				names = append(names, p.Name)
				p.SetData(tensor.Randn(tensor.NewGenerator(uint64(i)), p.Shape()...).Data()) // B is 0 at first
			}
			slices.Sort(names)
			if want := slices.Sorted(slices.Values(tt.want)); !slices.Equal(names, want) {
				t.Fatalf("parameters %v, want %v", names, want)
			}
			y := forward(tt.x)
			adapted := y.Float64s()
			if slices.Equal(adapted, before) {
				t.Fatal("the adapters change nothing")
			}
			y.Square().Mean().Backward()
			a, b := matrix(parameters[0].Tensor), matrix(parameters[1].Tensor)
			gradientA, gradientB := parameters[0].Grad(), parameters[1].Grad()
			layers.Merge()
			closeTo(t, "merged", forward(tt.x).Float64s(), adapted, 2e-5)
			forward(tt.x).Square().Mean().Backward()
			// W = W₀ + s·B·A, so dL/dA = s·Bᵀ·dL/dW and dL/dB = s·dL/dW·Aᵀ.
			weight := strings.TrimSuffix(parameters[0].Name, "lora_A.weight") + "weight"
			if strings.HasSuffix(tt.name, "-attention") || tt.name == "encoder" {
				weight = strings.Replace(weight, "weight", "in_proj_weight", 1)
				if strings.HasPrefix(parameters[0].Name, "out_proj") {
					weight = "out_proj.weight"
				}
			}
			for _, p := range nn.NamedParameters(tt.model) {
				if p.Name == weight {
					g := matrix(p.Grad())
					closeTo(t, "gradient of A", gradientA.Float64s(), b.T().MatMul(g).MulScalar(float64(alpha)/rank).Float64s(), 1e-4)
					closeTo(t, "gradient of B", gradientB.Float64s(), g.MatMul(a.T()).MulScalar(float64(alpha)/rank).Float64s(), 1e-4)
					return
				}
			}
			t.Errorf("no parameter %s after Merge", weight)
		})
	}
	grouped := nn.Conv2D(6, 3, nn.Groups(3))
	grouped.Forward(images)
	var state *tensor.StateError
	if _, err := nn.LoRA(grouped, 1, 1, "*"); !errors.As(err, &state) || !strings.Contains(err.Error(), "groups") {
		t.Errorf("a convolution with groups: %v", err)
	}
	if _, err := nn.LoRA(nn.ReLU(), 1, 1); !errors.As(err, &state) {
		t.Errorf("nothing to adapt: %v", err)
	}
}

// matrix returns a weight as a matrix of its outputs and inputs.
func matrix(w *nn.Tensor) *nn.Tensor { return w.Detach().Reshape(w.Size(0), w.Numel()/w.Size(0)) }

func TestUnfreezeGradually(t *testing.T) {
	m := nn.Sequential(nn.Dense(3), nn.Dense(3), nn.Dense(3), nn.Dense(3))
	m.Forward(tensor.Zeros(1, 3))
	u, err := nn.UnfreezeGradually(m, 10, "1.*", "2.*", "3.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ updates, want int }{{0, 2}, {9, 2}, {10, 4}, {19, 4}, {20, 6}, {99, 6}} {
		if err := u.AfterStep(c.updates); err != nil || len(nn.Parameters(m)) != c.want {
			t.Errorf("after %d updates %d parameters, want %d; %v", c.updates, len(nn.Parameters(m)), c.want, err)
		}
	}
	if text := u.String(); text != "GradualUnfreezing of 2 frozen parts, one every 10 updates" {
		t.Errorf("it is %s", text)
	}
	if _, err := nn.UnfreezeGradually(m, 10, "9.*"); err == nil {
		t.Error("a pattern without a match is no error")
	}
}
