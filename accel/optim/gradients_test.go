package optim_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// TestForgottenCalls has loops that forget Backward or ZeroGrad, and the same without the mistake.
func TestForgottenCalls(t *testing.T) {
	x := tensor.New([]float32{1, 2, 3, 4}, 2, 2)
	for name, test := range map[string]struct {
		loop func(o *optim.Optimizer, loss func() *tensor.Tensor)
		want string // of the error; "" for none
	}{
		"right": {func(o *optim.Optimizer, loss func() *tensor.Tensor) {
			for range 3 {
				o.ZeroGrad()
				loss().Backward()
				o.Step()
			}
		}, ""},
		"two losses": {func(o *optim.Optimizer, loss func() *tensor.Tensor) {
			for range 3 {
				o.ZeroGrad()
				loss().Backward()
				loss().Backward()
				o.Step()
			}
		}, ""},
		"two steps with one gradient": {func(o *optim.Optimizer, loss func() *tensor.Tensor) {
			loss().Backward()
			o.Step()
			o.Step()
		}, ""},
		"no Backward": {func(o *optim.Optimizer, loss func() *tensor.Tensor) {
			o.ZeroGrad()
			loss()
			o.Step()
		}, "call Backward of the loss before Step"},
		"no ZeroGrad": {func(o *optim.Optimizer, loss func() *tensor.Tensor) {
			for range 3 {
				loss().Backward()
				o.Step()
			}
		}, "call ZeroGrad before Backward"},
		"ZeroGrad behind Backward": {func(o *optim.Optimizer, loss func() *tensor.Tensor) {
			loss().Backward()
			o.ZeroGrad()
			o.Step()
		}, "since ZeroGrad was called after Backward"},
		"no Backward in the second step": {func(o *optim.Optimizer, loss func() *tensor.Tensor) {
			loss().Backward()
			o.Step()
			o.ZeroGrad()
			o.Step()
		}, "call Backward of the loss before Step"},
	} {
		t.Run(name, func(t *testing.T) {
			model := nn.Dense(1)
			loss := func() *tensor.Tensor { return model.Forward(x).Square().Mean() }
			loss().Release()
			err := func() (err error) {
				defer nn.Catch(&err)
				test.loop(optim.SGD(model, 0.01), loss)
				return nil
			}()
			var state *tensor.StateError
			if test.want == "" && err != nil || test.want != "" && (!errors.As(err, &state) || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
