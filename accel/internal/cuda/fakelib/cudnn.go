package fakelib

import (
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/cudnn"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// CuDNN is a fake of cuDNN. The fields may be changed until it is used.
type CuDNN struct {
	Context fake.FuncLauncher
	// Refuses names functions whose calls fail, cudnnBackendExecute for instance.
	Refuses map[string]bool

	// Runs counts the convolutions.
	Runs  int
	plans int // not closed
}

var _ cudnn.Library = (*CuDNN)(nil)

// OpenCuDNN opens the fake for a context of package fake.
func OpenCuDNN(ctx driver.Context) (cudnn.Library, error) {
	return &CuDNN{Context: ctx.(fake.FuncLauncher)}, nil
}

// Version returns a version that the back end supports.
func (l *CuDNN) Version() string { return "9.0.0" }

// Close fails while plans are open.
func (l *CuDNN) Close() error {
	if l.plans != 0 {
		return l.refused("cudnnDestroy", "%d plans are left", l.plans)
	}
	return nil
}

func (l *CuDNN) refused(call, format string, args ...any) error {
	return &library.CallError{Library: library.CuDNN, Call: call, Code: 2000, Status: "CUDNN_STATUS_BAD_PARAM", Words: fmt.Sprintf(format, args...)}
}

// check returns what cuDNN's documentation does not allow.
func (l *CuDNN) check(c cudnn.Convolution) error {
	for _, n := range []int{c.N, c.C, c.H, c.W, c.O, c.OH, c.OW, c.KH, c.KW, c.Groups, c.Stride[0], c.Stride[1], c.Dilation[0], c.Dilation[1]} {
		if n < 1 {
			return l.refused("cudnnBackendFinalize", "%+v", c)
		}
	}
	if c.Padding[0] < 0 || c.Padding[1] < 0 || c.C%c.Groups != 0 || c.O%c.Groups != 0 || c.TF32 && c.Type != tensortype.Float32 || !cudnn.Supports(c.Type) {
		return l.refused("cudnnBackendFinalize", "%+v", c)
	}
	out := func(in, kernel, i int) int { return (in+2*c.Padding[i]-c.Dilation[i]*(kernel-1)-1)/c.Stride[i] + 1 }
	if c.ChannelsLast && !c.Type.Is16Bit() {
		return l.refused("cudnnBackendFinalize", "the back end has %v in row-major order", c.Type)
	}
	if out(c.H, c.KH, 0) != c.OH || out(c.W, c.KW, 1) != c.OW {
		return l.refused("cudnnBackendFinalize", "a result of %d×%d: %+v", c.OH, c.OW, c)
	}
	for _, align := range []int{c.AlignX, c.AlignW, c.AlignY} {
		if align < c.Type.Size() || align&(align-1) != 0 || align > 256 {
			return l.refused("cudnnBackendFinalize", "an alignment of %d", align)
		}
	}
	return nil
}

// Plans returns some plans; the second needs a workspace.
func (l *CuDNN) Plans(c cudnn.Convolution, n int) ([]cudnn.Plan, error) {
	if l.Refuses["cudnnBackendFinalize"] {
		return nil, l.refused("cudnnBackendFinalize", "as the test wants")
	}
	if err := l.check(c); err != nil {
		return nil, err
	}
	var plans []cudnn.Plan
	for i := range min(n, maxPlans) {
		workspace := i % 2 * (8 << 10)
		if workspace > c.Workspace {
			continue
		}
		l.plans++
		plans = append(plans, &convolutionPlan{library: l, convolution: c, number: i, workspace: workspace})
	}
	return plans, nil
}

type convolutionPlan struct {
	library     *CuDNN
	convolution cudnn.Convolution
	number      int
	workspace   int
	closed      bool
}

func (p *convolutionPlan) Name() string { return fmt.Sprintf("cuDNN engine %d", p.number) }

func (p *convolutionPlan) Workspace() int { return p.workspace }

func (p *convolutionPlan) Close() {
	if !p.closed {
		p.closed = true
		p.library.plans--
	}
}

func (p *convolutionPlan) Run(s driver.Stream, x, w, y, work driver.Pointer) error {
	l, c := p.library, p.convolution
	switch {
	case p.closed:
		return l.refused("cudnnBackendExecute", "the plan is closed")
	case l.Refuses["cudnnBackendExecute"]:
		return l.refused("cudnnBackendExecute", "as the test wants")
	case p.workspace > 0 && work%256 != 0:
		return l.refused("cudnnBackendExecute", "a workspace at %#x", work)
	case x%driver.Pointer(c.AlignX) != 0 || w%driver.Pointer(c.AlignW) != 0 || y%driver.Pointer(c.AlignY) != 0:
		return l.refused("cudnnBackendExecute", "tensors at %#x, %#x and %#x", x, w, y)
	}
	l.Runs++
	return l.Context.LaunchFunc(s, p.Name(), time.Duration(0), func(m *ptxsim.Memory) error {
		if p.workspace > 0 { // the real library leaves arbitrary data there
			if err := m.Write(uint64(work), make([]byte, p.workspace)); err != nil {
				return err
			}
		}
		return convolve(m, c, x, w, y)
	})
}

// convolve computes one of the tensors, as the kind says, from the other two.
func convolve(m *ptxsim.Memory, c cudnn.Convolution, x, w, y driver.Pointer) error {
	per := c.C / c.Groups
	at := [3]driver.Pointer{y, x, w} // by the kind that computes it
	var tensors [3][]float64
	for i, n := range [3]int{c.N * c.O * c.OH * c.OW, c.N * c.C * c.H * c.W, c.O * per * c.KH * c.KW} {
		if cudnn.Kind(i) == c.Kind {
			tensors[i] = make([]float64, n)
			continue
		}
		read, err := numbers(m, at[i], c.Type, n)
		if err != nil {
			return err
		}
		if c.TF32 {
			for j, v := range read {
				read[j] = roundTF32(v)
			}
		}
		tensors[i] = read
	}
	multiplications(c, func(ofX, ofW, ofY int) {
		switch c.Kind {
		case cudnn.Forward:
			tensors[0][ofY] += tensors[1][ofX] * tensors[2][ofW]
		case cudnn.InputGradient:
			tensors[1][ofX] += tensors[0][ofY] * tensors[2][ofW]
		case cudnn.WeightGradient:
			tensors[2][ofW] += tensors[0][ofY] * tensors[1][ofX]
		}
	})
	return m.Write(uint64(at[c.Kind]), encode(c.Type, tensors[c.Kind]))
}

// offset returns where an element of a tensor is.
func offset(c cudnn.Convolution, n, channel, channels, row, rows, column, columns int) int {
	if c.ChannelsLast {
		return ((n*rows+row)*columns+column)*channels + channel
	}
	return ((n*channels+channel)*rows+row)*columns + column
}

// multiplications calls a function for each element of x and each element of w that it is
// multiplied with, and the element of y that the result is added to.
func multiplications(c cudnn.Convolution, visit func(x, w, y int)) {
	per := c.C / c.Groups
	for n := range c.N {
		for o := range c.O {
			for i := range c.OH {
				for j := range c.OW {
					y := offset(c, n, o, c.O, i, c.OH, j, c.OW)
					for ch := range per {
						for p := range c.KH {
							for q := range c.KW {
								r, s := i*c.Stride[0]-c.Padding[0]+p*c.Dilation[0], j*c.Stride[1]-c.Padding[1]+q*c.Dilation[1]
								if r >= 0 && r < c.H && s >= 0 && s < c.W {
									visit(offset(c, n, o/(c.O/c.Groups)*per+ch, c.C, r, c.H, s, c.W), offset(c, o, ch, per, p, c.KH, q, c.KW), y)
								}
							}
						}
					}
				}
			}
		}
	}
}
