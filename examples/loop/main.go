// Loop trains without accel.Fit: it iterates over batches and calls the forward pass, the
// backward pass and the optimizer itself. A step whose loss is not finite is rejected before it
// changes the weights.
//
//	go run ./examples/loop -epochs 10
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
	"github.com/quernlab/quern/accel/optim"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run returns panics of tensor operations, for instance because of mismatched shapes, as
// errors, by means of nn.Catch.
func run(ctx context.Context, out io.Writer, args []string) (err error) {
	defer nn.Catch(&err)
	flags := flag.NewFlagSet("loop", flag.ContinueOnError)
	epochs := flags.Int("epochs", 10, "number of epochs")
	rate := flags.Float64("rate", 3e-3, "learning rate")
	if err := flags.Parse(args); err != nil {
		return err
	}

	train, test, err := data.Digits()
	if err != nil {
		return err
	}
	accel.Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.Tanh(), nn.Dense(10))
	opt := optim.AdamW(model, *rate)
	schedule := optim.WarmupCosine(20, *epochs*((train.Len()+63)/64))
	for epoch := range *epochs {
		batches := train.Batches(64, data.Shuffle(1), data.Epoch(epoch), data.Context(ctx))
		sum := 0.0
		for batches.Next() {
			b := batches.Batch()
			loss := nn.CrossEntropy(model.Forward(b.X), b.Y).RequireFinite("the loss")
			opt.ZeroGrad()
			loss.Backward()
			opt.SetLearningRate(*rate * schedule.Factor(opt.Steps()))
			opt.Step()
			sum += loss.Item() * float64(b.Len())
		}
		if err := batches.Err(); err != nil {
			return err
		}
		fmt.Fprintf(out, "epoch %d: loss %.4f\n", epoch+1, sum/float64(train.Len()))
	}
	result, err := accel.Evaluate(ctx, model, test)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, result)
	return nil
}
