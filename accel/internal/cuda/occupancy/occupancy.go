// Package occupancy computes how many blocks of a kernel are resident on an SM at a time, and what limits them: the formula of NVIDIA's
// occupancy calculator.
package occupancy

import (
	"fmt"
)

// Limits are what an SM has.
type Limits struct {
	Warps     int // resident at a time
	Blocks    int // resident at a time
	Registers int // of 32 bits
	Shared    int // bytes of shared memory
}

// Of returns the limits of a compute capability, such as 90 for 9.0; ok is false for one that is not known.
func Of(capability int) (l Limits, ok bool) {
	const registers = 64 << 10
	switch capability {
	case 80:
		return Limits{64, 32, registers, 164 << 10}, true
	case 86:
		return Limits{48, 16, registers, 100 << 10}, true
	case 87:
		return Limits{48, 16, registers, 164 << 10}, true
	case 89:
		return Limits{48, 24, registers, 100 << 10}, true
	case 90, 100, 103:
		return Limits{64, 32, registers, 228 << 10}, true
	case 120, 121:
		return Limits{48, 24, registers, 100 << 10}, true
	}
	return Limits{}, false
}

// Kernel is what a block of a kernel uses.
type Kernel struct {
	Threads   int // of a block
	Registers int // of a thread; 0 if they are not known
	Shared    int // bytes of shared memory of a block
}

// Resource is what can limit the number of blocks.
type Resource string

// The resources.
const (
	Warps     Resource = "warps"
	Registers Resource = "registers"
	Shared    Resource = "shared memory"
	Blocks    Resource = "blocks"
)

// Result is the occupancy of an SM.
type Result struct {
	Blocks    int        // resident at a time; 0 if the SM cannot run a single one
	Warps     int        // of these blocks
	MaxWarps  int        // that the SM could run
	LimitedBy []Resource // those that allow no further block
}

// Fraction returns the part of the SM's warps that are resident.
func (r Result) Fraction() float64 { return float64(r.Warps) / float64(max(r.MaxWarps, 1)) }

const (
	warpSize       = 32
	registerUnit   = 256  // registers are allocated to a warp in units of this many
	partitions     = 4    // of an SM, each with its part of the registers and of the warps
	sharedUnit     = 128  // shared memory is allocated in units of this many bytes
	reservedShared = 1024 // bytes for each block
)

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// Compute returns the occupancy of a kernel, for compute capability 8.0 and later.
func Compute(l Limits, k Kernel) (Result, error) {
	if k.Threads < 1 || k.Threads > 1024 || k.Registers < 0 || k.Registers > 255 || k.Shared < 0 {
		return Result{}, fmt.Errorf("occupancy: no kernel uses %+v", k)
	}
	warps := roundUp(k.Threads, warpSize) / warpSize
	at := map[Resource]int{Warps: l.Warps / warps, Blocks: l.Blocks}
	if k.Registers > 0 {
		perWarp := roundUp(k.Registers*warpSize, registerUnit)
		at[Registers] = l.Registers / partitions / perWarp * partitions / warps
	}
	at[Shared] = l.Shared / roundUp(k.Shared+reservedShared, sharedUnit)
	r := Result{Blocks: l.Blocks, MaxWarps: l.Warps}
	for _, n := range at {
		r.Blocks = min(r.Blocks, n)
	}
	for _, resource := range []Resource{Warps, Registers, Shared, Blocks} {
		if n, ok := at[resource]; ok && n == r.Blocks {
			r.LimitedBy = append(r.LimitedBy, resource)
		}
	}
	r.Warps = r.Blocks * warps
	return r, nil
}
