// Cnn trains a convolutional network with augmented images, a learning-rate schedule and early
// stopping, and prints its most frequent errors.
//
//	go run ./examples/cnn            # 8×8 digits, which are embedded in the program
//	go run ./examples/cnn -fashion   # Fashion-MNIST, from this machine or downloaded
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
	flags := flag.NewFlagSet("cnn", flag.ContinueOnError)
	epochs := flags.Int("epochs", 12, "maximum number of epochs")
	fashion := flags.Bool("fashion", false, "train on Fashion-MNIST")
	if err := flags.Parse(args); err != nil {
		return err
	}

	load := data.Digits
	if *fashion {
		load = func() (train, test *data.Dataset, err error) { return data.FashionMNIST() }
	}
	train, test, err := load()
	if err != nil {
		return err
	}
	augmented, err := train.Map(data.RandomShift(1)) // a different shift in each epoch
	if err != nil {
		return err
	}

	accel.Seed(1)
	model := nn.Sequential(
		nn.Conv2D(16, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2),
		nn.Conv2D(32, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2),
		nn.Flatten(), nn.Dropout(0.2), nn.Dense(10),
	)
	result, err := accel.Fit(ctx, model, augmented,
		accel.Epochs(*epochs), accel.BatchSize(64), accel.AdamW(5e-3), accel.OneCycleLR(),
		accel.Validate(test), accel.EarlyStopping(4), accel.Quiet())
	if err != nil {
		return err
	}
	fmt.Fprintln(out, result.Summary())

	measured, err := accel.Evaluate(ctx, model, test)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, measured)
	for class, answers := range measured.ConfusionMatrix() {
		most, wrong := 0, 0
		for answer, n := range answers {
			if answer != class && n > most {
				most, wrong = n, answer
			}
		}
		if most > 0 {
			fmt.Fprintf(out, "%s is predicted as %s %d times\n", test.Classes()[class], test.Classes()[wrong], most)
		}
	}
	return nil
}
