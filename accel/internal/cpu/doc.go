// Package cpu runs programs of package ir on the CPU.
//
//	device.go       memory, and the state that programs share
//	program.go      compiles a program to steps; the registry of whole-tensor ops
//	elementwise.go  the table of vectorized elementwise ops; scalar.go has all of them
//	                on one element
//	loop.go         fused elementwise loops, in chunks that stay in cache; batch.go
//	                runs several as one, fold.go combines ops for which there is one function
//	gather.go       strided and converting loads
//	gemm.go         matrix multiplication from packed panels; pack.go, multiply.go,
//	                matmul.go; caches.go has what decides about packing, library.go
//	                products by a library of the system
//	conv.go         convolutions, and their gradients in conv_input.go and
//	                conv_weight.go, on images laid out by conv_planes.go, with the
//	                functions in shift.go; with many channels as GEMM without the
//	                padding, conv_dense.go and conv_weight_dense.go, from columns.go;
//	                3×3 kernels with Winograd's transforms, conv_winograd.go,
//	                conv_winograd_few.go and conv_winograd_weight.go, from winograd.go;
//	                small images position by position, conv_small.go and
//	                conv_small_weight.go; few channels with im2col, conv_patches.go;
//	                few images with columns for all threads, conv_columns.go; few
//	                results with the positions as rows, conv_few.go
//	attention.go    attention, block by block; attention_gradient.go
//	batchnorm.go    batch normalization, with the functions in channel.go
//	recurrent.go    recurrent layers, all steps; recurrent_gradient.go
//	norm.go, pool2d.go, cumsum.go, reduce.go, softmax.go,
//	crossentropy.go, move.go, random.go,
//	argsort.go      other steps
//	float64.go      float64, in plain Go: what compositions of package ir consist of
//	float16.go      loads and stores of 16-bit floats
//	integer.go      int8 matrix multiplication, exact on all CPUs; integer_network.go
//	                runs networks of int8 layers (integer_conv.go, integer_pack.go),
//	                integer_weight.go multiplies floats by int8 weights
//	vector.go       the functions that steps consist of, one set per instruction set;
//	                rows.go those on rows of norms, sums and scores
//	pool.go         the threads; patience.go how long they spin before they sleep; peak.go
//	                the peak speed of the CPU
//	bytes.go        pixels to floats, for package data
//	arithmetic.go   arithmetic of slices, for kernels of users
//
// A new op needs nothing if package ir has its composition or its formula. A kernel of a whole-tensor
// op is a step in a file of its own, which calls implement, or implementFloat32 if float64 remains the
// composition. An elementwise op may have a row in scalar.go for float64 and, if it should be faster,
// one in elementwise.go, built from functions of the vector sets.
//
// # Assembly
//
// All *_amd64.s files are generated with avo by the module in asm, and all *_arm64.s files by
// the program in neon: run go generate. The functions in *_generic.go are their reference, and
// run on CPUs without assembly or with the build tag purego. Tests take the implementation as
// a parameter and compare each with float64. Instructions that only some CPUs of an
// architecture have, such as AVX-512 and those for products of bytes, are used if
// golang.org/x/sys/cpu finds them.
//
// # Reproducible results
//
// Sums are split into parts whose sizes do not depend on the number of threads, and the
// parts are added in order. The distribution of rows and columns over threads does depend
// on it, but changes no sum. So a program returns the same bits with any number of threads.
// Another instruction set may round differently, but not another CPU with the same one: so
// products of bfloat16 numbers, which are float32 here, do not use BFDOT and BFMMLA, which
// only some arm64 CPUs have, round pairs of products to odd and replace subnormal numbers by
// zero. The sizes of the caches decide which
// operands of a product are packed, which changes no sum either.
//
// A Device must be used by one goroutine at a time; its threads stop with Close.
package cpu
