// Package explain shows what a trained model uses for its predictions, and where it fails.
//
//	PermutationImportance   which columns of a table a model needs
//	Saliency                which pixels affect the score of a class
//	AttentionMaps           where the heads of attention layers look
//	GradCAM                 which regions a convolutional layer finds for a class
//	WorstMistakes           the wrong predictions with the highest losses
//	Layers                  what each layer of a chain returns, and how many of its units are dead
//	GradientFlow            how large the gradient of each parameter is
//	Range                   which weights, outputs and gradients become 0 or overflow in 16 or 8 bits
//	Graph                   a drawing of the layers and what flows between them
//	DTypes                  range and precision of the floating-point types
//
// The results display themselves in a notebook. All functions put the model into evaluation mode for
// the call and leave its weights, gradients and mode unchanged, and none has random numbers that
// differ between calls.
//
//	maps, err := explain.GradCAM(ctx, model, conv, test, 0, 1, 2)
//
// An explanation of a model is no explanation of the world: a column without importance may still
// affect what is predicted, if another column has the same information.
//
// # Errors
//
// A model that cannot take the examples is an error that names the layer and wraps a
// *tensor.ShapeError. If ctx is done, the functions return its error.
package explain
