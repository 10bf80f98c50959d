package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/shirou/gopsutil/v4/cpu"

	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/kernel/link"
)

// ranks are the workers that run each cell together, as seen by one of them.
type ranks struct {
	host        link.Host
	rank, ranks int
	cell        func() int // returns the running cell
}

var _ magic.Ranks = (*ranks)(nil)

func (r *ranks) Rank() int { return r.rank }

func (r *ranks) Number() int { return r.ranks }

// Once sends the outcome of f on rank 0 to the other ranks.
func (r *ranks) Once(ctx context.Context, step int, f func() (string, error)) (string, error) {
	if r.ranks == 1 {
		return f()
	}
	request := link.OnceRequest{Cell: r.cell(), Step: step}
	if r.rank > 0 {
		reply, err := r.host.Once(ctx, request)
		if err == nil && reply.Error != "" {
			err = errors.New(reply.Error)
		}
		return reply.Output, err
	}
	output, failure := f()
	if ctx.Err() != nil { // the others are interrupted too, and must not take this for a failure of the command
		return output, failure
	}
	request.Output = output
	if failure != nil {
		request.Error = failure.Error()
	}
	// The others wait for the outcome even if this cell is interrupted now.
	if _, err := r.host.Once(context.WithoutCancel(ctx), request); err != nil {
		return output, errors.Join(failure, err)
	}
	return output, failure
}

func (r *ranks) Start(ctx context.Context, number int) (string, error) {
	request := link.RanksRequest{Number: number}
	if number == magic.PerGPU {
		request.Number = link.PerGPU
	}
	reply, err := r.host.Ranks(ctx, request)
	if err == nil && reply.Refused != "" {
		err = errors.New(reply.Refused)
	}
	return reply.Text, err
}

func (r *ranks) Restart(ctx context.Context, program string) (string, error) {
	reply, err := r.host.Ranks(ctx, link.RanksRequest{Restart: true, Program: program})
	return reply.Text, err
}

// localRanks returns the number of ranks on this machine, which share its cores and memory, by the variables of
// torchrun, the kernel, mpirun, srun and others; 1 if no variable says it.
func localRanks(lookup func(string) (string, bool)) int {
	if text, ok := lookup("LOCAL_WORLD_SIZE"); ok {
		if n, err := strconv.Atoi(text); err == nil {
			return max(n, 1)
		}
	}
	info, err := parallel.FromEnvironment(lookup) // parallel.Join reports the error
	if err != nil {
		return 1
	}
	return max(info.LocalSize, 1)
}

// shareCores limits this rank to its share of the cores, unless mpirun or srun has bound it to some of them. torchrun and the
// kernel do not bind ranks.
func shareCores(ranks int) {
	_, unbound := os.LookupEnv("LOCAL_WORLD_SIZE")
	if all, err := cpu.Counts(true); err == nil && runtime.NumCPU() < all && !unbound {
		return
	}
	if ranks > 1 {
		runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/ranks))
	}
}

// share returns the part of a limit for one of several workers on a machine.
func (l memoryLimit) share(ranks int) (memoryLimit, error) {
	if ranks <= 1 || l.bytes == 0 {
		return l, nil
	}
	l.bytes /= int64(ranks)
	l.ranks = ranks
	if l.bytes < minMemory {
		return l, fmt.Errorf("%s leave %s of memory for each, and a worker needs at least %s: start fewer ranks or set %s",
			quantity.Plural(ranks, "rank"), size(l.bytes), size(minMemory), memoryVariable)
	}
	return l, nil
}
