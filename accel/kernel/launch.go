package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/kernel/internal/device"
	"github.com/quernlab/quern/accel/kernel/internal/host"
	"github.com/quernlab/quern/accel/kernel/internal/program"
	"github.com/quernlab/quern/accel/tensor"
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

// Dim is a number of blocks or threads along x, y and z. 0 counts as 1.
type Dim struct {
	X, Y, Z int // the numbers along x, y and z
}

func (d Dim) array() [3]int { return [3]int{max(d.X, 1), max(d.Y, 1), max(d.Z, 1)} }

// Shape is how many threads execute a kernel.
type Shape struct {
	Blocks  Dim // of the grid
	Threads Dim // of each block
	// SharedBytes is the size of the shared memory of a block that a kernel in CUDA C++ declares without a size: extern __shared__.
	// Together with arrays that have a size it may be more than 48 KiB, up to what the GPU has for a block; cudaFuncSetAttribute is not needed.
	SharedBytes int
}

// Grid returns the shape with at least n threads along x, in blocks of a number of threads. The number of threads is rounded up to whole
// blocks, so a kernel compares t.Global() with the length of its data.
//
//	k.Launch(kernel.Grid(1000, 256), x) // 4 blocks, 1024 threads
func Grid(n, threads int) Shape {
	return Shape{Blocks: Dim{X: blocks(n, threads)}, Threads: Dim{X: threads}}
}

// Grid2D returns the shape with at least nx times ny threads, in blocks of threadsX times threadsY.
//
//	k.Launch(kernel.Grid2D(columns, rows, 16, 16), x)
func Grid2D(nx, ny, threadsX, threadsY int) Shape {
	return Shape{Blocks: Dim{X: blocks(nx, threadsX), Y: blocks(ny, threadsY)}, Threads: Dim{X: threadsX, Y: threadsY}}
}

// blocks returns the number of blocks that have n threads; a negative n, which Launch rejects.
func blocks(n, threads int) int {
	if n < 0 || threads <= 0 {
		return min(n, threads, -1)
	}
	return (n + threads - 1) / threads
}

// The limits of CUDA.
const (
	maxThreads  = 1024
	maxBlocksX  = 1<<31 - 1
	maxBlocksYZ = 1<<16 - 1
	maxThreadsZ = 64
)

func (s Shape) check() error {
	g, b := s.Blocks, s.Threads
	t := b.array()
	switch n := t[0] * t[1] * t[2]; {
	case min(g.X, g.Y, g.Z, b.X, b.Y, b.Z) < 0:
		return fmt.Errorf("a negative number of blocks or threads: %+v", s)
	case max(t[0], t[1]) > maxThreads || t[2] > maxThreadsZ || n > maxThreads:
		return fmt.Errorf("blocks of %d×%d×%d threads are too large: a block can have %d threads, and %d along z", t[0], t[1], t[2], maxThreads, maxThreadsZ)
	case g.X > maxBlocksX || max(g.Y, g.Z) > maxBlocksYZ:
		return fmt.Errorf("a grid of %d×%d×%d blocks is too large: it can have %d along x and %d along y and z", g.X, g.Y, g.Z, maxBlocksX, maxBlocksYZ)
	}
	return nil
}

// Launch runs the kernel with arguments for its parameters behind the [Thread]: for a slice a *[tensor.Tensor] whose elements, in row-major
// order, are those of the slice, and for a number or bool a value of exactly that type. It waits until all threads have returned. A
// kernel can write to the elements of a tensor: then no other tensor argument may share its memory, and a tensor that shares it otherwise, such as
// a view, keeps the old elements. Gradients do not flow through a kernel.
//
// The error is a *[Fault] if a thread has done what Go forbids. If several have, it is that of the lowest block, and in the block that of the first thread,
// if its threads run one after the other, in the order of their numbers, each up to the next barrier. On a GPU, it is any of them. Elements that
// threads have written remain. A simulated GPU also reports races for shared arrays,
// and others of the mistakes that [Check] finds, as a *Fault; a GPU does not.
func (k *Kernel) Launch(s Shape, args ...any) error {
	return k.LaunchContext(context.Background(), s, args...)
}

// LaunchContext is Launch with a context, whose end ends a kernel that runs on the CPU or on a simulated GPU. In a cell, an interrupt also ends a
// kernel that Launch runs. A kernel that runs on a GPU cannot be ended: LaunchContext then returns an error, and only the end of the
// process, such as a restart of the kernel of the notebook, ends it. Without a deadline in ctx, that happens after a minute, too.
//
//	err = k.LaunchContext(ctx, kernel.Grid(n, 256), float32(2), x, y)
func (k *Kernel) LaunchContext(ctx context.Context, s Shape, args ...any) error {
	if err := interrupt.RequireContext(ctx, "kernel: Launch"); err != nil {
		return err
	}
	if err := k.valid("Launch"); err != nil {
		return err
	}
	l, arguments, err := k.bind(s, args)
	if err != nil {
		return fmt.Errorf("kernel %s: %w", k.Name(), err)
	}
	l.endsWith(ctx)
	var before [][]byte
	if l.reordered() && strings.HasPrefix(tensors.Device(), "simulated") {
		before = elementsOf(arguments)
	}
	err = tensors.LaunchKernel(l, arguments, l.written)
	if before != nil {
		err = l.first(err, before)
	}
	return k.failure(err)
}

// elementsOf returns copies of the elements of tensors.
func elementsOf(list []*tensor.Tensor) (data [][]byte) {
	for _, t := range list {
		data = append(data, t.Raw())
	}
	return data
}

// reordered reports whether threads may record faults in another order than on the CPU.
func (l *launch) reordered() bool {
	return l.kernel.foreign == nil && !l.kernel.unchecked && len(l.kernel.program.Sites) > 0
}

// first returns the fault of the first thread, which the CPU finds, instead of one that another thread may have recorded before it. data are
// the elements of the tensors before the launch, which it changes.
func (l *launch) first(err error, data [][]byte) error {
	var recorded, first *program.Fault
	if l.reordered() && errors.As(err, &recorded) && errors.As(l.Host(data), &first) {
		return first
	}
	return err
}

// launch is one run of a kernel. It implements ir.Kernel.
type launch struct {
	contexts []func() context.Context // each ends the kernel
	kernel   *Kernel
	shape    Shape
	scalars  []uint64 // by parameter
	written  []bool   // by tensor
	lengths  []int    // elements, by tensor

	// Of a kernel in CUDA C++ or PTX: the parameters without the addresses of the tensors, and where they belong.
	packed []byte
	at     []int
	// By tensor: the size of an element, and the parameter in words.
	sizes []int
	names []string
}

// endsWith lets a context end the kernel.
func (l *launch) endsWith(ctx context.Context) {
	l.contexts = append(l.contexts, func() context.Context { return ctx })
}

// dtypes are the element types of slices.
var dtypes = map[program.Type]tensor.DType{
	program.Float32: tensor.Float32, program.Float64: tensor.Float64, program.Int32: tensor.Int32, program.Int64: tensor.Int64,
	program.Uint8: tensor.Uint8, program.Bool: tensor.Bool,
}

// dtypeOf returns the element type of the tensors for a slice.
func dtypeOf(m *program.Memory) tensor.DType {
	switch m.Format {
	case program.Float16:
		return tensor.Float16
	case program.BFloat16:
		return tensor.BFloat16
	}
	return dtypes[m.Elem]
}

// bind compares arguments with the parameters.
func (k *Kernel) bind(s Shape, args []any) (l *launch, tensors []*tensor.Tensor, err error) {
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	if k.foreign != nil {
		return k.bindForeign(s, args)
	}
	if s.SharedBytes != 0 {
		return nil, nil, errors.New("Shape.SharedBytes is for kernels in CUDA C++: a kernel in Go declares its shared arrays")
	}
	params := k.program.Params
	if len(args) != len(params) {
		return nil, nil, fmt.Errorf("%d arguments for %d parameters behind the thread", len(args), len(params))
	}
	l = &launch{kernel: k, shape: s, scalars: make([]uint64, len(params))}
	for i, p := range params {
		if p.Scalar != nil {
			bits, ok := scalarBits(args[i], p.Scalar.Type)
			if !ok {
				return nil, nil, fmt.Errorf("the argument for %s is a %T, not a %s", p.Name, args[i], p.Scalar.Type)
			}
			l.scalars[i] = bits
			continue
		}
		t, ok := args[i].(*tensor.Tensor)
		if !ok || t == nil {
			return nil, nil, fmt.Errorf("the argument for %s is a %T, not a tensor", p.Name, args[i])
		}
		if want := dtypeOf(p.Slice); t.DType() != want {
			return nil, nil, fmt.Errorf("the argument for %s is a tensor of %s, not of %s", p.Name, t.DType(), want)
		}
		if tensors, err = l.add(tensors, t, p.Slice.Written, p.Name); err != nil {
			return nil, nil, err
		}
	}
	return l, tensors, nil
}

// add adds the argument of a parameter.
func (l *launch) add(tensors []*tensor.Tensor, t *tensor.Tensor, written bool, name string) ([]*tensor.Tensor, error) {
	for j, other := range tensors {
		if other == t && (written || l.written[j]) {
			return nil, fmt.Errorf("a tensor is the argument of two parameters, and the kernel writes to %s", name)
		}
	}
	l.written, l.lengths = append(l.written, written), append(l.lengths, t.Numel())
	return append(tensors, t), nil
}

// scalarBits returns an argument as a value of a program.
func scalarBits(x any, t program.Type) (bits uint64, ok bool) {
	if x == nil {
		return 0, false
	}
	v := reflect.ValueOf(x)
	kinds := map[reflect.Kind]program.Type{
		reflect.Bool: program.Bool, reflect.Int: program.Int64, reflect.Int8: program.Int8, reflect.Int16: program.Int16, reflect.Int32: program.Int32,
		reflect.Int64: program.Int64, reflect.Uint: program.Uint64, reflect.Uint8: program.Uint8, reflect.Uint16: program.Uint16,
		reflect.Uint32: program.Uint32, reflect.Uint64: program.Uint64, reflect.Float32: program.Float32, reflect.Float64: program.Float64,
	}
	if k, known := kinds[v.Kind()]; !known || k != t {
		return 0, false
	}
	return bitsOf(v), true
}

// bitsOf returns a number or bool: the bits of a float, or an integer that is extended by its sign or by zeros.
func bitsOf(v reflect.Value) uint64 {
	switch {
	case v.Kind() == reflect.Float32:
		return uint64(math.Float32bits(float32(v.Float())))
	case v.CanFloat():
		return math.Float64bits(v.Float())
	case v.CanInt():
		return uint64(v.Int())
	case v.CanUint():
		return v.Uint()
	case v.Bool():
		return 1
	}
	return 0
}

// byParameter returns, by parameter, the values of its tensors.
func byParameter[T any](k *Kernel, tensors []T) []T {
	all := make([]T, len(k.program.Params))
	for i, p := range k.program.Params {
		if p.Slice != nil {
			all[i], tensors = tensors[0], tensors[1:]
		}
	}
	return all
}

// Explain implements ir.Kernel.
func (l *launch) Explain(err error) error {
	var f *ptxsim.Fault
	switch {
	case !errors.As(err, &f):
		return err
	case f.Cause != nil:
		return f.Cause
	}
	return l.kernel.found(f)
}

// Name implements ir.Kernel.
func (l *launch) Name() string { return l.kernel.Name() }

// Context implements ir.Kernel.
func (l *launch) Context() (ctx context.Context, end func()) {
	switch len(l.contexts) {
	case 0:
		return context.Background(), func() {}
	case 1:
		return l.contexts[0](), func() {}
	}
	all := make([]context.Context, len(l.contexts))
	for i, of := range l.contexts {
		all[i] = of()
	}
	return join(all)
}

// join returns a context that ends when the first of several does, with the error of that one, and has the earliest deadline.
func join(all []context.Context) (joined context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(all[0]))
	j := joinedContext{ctx, all}
	end = func() { cancel(nil) }
	for _, c := range all {
		if err := c.Err(); err != nil { // at once: the function of AfterFunc runs on another goroutine
			cancel(err)
			break
		}
		forget, before := context.AfterFunc(c, func() { cancel(c.Err()) }), end
		end = func() { forget(); before() }
	}
	return j, end
}

// joinedContext is a context of [join].
type joinedContext struct {
	context.Context // whose cause is the error
	all             []context.Context
}

// Err implements context.Context.
func (j joinedContext) Err() error { return context.Cause(j.Context) }

// Deadline implements context.Context.
func (j joinedContext) Deadline() (earliest time.Time, ok bool) {
	for _, c := range j.all {
		if d, has := c.Deadline(); has && (!ok || d.Before(earliest)) {
			earliest, ok = d, true
		}
	}
	return earliest, ok
}

// Host implements ir.Kernel.
func (l *launch) Host(memory [][]byte) error {
	if l.kernel.foreign != nil {
		return l.simulateHost(memory)
	}
	grid, block := l.Shape()
	ctx, end := l.Context()
	defer end()
	return l.kernel.host.Run(ctx, host.Launch{
		Grid: grid, Block: block, Memory: byParameter(l.kernel, memory), Scalars: l.scalars, Unchecked: l.kernel.unchecked,
	})
}

// PTX implements ir.Kernel.
func (l *launch) PTX() (text, entry string, err error) {
	if f := l.kernel.foreign; f != nil {
		return f.module.ptx, f.entry, nil
	}
	_, b := l.Shape()
	text, err = device.Write(l.kernel.program, device.Options{Threads: b[0] * b[1] * b[2], Unchecked: l.kernel.unchecked})
	return text, device.Entry, err
}

// Shape implements ir.Kernel.
func (l *launch) Shape() (grid, block [3]int) { return l.shape.Blocks.array(), l.shape.Threads.array() }

// Params implements ir.Kernel.
func (l *launch) Params(addresses []uint64, record uint64) []byte {
	if l.kernel.foreign != nil {
		return l.withAddresses(addresses)
	}
	return device.Params(l.kernel.program, l.scalars, addresses, l.lengths, record)
}

// SharedBytes implements ir.Kernel.
func (l *launch) SharedBytes() int { return l.shape.SharedBytes }

// RecordBytes implements ir.Kernel.
func (*launch) RecordBytes() int { return device.RecordBytes }

// Check implements ir.Kernel.
func (l *launch) Check(record []byte) error {
	if l.kernel.foreign != nil {
		return nil // the device finds its faults
	}
	if f := device.Fault(l.kernel.program, record); f != nil {
		return f
	}
	return nil
}
