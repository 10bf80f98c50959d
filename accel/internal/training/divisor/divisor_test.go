package divisor

import (
	"errors"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/tensor"
)

func TestOf(t *testing.T) {
	report := func(sums ...float64) func() *tensor.Tensor {
		return func() *tensor.Tensor {
			for _, s := range sums {
				Report(tensor.Full(s))
			}
			return tensor.Full(1)
		}
	}
	for _, row := range []struct {
		sums []float64
		want float64 // 0 for none
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{3, 4}, 0}} {
		_, sum := Of(func() *tensor.Tensor {
			if _, inner := Of(report(7)); inner.Item() != 7 {
				t.Errorf("a nested call has %v", inner)
			}
			return report(row.sums...)()
		})
		if row.want == 0 && sum != nil || row.want != 0 && (sum == nil || sum.Item() != row.want) {
			t.Errorf("%v: %v", row.sums, sum)
		}
	}
	func() {
		defer func() { _ = recover() }()
		Of(func() *tensor.Tensor { panic("the loss fails") })
	}()
	func() {
		defer func() {
			var state *tensor.StateError
			if err, _ := recover().(error); !errors.As(err, &state) || !strings.Contains(err.Error(), "the loss has returned nil") {
				t.Errorf("a loss that returns nil: %v", err)
			}
		}()
		Of(func() *tensor.Tensor { return nil })
	}()
	Report(tensor.Full(1)) // nobody asks
	calls.Range(func(any, any) bool { t.Error("a call is left"); return true })
}
