package cuda

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/quernlab/quern/accel/internal/cuda/cublaslt"
	"github.com/quernlab/quern/accel/internal/cuda/cudnn"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/cuda/nccl"
)

// Libraries are the NVIDIA libraries that a device may use besides its own kernels. Each
// is opened when a step first needs it, with the device's context current.
type Libraries struct {
	// CuBLASLt multiplies matrices; nil for our own kernels only.
	CuBLASLt func(driver.Context) (cublaslt.Library, error)
	// CuDNN computes convolutions; nil for our own kernels only.
	CuDNN func(driver.Context) (cudnn.Library, error)
	// NCCL exchanges memory between processes; nil if the hosts do.
	NCCL func(driver.Context) (nccl.Library, error)
	// Autotune times the candidates of a step when it is compiled and selects the
	// fastest. Without it a library is used wherever it works.
	Autotune bool
	// TuningCache is the file that keeps the measurements for later processes; empty for
	// none.
	TuningCache string
	// Variants are settings for measurements.
	Variants Variants
}

// Installed returns the libraries that package library finds on this machine, for a
// driver that supports a version of CUDA, 12040 for instance.
func Installed(version int) Libraries {
	file := ""
	if cache, err := os.UserCacheDir(); err == nil {
		file = filepath.Join(cache, "quern", "cuda-algorithms.json")
	}
	return Libraries{
		CuBLASLt:    installed(library.CuBLASLt, version, cublaslt.Open),
		CuDNN:       installed(library.CuDNN, version, cudnn.Open),
		NCCL:        installed(library.NCCL, version, nccl.Open),
		Autotune:    true,
		TuningCache: file,
	}
}

func installed[L any](from *library.Library, version int, open func(*library.Handle) (L, error)) func(driver.Context) (L, error) {
	return func(driver.Context) (l L, err error) {
		found, err := from.Open(version)
		if err != nil {
			return l, err
		}
		return open(found)
	}
}

// libraries are the libraries of a device with their plans.
type libraries struct {
	Libraries
	queue  *queue
	blas   optional[cublaslt.Matmul, cublaslt.Plan, cublaslt.Library]
	dnn    optional[cudnn.Convolution, cudnn.Plan, cudnn.Library]
	logged map[string]bool // rejections that were logged
}

func newLibraries(q *queue, use Libraries) *libraries {
	l := &libraries{Libraries: use, queue: q, logged: map[string]bool{}}
	l.blas.of, l.blas.name, l.blas.open = l, library.CuBLASLt.Name, use.CuBLASLt
	l.dnn.of, l.dnn.name, l.dnn.open = l, library.CuDNN.Name, use.CuDNN
	return l
}

// retry makes the next use of a library that could not be opened try again: it may have been
// installed, or memory freed, since. Compile calls it, so a program tries once and not for
// each of its steps.
func (l *libraries) retry() { l.blas.failed, l.dnn.failed = false, false }

func (l *libraries) close() error { return errors.Join(l.blas.close(), l.dnn.close()) }

// optional is a library that is opened when it is first needed, with its plans for each
// question Q.
type optional[Q comparable, P interface{ Close() }, L planner[Q, P]] struct {
	of     *libraries
	name   string
	open   func(driver.Context) (L, error) // nil for a library that is not used
	usable bool
	failed bool // it could not be opened; until retry
	it     L
	plans  map[Q][]P
}

// planner is a library that returns up to n plans for a question, the best first.
type planner[Q comparable, P interface{ Close() }] interface {
	Plans(q Q, n int) ([]P, error)
	Version() string
	Close() error
}

// get returns the library; ok is false without one, the reason for which is logged once.
func (o *optional[Q, P, L]) get() (l L, ok bool) {
	if o.usable || o.failed || o.open == nil {
		return o.it, o.usable
	}
	err := o.of.queue.current(func() (err error) {
		o.it, err = o.open(o.of.queue.ctx.Context)
		return err
	})
	o.usable, o.failed = err == nil, err != nil
	if o.failed {
		o.of.logRejected(o.name, err)
	}
	return o.it, o.usable
}

// findPlans returns the plans for a question, none if the library cannot compute it.
func (o *optional[Q, P, L]) findPlans(q Q, op string) []P {
	l, ok := o.get()
	if !ok {
		return nil
	}
	plans, asked := o.plans[q]
	if asked {
		return plans
	}
	err := o.of.queue.current(func() (err error) {
		plans, err = l.Plans(q, o.of.maxPlans())
		return withOp(op, err)
	})
	if err != nil {
		o.of.logRejected(o.name, err)
		plans = nil
	}
	if o.plans == nil {
		o.plans = map[Q][]P{}
	}
	o.plans[q] = plans
	return plans
}

// version returns the version of the library, empty if it is not used.
func (o *optional[Q, P, L]) version() string {
	if !o.usable {
		return ""
	}
	return o.it.Version()
}

// close releases the plans and the library.
func (o *optional[Q, P, L]) close() error {
	if !o.usable {
		return nil
	}
	o.usable = false
	q := o.of.queue
	if err := q.ctx.SyncStream(q.stream); err != nil {
		return err
	}
	for _, plans := range o.plans {
		for _, p := range plans {
			p.Close()
		}
	}
	o.plans = nil
	return q.current(o.it.Close)
}

// logRejected logs why our own kernels run instead of a library. The level is debug if a user
// does not expect the library, and if the reason was logged before.
func (l *libraries) logRejected(name string, err error) {
	level := slog.LevelWarn
	why := name + ": " + err.Error()
	if e := new(library.CallError); errors.As(err, &e) {
		why = fmt.Sprintf("%s: %s: %s", e.Library.Name, e.Call, e.Status) // the same for other steps
	}
	if l.logged[why] {
		level = slog.LevelDebug
	}
	l.logged[why] = true
	if missing := new(library.MissingError); errors.As(err, &missing) || errors.Is(err, library.ErrOff) || errors.Is(err, library.ErrBuild) || errors.Is(err, errDropsNaN) {
		level = slog.LevelDebug
	}
	slog.Log(context.Background(), level, "cuda: using our own kernels instead of a library", "device", l.queue.name, "library", name, "error", err)
}

// errDropsNaN rejects a plan of a library: its ReLU is the maximum instruction of the
// hardware, which returns 0 for NaN and would hide that a training diverged.
var errDropsNaN = errors.New("the library's activation does not return NaN for NaN")

// maxPlans is how many plans of a library become candidates, without a variant.
const maxPlans = 8

func (l *libraries) maxPlans() int {
	if n := l.Variants.Plans; n > 0 {
		return n
	}
	return maxPlans
}

func (l *libraries) autotunes() bool { return l.Autotune && !l.Variants.NoAutotune }
