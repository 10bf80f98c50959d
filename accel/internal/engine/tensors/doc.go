// Package tensors provides what package tensor does for other packages of accel and not for users, such as the memory of a
// tensor without a copy, the names of layers in profiles, and the graph of a function. A program that imports
// package tensor does not see it.
//
// Package tensor imports this package, so the functions cannot name its types. They are generic: T is always
// *tensor.Tensor, which Go infers from the arguments, as in
//
//	tensors.SetName(weight, "up.weight")
//	all := tensors.RecordAttention[*tensor.Tensor](f)
//
// Package tensor provides what only it can do, once, with [Provide]: that is [Engine], for its lock and the scopes of
// goroutines, and [Access], for a tensor's value. Everything else is written here with these two. To add a
// function, write it here; add a field to Access only if it needs unexported code of package tensor.
//
// The files are: provide.go (Engine and Access, memory, metadata and snapshots of tensors), device.go (devices, peak memory,
// copies to a GPU), scope.go (names of layers, recorded ops), gradients.go (hooks, unused gradients, the tape), graph.go (Trace),
// ops.go (what layers, quantized models and exchanges with other processes record), communicator.go (sums over processes).
package tensors
