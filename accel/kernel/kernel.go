package kernel

import (
	_ "embed" // for api
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/kernel/internal/compile"
	"github.com/quernlab/quern/accel/kernel/internal/device"
	"github.com/quernlab/quern/accel/kernel/internal/host"
	"github.com/quernlab/quern/accel/kernel/internal/program"
)

//go:embed thread.go
var api string

// Kernel is a compiled kernel.
type Kernel struct {
	program   *program.Program // of a function in Go; nil for any other
	host      *host.Runner     // of program
	foreign   *foreign         // of a function in CUDA C++ or PTX; nil for any other
	unchecked bool
	text      map[compile.Line]string
}

// Text is a Go file that contains kernels.
type Text struct{ text, name string }

// Source returns the kernel with a name in the text of a Go file, for [Compile]. The file also contains the functions, types and constants that
// the kernel uses; what else it contains does not matter. A compiled program embeds the file:
//
//	//go:embed saxpy.go
//	var text string
//
//	k, err := kernel.Compile(kernel.Source(text, "saxpy"))
//
// In a cell it is not needed: Compile takes the function.
func Source(text, name string) Text { return Text{text, name} }

// Compile compiles a kernel: in a cell a declared function, in a compiled program its [Source]. The first parameter of the function is a
// [Thread]; the others are numbers, bools, and slices of the element types of tensors, for which the caller of [Kernel.Launch] passes tensors. The errors
// name the lines of what is wrong or not supported.
//
//	func double(t kernel.Thread, x []float32) {
//		if i := t.Global(); i < len(x) {
//			x[i] *= 2
//		}
//	}
//
//	k, err := kernel.Compile(double)
func Compile(f any, options ...Option) (*Kernel, error) {
	s, ok := f.(Text)
	if !ok {
		return nil, fmt.Errorf("kernel: Compile takes a function that a cell declares, or kernel.Source(text, name) in a compiled program, not a %T", f)
	}
	var given settings
	if err := option.Apply("kernel.Compile", &given, options, "Unchecked"); err != nil {
		return nil, err
	}
	p, err := compile.Compile(s.text, s.name, api)
	if err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	return &Kernel{program: p, host: host.NewRunner(p), text: compile.Lines(s.text), unchecked: given.unchecked}, nil
}

// valid returns an error if the kernel is none.
func (k *Kernel) valid(call string) error {
	if k == nil || k.program == nil && k.foreign == nil {
		return fmt.Errorf("kernel: %s: the kernel is nil: check the error of the function that compiles it", call)
	}
	return nil
}

// must panics if the kernel is none.
func (k *Kernel) must(call string) {
	if err := k.valid(call); err != nil {
		panic(err)
	}
}

// Name returns the name of the function. It panics if k is nil.
func (k *Kernel) Name() string {
	k.must("Name")
	if k.foreign != nil {
		return k.foreign.name
	}
	return k.program.Name
}

// PTX returns the code of the kernel in NVIDIA's virtual instruction set. It panics if k is nil.
func (k *Kernel) PTX() string {
	k.must("PTX")
	if k.foreign != nil {
		return k.foreign.module.ptx
	}
	text, err := device.Write(k.program, device.Options{Threads: maxThreads, Unchecked: k.unchecked})
	if err != nil {
		panic(err) // Compile has accepted what cannot be written
	}
	return text
}

// Fault is the error of a thread that has done what Go forbids, such as using an index out of range.
type Fault struct {
	Kernel string // its name
	File   string // such as cell[3]
	Line   int    // in the file
	// Block and Thread are the positions of the block in the grid and of the thread in the block, along x, y and z.
	Block, Thread [3]int
	// Index and Length are those of an index out of range.
	Index, Length int
	Reason        string // what happened
	// Other is the other access of a race that Check has found; nil for any other fault.
	Other *Access
}

func (f *Fault) Error() string {
	return fmt.Sprintf("kernel %s: %s:%d: %s, in thread %v of block %v", f.Kernel, f.File, f.Line, f.Reason, f.Thread, f.Block)
}

// public returns the error to return for that of a run.
func public(err error) error {
	var f *program.Fault
	if !errors.As(err, &f) {
		return err
	}
	at := f.Instr.Pos
	return &Fault{
		Kernel: f.Kernel, File: at.Filename, Line: at.Line, Block: f.Block, Thread: f.Thread, Index: int(f.Index), Length: int(f.Length), Reason: f.Reason(),
	}
}
