package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/fakelib"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/cuda/nccl"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// onRanks runs f on n simulated GPUs that have joined, each on a goroutine.
func onRanks(t *testing.T, n int, options fake.Options, f func(rank int, r *ir.Recorder, with ir.Ranks) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	var id []byte
	made := make(chan struct{})
	errs := make([]error, n)
	var running sync.WaitGroup
	for rank := range n {
		running.Go(func() {
			errs[rank] = func() (err error) {
				gpu, err := fake.Open(options)
				if err != nil {
					return err
				}
				d, err := Open(fmt.Sprintf("cuda:%d", rank), gpu, 0, Libraries{NCCL: fakelib.OpenNCCL})
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, d.Close()) }()
				if rank == 0 {
					id, err = d.RanksID()
					close(made)
					if err != nil {
						return err
					}
				}
				<-made
				with, err := d.JoinRanks(ctx, id, rank, n)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, with.Close()) }()
				return f(rank, ir.NewRecorder(d), with)
			}()
		})
	}
	running.Wait()
	for rank, err := range errs {
		if err != nil {
			t.Errorf("rank %d of %d: %v", rank, n, err)
		}
	}
}

func upload(r *ir.Recorder, numbers []float32) *ir.Value {
	var b []byte
	for _, v := range numbers {
		b = binary.NativeEndian.AppendUint32(b, math.Float32bits(v))
	}
	return r.Upload(ir.Type{Shape: []int{len(numbers)}, DType: ir.Float32}, b).Hold()
}

func download(r *ir.Recorder, v *ir.Value) []float32 {
	b := r.Download("test", v)
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.NativeEndian.Uint32(b[4*i:]))
	}
	return out
}

// TestSumRanks sums while other kernels run, in any order that a GPU may choose for unordered
// work, and uses the sums afterwards.
func TestSumRanks(t *testing.T) {
	for seed := uint64(0); seed < 8; seed++ {
		for _, n := range []int{2, 3} {
			onRanks(t, n, fake.Options{Seed: seed}, func(rank int, r *ir.Recorder, with ir.Ranks) error {
				if with.Name() != "NCCL 2.27.3" {
					return errors.New(with.Name())
				}
				x := upload(r, []float32{float32(rank), 1, 2, -3})
				for round := range 4 {
					v := r.Record(ir.Square{}, x).Hold()
					if err := r.SumRanks(t.Context(), with, v); err != nil {
						return err
					}
					beside := r.Record(ir.Add{}, x, x).Hold()
					r.Flush()
					second := r.Record(ir.Square{}, beside).Hold()
					if err := r.SumRanks(t.Context(), with, second); err != nil {
						return err
					}
					if err := with.Wait(); err != nil {
						return err
					}
					sum := r.Record(ir.Add{}, v, second).Hold()
					got := download(r, sum)
					ranks := float32(0)
					for i := range n {
						ranks += float32(i * i)
					}
					for i, want := range []float32{5 * ranks, 5 * float32(n), 20 * float32(n), 45 * float32(n)} {
						if got[i] != want {
							return fmt.Errorf("seed %d, round %d: got %v, want %v at %d", seed, round, got, want, i)
						}
					}
					if got := download(r, v); got[1] != float32(n) {
						return fmt.Errorf("seed %d, round %d: the sum itself is %v", seed, round, got)
					}
					for _, w := range []*ir.Value{v, beside, second, sum} {
						r.Release(w)
					}
				}
				return nil
			})
		}
	}
}

func TestSumRanksOfSharedTensors(t *testing.T) {
	onRanks(t, 2, fake.Options{}, func(_ int, r *ir.Recorder, with ir.Ranks) error {
		x := upload(r, []float32{1, 2})
		r.Alias(x)
		var state *ir.StateError
		if err := r.SumRanks(t.Context(), with, x); !errors.As(err, &state) {
			return fmt.Errorf("got %w", err)
		}
		return with.Wait()
	})
}

// If a rank ends, the sums of the others fail and do not wait.
func TestSumRanksWithoutOneOfThem(t *testing.T) {
	gone := make(chan struct{})
	onRanks(t, 2, fake.Options{}, func(rank int, r *ir.Recorder, with ir.Ranks) error {
		if rank == 1 {
			defer close(gone)
			return with.Abort()
		}
		<-gone
		v := r.Record(ir.Square{}, upload(r, []float32{1})).Hold()
		if err := r.SumRanks(t.Context(), with, v); err != nil {
			return err
		}
		var failed *library.CallError
		if err := with.Wait(); !errors.As(err, &failed) || !strings.Contains(err.Error(), "cuda:0: sum over ranks: NCCL: ncclAllReduce") {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
}

func TestNoNCCL(t *testing.T) {
	for _, c := range []struct {
		name string
		open func(driver.Context) (nccl.Library, error)
		want error
	}{
		{"switched off", nil, library.ErrOff},
		{"not there", func(driver.Context) (nccl.Library, error) { return nil, library.ErrBuild }, library.ErrBuild},
	} {
		gpu, err := fake.Open(fake.Options{Modules: modules})
		if err != nil {
			t.Fatal(err)
		}
		d, err := Open("cuda:0", gpu, 0, Libraries{NCCL: c.open})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.RanksID(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := d.JoinRanks(t.Context(), make([]byte, 128), 0, 2); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
