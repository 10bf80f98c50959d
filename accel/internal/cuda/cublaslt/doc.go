// Package cublaslt multiplies matrices with cuBLASLt, where package library finds it.
//
// A [Library] is asked for the plans of a [Product], which its heuristic thinks
// fastest, and a [Plan] asks a stream to compute the product, again and again and at
// any addresses that are aligned as the product says. [Open] gives the real one; the
// tests of the back end play another, which reads the same products.
//
// cuBLASLt makes descriptors of types, sizes and strides; they are made once a plan.
// Its matrices lie column by column, so that a row-major result is the transposed
// product of the factors in turn. The package knows nothing of that: a Product is
// what cuBLASLt is told.
//
// # Concurrency
//
// The context of the device must be current in the thread that calls (driver.Context's
// Current), which is locked to its goroutine meanwhile.
//
// # Errors
//
// A call that cuBLASLt refuses gives a [*library.CallError]. A product without any
// algorithm gives no plans and no error.
package cublaslt
