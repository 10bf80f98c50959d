package kernels

import (
	"math/bits"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// lastRows describes how blocks share rows; see batchnormlast.cu.
type lastRows struct{ Rows, Channels, Each, Spread uint32 }

type lastStatisticsParams struct {
	Statistics, Partial, X Pointer
	Rows                   lastRows
	Parts, Wide, Kind      uint32
}

type lastBatchNormParams struct {
	Y, X, Statistics, W, B   Pointer
	Epsilon                  float64
	Rows                     lastRows
	Wide, ReLU, YKind, XKind uint32
}

type lastSumsParams struct {
	Sums, Partial, X, DY, Statistics  Pointer
	Y, Masked                         Pointer
	Epsilon                           float64
	Rows                              lastRows
	Parts, Wide, XKind, DYKind, YKind uint32
}

type lastInputParams struct {
	DX, X, DY, Statistics, W, Sums        Pointer
	Epsilon                               float64
	Rows                                  lastRows
	Wide, Training, DXKind, XKind, DYKind uint32
}

var (
	lastStatistics     = declare[lastStatisticsParams]("batchnormlast", "batchnormlast_statistics", reals, 256)
	lastBatchNorm      = declare[lastBatchNormParams]("batchnormlast", "batchnormlast", reals, 256)
	lastBatchNormSums  = declare[lastSumsParams]("batchnormlast", "batchnormlast_sums", reals, 256)
	lastBatchNormInput = declare[lastInputParams]("batchnormlast", "batchnormlast_input", reals, 256)
)

// channelsLast is a BatchNorm of x [Images, Channels, 1], whose images are pixels: rows of channels.
type channelsLast BatchNorm

// grid returns how blocks share the rows: a thread has at least four of them, and there are at most that many
// blocks. wide is whether threads have several channels.
func (o channelsLast) grid(wide bool, blocks int) (g lastRows, grid driver.Dim) {
	threads := o.Channels // for the channels of a row
	if wide {
		threads /= o.several()
	}
	spread := min(32, 1<<bits.Len(uint(max(1, threads)-1)))
	slabs := ceil(threads, spread)
	parts := max(1, min(ceil(o.Images, 4*256/spread), ceil(blocks, max(1, slabs)), 65535))
	each := max(1, ceil(o.Images, parts))
	return lastRows{uint32(o.Images), uint32(o.Channels), uint32(each), uint32(spread)}, driver.Dim{X: uint32(slabs), Y: uint32(max(1, ceil(o.Images, each))), Z: 1}
}

// reducers is how many blocks sum up, at most: four on each SM of an H100. The last of those with the same
// channels merges what all of them have found.
const reducers = 528

// several is how many channels a thread has that loads them at once.
func (o channelsLast) several() int {
	if o.DType == tensortype.Float64 {
		return 2
	}
	return 8
}

// wide reports whether threads may load several channels at once.
func (o channelsLast) wide(at ...Pointer) bool {
	for _, p := range at {
		if p%16 != 0 {
			return false
		}
	}
	return o.Channels%o.several() == 0
}

func (o channelsLast) workspace() int {
	_, narrow := o.grid(false, reducers)
	_, wide := o.grid(o.wide(), reducers)
	return 2 * int(max(narrow.Y, wide.Y)) * o.Channels * o.DType.Size()
}

func (o channelsLast) statistics(statistics, x, work Pointer) []Launch {
	wide := o.wide(x)
	g, grid := o.grid(wide, reducers)
	return []Launch{lastStatistics.grid(real(o.DType), grid, 0, lastStatisticsParams{statistics, work, x, g, grid.Y, flag(wide), kind(o.X)})}
}

func (o channelsLast) launches(y, x, statistics, w, b Pointer, relu bool) []Launch {
	wide := o.wide(y, x)
	g, grid := o.grid(wide, maxBlocks)
	return []Launch{lastBatchNorm.grid(real(o.DType), grid, 0, lastBatchNormParams{y, x, statistics, w, b, o.Epsilon, g, flag(wide), flag(relu), kind(o.Y), kind(o.X)})}
}

func (o channelsLast) sums(sums, x, dy, statistics, y, masked, work Pointer) []Launch {
	wide := o.wide(x, dy, y, masked)
	g, grid := o.grid(wide, reducers)
	return []Launch{lastBatchNormSums.grid(real(o.DType), grid, 0, lastSumsParams{sums, work, x, dy, statistics, y, masked, o.Epsilon, g, grid.Y, flag(wide), kind(o.X), kind(o.DY), kind(o.Y)})}
}

func (o channelsLast) inputGradient(dx, x, dy, statistics, w, sums Pointer, training bool) []Launch {
	wide := o.wide(dx, x, dy)
	g, grid := o.grid(wide, maxBlocks)
	return []Launch{lastBatchNormInput.grid(real(o.DType), grid, 0, lastInputParams{dx, x, dy, statistics, w, sums, o.Epsilon, g, flag(wide), flag(training), kind(o.Y), kind(o.X), kind(o.DY)})}
}
