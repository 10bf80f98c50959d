// Package nn has the modules that models are made of.
//
// A [Module] computes an output from an input. [Sequential] puts modules one
// after the other:
//
//	model := nn.Sequential(
//		nn.Flatten(),
//		nn.Dense(128), nn.ReLU(),
//		nn.Dense(10),
//	)
//
// A plain struct with a method Forward is a module too, in a package as well
// as in a notebook's cell. There is nothing to register: [Parameters] finds
// the parameters in its fields.
//
//	type Block struct{ up, down nn.Module }
//
//	func (b *Block) Forward(x *nn.Tensor) *nn.Tensor {
//		return x.Add(b.down.Forward(b.up.Forward(x).GELU()))
//	}
//
// Constructors cannot fail, and layers infer the size of their input at its
// first use. A shape that does not fit makes Forward panic with a
// *tensor.ShapeError; within a chain it is a [*LayerError] that names the
// layer. accel.Fit, accel.Evaluate and accel.Predict return it as an error.
//
// [Save] and [Load] keep parameters in files that other frameworks read too.
//
// [Summary] shows what a model is made of and where its work is.
//
// Weights start as PyTorch's do, from the stream that accel.Seed fixes.
//
// A module is for one goroutine at a time.
//
// # For who changes this package
//
// A layer is one file: its constructor, which cannot fail, and an unexported
// type with Forward and String. One with parameters makes them at the first
// input, embeds untouched, and lists them in slots (lazy.go), for files and for
// [Freeze]. One that keeps its input and output to itself says so with
// private, and may then be given tensors that are released behind it; tensors
// that it makes on the way it releases itself, or they cannot be fused away.
package nn
