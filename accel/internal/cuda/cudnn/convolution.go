package cudnn

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/tensor"
)

// Takes tells whether tensors of a type are convolved.
func Takes(t tensor.DType) bool { return t == tensor.Float32 || t.Half() }

// Kind is which of the three tensors is computed from the others.
type Kind int32

// The kinds.
const (
	Forward        Kind = iota // y from x and w
	InputGradient              // x from w and y, all gradients but w
	WeightGradient             // w from x and y, all gradients but x
)

// Convolution is y [N, O, OH, OW] from x [N, C, H, W] and w [O, C/Groups, KH, KW],
// without a bias, or a gradient of it. The products are added up in float32, of
// factors as they are; of float32 rounded to TF32 where TF32 is set.
type Convolution struct {
	Kind                      Kind
	Type                      tensor.DType // one that Takes
	N, C, H, W, O, OH, OW     int
	KH, KW, Groups            int
	Stride, Padding, Dilation [2]int // of rows and columns
	TF32                      bool
	AlignX, AlignW, AlignY    int // bytes that addresses are multiples of, a power of two
	Workspace                 int // most bytes that a plan may use
}

// Library chooses how to convolve.
type Library interface {
	// Plans are the ways that the library thinks fastest, the best first, at most n.
	// Their owner closes them.
	Plans(c Convolution, n int) ([]Plan, error)
	// Version is that of the library.
	Version() string
	// Close gives back what the library has on the device.
	Close() error
}

// Plan convolves in one way.
type Plan interface {
	// Name tells the plan from others of the same convolution.
	Name() string
	// Workspace is how many bytes of device memory the plan uses besides.
	Workspace() int
	// Run asks a stream to compute the tensor that the convolution's kind says from
	// the others. work is aligned to 256 bytes.
	Run(s driver.Stream, x, w, y, work driver.Pointer) error
	// Close gives the plan back. Work that it has asked for goes on.
	Close()
}

// note is a property of an engine, as cudnnBackendNumericalNote_t numbers them.
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

// behaviour is a property of an engine beyond its numbers, as
// cudnnBackendBehaviorNote_t numbers them.
type behaviour uint32

// compiled is of engines that are compiled when a plan is made, which takes seconds.
const compiled behaviour = 0

// takes tells whether an engine with some properties, one a bit, is ready to be used,
// and computes as well as the convolution wants. Small tiles of Winograd's products lose little in float32,
// large ones much, and all of them in 16 bits.
func (c Convolution) takes(notes, behaves uint32) bool {
	if behaves>>compiled&1 != 0 {
		return false
	}
	refused := []note{downConvert, reducedReduction, fourier, nondeterministic, winograd6, winograd13}
	if c.Type != tensor.Float32 {
		refused = append(refused, winograd)
	} else if !c.TF32 {
		refused = append(refused, tensorCores)
	}
	for _, n := range refused {
		if notes>>n&1 != 0 {
			return false
		}
	}
	return true
}
