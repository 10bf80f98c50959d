// Quantize trains a convolutional network on pictures of handwritten digits, removes
// some of its filters, and makes bytes of what is left: a smaller and faster model, in
// a file of a few kilobytes.
//
//	go run ./examples/quantize -epochs 20 -cut 0.5 -save digits.safetensors
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/prune"
	"github.com/quernlab/quern/accel/quantize"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newModel() nn.Module {
	return nn.Sequential(
		nn.Conv2D(32, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2),
		nn.Conv2D(64, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2),
		nn.Flatten(), nn.Dense(10),
	)
}

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("quantize", flag.ContinueOnError)
	epochs := flags.Int("epochs", 20, "passes over the training set")
	cut := flags.Float64("cut", 0.5, "share of the filters to remove")
	path := flags.String("save", "", "a safetensors file for the quantised model")
	if err := flags.Parse(args); err != nil {
		return err
	}

	train, test, err := data.Digits()
	if err != nil {
		return err
	}
	accel.Seed(1)
	model := newModel()
	if _, err := accel.Fit(ctx, model, train, accel.Epochs(*epochs), accel.Quiet()); err != nil {
		return err
	}

	dense, err := prune.Copy(model, newModel)
	if err != nil {
		return err
	}
	batch, err := train.First(8).Tensors()
	if err != nil {
		return err
	}
	removed, err := prune.Channels(model, batch.X, *cut)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, removed)
	if _, err := accel.Fit(ctx, model, train, accel.Epochs((*epochs+1)/2), accel.Quiet()); err != nil {
		return err
	}
	pruned, err := prune.Compare(ctx, test, dense, model)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%v\n", pruned)

	small, err := quantize.Static(ctx, model, train)
	if err != nil {
		return err
	}
	quantized, err := small.Report(ctx, test)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%v\n", quantized)

	if *path == "" {
		return nil
	}
	if err := small.Save(*path); err != nil {
		return err
	}
	fmt.Fprintln(out, "the model is in", *path)
	return nil
}
