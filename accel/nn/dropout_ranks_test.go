package nn_test

import (
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// In tensor parallelism each rank drops other features, and the random numbers of later layers stay those of all ranks.
func TestDropoutOfRanks(t *testing.T) {
	draw := func(rank int) (kept []float32, later []float32) {
		(*tensor.Generator)(nil).SetState(7, 40)
		m := nn.Dropout(0.5)
		m.(interface{ Vary(rank int) }).Vary(rank)
		kept = m.Forward(tensor.Ones(1000)).Data()
		return kept, nn.Dropout(0.5).Forward(tensor.Ones(1000)).Data()
	}
	first, laterFirst := draw(0)
	second, laterSecond := draw(1)
	equal, equalLater := 0, 0
	for i := range first {
		if first[i] == second[i] {
			equal++
		}
		if laterFirst[i] == laterSecond[i] {
			equalLater++
		}
	}
	if equal < 400 || equal > 600 || equalLater != 1000 {
		t.Errorf("%d of 1000 features are dropped on both ranks or on none, and %d later", equal, equalLater)
	}
}
