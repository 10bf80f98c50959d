package cuda

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
)

// emptyKernel implements ir.Kernel.
type emptyKernel struct{ ctx context.Context }

func (emptyKernel) Name() string                         { return "empty" }
func (k emptyKernel) Context() (context.Context, func()) { return k.ctx, func() {} }
func (emptyKernel) Host([][]byte) error                  { return errors.New("on the CPU") }
func (emptyKernel) PTX() (text, entry string, err error) {
	return ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry empty(.param .u64 p0)\n{\n\tret;\n}\n", "empty", nil
}
func (emptyKernel) Shape() (grid, block [3]int)            { return [3]int{1, 1, 1}, [3]int{32, 1, 1} }
func (emptyKernel) SharedBytes() int                       { return 0 }
func (emptyKernel) Params(_ []uint64, _ uint64) (b []byte) { return make([]byte, 8) }
func (emptyKernel) RecordBytes() int                       { return 48 }
func (emptyKernel) Check([]byte) error                     { return nil }
func (emptyKernel) Explain(err error) error                { return err }

// A kernel that does not end is an error after a minute, or soon after its context. The time for other work before it does not count.
func TestEndlessKernel(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	later, cancelLater := context.WithTimeout(t.Context(), time.Hour)
	defer cancelLater()
	const want = "kernel empty runs on the GPU for"
	for _, c := range []struct {
		name     string
		ctx      context.Context
		takes    time.Duration
		patience patience
		want     string
	}{
		{"short", t.Context(), time.Millisecond, standardPatience, ""},
		{"endless", t.Context(), time.Hour, patience{time.Millisecond, time.Millisecond}, want},
		{"a context that has ended", canceled, time.Hour, patience{time.Hour, time.Millisecond}, want},
		{"a context that has ended, and a kernel that ends", canceled, time.Millisecond, patience{time.Hour, time.Hour}, "context canceled"},
		{"more than the limit, with a deadline", later, 20 * time.Millisecond, patience{time.Millisecond, time.Millisecond}, ""},
	} {
		gpu, err := fake.Open(fake.Options{KernelTime: func(string, driver.Dim, driver.Dim) time.Duration { return c.takes }})
		if err != nil {
			t.Fatal(err)
		}
		d, err := Open("cuda:0", gpu, 0, Libraries{})
		if err != nil {
			t.Fatal(err)
		}
		d.patience = c.patience
		err = d.LaunchKernel(emptyKernel{c.ctx}, nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
