package nn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestConv1DErrors names Conv1D and the shapes of the sequences.
func TestConv1DErrors(t *testing.T) {
	t.Parallel()
	used := nn.Conv1D(4, 3)
	used.Forward(tensor.Zeros(1, 2, 8))
	for name, row := range map[string]struct {
		layer nn.Module
		shape []int
		want  string
	}{
		"other channels": {used, []int{1, 5, 8}, "Conv1D: [1 5 8] and [4 2 3]: "},
		"too short":      {nn.Conv1D(4, 3), []int{1, 2, 2}, "Conv1D: [1 2 2] and [4 2 3]: "},
		"no channels":    {used, []int{1, 8}, "Conv1D: [1 8]"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, row.want) {
					t.Errorf("%s: %s", name, got)
				}
			}()
			row.layer.Forward(tensor.Zeros(row.shape...))
		}()
	}
}
