package symbols_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/quernlab/quern/interp"
)

// TestOwnPackages trains in cells without imports: a model of our modules, and a model that a cell
// declares. Compiled code calls the method of the latter and finds its parameters.
func TestOwnPackages(t *testing.T) {
	cells := []string{
		`train, test, err := data.Digits()
if err != nil { panic(err) }
fmt.Println(train.Len(), test.Len())`,
		`func score(name string, model nn.Module) {
	accel.Seed(1)
	_, err := accel.Fit(ctx, model, train, accel.Epochs(4), accel.BatchSize(64), accel.AdamW(1e-2), accel.Quiet())
	if err != nil { panic(err) }
	result, err := accel.Evaluate(ctx, model, test)
	if err != nil { panic(err) }
	fmt.Println(name, result.Accuracy() > 0.8)
}`,
		`score("ours", nn.Sequential(nn.Flatten(), nn.Dense(32), nn.ReLU(), nn.Dense(10)))`,
		`type network struct {
	Body, Head nn.Module
	scale      float64
}

func (n *network) Forward(x *tensor.Tensor) *tensor.Tensor {
	return n.Head.Forward(n.Body.Forward(x).MulScalar(n.scale))
}`,
		`score("theirs", &network{nn.Sequential(nn.Flatten(), nn.Dense(32), nn.ReLU()), nn.Dense(10), 0.5})`,
	}
	var output bytes.Buffer
	session, err := interp.New(interp.Stdout(&output), interp.Stderr(&output))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for i, cell := range cells {
		if _, err := session.Execute(context.Background(), i+1, cell); err != nil {
			t.Fatalf("cell %d: %v", i+1, err)
		}
	}
	if got, want := output.String(), "1437 360\nours true\ntheirs true\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
