package baseline

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Neighbors predicts from the k training examples that are nearest in Euclidean distance of the
// standardized features: their most frequent class, of equally frequent ones the first, or the mean of
// their targets. It is scikit-learn's KNeighborsClassifier after a StandardScaler.
//
// The probability of a class with n of the k neighbors is (n+1)/(k+C) for C classes, so that no class
// has the probability 0. The model keeps the training examples.
func Neighbors(k int) Method { return neighbors{k} }

type neighbors struct{ k int }

func (m neighbors) String() string { return fmt.Sprintf("%d nearest neighbors", m.k) }

func (m neighbors) Fit(_ context.Context, train *data.Dataset) (model nn.Module, err error) {
	defer nn.Catch(&err)
	all, err := read(train)
	if err != nil {
		return nil, err
	}
	if m.k < 1 || m.k > train.Len() {
		return nil, fmt.Errorf("the number of neighbors must be from 1 to the %d examples of %s, got %d", train.Len(), train.Name(), m.k)
	}
	s := newScale(all.x)
	x := s.apply(all.x)
	values := all.y // what the neighbors vote with: targets, or one column for each class
	if all.classes > 0 {
		values = all.y.OneHot(all.classes)
	}
	return &neighborModel{k: m.k, scale: s, x: x, squares: x.Square().Sum(1), values: values, classes: all.classes}, nil
}

// neighborModel finds the nearest training examples.
type neighborModel struct {
	k       int
	scale   scale
	x       *tensor.Tensor // standardized training examples [N, D]
	squares *tensor.Tensor // the squared norm of each [N]
	values  *tensor.Tensor // [N, C] or [N, T]
	classes int            // 0 for regression
}

// Forward returns logits [B, C] or targets [B, T] for examples [B, …].
func (m *neighborModel) Forward(x *tensor.Tensor) *tensor.Tensor {
	b := x.Size(0)
	x = m.scale.apply(x.Reshape(b, -1))
	// ‖x-y‖² without ‖x‖², which is the same for all neighbors of x.
	distances := m.squares.Sub(x.MatMul(m.x.T()).MulScalar(2))
	_, nearest := distances.TopK(m.k, 1, false)
	votes := m.values.IndexSelect(nearest) // [B, k, …]
	if m.classes == 0 {
		return votes.Mean(1)
	}
	return votes.Sum(1).AddScalar(1).MulScalar(1 / float64(m.k+m.classes)).Log()
}

// String returns the model as Go code.
func (m *neighborModel) String() string { return fmt.Sprintf("Neighbors(%d)", m.k) }
