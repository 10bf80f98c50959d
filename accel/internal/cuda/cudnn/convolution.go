package cudnn

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// Supports reports whether cuDNN convolves tensors of a type.
func Supports(t tensortype.DType) bool { return t == tensortype.Float32 || t.Is16Bit() }

// Kind says which of the three tensors is computed from the other two.
type Kind int32

// The kinds.
const (
	Forward        Kind = iota // y from x and w
	InputGradient              // dx from w and dy
	WeightGradient             // dw from x and dy
)

// Convolution is y [N, O, OH, OW] from x [N, C, H, W] and w [O, C/Groups, KH, KW],
// without a bias, or a gradient of it. The tensors are in memory in the order of these dimensions, or with
// the channels last: [N, OH, OW, O], [N, H, W, C] and [O, KH, KW, C/Groups]. Sums are float32. Inputs are not
// rounded, except float32 to TF32 if TF32 is set.
type Convolution struct {
	Kind                      Kind
	Type                      tensortype.DType // one that Supports reports
	N, C, H, W, O, OH, OW     int
	KH, KW, Groups            int
	Stride, Padding, Dilation [2]int // of rows and columns
	TF32, ChannelsLast        bool
	AlignX, AlignW, AlignY    int // alignment of addresses in bytes, powers of two
	Workspace                 int // maximum bytes that a plan may use
}

// Library selects algorithms.
type Library interface {
	// Plans returns at most n plans, the one estimated to be the fastest first. The caller
	// closes them.
	Plans(c Convolution, n int) ([]Plan, error)
	// Version is the version of the library, 9.10.2 for instance.
	Version() string
	// Close releases what the library holds on the device.
	Close() error
}

// Plan is an algorithm for one Convolution.
type Plan interface {
	// Name differs from those of other plans for the same Convolution.
	Name() string
	// Workspace is how many bytes of device memory the plan needs besides.
	Workspace() int
	// Run queues the convolution in a stream. It computes the tensor that the Kind selects from
	// the other two. work is aligned to 256 bytes.
	Run(s driver.Stream, x, w, y, work driver.Pointer) error
	// Close releases the plan. Work in a stream continues.
	Close()
}

// note is a numerical property of an engine, a value of cudnnBackendNumericalNote_t.
type note uint32

const (
	tensorCores      note = 0
	downConvert      note = 1
	reducedReduction note = 2
	fourier          note = 3
	nondeterministic note = 4
	winograd         note = 5
	winograd6        note = 7
	winograd13       note = 8
)

// behavior is another property of an engine, a value of cudnnBackendBehaviorNote_t.
type behavior uint32

// compiled engines are compiled when a plan is created, which takes seconds.
const compiled behavior = 0

// accepts reports whether an engine with some properties, one per bit, is compiled already
// and as accurate as our own kernels. Winograd transforms with small tiles lose little in
// float32, those with large tiles lose much, and all of them lose much in 16 bits.
func (c Convolution) accepts(notes, behaves uint32) bool {
	if behaves>>compiled&1 != 0 {
		return false
	}
	rejected := []note{downConvert, reducedReduction, fourier, nondeterministic, winograd6, winograd13}
	if c.Type != tensortype.Float32 {
		rejected = append(rejected, winograd)
	} else if !c.TF32 {
		rejected = append(rejected, tensorCores)
	}
	for _, n := range rejected {
		if notes>>n&1 != 0 {
			return false
		}
	}
	return true
}
