package kernel

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"go/scanner"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/cuda/nvrtc"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/kernel/internal/cuda"
)

// CompileCUDA compiles a kernel in CUDA C++: the __global__ function with a name in the source. The name of a template contains
// its arguments, such as add<float>.
//
//	k, err := kernel.CompileCUDA(`
//	__global__ void saxpy(int n, float a, const float *x, float *y) {
//		int i = blockIdx.x*blockDim.x + threadIdx.x;
//		if (i < n) y[i] += a * x[i];
//	}`, "saxpy")
//	err = k.Launch(kernel.Grid(1000, 256), 1000, float32(2), x, y)
//
// The compiler is NVRTC, which needs no GPU; python3 -m pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl installs
// it, with the headers cuda_fp16.h, mma.h and cooperative_groups.h. The code runs with the drivers of CUDA 12.0 and later; with another --gpu-architecture, with those of the CUDA of the NVRTC and later.
// The error contains what is wrong with the line and a caret. A #line directive at the beginning sets the names and numbers of the lines.
//
// # Arguments
//
// [Kernel.Launch] and [Check] check the arguments by the types of the parameters. For a pointer pass a [*tensor.Tensor] with
// elements of its type: float, double, int, long long, unsigned char, bool, __half, or __nv_bfloat16. Integers can be unsigned, and float4 counts as
// float. A pointer to any other type, and void *, takes each tensor. A tensor whose pointer is not const counts as written. For a number
// pass a value of its size and kind, such as float32 or int32; for an integer an int whose value fits, too. For a struct pass
// a Go struct whose fields have the same offsets, sizes and kinds, with fields named _ as padding; the names of the fields do not matter. What a union or a bit-field
// contains is not compared. How long the memory behind a pointer is, the kernel does not know: pass it.
//
// # Faults
//
// CUDA C++ checks nothing. Check finds what is wrong, with the lines of the source. On a GPU an access out of bounds may change other
// memory, or make the GPU unusable for the process, until the notebook is restarted. On the CPU, Launch runs kernels in CUDA C++ on the
// simulated GPU: a kernel that takes a second there, some ten million instructions, takes microseconds on a GPU. It reports accesses
// out of bounds, but no races.
//
// printf writes to the standard output. The values of __device__ variables remain from launch to launch, and are shared by the kernels of one
// source on a device. There is no way to set a __constant__ variable, other than in the source.
func CompileCUDA(source, name string, options ...Option) (*Kernel, error) {
	all, err := compileCUDA(source, []string{name}, options)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// CompileCUDAAll compiles all kernels of a source in CUDA C++, as [CompileCUDA], and returns them by their names. Of templates, these are
// the ones that the source instantiates.
//
//	kernels, err := kernel.CompileCUDAAll(source)
//	err = kernels["saxpy"].Launch(kernel.Grid(1000, 256), 1000, float32(2), x, y)
func CompileCUDAAll(source string, options ...Option) (map[string]*Kernel, error) {
	all, err := compileCUDA(source, nil, options)
	if err != nil {
		return nil, err
	}
	named := map[string]*Kernel{}
	for _, k := range all {
		if named[k.Name()] != nil {
			return nil, fmt.Errorf("kernel: the source contains several kernels %s: give them different names", k.Name())
		}
		named[k.Name()] = k
	}
	return named, nil
}

// CompilePTX returns the kernel with a name in a module of PTX, NVIDIA's virtual instruction set. The name is that of the entry, or that in
// C++ if a C++ compiler has made it. Types are those of such a name; of any other entry, and of structs, only the sizes are known: a parameter of 64 bits takes a tensor
// or a number, and a struct any Go struct of its size. Everything else is as for [CompileCUDA].
//
//	k, err := kernel.CompilePTX(text, "saxpy")
func CompilePTX(text, name string) (*Kernel, error) {
	all, err := foreignKernels(text)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range all {
		if k.foreign.entry == name || k.Name() == name {
			return k, nil
		}
		names = append(names, k.Name())
	}
	return nil, fmt.Errorf("kernel: the PTX contains no kernel %s, but %s", name, strings.Join(names, ", "))
}

// foreign is a kernel that is not a function in Go.
type foreign struct {
	name   string // in its language
	entry  string // in the PTX
	module *module
	params []cuda.Param
	known  bool // whether the name of the entry contains the types of the parameters
	// dynamic says that the module contains shared memory whose size the launch determines.
	dynamic bool
	// maxThreads is the maximum number of threads of a block, and threads the number along x, y and z; 0 if the source does not limit it.
	maxThreads int
	threads    [3]int
}

// module is a module with kernels, and its variables on the CPU.
type module struct {
	ptx string

	mu     sync.Mutex
	memory *ptxsim.Memory // nil before the first launch
	loaded *ptxsim.Loaded
}

const (
	// sourceName is the name of a source without #line directives.
	sourceName = "kernel.cu"
	// architecture is the oldest one that the kernels of the engine run on.
	architecture = "--gpu-architecture=compute_80"
	// ptxVersion is the version of PTX for it. The compiler writes that of its CUDA, which an older driver rejects, although the code of
	// this architecture needs nothing of it; a driver rejects what a version does not contain.
	ptxVersion = "8.0"
)

var versionDirective = regexp.MustCompile(`(?m)^\.version \d+\.\d+$`)

// compileCUDA returns the kernels with some names, or all.
func compileCUDA(source string, names []string, options []Option) ([]*Kernel, error) {
	var given settings
	if err := option.Apply("kernel.CompileCUDA", &given, options, "CompilerFlags"); err != nil {
		return nil, err
	}
	flags := append([]string{"-lineinfo", "--pre-include=math.h"}, given.flags...)
	ownArchitecture := slices.ContainsFunc(flags, func(f string) bool {
		return strings.HasPrefix(f, "--gpu-architecture") || strings.HasPrefix(f, "-arch")
	})
	if !ownArchitecture {
		flags = append(flags, architecture)
	}
	done, err := nvrtc.Compile(nvrtc.Program{Source: source, Name: sourceName, Names: names, Options: flags})
	if err != nil {
		return nil, compileError(err)
	}
	ptx := relativeFiles(done.PTX)
	if !ownArchitecture {
		ptx = versionDirective.ReplaceAllString(ptx, ".version "+ptxVersion)
	}
	all, err := foreignKernels(ptx)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(all, (*Kernel).lacksTypes) {
		if err := addTypes(all, nvrtc.Program{Source: source, Name: sourceName, Names: names, Options: flags}); err != nil {
			return nil, err
		}
	}
	text := cuda.Lines(source, sourceName)
	for _, k := range all {
		k.text = text
	}
	if names == nil {
		return all, nil
	}
	chosen := make([]*Kernel, len(names))
	for i, name := range names {
		at := slices.IndexFunc(all, func(k *Kernel) bool { return k.foreign.entry == done.Names[i] })
		if at < 0 {
			return nil, fmt.Errorf("kernel: %s is not a kernel: declare it as __global__", name)
		}
		chosen[i] = all[at]
	}
	return chosen, nil
}

// lacksTypes reports whether the PTX does not contain the type of each parameter.
func (k *Kernel) lacksTypes() bool {
	return !k.foreign.known || slices.ContainsFunc(k.foreign.params, func(p cuda.Param) bool { return !p.Pointer && numbers[p.C] == nil })
}

// addTypes adds the types that the PTX does not contain. They are in the debugging information of a second compilation.
func addTypes(kernels []*Kernel, p nvrtc.Program) error {
	p.Options = append(slices.DeleteFunc(slices.Clone(p.Options), func(f string) bool { return strings.HasSuffix(f, "-lineinfo") || f == "--generate-line-info" }), "-G")
	var types map[string][]dwarf.Type
	done, err := nvrtc.Compile(p)
	if err == nil {
		types, err = cuda.Types(done.PTX)
	}
	for _, k := range kernels {
		if !k.lacksTypes() {
			continue
		}
		f := k.foreign
		if err == nil && len(types[f.entry]) != len(f.params) {
			err = errors.New("the compiler does not describe them")
		}
		if err != nil {
			return fmt.Errorf("kernel: the types of the parameters of %s are not known: %w", k.Name(), err)
		}
		for i := range f.params {
			f.params[i].Describe(types[f.entry][i])
		}
	}
	return nil
}

// sourceError is what is wrong in a source, as text with its lines.
type sourceError struct {
	text string
	list scanner.ErrorList
}

func (e *sourceError) Error() string { return e.text }

// Unwrap returns the positions and messages.
func (e *sourceError) Unwrap() error { return e.list }

// compileError returns the error for one of the compiler.
func compileError(err error) error {
	var wrong *nvrtc.CompileError
	if !errors.As(err, &wrong) {
		if errors.As(err, new(*library.CallError)) {
			return fmt.Errorf("kernel: %w", err)
		}
		return fmt.Errorf("kernel: CUDA C++ needs NVRTC, NVIDIA's compiler: %w", err)
	}
	e := &sourceError{}
	var texts []string
	for _, x := range cuda.Errors(wrong.Log) {
		if strings.Contains(x.Msg, "open source file") && !wrong.Headers {
			x.Msg += "; python3 -m pip install nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl installs the headers of CUDA"
		}
		e.list = append(e.list, x.Error)
		text := x.Error.Error()
		if x.Caret != "" {
			text += "\n" + x.Source + "\n" + x.Caret
		}
		texts = append(texts, text)
	}
	if e.text = "kernel: " + strings.Join(texts, "\n"); len(texts) == 0 {
		e.text = "kernel: " + strings.TrimSpace(wrong.Log)
	}
	return e
}

var fileDirective = regexp.MustCompile(`(?m)^(\s*\.file\s+\d+\s+")([^"]*)(")`)

// relativeFiles removes the working directory, which the compiler adds, from the names of files.
func relativeFiles(ptx string) string {
	folder, err := os.Getwd()
	if err != nil {
		return ptx
	}
	return fileDirective.ReplaceAllStringFunc(ptx, func(text string) string {
		m := fileDirective.FindStringSubmatch(text)
		if rest, ok := strings.CutPrefix(m[2], folder+string(filepath.Separator)); ok {
			return m[1] + rest + m[3]
		}
		return text
	})
}

// foreignKernels returns the kernels of a module.
func foreignKernels(ptx string) ([]*Kernel, error) {
	entries, err := ptxsim.Entries(ptx)
	if err != nil {
		return nil, fmt.Errorf("kernel: PTX: %w", err)
	}
	m := &module{ptx: ptx}
	var all []*Kernel
	for _, e := range entries {
		f := &foreign{entry: e.Name, module: m, dynamic: e.Dynamic, maxThreads: e.MaxThreads, threads: e.Threads}
		f.name, f.params, f.known = cuda.Signature(e)
		all = append(all, &Kernel{foreign: f})
	}
	return all, nil
}

// notAnOp is the error of [Op].
func (k *Kernel) notAnOp() error {
	return fmt.Errorf("%s is a kernel in CUDA C++, whose inputs and results are not known: launch it, or write it in Go", k.Name())
}
