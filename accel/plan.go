package accel

import "github.com/quernlab/quern/accel/parallel/plan"

// PlanParallel finds the fastest meshes of data, tensor and pipeline parallelism for the training of a model on a cluster,
// with a batch of examples of all GPUs together: it predicts the time of a step, the memory of each GPU and the cost, for 8 GPUs up to those of
// the cluster, and says what limits them. It needs no GPU; see package plan. The errors are those of [plan.Search].
//
//	model := plan.Transformer{…}.Model(plan.BF16())
//	accel.PlanParallel(model, plan.DGXH100(512), 2048)
func PlanParallel(model plan.Model, cluster plan.Cluster, batch int, options ...plan.Option) (*plan.Plan, error) {
	return plan.Search(model, cluster, batch, options...)
}
