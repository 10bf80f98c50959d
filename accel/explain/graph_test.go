package explain_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/explain"
	"github.com/quernlab/quern/accel/models"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/golden"
)

// function is a module whose layers are fields, as users write them.
type function struct {
	A, B, C nn.Module
	forward func(f *function, x *tensor.Tensor) *tensor.Tensor
}

func (f *function) Forward(x *tensor.Tensor) *tensor.Tensor { return f.forward(f, x) }

// nodes returns a graph as text, one node in a line: path, layer, shape, parameters, and the nodes it takes.
func nodes(g *explain.ModelGraph) string {
	var lines []string
	for _, n := range g.Nodes {
		line := strings.TrimSpace(n.Path+" "+n.Layer) + fmt.Sprint(n.Shape)
		if n.Parameters+n.Frozen > 0 {
			line += fmt.Sprintf(" %d+%d", n.Parameters, n.Frozen)
		}
		lines = append(lines, fmt.Sprint(line, " <", n.In))
	}
	return strings.Join(lines, "; ")
}

func TestGraph(t *testing.T) {
	frozen := nn.Dense(4)
	frozen.Forward(tensor.Zeros(1, 3))
	nn.Freeze(frozen)
	shared := nn.Dense(3)
	tokens := nn.Embedding(10, 4)
	for _, row := range []struct {
		name  string
		model nn.Module
		shape []int
		want  string
	}{
		{"a layer", nn.Dense(2), []int{3}, "input[3] <[]; Dense(2)[2] 8+0 <[0]"},
		{"an elementwise layer", nn.ReLU(), []int{3}, "input[3] <[]; ReLU[3] <[0]"},
		{"a chain", nn.Sequential(nn.Conv2D(2, 3), nn.ReLU(), nn.Flatten(), nn.Dropout(0.5), nn.Sequential(nn.Dense(5))), []int{1, 4, 4},
			"input[1 4 4] <[]; 0 Conv2D(2, 3)[2 2 2] 20+0 <[0]; 1 ReLU()[2 2 2] <[1]; 2 Flatten()[8] <[2]; 4.0 Dense(5)[5] 45+0 <[3]"},
		{"running statistics are no parameters", nn.Sequential(nn.BatchNorm()), []int{3, 2, 2}, "input[3 2 2] <[]; 0 BatchNorm()[3 2 2] 6+0 <[0]"},
		{"frozen", nn.Sequential(frozen, nn.Dense(1)), []int{3}, "input[3] <[]; 0 Dense(4)[4] 0+16 <[0]; 1 Dense(1)[1] 5+0 <[1]"},
		{"a residual", nn.Sequential(nn.Dense(3), nn.Residual(nn.ReLU(), nn.Dense(3))), []int{3},
			"input[3] <[]; 0 Dense(3)[3] 12+0 <[0]; 1.0 ReLU()[3] <[1]; 1.1 Dense(3)[3] 12+0 <[2]; 1 Add[3] <[1 3]"},
		{"fields", &function{A: nn.Dense(3), B: nn.Dense(3), forward: func(f *function, x *tensor.Tensor) *tensor.Tensor {
			return f.A.Forward(x).ReLU().Mul(f.B.Forward(x))
		}}, []int{2}, "input[2] <[]; A Dense(3)[3] 9+0 <[0]; ReLU[3] <[1]; B Dense(3)[3] 9+0 <[0]; Mul[3] <[2 3]"},
		{"chains of fields", &function{A: nn.Sequential(nn.Dense(3), nn.Tanh()), B: nn.Sequential(nn.Dense(3), nn.Tanh()), forward: func(f *function, x *tensor.Tensor) *tensor.Tensor {
			return f.B.Forward(f.A.Forward(x))
		}}, []int{3}, "input[3] <[]; A.0 Dense(3)[3] 12+0 <[0]; A.1 Tanh()[3] <[1]; B.0 Dense(3)[3] 12+0 <[2]; B.1 Tanh()[3] <[3]"},
		{"layers without parameters in a chain of a field", &function{A: nn.Sequential(nn.Dense(3), nn.Softmax(1), nn.Tanh()), forward: func(f *function, x *tensor.Tensor) *tensor.Tensor {
			return f.A.Forward(x)
		}}, []int{3}, "input[3] <[]; A.0 Dense(3)[3] 12+0 <[0]; A.1 Softmax(1)[3] <[1]; A.2 Tanh()[3] <[2]"},
		{"a layer called twice", &function{A: shared, forward: func(f *function, x *tensor.Tensor) *tensor.Tensor {
			return f.A.Forward(f.A.Forward(x).ReLU())
		}}, []int{3}, "input[3] <[]; A Dense(3)[3] 12+0 <[0]; ReLU[3] <[1]; A Dense(3)[3] <[2]"},
		{"an attention", &function{A: nn.MultiHeadAttention(2), forward: func(f *function, x *tensor.Tensor) *tensor.Tensor {
			return x.Add(f.A.Forward(x))
		}}, []int{5, 4}, "input[5 4] <[]; A MultiHeadAttention(2)[5 4] 80+0 <[0]; Add[5 4] <[0 1]"},
		{"an attention called twice", &function{A: nn.MultiHeadAttention(2), forward: func(f *function, x *tensor.Tensor) *tensor.Tensor {
			return f.A.Forward(f.A.Forward(x))
		}}, []int{5, 4}, "input[5 4] <[]; A MultiHeadAttention(2)[5 4] 80+0 <[0]; A MultiHeadAttention(2)[5 4] <[1]"},
		{"tied weights", nn.Sequential(tokens, nn.ReLU(), nn.TiedDense(tokens)), []int{5},
			"input[5] <[]; 0 Embedding(10, 4)[5 4] 40+0 <[0]; 1 ReLU()[5 4] <[1]; 2 TiedDense(Embedding(10, 4))[5 10] <[2]"},
		{"a parameter in an op", &function{A: &scale{tensor.Parameter(tensor.Ones(3))}, forward: func(f *function, x *tensor.Tensor) *tensor.Tensor {
			return f.A.Forward(x)
		}}, []int{3}, "input[3] <[]; A Mul[3] 3+0 <[0]"},
		{"two branches", &function{A: nn.Dense(2), B: nn.Dense(2), forward: func(f *function, x *tensor.Tensor) *tensor.Tensor {
			return nn.Pack(f.A.Forward(x), f.B.Forward(x))
		}}, []int{3}, "input[3] <[]; A Dense(2)[2] 8+0 <[0]; B Dense(2)[2] 8+0 <[0]; Concat[4] <[1 2]"},
		{"a reshape", &function{forward: func(f *function, x *tensor.Tensor) *tensor.Tensor { return x.Reshape(1, 6).ReLU() }}, []int{2, 3},
			"input[2 3] <[]; Reshape[6] <[0]; ReLU[6] <[1]"},
	} {
		g, err := explain.Graph(row.model, row.shape...)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if got := nodes(g); got != row.want || g.Output != len(g.Nodes)-1 {
			t.Errorf("%s:\n%s\nwant\n%s", row.name, got, row.want)
		}
	}
}

// No parameter is counted twice or left out.
func TestGraphCountsParameters(t *testing.T) {
	for name, c := range map[string]struct {
		model nn.Module
		shape []int
	}{
		"ResNet18":    {models.ResNet18(10), []int{3, 32, 32}},
		"ResNet50":    {models.ResNet50(10), []int{3, 32, 32}},
		"ViT":         {models.ViT(models.ViTConfig{ImageSize: 16, PatchSize: 8, Width: 8, Inner: 16, Layers: 3, Heads: 2, Classes: 3}), []int{3, 16, 16}},
		"GPT2":        {models.GPT2(models.GPT2Config{VocabSize: 20, Positions: 8, Width: 8, Layers: 4, Heads: 2}), []int{6}},
		"Llama":       {models.Llama(models.LlamaConfig{VocabSize: 20, Positions: 8, Width: 8, Inner: 16, Layers: 4, Heads: 2}), []int{6}},
		"transformer": {nn.Sequential(nn.Embedding(9, 8), nn.TransformerEncoderLayer(2, nn.FeedForward(16)), nn.TransformerEncoderLayer(2, nn.FeedForward(16)), nn.LSTM(4)), []int{6}},
	} {
		g, err := explain.Graph(c.model, c.shape...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := 0
		for _, p := range nn.Parameters(c.model) {
			want += p.Numel()
		}
		if g.Parameters() != want {
			t.Errorf("%s: %d parameters, want %d\n%s", name, g.Parameters(), want, g)
		}
		for i, n := range g.Nodes {
			if slices.ContainsFunc(n.In, func(in int) bool { return in < 0 || in >= i }) {
				t.Errorf("%s: node %d takes %v", name, i, n.In)
			}
		}
	}
}

// block is a pre-norm block of a transformer.
func block(int) nn.Module {
	return nn.Sequential(nn.Residual(nn.LayerNorm(), nn.MultiHeadAttention(2)), nn.Residual(nn.LayerNorm(), nn.Dense(16), nn.GELU(), nn.Dense(8)))
}

// Repeated blocks are one block; the drawing of a hundred layers has few.
func TestGraphFoldsRepeatedBlocks(t *testing.T) {
	g, err := explain.Graph(nn.Sequential(nn.Embedding(9, 8), nn.Repeat(12, block), nn.Dense(9)), 6)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Nodes) != 1+1+12*8+1 || strings.Count(g.String(), "× 12") != 8 || strings.Count(g.SVG(), "× 12") != 1 || strings.Count(g.SVG(), "<title>") != 11 {
		t.Errorf("%d nodes\n%s", len(g.Nodes), g)
	}
	golden.Check(t, "graph-transformer.svg", []byte(g.SVG()))
	golden.Check(t, "graph-transformer.txt", []byte(g.String()+"\n"))
	if html := fmt.Sprint(g.MIMEBundle()["text/html"]); !strings.Contains(html, "data:image/svg+xml,%3C") {
		t.Error(html)
	}
}

func TestGraphOfResiduals(t *testing.T) {
	model := nn.Sequential(nn.Conv2D(8, 3, nn.Same()), nn.Residual(nn.BatchNorm(), nn.ReLU(), nn.Residual(nn.Conv2D(8, 3, nn.Same())), nn.ReLU()), nn.GlobalAvgPool2D(), nn.Dense(10))
	g, err := explain.Graph(model, 1, 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "graph-residual.svg", []byte(g.SVG()))
}

// Layers whose results are used further on, such as those of a U-Net, are not folded.
func TestGraphKeepsUsedLayers(t *testing.T) {
	apart := &function{forward: func(_ *function, x *tensor.Tensor) *tensor.Tensor {
		a := x.ReLU()
		return a.ReLU().ReLU().Add(a)
	}}
	together := &function{forward: func(_ *function, x *tensor.Tensor) *tensor.Tensor { return x.ReLU().ReLU().ReLU().AddScalar(1) }}
	before := &function{forward: func(_ *function, x *tensor.Tensor) *tensor.Tensor { // each takes the two before it
		a := x.ReLU()
		for range 3 {
			x, a = a, a.Add(x)
		}
		return a
	}}
	if g, err := explain.Graph(before, 3); err != nil || strings.Contains(g.String(), "×") {
		t.Errorf("%v\n%s", err, g)
	}
	for model, want := range map[*function]string{apart: "× 2", together: "× 3"} {
		g, err := explain.Graph(model, 3)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(g.String(), want) != 1 || strings.Count(g.String(), "×") != 1 {
			t.Errorf("%s\nwant %s", g, want)
		}
	}
}

func TestGraphErrors(t *testing.T) {
	var traced *tensor.TraceError
	var layer *nn.LayerError
	reads := &function{forward: func(_ *function, x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(x.Sum().Item()) }}
	if _, err := explain.Graph(reads, 3); !errors.As(err, &traced) {
		t.Error(err)
	}
	if _, err := explain.Graph(nn.Sequential(nn.Conv2D(2, 3)), 3); !errors.As(err, &layer) || !strings.HasPrefix(err.Error(), "explain: Graph: ") {
		t.Error(err)
	}
	if _, err := explain.Graph(nil, 3); err == nil {
		t.Error("no error for nil")
	}
	constant := &function{forward: func(*function, *tensor.Tensor) *tensor.Tensor { return tensor.Ones(1, 2) }}
	if _, err := explain.Graph(constant, 3); err == nil || !strings.Contains(err.Error(), "does not depend on its input") {
		t.Error(err)
	}
}

func ExampleGraph() {
	model := nn.Sequential(nn.Dense(8), nn.Residual(nn.ReLU(), nn.Dense(8)), nn.Dense(2))
	graph, err := explain.Graph(model, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(graph)
	// Output:
	//      layer     output  parameters  from                       times
	//      input     [4]
	// 0    Dense(8)  [8]             40
	// 1.0  ReLU()    [8]
	// 1.1  Dense(8)  [8]             72
	// 1    Add       [8]                 0 Dense(8) + 1.1 Dense(8)
	// 2    Dense(2)  [2]             18
	// 5 layers, 130 parameters
}
