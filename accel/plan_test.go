package accel_test

import (
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/parallel/plan"
)

func TestPlanParallel(t *testing.T) {
	model := plan.Transformer{Name: "small", Layers: 2, Width: 64, Heads: 4, Vocabulary: 100, Sequence: 32}.Model(plan.BF16())
	p, err := accel.PlanParallel(model, plan.DGXH100(1), 16, plan.GPUs(8))
	if err != nil || len(p.Best) != 1 || p.Best[0].Layout.GPUs() != 8 {
		t.Errorf("the plan is %+v, %v", p, err)
	}
}
