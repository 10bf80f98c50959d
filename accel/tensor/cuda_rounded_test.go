//go:build !race

package tensor

import (
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

func TestRoundedParametersOnCUDA(t *testing.T) {
	onCUDA(t, func() { testRounded(t) })
}

// A fault, which the host notices late, leaves parameters and their roundings equal: in the first step, which has
// no roundings to overwrite, when a tensor shares the memory of a parameter, and when the program has rounded the
// next value itself, or has had it before.
func TestRoundedAfterFaultOnCUDA(t *testing.T) {
	nexts := []string{"", "rounded by the program", "rounded and widened", "older", "older and transposed", "read in another type"}
	onCUDA(t, func() {
		for steps := range 3 {
			for i := range 2 * len(nexts) {
				shared, value := i%2 > 0, nexts[i/2]
				n := newRoundedNet()
				for range steps {
					n.step()
				}
				var other *Tensor
				if shared {
					other = n.w.Detach()
				}
				late := FromInts([]int{1, -7}, 2).Cast(Float32).MulScalar(1).Cast(Int32)
				var own []*Tensor // the program's roundings
				turned := Randn(NewGenerator(7), 6, 6)
				Flush()
				err := catch(func() {
					n.zero()
					if value == "read in another type" {
						n.cast = Float16
					}
					n.loss().Backward()
					NoGrad(func() {
						wrong := Ones(3).IndexSelect(late).Sum()
						for _, p := range n.parameters() {
							next := p.Sub(p.Grad()).Add(wrong)
							switch value {
							case "rounded by the program":
								own = append(own, next.Cast(BFloat16))
							case "rounded and widened":
								own = append(own, next.Cast(BFloat16))
								next = own[len(own)-1].Cast(Float32)
							case "older":
								if p == n.w {
									next = turned
								}
							case "older and transposed":
								if p == n.w {
									next = turned.T()
								}
							}
							p.Assign(next)
						}
					})
					n.b.Data()
				})
				if err == nil {
					t.Fatal("the index is out of range")
				}
				n.out = nil
				n.evaluate(n.cast)
				locked(func(r *ir.Recorder) { r.Recast(true) })
				n.evaluate(n.cast)
				locked(func(r *ir.Recorder) { r.Recast(false) })
				if math.Float32bits(n.out[0]) != math.Float32bits(n.out[1]) {
					t.Errorf("after %d steps, shared %v, next value %s: the loss is %v, with new casts %v", steps, shared, value, n.out[0], n.out[1])
				}
				if other != nil {
					other.Release()
				}
			}
		}
	})
}
