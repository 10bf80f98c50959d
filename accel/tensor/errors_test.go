package tensor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// catch returns what f panics with.
func catch(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = r
		}
	}()
	f()
	return nil
}

func TestErrors(t *testing.T) {
	a, b := Zeros(2, 3), Zeros(4, 5)
	p := Parameter(Ones(2))
	used := p.Sum()
	used.Backward()
	released := Ones(1)
	released.Release()
	for _, row := range []struct {
		name string
		f    func()
		want string
	}{
		{"broadcast", func() { a.Add(b) }, "Add: [2 3] and [4 5]: the shapes do not broadcast"},
		{"matmul", func() { a.MatMul(b) }, "MatMul: [2 3] and [4 5]: the last dimension of the first"},
		{"linear", func() { Linear(a, b, nil) }, "Linear: [2 3] and [4 5]: "},
		{"reshape", func() { a.Reshape(4) }, "Reshape: [2 3]: cannot become [4]"},
		{"reshape with -1", func() { a.Reshape(-1, 4) }, "Reshape: [2 3]: cannot become [-1 4]"},
		{"axis", func() { a.Sum(2) }, "Sum: [2 3]: there is no such axis"},
		{"slice", func() { a.Slice(0, 1, 3) }, "Slice: [2 3]: there is no range 1:3 along axis 0"},
		{"permutation", func() { a.Transpose(0, 0) }, "Transpose: [2 3]: the permutation [0 0]"},
		{"empty maximum", func() { Zeros(2, 0).Max(1) }, "Max: [2 0]: an empty axis"},
		{"item", func() { a.Item() }, "Item: [2 3]: a single element"},
		{"new", func() { New(make([]float32, 5), 2, 3) }, "New: [2 3]: 6 elements are needed, there are 5"},
		{"dtype", func() { FromInts([]int{1}, 1).Exp() }, "Exp: int32: float32 or float64 is needed"},
		{"mixed compare", func() { FromInts([]int{1}, 1).Equal(Ones(1)) }, "Equal: int32 and float32"},
		{"label", func() { CrossEntropy(a, FromInts([]int{0, 3}, 2)) }, "CrossEntropy: index 3 is outside 0..2"},
		{"gather", func() { a.Gather(FromInts([]int{-1}, 1)) }, "Gather: index -1 is outside 0..1"},
		{"backward of many", func() { p.MulScalar(2).Backward() }, "Backward: [2]: the loss must be a single number"},
		{"backward of none", func() { a.Sum().Backward() }, "Backward: the loss does not depend on any parameter"},
		{"backward twice", func() { used.Backward() }, "Backward: the graph was used by an earlier Backward"},
		{"released", func() { released.Add(a) }, "Add: the tensor was released"},
		{"nil", func() { a.Add(nil) }, "Add: the tensor is nil"},
		{"assign", func() { p.Assign(Ones(3)) }, "Assign: [2] and [3]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := catch(row.f)
			if err == nil || !strings.HasPrefix(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
	var shape *ShapeError
	if err := catch(func() { a.Add(b) }); !errors.As(err, &shape) || shape.Op != "Add" || !slices.Equal(shape.Shapes[1], []int{4, 5}) {
		t.Errorf("a ShapeError without its fields: %#v", err)
	}
}

// TestFailedRunKeepsParameters computes a label that is out of range only when
// the list runs.
func TestFailedRunKeepsParameters(t *testing.T) {
	n := newMLP(NewGenerator(1), 4, 3, 2)
	n.train()
	before := n.params[0].Data()
	good := n.y
	n.y = FromInts([]int{0, 1, 2, 0}, 4).Cast(Float32).MulScalar(1).Cast(Int32)
	var index *IndexError
	if err := catch(func() { n.train() }); !errors.As(err, &index) {
		t.Fatalf("got %v, want an IndexError", err)
	}
	if got := n.params[0].Data(); !slices.Equal(got, before) {
		t.Errorf("the parameters changed: %v, were %v", got, before)
	}
	n.y = good
	for _, p := range n.params {
		p.ZeroGrad()
	}
	n.train()
	if slices.Equal(n.params[0].Data(), before) {
		t.Error("training does not go on")
	}
}

func TestErrorsHaveTheNamesThatUsersKnow(t *testing.T) {
	err := catch(func() { Zeros(2).Add(Zeros(3)) })
	if got := fmt.Sprintf("%T", err); got != "*tensor.ShapeError" {
		t.Errorf("the error is a %s", got)
	}
}
