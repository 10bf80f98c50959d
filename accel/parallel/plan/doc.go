// Package plan predicts the time of a training step, the memory of each GPU and the cost for a model on a
// described cluster, and finds the best meshes of data, tensor and pipeline parallelism. Nothing of
// it needs a GPU.
//
//	model := plan.Transformer{
//		Name: "Llama 3 405B", Layers: 126, Width: 16384, Heads: 128, KeyValueHeads: 8, Inner: 53248,
//		Vocabulary: 128256, Sequence: 8192, Gated: true,
//	}.Model(plan.BF16())
//	best, err := accel.PlanParallel(model, plan.DGXH100(1024), 2048)
//
// A [Model] is a list of blocks with their FLOPs, bytes and activations: of a [Transformer], or of a
// profile of any model ([FromProfile]). [Predict] simulates one step of a [Layout]:
//
//   - Compute: the FLOPs of matrix multiplications and of attention, the bytes of all other ops, or measured times.
//   - Collectives by the alpha-beta model: a latency for each message and a bandwidth, as a ring or a tree.
//   - The pipeline by its 1F1B schedule, also with several chunks of the model on each rank, task by task. So the bubble
//     is a result and not a formula.
//   - Gradients are exchanged while the last backward pass runs, block by block.
//
// What a specification does not contain is an input: prices, and the share of the peak performance that kernels and links
// reach ([Efficiency]). docs/planning.md compares predictions with measured and published runs.
//
// What is not modeled: experts, context parallelism, data loading, checkpoints, failures, and stragglers.
package plan
