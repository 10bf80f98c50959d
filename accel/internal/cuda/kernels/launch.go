package kernels

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/tensor"
)

//go:embed *.ptx
var code embed.FS

// PTX is the code of a module. Modules are small, so that loading one, which
// compiles all of it, costs little.
func PTX(module string) (string, error) {
	b, err := code.ReadFile(module + ".ptx")
	if err != nil {
		return "", fmt.Errorf("there are no CUDA kernels for %s", module)
	}
	return string(b), nil
}

// Fingerprint is 16 characters that differ between builds whose kernels differ: what
// was measured of one build holds for another one with the same kernels.
func Fingerprint() string {
	h := sha256.New()
	files, err := code.ReadDir(".")
	if err != nil {
		panic(err) // the files are compiled in
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
	Module string // see PTX
	Entry  string // of the module
	Grid   driver.Dim
	Block  driver.Dim
	Shared int    // bytes of dynamic shared memory
	Params []byte // laid out as the .param space of the entry
	Maps   []Map  // that the driver must put into Params before the launch
}

// Map is a tensor map and where it belongs in the parameters, 128 bytes.
type Map struct {
	Offset int
	Tensor driver.TensorMap
}

// Entry is a row of the table of kernels.
type Entry struct {
	File     string   // NAME of NAME.cu
	Variants []string // of the file
	Name     string   // without the variant
	Threads  int      // of a block
	Params   any      // zero value of the parameters
}

// Symbol is the name of the entry in the module of a variant.
func (e Entry) Symbol(variant string) string { return e.Name + "_" + variant }

// Module is the name of the file of a variant.
func (e Entry) Module(variant string) string { return e.File + "_" + variant }

// kernel is an entry with the type of its parameters, of which each field is one.
type kernel[P any] struct {
	file, name string
	variants   []string
	threads    int
}

var (
	reals = []string{"f32", "f64"}
	moves = []string{"any"} // kernels that move bytes
)

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

// encode is the bytes of a struct up to the end of its last field. Go lays out
// structs of fixed-size numbers as PTX does parameters.
func encode[P any](p P) []byte {
	t := reflect.TypeOf(p)
	last := t.Field(t.NumField() - 1)
	size := last.Offset + last.Type.Size()
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(&p)), size)...)
}

// real is the variant of a type that is computed with.
func real(d tensor.DType) string {
	if d == tensor.Float64 {
		return "f64"
	}
	return "f32"
}

// Kernels whose threads go on to what is further off by the size of the grid need
// no more blocks than fill any device a few times over.
const maxBlocks = 4096

// linear is the number of blocks for n elements of which a thread takes one.
func linear(n int) int { return min((n+255)/256, maxBlocks) }

// teams is the number of blocks for rows that one warp or one block takes, and
// which of the two.
func teams(rows, n int) (blocks int, warp bool) {
	if n <= 1024 {
		return min((rows+7)/8, maxBlocks), true
	}
	return min(rows, maxBlocks), false
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

// MaxElements is how many elements an op that counts them in 32 bits may have.
const MaxElements = math.MaxUint32

// Fault decodes what a kernel reported about its input: the number of the first
// element that was wrong, and what it was, by the op:
//
//   - an index that is out of range: the index
//   - Finite: 1 for NaN, 2 for +Inf, 3 for -Inf
//   - Index: 0; IndexValue finds the index
//
// ok is false if nothing was reported.
func Fault(bits uint64) (element int, what int32, ok bool) {
	return int(bits >> 32), int32(uint32(bits)), bits != NoFault
}

// NoFault is what a fault is set to beforehand.
const NoFault = math.MaxUint64
