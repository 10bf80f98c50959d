// Parallel trains one model in several processes, on one machine or on many. Each process runs
// this program and reads its rank from the environment that the launcher set:
//
//	go build ./examples/parallel
//
//	# by hand, three processes on one machine
//	for rank in 0 1 2; do
//		RANK=$rank WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 ./parallel &
//	done; wait
//
//	torchrun --nproc-per-node=3 --no-python ./parallel  # with PyTorch's launcher
//	mpirun -np 3 ./parallel                             # Open MPI, MPICH or Intel's
//	srun --ntasks=3 ./parallel                          # in a job of Slurm
//
// Started without a launcher, it trains in one process, and arrives at the same weights up to
// rounding.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/signal"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) (err error) {
	flags := flag.NewFlagSet("parallel", flag.ContinueOnError)
	epochs := flags.Int("epochs", 10, "number of epochs")
	batch := flags.Int("batch", 96, "global batch size over all ranks")
	width := flags.Int("width", 128, "width of the hidden layers")
	depth := flags.Int("depth", 2, "number of hidden layers")
	bucket := flags.Int("bucket", 25<<20, "bytes of gradients per all-reduce")
	if err := flags.Parse(args); err != nil {
		return err
	}

	group, err := parallel.Join(ctx, parallel.Bucket(*bucket))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, group.Close()) }()
	train, test, err := data.Digits()
	if err != nil {
		return err
	}
	accel.Seed(1)
	layers := []nn.Module{nn.Flatten()}
	for range *depth {
		layers = append(layers, nn.Dense(*width), nn.ReLU())
	}
	model := nn.Sequential(append(layers, nn.Dense(10))...)
	result, err := accel.Fit(ctx, model, train, accel.DataParallel(group),
		accel.Epochs(*epochs), accel.BatchSize(*batch), accel.AdamW(2e-3), accel.Validate(test), accel.Quiet())
	if err != nil {
		return err
	}
	hash := fnv.New64a()
	for _, p := range nn.State(model) {
		hash.Write(p.Raw())
	}
	fmt.Fprintf(out, "%v: weights %016x\n", group, hash.Sum64())
	if group.First() {
		fmt.Fprintln(out, result.Summary())
	}
	return nil
}
