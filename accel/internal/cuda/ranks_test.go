package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
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
func onRanks(t *testing.T, n int, options fake.Options, f func(rank int, r *ir.Recorder, with ir.Ranks, library *fakelib.NCCL) error) {
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
				library := &fakelib.NCCL{}
				open := func(ctx driver.Context) (nccl.Library, error) {
					library.Context = ctx.(fake.FuncLauncher)
					return library, nil
				}
				d, err := Open(fmt.Sprintf("cuda:%d", rank), gpu, 0, Libraries{NCCL: open})
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
				return f(rank, ir.NewRecorder(d), with, library)
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

func sumRanks(t *testing.T, r *ir.Recorder, with ir.Ranks, v *ir.Value) error {
	_, _, err := r.StartRanks(t.Context(), with, ir.RankExchange{Op: ir.RankAllReduce, Value: v})
	return err
}

// TestSumRanks sums while other kernels run, in any order that a GPU may choose for unordered
// work, and uses the sums afterwards.
func TestSumRanks(t *testing.T) {
	for seed := uint64(0); seed < 8; seed++ {
		for _, n := range []int{2, 3} {
			onRanks(t, n, fake.Options{Seed: seed}, func(rank int, r *ir.Recorder, with ir.Ranks, _ *fakelib.NCCL) error {
				if with.Name() != "NCCL 2.27.3" {
					return errors.New(with.Name())
				}
				x := upload(r, []float32{float32(rank), 1, 2, -3})
				for round := range 4 {
					v := r.Record(ir.Square{}, x).Hold()
					if err := sumRanks(t, r, with, v); err != nil {
						return err
					}
					beside := r.Record(ir.Add{}, x, x).Hold()
					r.Flush()
					second := r.Record(ir.Square{}, beside).Hold()
					if err := sumRanks(t, r, with, second); err != nil {
						return err
					}
					if err := with.Wait(math.MaxUint64); err != nil {
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

// TestExchangesOfRanks runs all exchanges one after the other, beside other kernels, and uses the results. Their
// results are in memory that kernels have used before.
func TestExchangesOfRanks(t *testing.T) {
	for seed := uint64(0); seed < 8; seed++ {
		for _, n := range []int{2, 3} {
			onRanks(t, n, fake.Options{Seed: seed}, func(rank int, r *ir.Recorder, with ir.Ranks, library *fakelib.NCCL) error {
				next, before := (rank+1)%n, (rank+n-1)%n
				parts := make([]float32, 2*n)
				for i := range parts {
					parts[i] = float32(10*rank + i)
				}
				x := upload(r, parts)
				for round := range 3 {
					var held []*ir.Value
					start := func(exchanges ...ir.RankExchange) (*ir.Value, uint64, error) {
						results, point, err := r.StartRanks(t.Context(), with, exchanges...)
						if err != nil {
							return nil, 0, err
						}
						for i, e := range exchanges {
							if e.Value != nil && e.Value != results[i] {
								held = append(held, e.Value)
							}
						}
						return results[len(results)-1].Hold(), point, nil
					}
					scale := float64(round + 1)
					own := func() *ir.Value { return r.Record(ir.MulScalar{Scalar: scale}, x).Hold() }
					scattered, first, err := start(ir.RankExchange{Op: ir.RankReduceScatter, Value: own()})
					if err != nil {
						return err
					}
					beside := r.Record(ir.Square{}, own()).Hold()
					r.Flush()
					gathered, _, err := start(ir.RankExchange{Op: ir.RankAllGather, Value: beside})
					if err != nil {
						return err
					}
					if err := with.Wait(first); err != nil { // only for the first one
						return err
					}
					half := r.Record(ir.MulScalar{Scalar: 0.5}, scattered).Hold()
					r.Flush()
					broadcast := ir.RankExchange{Op: ir.RankBroadcast, Peer: 1, Type: ir.Type{Shape: []int{2 * n}, DType: ir.Float32}}
					if rank == 1 {
						broadcast.Value = own()
					}
					came, _, err := start(broadcast)
					if err != nil {
						return err
					}
					// All ranks send at the same time: without a group they would wait for each other.
					around, _, err := start(ir.RankExchange{Op: ir.RankSend, Value: own(), Peer: next},
						ir.RankExchange{Op: ir.RankReceive, Type: ir.Type{Shape: []int{n, 2}, DType: ir.Float32}, Peer: before})
					if err != nil {
						return err
					}
					if err := with.Wait(math.MaxUint64); err != nil {
						return err
					}
					for _, v := range held {
						r.Release(v)
					}
					at := func(rank, i int) float32 { return float32(scale) * float32(10*rank+i) }
					want := map[string][]float32{"ReduceScatter": make([]float32, 2), "Broadcast": nil, "AllGather": nil, "Receive": nil}
					for i := range 2 {
						for q := range n {
							want["ReduceScatter"][i] += at(q, 2*rank+i) / 2
						}
					}
					for q := range n {
						for i := range 2 * n {
							want["AllGather"] = append(want["AllGather"], at(q, i)*at(q, i))
						}
					}
					for i := range 2 * n {
						want["Broadcast"] = append(want["Broadcast"], at(1, i))
						want["Receive"] = append(want["Receive"], at(before, i))
					}
					for name, v := range map[string]*ir.Value{"ReduceScatter": half, "AllGather": gathered, "Broadcast": came, "Receive": around} {
						if got := download(r, v); !slices.Equal(got, want[name]) {
							return fmt.Errorf("seed %d, round %d, %s: got %v, want %v", seed, round, name, got, want[name])
						}
					}
					for _, v := range []*ir.Value{half, scattered, gathered, came, around} {
						r.Release(v)
					}
				}
				for op, want := range map[nccl.Op]fakelib.Calls{
					nccl.ReduceScatter: {Calls: 3, Bytes: 3 * 8}, nccl.AllGather: {Calls: 3, Bytes: 3 * 8 * n}, nccl.Broadcast: {Calls: 3, Bytes: 3 * 8 * n},
					nccl.Send: {Calls: 3, Bytes: 3 * 8 * n}, nccl.Recv: {Calls: 3, Bytes: 3 * 8 * n}, nccl.AllReduce: {},
				} {
					if got := library.Count(op); got != want {
						return fmt.Errorf("%v: %+v, want %+v", op, got, want)
					}
				}
				return nil
			})
		}
	}
}

// An error names the device, the rank, and what it did. Nothing waits longer than until Abort.
func TestErrorsOfExchanges(t *testing.T) {
	vector := ir.Type{Shape: []int{4}, DType: ir.Float32}
	start := func(r *ir.Recorder, with ir.Ranks, exchanges ...ir.RankExchange) error {
		if _, _, err := r.StartRanks(t.Context(), with, exchanges...); err != nil {
			return err
		}
		return with.Wait(math.MaxUint64)
	}
	for _, c := range []struct {
		name string
		run  func(rank int, r *ir.Recorder, with ir.Ranks, library *fakelib.NCCL) error
		want []string // by rank
	}{
		{"rejected by NCCL", func(rank int, r *ir.Recorder, with ir.Ranks, library *fakelib.NCCL) error {
			library.Refuses = map[string]bool{"ncclAllGather": true}
			return start(r, with, ir.RankExchange{Op: ir.RankAllGather, Value: upload(r, make([]float32, 2))})
		}, []string{"cuda:0: AllGather on rank 0 of 2: NCCL: ncclAllGather: invalid argument", "cuda:1: AllGather on rank 1 of 2: NCCL: ncclAllGather: invalid argument"}},
		{"a part of a group rejected", func(rank int, r *ir.Recorder, with ir.Ranks, library *fakelib.NCCL) error {
			return start(r, with, ir.RankExchange{Op: ir.RankReceive, Type: vector, Peer: 1 - rank}, ir.RankExchange{Op: ir.RankSend, Value: upload(r, make([]float32, 4)), Peer: 2})
		}, []string{"cuda:0: Receive and Send on rank 0 of 2: NCCL: ncclSend: invalid argument: rank 2 of 2", "Receive and Send on rank 1 of 2: NCCL: ncclSend"}},
		{"no multiple of the ranks", func(rank int, r *ir.Recorder, with ir.Ranks, library *fakelib.NCCL) error {
			return start(r, with, ir.RankExchange{Op: ir.RankReduceScatter, Value: upload(r, make([]float32, 3))})
		}, []string{"Pad the tensor", "Pad the tensor"}},
		{"integers", func(rank int, r *ir.Recorder, with ir.Ranks, library *fakelib.NCCL) error {
			return start(r, with, ir.RankExchange{Op: ir.RankReduceScatter, Value: r.Empty(ir.Type{Shape: []int{2}, DType: ir.Int32}).Hold()})
		}, []string{"only float32 and float64", "only float32 and float64"}},
		{"different calls", func(rank int, r *ir.Recorder, with ir.Ranks, library *fakelib.NCCL) error {
			if rank == 0 {
				return start(r, with, ir.RankExchange{Op: ir.RankAllGather, Value: upload(r, make([]float32, 4))})
			}
			return start(r, with, ir.RankExchange{Op: ir.RankBroadcast, Type: vector})
		}, []string{"AllGather on rank 0 of 2: NCCL: ncclAllGather", "Broadcast on rank 1 of 2: NCCL: ncclBroadcast"}},
		{"different sizes", func(rank int, r *ir.Recorder, with ir.Ranks, library *fakelib.NCCL) error {
			if rank == 0 {
				return start(r, with, ir.RankExchange{Op: ir.RankSend, Value: upload(r, make([]float32, 3)), Peer: 1})
			}
			return start(r, with, ir.RankExchange{Op: ir.RankReceive, Type: vector})
		}, []string{"Send on rank 0 of 2: NCCL: ncclSend", "Receive on rank 1 of 2: NCCL: ncclRecv"}},
		{"another rank is gone", func(rank int, r *ir.Recorder, with ir.Ranks, library *fakelib.NCCL) error {
			if rank == 1 {
				return with.Abort()
			}
			return start(r, with, ir.RankExchange{Op: ir.RankReceive, Type: vector, Peer: 1})
		}, []string{"cuda:0: Receive on rank 0 of 2: NCCL: ncclRecv", ""}},
		{"both wait for each other", func(rank int, r *ir.Recorder, with ir.Ranks, library *fakelib.NCCL) error {
			go func() { _ = with.Abort() }() // as a group does when its context is done
			return start(r, with, ir.RankExchange{Op: ir.RankReceive, Type: vector, Peer: 1 - rank})
		}, []string{"cuda:0: Receive on rank 0 of 2", "cuda:1: Receive on rank 1 of 2"}},
	} {
		onRanks(t, 2, fake.Options{}, func(rank int, r *ir.Recorder, with ir.Ranks, library *fakelib.NCCL) error {
			err := c.run(rank, r, with, library)
			if want := c.want[rank]; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%s: got %w, want %q", c.name, err, want)
			}
			return nil
		})
	}
}

func TestSumRanksOfSharedTensors(t *testing.T) {
	onRanks(t, 2, fake.Options{}, func(_ int, r *ir.Recorder, with ir.Ranks, _ *fakelib.NCCL) error {
		x := upload(r, []float32{1, 2})
		r.Alias(x)
		var state *ir.StateError
		if err := sumRanks(t, r, with, x); !errors.As(err, &state) {
			return fmt.Errorf("got %w", err)
		}
		return with.Wait(math.MaxUint64)
	})
}

// If a rank ends, the sums of the others fail and do not wait.
func TestSumRanksWithoutOneOfThem(t *testing.T) {
	gone := make(chan struct{})
	onRanks(t, 2, fake.Options{}, func(rank int, r *ir.Recorder, with ir.Ranks, _ *fakelib.NCCL) error {
		if rank == 1 {
			defer close(gone)
			return with.Abort()
		}
		<-gone
		v := r.Record(ir.Square{}, upload(r, []float32{1})).Hold()
		if err := sumRanks(t, r, with, v); err != nil {
			return err
		}
		var failed *library.CallError
		if err := with.Wait(math.MaxUint64); !errors.As(err, &failed) || !strings.Contains(err.Error(), "cuda:0: AllReduce on rank 0 of 2: NCCL: ncclAllReduce") {
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
