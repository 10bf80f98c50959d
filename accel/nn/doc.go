// Package nn provides layers, losses, and functions on models: finding parameters, saving,
// loading, freezing and summarizing.
//
// A [Module] computes an output from an input. A [Sequential] is a chain: it runs modules one
// after the other, and may contain other chains:
//
//	model := nn.Sequential(
//		nn.Flatten(),
//		nn.Dense(128), nn.ReLU(),
//		nn.Dense(10),
//	)
//
// A struct with a method Forward is a module too, whether it is declared in a package or in a
// notebook cell. It registers nothing: [Parameters] finds the parameters in its fields.
//
//	type Block struct{ up, down nn.Module }
//
//	func (b *Block) Forward(x *nn.Tensor) *nn.Tensor {
//		return x.Add(b.down.Forward(b.up.Forward(x).GELU()))
//	}
//
// Constructors fail only for an [Option] that they do not take, and layers infer the size of their input at its first use. If the
// shape of an input is wrong, Forward panics with a *tensor.ShapeError, wrapped in a
// [*LayerError] that names the layer if the module is in a [Sequential]. accel.Fit,
// accel.Evaluate and accel.Predict return it as an error.
//
// [Save] and [Load] use safetensors files, which other frameworks read and write too. [Summary]
// lists the layers of a model with their parameters and FLOPs.
//
// # Losses
//
// A [Loss] is a function of a prediction and a target; accel.Minimize takes one. Losses without
// options are such functions, and losses with options are returned by a function whose name
// ends with Loss, as PyTorch's modules:
//
//	one of several classes    CrossEntropy, CrossEntropyLoss (label smoothing, class weights, ignored index)
//	probabilities of classes  CrossEntropy, CrossEntropyLoss, KLDiv
//	the same for logarithms   NLL, NLLLoss
//	yes or no, several labels BCEWithLogits, BCEWithLogitsLoss (weight of positive targets), FocalLoss
//	a class for each pixel    CrossEntropy, CrossEntropyLoss, NLL, NLLLoss
//	labels without positions  CTC
//	numbers                   MSE, L1, HuberLoss, SmoothL1Loss
//	numbers with uncertainty  GaussianNLL, QuantileLoss; GaussianKL for the codes of a variational autoencoder
//	counts                    PoissonNLL
//	with weights or a mask    WeightedMean, of losses of your own
//	embeddings                TripletMargin, CosineEmbedding
//	an order of two scores    MarginRanking
//
// Values and gradients are PyTorch's, also for large logits. An empty batch and tensors whose
// shapes do not match are a *tensor.ShapeError. accel.Fit and accel.Evaluate weight the
// losses of batches by what each was divided by: the number of its examples, of classes that are not
// ignored, or the sum of class weights. A loss of your own that divides by a sum of weights or by the
// size of a mask does so with WeightedMean. A loss that adds several of these is weighted by its
// examples.
//
// Initial weights have the distributions of PyTorch's layers; accel.Seed sets their random
// numbers. A module must not be used by several goroutines at the same time.
//
// # To add a layer
//
// A layer is a constructor, which fails only for options that it does not take, and an unexported type with
// Forward and String, in the file of its kind. Options are in module.go, and their constructors beside the
// first layer that takes them. A layer with parameters creates them at the first input, embeds lazyState, and
// lists them in slots (lazy.go), for files and for [Freeze]. The field names are the parameter
// names in files. A layer that keeps no reference to its input and output implements
// retainsNothing; its callers then release these tensors early, see [layer.RetainsNothing]. A layer
// releases the intermediate tensors that it creates, since ops can be fused only if nothing else
// needs their outputs.
package nn
