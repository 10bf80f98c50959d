package compile

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// KernelPath is the import path of package kernel.
const KernelPath = "github.com/quernlab/quern/accel/kernel"

// mathSource declares what kernels may use of package math.
const mathSource = `package math

const (
	E = 2.71828182845904523536028747135266249775724709369995957496696763
	Pi = 3.14159265358979323846264338327950288419716939937510582097494459
	Phi = 1.61803398874989484820458683436563811772030917980576286213544862
	Sqrt2 = 1.41421356237309504880168872420969807856967187537694807317667974
	SqrtE = 1.64872127070012814684865078781416357165377610071014801157507931
	SqrtPi = 1.77245385090551602729816748334114518279754945612238712821380779
	Ln2 = 0.693147180559945309417232121458176568075500134360255254120680009
	Log2E = 1 / Ln2
	Ln10 = 2.30258509299404568401799145468436420760110148862877297603332790
	Log10E = 1 / Ln10

	MaxFloat32 = 0x1p127 * (1 + (1 - 0x1p-23))
	SmallestNonzeroFloat32 = 0x1p-126 * 0x1p-23
	MaxFloat64 = 0x1p1023 * (1 + (1 - 0x1p-52))
	SmallestNonzeroFloat64 = 0x1p-1022 * 0x1p-52

	MaxInt = 1<<63 - 1
	MinInt = -1 << 63
	MaxInt8 = 1<<7 - 1
	MinInt8 = -1 << 7
	MaxInt16 = 1<<15 - 1
	MinInt16 = -1 << 15
	MaxInt32 = 1<<31 - 1
	MinInt32 = -1 << 31
	MaxInt64 = 1<<63 - 1
	MinInt64 = -1 << 63
	MaxUint = 1<<64 - 1
	MaxUint8 = 1<<8 - 1
	MaxUint16 = 1<<16 - 1
	MaxUint32 = 1<<32 - 1
	MaxUint64 = 1<<64 - 1
)

func Abs(x float64) float64
func Sqrt(x float64) float64
func Floor(x float64) float64
func Ceil(x float64) float64
func Trunc(x float64) float64
func RoundToEven(x float64) float64
func FMA(x, y, z float64) float64
func Max(x, y float64) float64
func Min(x, y float64) float64
func Copysign(f, sign float64) float64
func Signbit(x float64) bool
func Exp(x float64) float64
func Expm1(x float64) float64
func Log(x float64) float64
func Sin(x float64) float64
func Cos(x float64) float64
func Tanh(x float64) float64
func Erf(x float64) float64
func Pow(x, y float64) float64
func IsNaN(f float64) bool
func IsInf(f float64, sign int) bool
func Inf(sign int) float64
func NaN() float64
func Float32bits(f float32) uint32
func Float32frombits(b uint32) float32
func Float64bits(f float64) uint64
func Float64frombits(b uint64) float64
`

// mathFunctions returns the names of the functions that mathSource declares.
func mathFunctions() (names []string) {
	for line := range strings.Lines(mathSource) {
		if f, ok := strings.CutPrefix(line, "func "); ok {
			name, _, _ := strings.Cut(f, "(")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// importer imports the packages of kernels.
type importer struct{ packages map[string]*types.Package }

// newImporter returns an importer; api is the source of package kernel.
func newImporter(api string) (*importer, error) {
	im := &importer{map[string]*types.Package{}}
	for path, source := range map[string]string{"math": mathSource, KernelPath: api} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path+".go", source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		config := types.Config{IgnoreFuncBodies: true}
		if im.packages[path], err = config.Check(path, fset, []*ast.File{file}, nil); err != nil {
			return nil, err
		}
	}
	return im, nil
}

// Import implements types.Importer.
func (im *importer) Import(path string) (*types.Package, error) {
	if p := im.packages[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("a kernel may only use the packages math and kernel")
}
