// Module trains a custom model: plain structs with a method Forward, whose parameters are found
// in their fields. It is a mixture of experts: a gate computes the weight of each expert for
// each image.
//
//	go run ./examples/module -experts 4
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

// mixture is a module: it only needs Forward. Parameters are found in its fields, including
// unexported fields and slices.
type mixture struct {
	gate    nn.Module
	experts []nn.Module
}

func newMixture(experts, hidden int) *mixture {
	m := &mixture{gate: nn.Dense(experts)}
	for range experts {
		m.experts = append(m.experts, nn.Sequential(nn.Dense(hidden), nn.GELU(), nn.Dense(10)))
	}
	return m
}

// Forward maps images [N, 1, 8, 8] to logits [N, 10].
func (m *mixture) Forward(x *nn.Tensor) *nn.Tensor {
	x = x.Flatten(1)
	shares := m.gate.Forward(x).Softmax(1) // [N, experts]
	var sum *nn.Tensor
	for i, expert := range m.experts {
		heard := expert.Forward(x).Mul(shares.Slice(1, i, i+1))
		if sum == nil {
			sum = heard
			continue
		}
		sum = sum.Add(heard)
	}
	return sum
}

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("module", flag.ContinueOnError)
	epochs := flags.Int("epochs", 10, "number of epochs")
	experts := flags.Int("experts", 4, "number of experts")
	if err := flags.Parse(args); err != nil {
		return err
	}

	train, test, err := data.Digits()
	if err != nil {
		return err
	}
	accel.Seed(1)
	model := newMixture(*experts, 32)
	result, err := accel.Fit(ctx, model, train,
		accel.Epochs(*epochs), accel.AdamW(3e-3), accel.Validate(test), accel.Quiet())
	if err != nil {
		return err
	}
	for _, p := range nn.NamedParameters(model) {
		fmt.Fprintln(out, p.Name, p.Shape())
	}
	fmt.Fprintln(out, result)
	return nil
}
