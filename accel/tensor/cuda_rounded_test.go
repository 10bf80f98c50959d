//go:build !race

package tensor

import (
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/ir"
)

func TestRoundedParametersOnCUDA(t *testing.T) {
	onCUDA(t, func() { testRounded(t) })
}

// A fault, which the host notices late, leaves parameters and their roundings equal: in the first step, which has
// no roundings to overwrite, and when a tensor shares the memory of a parameter.
func TestRoundedAfterFaultOnCUDA(t *testing.T) {
	onCUDA(t, func() {
		for steps := range 3 {
			for _, shared := range []bool{false, true} {
				n := newRoundedNet()
				for range steps {
					n.step()
				}
				var other *Tensor
				if shared {
					other = n.w.Detach()
				}
				late := FromInts([]int{1, -7}, 2).Cast(Float32).MulScalar(1).Cast(Int32)
				err := catch(func() {
					n.zero()
					n.loss().Backward()
					NoGrad(func() {
						wrong := Ones(3).IndexSelect(late).Sum()
						for _, p := range n.parameters() {
							p.Assign(p.Sub(p.Grad()).Add(wrong))
						}
					})
					n.b.Data()
				})
				if err == nil {
					t.Fatal("the index is out of range")
				}
				n.out = nil
				n.evaluate(BFloat16)
				locked(func(r *ir.Recorder) { r.Recast(true) })
				n.evaluate(BFloat16)
				locked(func(r *ir.Recorder) { r.Recast(false) })
				if math.Float32bits(n.out[0]) != math.Float32bits(n.out[1]) {
					t.Errorf("after %d steps, shared %v: the loss is %v, with new casts %v", steps, shared, n.out[0], n.out[1])
				}
				if other != nil {
					other.Release()
				}
			}
		}
	})
}
