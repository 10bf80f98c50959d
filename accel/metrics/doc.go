// Package metrics measures how good predictions are, batch by batch.
//
//	c, err := metrics.NewCollection(metrics.Accuracy(), metrics.F1(metrics.Macro), metrics.ROCAUC())
//	for batches.Next() {
//		b := batches.Batch()
//		err = c.Update(model.Forward(b.X), b.Y)
//	}
//	values, err := c.Values()
//
// A [Metric] is a definition; the state of a measurement is in the [Collection]. Metrics that
// need the same sums share them.
//
// # Predictions and targets
//
// The predictions are the outputs of a model as the losses of package nn take them: logits, not
// probabilities. For a model that ends with a softmax or a sigmoid, give the metrics the option
// [Probabilities]. Metrics of classification take
//
//   - classes: logits [N, C] and class indices [N],
//   - sequences: logits [N, T, C] and class indices [N, T]; each token is an example,
//   - images with a class for each pixel: logits [N, C, H, W] and class indices [N, H, W],
//   - two classes with one logit: logits [N] or [N, 1] and targets of the same shape or class
//     indices [N], each 0 or 1,
//   - several labels: logits [N, L] and targets [N, L], each 0 or 1.
//
// Metrics of regression take predictions and targets of the same shape [N] or [N, K].
//
// # Undefined values
//
// Precision, recall and F1 are 0 where their denominator is 0, as in scikit-learn. Other values
// that have no definition, such as the ROC AUC of a class without examples, are an
// [*UndefinedError]. A prediction or target that is NaN is a [*NonFiniteError].
//
// # Files
//
// metric.go defines metrics, collection.go measures them and returns what was measured besides values, input.go interprets
// predictions and targets, counts.go is
// the state of the metrics in classification.go, scores.go that of the curves; the
// other files have a state and its metrics each. To add a metric, define it from a state, and add
// its values to testdata/make_golden.py.
package metrics
