// Package cudnn convolves images with cuDNN, where package library finds it.
//
// A [Library] is asked for the plans of a [Convolution], which its heuristic thinks
// fastest, and a [Plan] asks a stream to compute it, again and again and at any
// addresses that are aligned as the convolution says. [Open] gives the real one; the
// tests of the back end play another.
//
// It is cuDNN's graph interface that is used: a graph of one operation, of tensors
// that lie as ours do, [N, C, H, W] row by row. The engines that want channels last
// turn them inside, in the workspace. Engines that round more than ours do, or add
// up in another order each time, are not taken: see [Convolution].
//
// # Concurrency
//
// The context of the device must be current in the thread that calls (driver.Context's
// Current), which is locked to its goroutine meanwhile.
//
// # Errors
//
// A call that cuDNN refuses gives a [*library.CallError] with what cuDNN says of it. A
// convolution that no engine computes gives no plans and no error.
package cudnn
