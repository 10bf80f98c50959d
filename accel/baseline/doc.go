// Package baseline fits simple models that a neural network should beat.
//
// [Compare] fits several of them to a training set and measures all on a test set:
//
//	table, err := baseline.Compare(ctx, train, test,
//		baseline.Majority(), baseline.Linear(), baseline.Neighbors(5), baseline.Trained("my model", model))
//
// A notebook displays the table. If a network is hardly better than [Linear], its features do not
// help; if it is no better than [Majority], it has not learned anything.
//
// A [Method] returns an ordinary model, which accel.Evaluate, accel.PredictDataset and the other
// functions accept. The order of the examples does not affect the results, which have no random
// numbers.
//
// # Files
//
// method.go has the interface and what linear.go and neighbors.go share, which have a method each like
// majority.go, and compare.go the table.
package baseline
