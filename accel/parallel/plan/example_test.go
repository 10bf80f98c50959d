package plan_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/parallel/plan"
)

// One layout of Llama 3 8B on four nodes.
func ExamplePredict() {
	model := plan.Transformer{
		Name: "Llama 3 8B", Layers: 32, Width: 4096, Heads: 32, KeyValueHeads: 8, Inner: 14336,
		Vocabulary: 128256, Sequence: 8192, Gated: true,
	}.Model(plan.BF16())
	layout := plan.Layout{DP: 16, TP: 2, PP: 1, ZeRO: 1, MicroBatch: 1, Recompute: plan.RecomputeBlocks}
	p, err := plan.Predict(model, plan.DGXH100(4), layout, 64)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v: %.2f s, %.0f GB, in percent: %s\n", layout, p.Time, p.Memory.Total()/1e9, p.Limit())
	// Output: dp 16, tp 2: 2.45 s, 36 GB, in percent: compute 82, memory bandwidth 9, tensor communication 6
}
