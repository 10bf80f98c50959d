package kernels

import (
	"math/bits"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type statisticsParams struct {
	Statistics, Partial, X                    Pointer
	Images, Channels, Size, Each, Parts, Kind uint32
}

type batchNormParams struct {
	Y, X, Statistics, W, B                     Pointer
	Epsilon                                    float64
	Planes, Channels, Size, ReLU, YKind, XKind uint32
}

type batchNormSumsParams struct {
	Sums, Partial, X, DY, Statistics    Pointer
	Y, Masked                           Pointer
	Epsilon                             float64
	Images, Channels, Size, Each, Parts uint32
	XKind, DYKind, YKind                uint32
}

type batchNormInputParams struct {
	DX, X, DY, Statistics, W, Sums   Pointer
	Epsilon                          float64
	Planes, Channels, Size, Training uint32
	DXKind, XKind, DYKind            uint32
}

var (
	batchStatistics = declare[statisticsParams]("batchnorm", "batchnorm_statistics", reals, 256)
	batchNorm       = declare[batchNormParams]("batchnorm", "batchnorm", reals, 256)
	batchNormSums   = declare[batchNormSumsParams]("batchnorm", "batchnorm_sums", reals, 256)
	batchNormInput  = declare[batchNormInputParams]("batchnorm", "batchnorm_input", reals, 256)
)

// BatchNorm normalizes x [Images, Channels, Size] with statistics [2, Channels], the mean
// and the variance, and w and b [Channels]. Images that have the channels last in memory are x [pixels,
// Channels, 1], for which there are other kernels.
type BatchNorm struct {
	DType                  tensortype.DType // of the computation and of the parameters
	Epsilon                float64
	Images, Channels, Size int
	X, DY, Y               tensortype.DType // of x, dy, and y or dx: DType, or 16-bit floats if that is float32
}

// parts returns the number of parts that a channel is split into, and the number of
// elements of each.
func (o BatchNorm) parts() (parts, each int) {
	n := o.Images * o.Size
	parts = max(1, min(ceil(n, 2048), maxMeetings/max(1, o.Channels)))
	each = max(1, ceil(n, parts))
	return max(1, ceil(n, each)), each
}

// Workspace returns the size of the workspace of Statistics and Sums.
func (o BatchNorm) Workspace() int {
	if o.Size == 1 {
		return channelsLast(o).workspace()
	}
	parts, _ := o.parts()
	return 2 * parts * o.Channels * o.DType.Size()
}

// Statistics computes the mean and the variance of x, [2, Channels].
func (o BatchNorm) Statistics(statistics, x, work Pointer) []Launch {
	if o.Channels == 0 {
		return nil
	}
	if o.Size == 1 {
		return channelsLast(o).statistics(statistics, x, work)
	}
	parts, each := o.parts()
	return []Launch{batchStatistics.grid(real(o.DType), o.channelGrid(parts), 0, statisticsParams{statistics, work, x,
		uint32(o.Images), uint32(o.Channels), uint32(o.Size), uint32(each), uint32(parts), kind(o.X)})}
}

func (o BatchNorm) channelGrid(parts int) driver.Dim {
	return driver.Dim{X: uint32(o.Channels), Y: uint32(parts), Z: 1}
}

func (o BatchNorm) planes() (planes, blocks int) {
	planes = o.Images * o.Channels
	return planes, min(planes*ceil(o.Size, 1024), maxBlocks)
}

// Launches computes y = (x - mean)/√(variance + Epsilon)·w + b, followed by ReLU if relu.
func (o BatchNorm) Launches(y, x, statistics, w, b Pointer, relu bool) []Launch {
	planes, blocks := o.planes()
	if blocks == 0 {
		return nil
	}
	if o.Size == 1 {
		return channelsLast(o).launches(y, x, statistics, w, b, relu)
	}
	return []Launch{batchNorm.launch(real(o.DType), blocks, batchNormParams{y, x, statistics, w, b, o.Epsilon,
		uint32(planes), uint32(o.Channels), uint32(o.Size), flag(relu), kind(o.Y), kind(o.X)})}
}

// Sums computes Σ dy and Σ dy·x̂ [2, Channels]. If y has an address, dy is that of a ReLU with the result y
// of type Y, and the gradient of the ReLU is summed, and stored in masked if that has an address.
func (o BatchNorm) Sums(sums, x, dy, statistics, y, masked, work Pointer) []Launch {
	if o.Channels == 0 {
		return nil
	}
	if o.Size == 1 {
		return channelsLast(o).sums(sums, x, dy, statistics, y, masked, work)
	}
	parts, each := o.parts()
	return []Launch{batchNormSums.grid(real(o.DType), o.channelGrid(parts), 0, batchNormSumsParams{sums, work, x, dy, statistics, y, masked, o.Epsilon,
		uint32(o.Images), uint32(o.Channels), uint32(o.Size), uint32(each), uint32(parts), kind(o.X), kind(o.DY), kind(o.Y)})}
}

// InputGradient computes dx. training means that the statistics were computed from x.
func (o BatchNorm) InputGradient(dx, x, dy, statistics, w, sums Pointer, training bool) []Launch {
	planes, blocks := o.planes()
	if blocks == 0 {
		return nil
	}
	if o.Size == 1 {
		return channelsLast(o).inputGradient(dx, x, dy, statistics, w, sums, training)
	}
	return []Launch{batchNormInput.launch(real(o.DType), blocks, batchNormInputParams{dx, x, dy, statistics, w, sums, o.Epsilon,
		uint32(planes), uint32(o.Channels), uint32(o.Size), flag(training), kind(o.Y), kind(o.X), kind(o.DY)})}
}

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

func init() {
	register(planBatchStatistics)
	register(planBatchNorm)
	register(planBatchNormSums)
	register(planBatchNormInput)
}

// channels describes BatchNorm and its gradients.
func channels(s ir.Step, epsilon float64) BatchNorm {
	x := s.In[0].Shape
	images, size := x[0], ir.Len(x[2:])
	if s.In[0].ChannelsLast() {
		images, size = images*size, 1
	}
	return BatchNorm{DType: computes(s.In[0].DType), Epsilon: epsilon, Images: images, Channels: x[1], Size: size,
		X: s.In[0].DType, DY: s.In[min(1, len(s.In)-1)].DType, Y: s.Out[0].DType}
}

func planBatchStatistics(p Planner, _ ir.BatchStatistics, s ir.Step) Launcher {
	o := channels(s, 0)
	p.NeedWorkspace(o.Workspace())
	return func(a Addresses) ([]Launch, error) { return o.Statistics(a.Out[0], a.In[0], a.Work), nil }
}

func planBatchNorm(_ Planner, op ir.BatchNorm, s ir.Step) Launcher {
	o := channels(s, op.Epsilon)
	return func(a Addresses) ([]Launch, error) {
		return o.Launches(a.Out[0], a.In[0], a.In[1], a.In[2], a.In[3], EndsWithReLU(s)), nil
	}
}

func planBatchNormSums(p Planner, op ir.BatchNormSums, s ir.Step) Launcher {
	o := channels(s, op.Epsilon)
	p.NeedWorkspace(o.Workspace())
	if s.Around == nil {
		return func(a Addresses) ([]Launch, error) {
			return o.Sums(a.Out[0], a.In[0], a.In[1], a.In[2], 0, 0, a.Work), nil
		}
	}
	o.Y = s.In[3].DType
	return func(a Addresses) ([]Launch, error) {
		var masked Pointer
		if s.Around.Sum >= 0 {
			masked = a.Out[s.Around.Sum]
		}
		return o.Sums(a.Out[0], a.In[0], a.In[1], a.In[2], a.In[3], masked, a.Work), nil
	}
}

func planBatchNormInput(_ Planner, op ir.BatchNormInputGradient, s ir.Step) Launcher {
	o := channels(s, op.Epsilon)
	return func(a Addresses) ([]Launch, error) {
		return o.InputGradient(a.Out[0], a.In[0], a.In[1], a.In[2], a.In[3], a.In[4], op.Training), nil
	}
}
