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

// Libraries are those that a device may use besides its own kernels. Each is opened
// when a step first wants it, with the device's context current.
type Libraries struct {
	// CuBLASLt multiplies matrices; nil for own kernels alone.
	CuBLASLt func(driver.Context) (cublaslt.Library, error)
	// CuDNN convolves; nil for own kernels alone.
	CuDNN func(driver.Context) (cudnn.Library, error)
	// NCCL adds up over processes; nil for sums of the host.
	NCCL func(driver.Context) (nccl.Library, error)
	// Measure has the ways to do a step be timed when it is compiled, and the fastest
	// be taken. Without, a library is used wherever it can be.
	Measure bool
	// Choices is the file that keeps what was measured, for the next process; empty for
	// none.
	Choices string
}

// Installed are the libraries that package library finds on this machine, for a
// driver that supports a version of CUDA.
func Installed(version int) Libraries {
	choices := ""
	if cache, err := os.UserCacheDir(); err == nil {
		choices = filepath.Join(cache, "quern", "cuda-choices.json")
	}
	return Libraries{
		Choices: choices,
		CuBLASLt: func(driver.Context) (cublaslt.Library, error) {
			found, err := library.CuBLASLt.Open(version)
			if err != nil {
				return nil, err
			}
			return cublaslt.Open(found)
		},
		CuDNN: func(driver.Context) (cudnn.Library, error) {
			found, err := library.CuDNN.Open(version)
			if err != nil {
				return nil, err
			}
			return cudnn.Open(found)
		},
		NCCL: func(driver.Context) (nccl.Library, error) {
			found, err := library.NCCL.Open(version)
			if err != nil {
				return nil, err
			}
			return nccl.Open(found)
		},
		Measure: true,
	}
}

// optional is a library that is opened when it is first wanted, and what it has
// planned, which it is asked once.
type optional[Q comparable, P interface{ Close() }, L planner[Q, P]] struct {
	name   string
	open   func(driver.Context) (L, error) // nil for a library that is not wanted
	opened bool
	usable bool
	it     L
	plans  map[Q][]P
}

// planner is a library.
type planner[Q comparable, P interface{ Close() }] interface {
	Plans(q Q, n int) ([]P, error)
	Close() error
}

// get gives the library; ok is false where none is used, which was told once.
func (o *optional[Q, P, L]) get(d *Device) (l L, ok bool) {
	if o.opened || o.open == nil {
		return o.it, o.usable
	}
	o.opened = true
	err := d.current(func() (err error) {
		o.it, err = o.open(d.ctx.Context)
		return err
	})
	if o.usable = err == nil; !o.usable {
		unused(d, o.name, err)
	}
	return o.it, o.usable
}

// ways are the plans for what is asked, none where the library cannot do it.
func (o *optional[Q, P, L]) ways(d *Device, q Q, op string) []P {
	l, ok := o.get(d)
	if !ok {
		return nil
	}
	plans, asked := o.plans[q]
	if asked {
		return plans
	}
	err := d.current(func() (err error) {
		plans, err = l.Plans(q, mostPlans)
		return during(op, err)
	})
	if err != nil {
		unused(d, o.name, err)
		plans = nil
	}
	if o.plans == nil {
		o.plans = map[Q][]P{}
	}
	o.plans[q] = plans
	return plans
}

// close gives plans and library back.
func (o *optional[Q, P, L]) close(d *Device) error {
	if !o.usable {
		return nil
	}
	o.usable = false
	if err := d.ctx.SyncStream(d.stream); err != nil {
		return err
	}
	for _, plans := range o.plans {
		for _, p := range plans {
			p.Close()
		}
	}
	o.plans = nil
	return d.current(o.it.Close)
}

// unused tells why own kernels run: quietly where nobody can expect a library, and
// where the same was told before of another step.
func unused(d *Device, name string, err error) {
	level := slog.LevelWarn
	if e := new(library.CallError); errors.As(err, &e) {
		why := [3]string{e.Library.Name, e.Call, e.Status}
		if d.told[why] {
			level = slog.LevelDebug
		}
		d.told[why] = true
	}
	if missing := new(library.MissingError); errors.As(err, &missing) || errors.Is(err, library.ErrOff) || errors.Is(err, library.ErrBuild) || errors.Is(err, errDropsNaN) {
		level = slog.LevelDebug
	}
	slog.Log(context.Background(), level, "cuda: own kernels run in the place of a library's", "device", d.name, "library", name, "error", err)
}

// during says for which op a library was called.
func during(op string, err error) error {
	if err == nil {
		return nil
	}
	var e *library.CallError
	if errors.As(err, &e) && e.Op == "" {
		named := *e
		named.Op = op
		return &named
	}
	return fmt.Errorf("%s: %w", op, err)
}

// blas is what the device has of cuBLASLt.
type blas struct {
	optional[cublaslt.Product, cublaslt.Plan, cublaslt.Library]
}

// dnn is what the device has of cuDNN.
type dnn struct {
	optional[cudnn.Convolution, cudnn.Plan, cudnn.Library]
}

// attach has the device use libraries.
func (d *Device) attach(l Libraries) {
	d.libraries, d.decided, d.told = l, map[any]int{}, map[[3]string]bool{}
	d.blas.name, d.blas.open = library.CuBLASLt.Name, l.CuBLASLt
	d.dnn.name, d.dnn.open = library.CuDNN.Name, l.CuDNN
}

// mostPlans is how many of a library's ways are tried.
const mostPlans = 4

// placed is an address that a plan wants to be aligned.
type placed struct {
	at    driver.Pointer
	align int
}

func (p placed) fits() bool { return p.at%driver.Pointer(p.align) == 0 }

// misplacedError says that a plan is given what it was not made for, which is a bug of the
// planner.
type misplacedError struct {
	op string
	at driver.Pointer
}

func (e *misplacedError) Error() string {
	return fmt.Sprintf("%s: the address %#x is less aligned than the plan of the library wants", e.op, e.at)
}
