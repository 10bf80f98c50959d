// Package cpu runs programs of package ir on the processor.
//
//	device.go       memory, and what programs share
//	program.go      program → steps; the table of whole-tensor ops
//	elementwise.go  the table of elementwise ops; scalar.go those of one element
//	loop.go         fused elementwise loops, in chunks that stay in cache; fold.go
//	                ops of them that have one function in common
//	gather.go       strided and converting loads
//	gemm.go         matrix products from packed panels; pack.go, multiply.go,
//	                matmul.go
//	conv.go         convolutions, and their gradients in conv_input.go and
//	                conv_weight.go, on images laid out by conv_planes.go, from the
//	                functions in shift.go; wide ones as matrix products without the
//	                padding, conv_dense.go and conv_weight_dense.go, from columns.go;
//	                those of 3×3 by Winograd's transforms, conv_winograd.go and
//	                conv_winograd_weight.go, from winograd.go; those of small images
//	                place by place, conv_small.go and conv_small_weight.go; those
//	                of few channels from rows without a pitch, conv_patches.go
//	attention.go    attention, block by block; attention_gradient.go
//	batchnorm.go    batch normalisation, from the functions in channel.go
//	norm.go, pool2d.go, cumsum.go, reduce.go, softmax.go,
//	crossentropy.go, move.go, random.go   other steps
//	wide.go         float64, in plain Go
//	half.go         loads and stores of 16-bit floats
//	integer.go      products of bytes, exact on all processors; integer_network.go
//	                networks of them, integer_weight.go floats by weights of bytes
//	vector.go       the functions that steps are made of, one set per processor;
//	                rows.go those of rows of norms, sums and scores
//	pool.go         the threads; peak.go what the processor can do at most
//	bytes.go        pixels to floats, for package data
//
// A new whole-tensor op is a step and a row in program.go; a new elementwise op
// is a row in scalar.go, and one in elementwise.go, made of functions of the vector
// sets, if it should be fast.
//
// # Assembly
//
// All *_amd64.s are made by avo from the module in asm, with go generate. The
// functions in *_generic.go are what they must equal, and run where there is no
// assembly, or with the build tag purego. Tests take the implementation as a
// parameter and compare each with float64.
//
// # Equal bits
//
// Sums are cut by sizes that do not depend on the number of threads, and added
// in the order of the parts; how rows and columns are dealt out, which does
// depend on it, changes no sum. So a program gives equal bits on any number of
// threads. Another instruction set may round otherwise.
//
// A Device is for one goroutine at a time; its threads end with Close.
package cpu
