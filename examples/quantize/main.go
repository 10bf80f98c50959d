// Quantize trains a convolutional network on images of handwritten digits, prunes some of its
// filters and quantizes the rest to 8-bit integers. The result is a smaller and faster model in
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
	epochs := flags.Int("epochs", 20, "number of epochs")
	cut := flags.Float64("cut", 0.5, "fraction of the filters to prune")
	path := flags.String("save", "", "safetensors `file` for the quantized model")
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
	pruned, err := prune.Compare(ctx, dense, model, test)
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
	fmt.Fprintln(out, "model written to", *path)
	return nil
}
