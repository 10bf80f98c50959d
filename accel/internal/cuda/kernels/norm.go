package kernels

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type normParams struct {
	Y, X, W, B         Pointer
	Term1, Term2       Pointer
	Term3, Sum, Copy   Pointer
	Epsilon            float64
	Rows, N            uint32
	Centered, KindBits uint32
}

type normGradientParams struct {
	DX, X, DY, W             Pointer
	DW, Partial              Pointer
	Term1, Term2, Term3, Sum Pointer
	Addend, Copy             Pointer
	Epsilon                  float64
	Rows, N, Centered        uint32
	Shared, Members          uint32
	KindBits                 uint32
}

var (
	normEach     = declareNorm[normParams]("norm")
	normGradient = declareNorm[normGradientParams]("norm_gradient")
)

// normKernels are kernels in which a warp computes a row, a warp that has the row in registers, or
// a block.
type normKernels[P any] struct{ warp, held, block kernel[P] }

func declareNorm[P any](name string) normKernels[P] {
	d := func(team string) kernel[P] { return declare[P]("norm", name+"_"+team, reals, 256) }
	return normKernels[P]{d("warp"), d("held"), d("block")}
}

// Norm is LayerNorm if Centered, else RMSNorm, of each row of x [Rows, N].
type Norm struct {
	DType    tensortype.DType // of the computation and of the parameters
	Centered bool
	Epsilon  float64
	Rows, N  int
	X, DY, Y tensortype.DType // of x, dy, and y or dx: DType, or 16-bit floats if that is float32

	// Terms are the types of up to three tensors that are added to x; for the gradients to dy. SumType
	// is the type to which the sum is rounded, Addend that of what is added to dx, and Copy that of a
	// second y or dx.
	Terms                 []tensortype.DType
	SumType, Addend, Copy tensortype.DType
}

// NormOperands are the addresses of a norm's operands, 0 for those that it does not have.
type NormOperands struct {
	X, W, B Pointer // B if Centered
	Terms   []Pointer
	Y       Pointer
	Sum     Pointer // result: the sum of x, or of dy, and the terms
	Copy    Pointer // result: y or dx in another type

	DY, DX, Addend Pointer
	DW             Pointer // result: of the gradients of the parameters, [2, N] or, unless Centered, [1, N]
	Work           Pointer
}

// maxHeld is the maximum number of elements of a row that one warp computes.
const maxHeld = 1024

// results returns the number of gradients of parameters.
func (o Norm) results() int { return 1 + int(flag(o.Centered)) }

// kinds packs the types of the operands, in the order of the kernels' Operand.
func (o Norm) kinds() (bits uint32) {
	types := []tensortype.DType{o.X, o.Y, o.DY, 0, 0, 0, o.SumType, o.Addend, o.Copy}
	copy(types[3:6], o.Terms)
	for i, d := range types {
		bits |= kind(d) << (2 * i)
	}
	return bits
}

func term(terms []Pointer, k int) Pointer {
	if k < len(terms) {
		return terms[k]
	}
	return 0
}

// held reports whether warps load rows into registers, eight elements at once.
func (o Norm) held(a NormOperands) bool {
	const align = 16
	aligned := func(p Pointer) bool { return p%align == 0 }
	all := append([]Pointer{a.X, a.W, a.B, a.Y, a.Sum, a.Copy, a.DY, a.DX, a.Addend}, a.Terms...)
	return o.DType == tensortype.Float32 && o.N <= maxHeld && o.N%8 == 0 && !slices.ContainsFunc(all, func(p Pointer) bool { return !aligned(p) })
}

// Launches computes y from x; b is only read if Centered.
func (o Norm) Launches(a NormOperands) []Launch {
	if o.Rows == 0 || o.N == 0 {
		return nil
	}
	k, blocks := normEach.warp, min(ceil(o.Rows, 8), maxBlocks)
	switch {
	case o.N > maxHeld:
		k, blocks = normEach.block, min(o.Rows, maxBlocks)
	case o.held(a):
		k = normEach.held
	}
	return []Launch{k.launch(real(o.DType), blocks, normParams{
		a.Y, a.X, a.W, a.B, term(a.Terms, 0), term(a.Terms, 1), term(a.Terms, 2), a.Sum, a.Copy,
		o.Epsilon, uint32(o.Rows), uint32(o.N), flag(o.Centered), o.kinds(),
	})}
}

// maxNormShared is the maximum size of the sums of a block in shared memory.
const maxNormShared = 64 << 10

// sums returns how many sums of the gradients of the parameters there are: one for each block. In
// shared memory, a block has one for each of teams. shared is 0 if they do not fit.
func (o Norm) sums() (blocks, teams, shared int) {
	row := o.results() * o.N * o.DType.Size()
	switch {
	case o.N <= maxHeld && 8*row <= maxNormShared:
		return max(1, min(ceil(o.Rows, 8), 264)), 8, 8 * row // two blocks on each of 132 SMs
	case row <= maxNormShared:
		return max(1, min(o.Rows, 528)), 1, row
	}
	return max(1, min(o.Rows, 528)), 1, 0
}

// Workspace returns the size of the workspace of Gradients with DW.
func (o Norm) Workspace() int {
	blocks, _, _ := o.sums()
	return blocks * o.results() * o.N * o.DType.Size()
}

// Gradients computes dx from x, dy and w, and the gradients of the parameters from x and dy: those
// that have an address.
func (o Norm) Gradients(a NormOperands) []Launch {
	if o.N == 0 {
		return nil
	}
	blocks, teams, shared := o.sums()
	partial := a.Work
	if a.DW == 0 {
		partial, shared, blocks = 0, 0, min(ceil(o.Rows, teams), maxBlocks)
	}
	if blocks == 0 {
		return nil
	}
	k := normGradient.warp
	switch {
	case teams == 1:
		k = normGradient.block
	case o.held(a):
		k = normGradient.held
	}
	// As many blocks in a group as there are groups, so that neither sum takes long.
	members := int(math.Ceil(math.Sqrt(float64(blocks))))
	return []Launch{k.grid(real(o.DType), driver.Dim{X: uint32(blocks), Y: 1, Z: 1}, shared, normGradientParams{
		a.DX, a.X, a.DY, a.W, a.DW, partial, term(a.Terms, 0), term(a.Terms, 1), term(a.Terms, 2), a.Sum, a.Addend, a.Copy,
		o.Epsilon, uint32(o.Rows), uint32(o.N), flag(o.Centered), uint32(shared), uint32(members), o.kinds(),
	})}
}

func init() {
	register(func(_ Planner, op ir.LayerNorm, s ir.Step) Launcher { return planNorm(s, true, op.Epsilon) })
	register(func(_ Planner, op ir.RMSNorm, s ir.Step) Launcher { return planNorm(s, false, op.Epsilon) })
	register(func(p Planner, op ir.LayerNormInputGradient, s ir.Step) Launcher {
		return planNormGradient(p, s, true, op.Epsilon)
	})
	register(func(p Planner, op ir.RMSNormInputGradient, s ir.Step) Launcher {
		return planNormGradient(p, s, false, op.Epsilon)
	})
	register(func(p Planner, op ir.LayerNormWeightGradient, s ir.Step) Launcher {
		return planNormWeight(p, s, true, op.Epsilon)
	})
	register(func(p Planner, op ir.RMSNormWeightGradient, s ir.Step) Launcher {
		return planNormWeight(p, s, false, op.Epsilon)
	})
}

func rowNorm(s ir.Step, centered bool, epsilon float64) Norm {
	rows, n := splitLast(s.In[0].Shape)
	d := computes(s.In[0].DType)
	return Norm{DType: d, Centered: centered, Epsilon: epsilon, Rows: rows, N: n, X: s.In[0].DType, DY: s.In[1].DType, Y: s.Out[0].DType, SumType: d, Addend: d, Copy: d}
}

// around adds what a step computes beside its op, which has a number of inputs. It returns a function
// that adds the addresses.
func (o *Norm) around(s ir.Step, inputs int) func(to *NormOperands, a Addresses) {
	if s.Around == nil {
		return func(*NormOperands, Addresses) {}
	}
	r := *s.Around
	terms := s.In[inputs : inputs+r.Terms]
	for _, t := range terms {
		o.Terms = append(o.Terms, t.DType)
	}
	o.SumType = r.SumType
	if r.Adds {
		o.Addend = s.In[inputs+r.Terms].DType
	}
	if r.Rounded >= 0 {
		o.Copy = s.Out[r.Rounded].DType
	}
	return func(to *NormOperands, a Addresses) {
		to.Terms = a.In[inputs : inputs+r.Terms]
		if r.Adds {
			to.Addend = a.In[inputs+r.Terms]
		}
		if r.Sum >= 0 {
			to.Sum = a.Out[r.Sum]
		}
		if r.Rounded >= 0 {
			to.Copy = a.Out[r.Rounded]
		}
		if r.Weight >= 0 {
			to.DW, to.Work = a.Out[r.Weight], a.Work
		}
	}
}

func planNorm(s ir.Step, centered bool, epsilon float64) Launcher {
	o := rowNorm(s, centered, epsilon)
	inputs := 2 + int(flag(centered))
	add := o.around(s, inputs)
	return func(a Addresses) ([]Launch, error) {
		all := NormOperands{Y: a.Out[0], X: a.In[0], W: a.In[1]}
		if centered {
			all.B = a.In[2]
		}
		add(&all, a)
		return o.Launches(all), nil
	}
}

func planNormGradient(p Planner, s ir.Step, centered bool, epsilon float64) Launcher {
	o := rowNorm(s, centered, epsilon)
	add := o.around(s, 3)
	if s.Around != nil && s.Around.Weights != nil {
		p.NeedWorkspace(o.Workspace())
	}
	return func(a Addresses) ([]Launch, error) {
		all := NormOperands{DX: a.Out[0], X: a.In[0], DY: a.In[1], W: a.In[2]}
		add(&all, a)
		return o.Gradients(all), nil
	}
}

func planNormWeight(p Planner, s ir.Step, centered bool, epsilon float64) Launcher {
	o := rowNorm(s, centered, epsilon)
	p.NeedWorkspace(o.Workspace())
	return func(a Addresses) ([]Launch, error) {
		return o.Gradients(NormOperands{DW: a.Out[0], X: a.In[0], DY: a.In[1], Work: a.Work}), nil
	}
}
