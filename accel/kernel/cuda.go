package kernel

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"go/scanner"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/cuda/nvrtc"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/kernel/internal/cuda"
	"github.com/quernlab/quern/accel/kernel/internal/program"
	"github.com/quernlab/quern/accel/tensor"
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

// elements are the element types of tensors by the types of C++ without unsigned. A vector type counts as its elements.
var elements = map[string]tensor.DType{
	"float": tensor.Float32, "double": tensor.Float64, "int": tensor.Int32, "long": tensor.Int64, "long long": tensor.Int64,
	"char": tensor.Uint8, "signed char": tensor.Uint8, "bool": tensor.Bool, "__half": tensor.Float16, "__half2": tensor.Float16,
	"__nv_bfloat16": tensor.BFloat16, "__nv_bfloat162": tensor.BFloat16, "longlong": tensor.Int64,
	"uint": tensor.Int32, "ulong": tensor.Int64, "ulonglong": tensor.Int64, "uchar": tensor.Uint8,
}

// elementOf returns the element type of tensors for a pointer; ok is false if it takes any.
func elementOf(p cuda.Param) (d tensor.DType, ok bool) {
	name := strings.TrimPrefix(p.Element, "unsigned ")
	if d, ok = elements[name]; !ok && name != "" && strings.ContainsAny(name[len(name)-1:], "1234") {
		d, ok = elements[name[:len(name)-1]] // float4
	}
	return d, ok
}

// numbers are the types of numbers by those of C++ and PTX. Those of PTX with several are not known further.
var numbers = map[string][]program.Type{
	"bool": {program.Bool}, "char": {program.Int8, program.Uint8}, "signed char": {program.Int8}, "unsigned char": {program.Uint8},
	"short": {program.Int16}, "unsigned short": {program.Uint16}, "int": {program.Int32}, "unsigned int": {program.Uint32},
	"long": {program.Int64}, "long long": {program.Int64}, "unsigned long": {program.Uint64}, "unsigned long long": {program.Uint64},
	"float": {program.Float32}, "double": {program.Float64},

	"f32": {program.Float32}, "f64": {program.Float64},
	"u8": {program.Uint8, program.Int8, program.Bool}, "s8": {program.Int8, program.Uint8, program.Bool}, "b8": {program.Uint8, program.Int8, program.Bool},
	"u16": {program.Uint16, program.Int16}, "s16": {program.Int16, program.Uint16}, "b16": {program.Uint16, program.Int16},
	"u32": {program.Uint32, program.Int32}, "s32": {program.Int32, program.Uint32}, "b32": {program.Uint32, program.Int32, program.Float32},
	"u64": {program.Uint64, program.Int64}, "s64": {program.Int64, program.Uint64}, "b64": {program.Uint64, program.Int64, program.Float64},
}

// bindForeign compares arguments with the parameters of a kernel in CUDA C++ or PTX.
func (k *Kernel) bindForeign(s Shape, args []any) (l *launch, tensors []*tensor.Tensor, err error) {
	f := k.foreign
	switch {
	case len(args) != len(f.params):
		return nil, nil, fmt.Errorf("%d arguments for %d parameters", len(args), len(f.params))
	case f.threads[0] > 0 && f.threads != s.Threads.array():
		return nil, nil, fmt.Errorf("blocks of %s threads: the source requires %s", times(s.Threads.array()), times(f.threads))
	case f.maxThreads > 0 && s.Threads.array()[0]*s.Threads.array()[1]*s.Threads.array()[2] > f.maxThreads:
		return nil, nil, fmt.Errorf("blocks of %s threads are too large: the source limits them to %d threads, by __launch_bounds__", times(s.Threads.array()), f.maxThreads)
	case s.SharedBytes < 0:
		return nil, nil, fmt.Errorf("%d bytes of shared memory: the number must be at least 0", s.SharedBytes)
	case s.SharedBytes > 0 && !f.dynamic:
		return nil, nil, fmt.Errorf("%d bytes of shared memory, but the source declares no extern __shared__ array", s.SharedBytes)
	}
	l = &launch{kernel: k, shape: s}
	for i, p := range f.params {
		for len(l.packed) < p.Offset {
			l.packed = append(l.packed, 0)
		}
		name := fmt.Sprintf("parameter %d (%s)", i, p.C)
		t, isTensor := args[i].(*tensor.Tensor)
		if isTensor && t != nil && (p.Pointer || p.C == "u64" || p.C == "b64") {
			if d, known := elementOf(p); known && t.DType() != d {
				return nil, nil, fmt.Errorf("the argument for %s is a tensor of %s, not of %s", name, t.DType(), d)
			}
			l.at = append(l.at, p.Offset)
			l.packed = append(l.packed, make([]byte, 8)...)
			l.sizes, l.names = append(l.sizes, t.DType().Size()), append(l.names, name)
			if tensors, err = l.add(tensors, t, !p.Const, name); err != nil {
				return nil, nil, err
			}
			continue
		}
		if p.Pointer {
			return nil, nil, fmt.Errorf("the argument for %s is a %T, not a tensor", name, args[i])
		}
		b, err := packed(args[i], p)
		if err != nil {
			return nil, nil, fmt.Errorf("the argument for %s %w", name, err)
		}
		l.packed = append(l.packed, b...)
	}
	return l, tensors, nil
}

// times returns numbers of threads in words.
func times(n [3]int) string { return fmt.Sprintf("%d×%d×%d", n[0], n[1], n[2]) }

// packed returns an argument as bytes.
func packed(x any, p cuda.Param) ([]byte, error) {
	types, number := numbers[p.C]
	if number && p.Size > 8 || number && p.Type == "b8" && p.C == "b8" && p.Size > 1 {
		number = false // an array of bytes, which is a struct
	}
	if !number {
		return packedStruct(x, p)
	}
	var names []string
	n, integer := x.(int)
	for _, t := range types {
		if bits, ok := scalarBits(x, t); ok {
			return binary.LittleEndian.AppendUint64(nil, bits)[:p.Size], nil
		}
		if integer && fits(n, t) {
			return binary.LittleEndian.AppendUint64(nil, uint64(n))[:p.Size], nil
		}
		integer = integer && !t.IsFloat()
		names = append(names, t.String())
	}
	if integer {
		return nil, fmt.Errorf("is %d, which does not fit", n)
	}
	return nil, fmt.Errorf("is a %T, not a %s", x, strings.Join(names, ", "))
}

// fits reports whether an integer type has a value.
func fits(n int, t program.Type) bool {
	bits := 8 * t.Size()
	switch {
	case t.IsFloat() || t == program.Bool:
		return false
	case t.IsSigned() && bits < 64:
		return n >= -1<<(bits-1) && n < 1<<(bits-1)
	case t.IsSigned():
		return true
	}
	return n >= 0 && (bits == 64 || n < 1<<bits)
}

// packedStruct returns a value of a struct or an array, which has the layout of C.
func packedStruct(x any, p cuda.Param) ([]byte, error) {
	v := reflect.ValueOf(x)
	if !v.IsValid() || !plain(v.Type()) {
		return nil, fmt.Errorf("is a %T, not a struct, array or number with fixed sizes", x)
	}
	if size := int(v.Type().Size()); size != p.Size {
		return nil, fmt.Errorf("is a %T of %d bytes, not of %d", x, size, p.Size)
	}
	if p.Layout != nil {
		if why := cuda.Mismatch(p.Layout, v.Type()); why != "" {
			return nil, fmt.Errorf("is a %T with other fields: %s", x, why)
		}
	}
	b := make([]byte, p.Size)
	pack(b, v)
	return b, nil
}

// plain reports whether the values of a type are numbers and bools, which Go lays out as C does.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return plain(t.Elem())
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 && t.Kind() != reflect.Uintptr
}

func pack(b []byte, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			pack(b[v.Type().Field(i).Offset:], v.Field(i))
		}
		return
	case reflect.Array:
		for i := range v.Len() {
			pack(b[i*int(v.Type().Elem().Size()):], v.Index(i))
		}
		return
	}
	copy(b[:v.Type().Size()], binary.LittleEndian.AppendUint64(nil, bitsOf(v)))
}

// withAddresses returns the parameters of a launch.
func (l *launch) withAddresses(addresses []uint64) []byte {
	b := append([]byte(nil), l.packed...)
	for i, at := range l.at {
		binary.LittleEndian.PutUint64(b[at:], addresses[i])
	}
	return b
}

// simulateHost runs a kernel on the CPU. The variables of its module keep their values.
func (l *launch) simulateHost(data [][]byte) (err error) {
	m := l.kernel.foreign.module
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.memory == nil {
		parsed, err := ptxsim.Parse(m.ptx)
		if err != nil {
			return err
		}
		memory := ptxsim.NewMemory(math.MaxInt)
		if m.loaded, err = memory.Load(parsed); err != nil {
			return err
		}
		m.memory = memory
	}
	s := &simulation{launch: l}
	addresses := make([]uint64, len(data))
	for i, d := range data {
		if addresses[i], err = m.memory.Alloc(max(len(d), 1)); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.memory.Free(addresses[i])) }()
		if err := m.memory.Write(addresses[i], d); err != nil {
			return err
		}
		s.blocks = append(s.blocks, [2]uint64{addresses[i], uint64(len(d))})
	}
	run := l.simulated(addresses, 0)
	run.Output = os.Stdout // as the driver does
	ctx, end := l.Context()
	defer end()
	err = runSimulated(ctx, m.loaded.Kernel(l.kernel.foreign.entry), run)
	if f, ok := errors.AsType[*ptxsim.Fault](err); ok {
		if err = f.Cause; err == nil {
			err = s.found(f)
		}
	}
	for i, d := range data {
		if l.written[i] {
			err = errors.Join(err, m.memory.Read(d, addresses[i]))
		}
	}
	return err
}

// failure returns the error to return for that of a run.
func (k *Kernel) failure(err error) error {
	if own, ok := errors.AsType[*Fault](err); ok {
		return own
	}
	var simulated *ptxsim.Fault
	if k.foreign == nil || !errors.As(err, &simulated) {
		return public(err)
	}
	if simulated.Cause != nil {
		return simulated.Cause
	}
	return k.found(simulated)
}

// reason returns what happened, without where in the source.
func (f *foreign) reason(fault *ptxsim.Fault) string {
	text := fault.Kind.String()
	if fault.Space != "" {
		text += fmt.Sprintf(": %d bytes of %s memory", fault.Bytes, fault.Space)
	}
	if fault.Detail != "" {
		text += ": " + fault.Detail
	}
	if fault.Source.Line == 0 {
		text += fmt.Sprintf(" (line %d of the PTX: %s)", fault.Line, fault.Text)
	}
	return text
}
