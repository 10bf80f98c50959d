// Mlp trains a small network on images of handwritten digits, measures its accuracy on images
// that it has not seen, and writes its weights to a file.
//
//	go run ./examples/mlp -epochs 20 -save digits.safetensors
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
	flags := flag.NewFlagSet("mlp", flag.ContinueOnError)
	epochs := flags.Int("epochs", 20, "number of epochs")
	path := flags.String("save", "", "safetensors `file` for the weights")
	if err := flags.Parse(args); err != nil {
		return err
	}

	train, test, err := data.Digits()
	if err != nil {
		return err
	}
	accel.Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(128), nn.ReLU(), nn.Dense(10))
	fmt.Fprintln(out, nn.Summary(model, train.Shape()...))

	result, err := accel.Fit(ctx, model, train,
		accel.Epochs(*epochs), accel.AdamW(3e-3), accel.Validate(test), accel.Quiet())
	if err != nil {
		return err
	}
	fmt.Fprintln(out, result.Summary())

	if *path == "" {
		return nil
	}
	if err := nn.Save(*path, model); err != nil {
		return err
	}
	fmt.Fprintln(out, "weights written to", *path)
	return nil
}
