// Resume trains with a checkpoint file. Kill it at any time, in any way, and run it again: it
// continues where it stopped and arrives at bit-identical weights.
//
//	go run ./examples/resume -file run.safetensors
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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("resume", flag.ContinueOnError)
	file := flags.String("file", "run.safetensors", "checkpoint `file`")
	epochs := flags.Int("epochs", 40, "total epochs")
	if err := flags.Parse(args); err != nil {
		return err
	}

	train, test, err := data.Digits()
	if err != nil {
		return err
	}
	accel.Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(256), nn.ReLU(), nn.Dropout(0.3), nn.Dense(10))
	result, err := accel.Fit(ctx, model, train,
		accel.Epochs(*epochs), accel.BatchSize(32), accel.AdamW(1e-3), accel.WarmupCosine(50), accel.Validate(test),
		accel.Resume(*file), accel.SaveEvery(20), accel.Quiet())
	fmt.Fprintln(out, result.Summary())
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(out, "run it again to continue")
		return nil
	}
	if err != nil {
		return err
	}
	hash := fnv.New64a()
	for _, p := range nn.State(model) {
		hash.Write(p.Raw())
	}
	fmt.Fprintf(out, "weights %016x\n", hash.Sum64())
	return nil
}
