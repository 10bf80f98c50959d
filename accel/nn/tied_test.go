package nn_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestTiedDense checks that a tied weight is one parameter with both gradients, also in files.
func TestTiedDense(t *testing.T) {
	embedding := nn.Embedding(5, 3)
	m := nn.Sequential(embedding, nn.TiedDense(embedding))
	ids := tensor.FromInts([]int{1, 4, 1}, 1, 3)
	y := m.Forward(ids)
	if !slices.Equal(y.Shape(), []int{1, 3, 5}) {
		t.Fatalf("shape %v", y.Shape())
	}
	all := nn.NamedParameters(m)
	if len(all) != 1 || all[0].Name != "0.weight" {
		t.Fatalf("parameters %v", all)
	}
	y.Sum().Backward()
	// d/dW of Σ (W[id]·Wᵀ) is Σ_ids W[id] for each row, plus Σ_rows W for each use of an id.
	w, grad := all[0].Float64s(), all[0].Grad().Float64s()
	for row := range 5 {
		for c := range 3 {
			want := 2*w[3+c] + w[12+c]
			uses := []float64{0, 2, 0, 0, 1}[row]
			for r := range 5 {
				want += uses * w[3*r+c]
			}
			closeTo(t, "gradient", grad[3*row+c:3*row+c+1], []float64{want}, 1e-5)
		}
	}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := nn.Save(path, m); err != nil {
		t.Fatal(err)
	}
	other := nn.Embedding(5, 3)
	loaded := nn.Sequential(other, nn.TiedDense(other))
	if err := nn.Load(path, loaded); err != nil {
		t.Fatal(err)
	}
	closeTo(t, "loaded", loaded.Forward(ids).Float64s(), y.Float64s(), 0)
}
