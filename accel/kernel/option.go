package kernel

import (
	"context"
	"errors"

	"github.com/quernlab/quern/accel/internal/training/option"
)

// Option changes what [Compile], [CompileCUDA] and [Op] do, which fail for options of the others.
type Option struct{ setting }

type setting = option.Of[settings]

// settings are those of all functions of the package.
type settings struct {
	unchecked bool
	flags     []string // of the compiler for CUDA C++

	threads   func(shape []int) Shape
	output    func(in ...[]int) ([]int, error)
	gradients []gradientSetting
	contexts  []func() context.Context
}

type gradientSetting struct {
	kernel  *Kernel
	threads func(shape []int) Shape
}

// Unchecked leaves out the checks of indices. An index out of range then reads or changes other memory on a GPU, without an error.
// Use it for a kernel that [Check] has found to be correct, if the checks take too much time. It is an option of [Compile].
func Unchecked() Option {
	return Option{option.New(func(s *settings) { s.unchecked = true }, "Unchecked")}
}

// CompilerFlags passes flags to the compiler of [CompileCUDA], as nvcc has them. Without --gpu-architecture among them, the code is for GPUs of
// compute capability 8.0 and later.
//
//	kernel.CompileCUDA(source, "gemm", kernel.CompilerFlags("-DTILE=16", "--use_fast_math", "--gpu-architecture=compute_90"))
func CompilerFlags(flags ...string) Option {
	return Option{option.New(func(s *settings) { s.flags = append(s.flags, flags...) }, "CompilerFlags", option.Each(flags)...)}
}

// Threads sets how many threads execute the kernel of an [Op], given the shape of the result. Without it there is one thread for each element,
// in blocks of 256.
//
//	kernel.Threads(func(shape []int) kernel.Shape { return kernel.Grid(shape[0]*32, 32) }) // a warp for each row
func Threads(threads func(shape []int) Shape) Option {
	return Option{option.New(func(s *settings) { s.threads = threads }, "Threads", option.Code("f"))}
}

// Output sets the shape of the result of an [Op], given those of the tensors of [Operation.Apply]. Without it the result has the shape of the first
// one. If the shapes do not fit, the function returns an error that says why.
//
//	kernel.Output(func(in ...[]int) ([]int, error) { return in[0][:1], nil }) // one element for each row
func Output(shape func(in ...[]int) ([]int, error)) Option {
	return Option{option.New(func(s *settings) { s.output = shape }, "Output", option.Code("f"))}
}

// Context sets where the kernel of an [Op] gets the context that ends it, on the CPU and on a simulated GPU. An op runs when its result is needed, perhaps long
// after [Operation.Apply] and together with others; the goroutine that runs it then calls f. Where the result is used, the error of the context
// appears, in a *tensor.DeviceError. In a cell the option is not needed: an interrupt ends the kernel.
//
//	op, err := kernel.Op(k, kernel.Context(func() context.Context { return ctx }))
func Context(f func() context.Context) Option {
	o := Option{option.New(func(s *settings) { s.contexts = append(s.contexts, f) }, "Context", option.Code("f"))}
	return Option{o.Require(f != nil, "the function is nil")}
}

// Gradient adds the kernel that computes the gradient of one input of an [Op]. Its parameters have the names of those of the operation's kernel, in any
// order: for a result y and an input x it writes dx, from dy, the gradient of the result, and what it needs of the inputs, numbers and y.
// threads is as in [Threads], with the shape of the input; without it the function of the operation is used.
//
//	func square(t kernel.Thread, x, y []float32)
//	func squareGradient(t kernel.Thread, x, dy, dx []float32)
func Gradient(k *Kernel, threads ...func(shape []int) Shape) Option {
	if k.valid("") != nil {
		return Option{option.New(func(*settings) {}, "Gradient", option.Code("nil")).Check(errors.New("the kernel is nil: check the error of Compile"))}
	}
	g := gradientSetting{kernel: k}
	if len(threads) == 1 {
		g.threads = threads[0]
	}
	o := option.New(func(s *settings) { s.gradients = append(s.gradients, g) }, "Gradient", option.Code(k.Name()))
	if k.foreign != nil {
		o = o.Check(k.notAnOp())
	}
	return Option{o.Require(len(threads) <= 1, "there is one function for the number of threads at most")}
}
