package kernels

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// code are the modules, compressed: as text they would be a tenth of the program.
//
//go:embed *.ptx.gz
var code embed.FS

// PTX returns the code of a module. Modules are small, because loading one compiles all of
// it.
func PTX(module string) (string, error) {
	b, err := code.ReadFile(module + ".ptx.gz")
	if err != nil {
		return "", fmt.Errorf("there is no module of CUDA kernels named %s", module)
	}
	text, err := decompress(b)
	if err != nil {
		return "", fmt.Errorf("module %s of CUDA kernels: %w", module, err)
	}
	return string(text), nil
}

func decompress(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Fingerprint returns 16 characters that identify the kernels of this build. Measurements
// of one build are valid for another build with the same fingerprint.
func Fingerprint() string {
	h := sha256.New()
	files, err := code.ReadDir(".")
	if err != nil {
		panic(err) // the files are embedded
	}
	for _, f := range files {
		b, err := code.ReadFile(f.Name())
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(h, "%s %d\n%s", f.Name(), len(b), b)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Launch is one kernel to run.
type Launch struct {
	Module string // an argument of PTX
	Entry  string // name of the entry in the module
	Grid   driver.Dim
	Block  driver.Dim
	Shared int    // bytes of dynamic shared memory
	Params []byte // laid out as the .param space of the entry
	Maps   []Map  // tensor maps that the driver encodes into Params before the launch
}

// Map is a tensor map and its offset in the parameters; it takes 128 bytes.
type Map struct {
	Offset int
	Tensor driver.TensorMap
}

// Entry is a row of the table of kernels.
type Entry struct {
	File     string   // NAME in NAME.cu
	Variants []string // variants of the file
	Name     string   // without the variant
	Threads  int      // threads per block
	Params   any      // zero value of the parameters
}

// Symbol returns the name of the entry in the module of a variant.
func (e Entry) Symbol(variant string) string { return e.Name + "_" + variant }

// Module returns the name of the module of a variant.
func (e Entry) Module(variant string) string { return e.File + "_" + variant }

// kernel is an Entry with the type of its parameters; each field of P is one parameter.
type kernel[P any] struct {
	file, name string
	variants   []string
	threads    int
}

var (
	reals = []string{"f32", "f64"}
	moves = []string{"any"} // the variant of kernels that only move bytes
)

// table are all kernels, in the order of the files; tests compare it with the PTX.
var table []Entry

func add(e ...Entry) { table = append(table, e...) }

// declare returns a kernel, which is one of the table.
func declare[P any](file, name string, variants []string, threads int) kernel[P] {
	k := kernel[P]{file, name, variants, threads}
	add(k.entry())
	return k
}

func (k kernel[P]) entry() Entry {
	var p P
	return Entry{k.file, k.variants, k.name, k.threads, p}
}

func (k kernel[P]) launch(variant string, blocks int, p P) Launch {
	return k.grid(variant, driver.Dim{X: uint32(blocks), Y: 1, Z: 1}, 0, p)
}

func (k kernel[P]) grid(variant string, grid driver.Dim, shared int, p P) Launch {
	return Launch{
		Module: k.file + "_" + variant,
		Entry:  k.name + "_" + variant,
		Grid:   grid,
		Block:  driver.Dim{X: uint32(k.threads), Y: 1, Z: 1},
		Shared: shared,
		Params: encode(p),
	}
}

// encode returns the bytes of a struct up to the end of its last field. Go lays out structs
// of fixed-size numbers in the same way as PTX lays out parameters.
func encode[P any](p P) []byte {
	t := reflect.TypeOf(p)
	last := t.Field(t.NumField() - 1)
	size := last.Offset + last.Type.Size()
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(&p)), size)...)
}

// real returns the variant for an element type.
func real(d tensortype.DType) string {
	if d == tensortype.Float64 {
		return "f64"
	}
	return "f32"
}

// kind returns the number that kernels which compute in float32 have for the type of an operand.
func kind(d tensortype.DType) uint32 {
	switch d {
	case tensortype.BFloat16:
		return 1
	case tensortype.Float16:
		return 2
	}
	return 0
}

// computes returns the type in which an op on a type computes.
func computes(d tensortype.DType) tensortype.DType {
	if d.Is16Bit() {
		return tensortype.Float32
	}
	return d
}

// maxBlocks limits the grid of kernels with a grid-stride loop. That many blocks fill any
// GPU several times.
const maxBlocks = 4096

// maxMeetings is the number of counters in device.h at which blocks of a launch meet.
const maxMeetings = 1056

// linear returns the number of blocks for n elements, one per thread.
func linear(n int) int { return min((n+255)/256, maxBlocks) }

// rowKernels are two kernels for rows: a row is processed by one warp or by one block.
type rowKernels[P any] struct{ warp, block kernel[P] }

func declareRows[P any](file, name string) rowKernels[P] {
	return rowKernels[P]{declare[P](file, name+"_warp", reals, 256), declare[P](file, name+"_block", reals, 256)}
}

// launch selects the kernel for rows of n elements.
func (k rowKernels[P]) launch(variant string, rows, n int, p P) Launch {
	if n <= 1024 {
		return k.warp.launch(variant, min((rows+7)/8, maxBlocks), p)
	}
	return k.block.launch(variant, min(rows, maxBlocks), p)
}

func ceil(n, to int) int { return (n + to - 1) / to }

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// Pointer is an address in device memory.
type Pointer = driver.Pointer

// MaxElements is the maximum number of elements of an op that counts them in 32 bits.
const MaxElements = math.MaxUint32

// Fault decodes what a kernel reported about its input: the index of the first wrong
// element, and what was wrong, which depends on the op:
//
//   - ops with indices: the index that is out of range
//   - Finite: 1 for NaN, 2 for +Inf, 3 for -Inf
//   - Index: 0; the index itself is in the op's value
//
// ok is false if no fault was reported.
func Fault(bits uint64) (element int, what int32, ok bool) {
	return int(bits >> 32), int32(uint32(bits)), bits != NoFault
}

// NoFault is the initial value of a fault.
const NoFault = math.MaxUint64
