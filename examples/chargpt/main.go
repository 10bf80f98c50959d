// Chargpt trains a small character-level GPT on Moby-Dick and generates text.
//
//	go run ./examples/chargpt -steps 1500 -prompt "Call me "
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
	flags := flag.NewFlagSet("chargpt", flag.ContinueOnError)
	steps := flags.Int("steps", 1500, "training steps")
	width := flags.Int("width", 128, "embedding dimension")
	blocks := flags.Int("blocks", 3, "number of transformer blocks")
	length := flags.Int("length", 64, "context length in characters")
	prompt := flags.String("prompt", "Call me ", "text to continue")
	letters := flags.Int("letters", 400, "number of characters to generate")
	temperature := flags.Float64("temperature", 0.5, "sampling temperature; 0 always takes the most likely character")
	if err := flags.Parse(args); err != nil {
		return err
	}

	text, err := data.MobyDick()
	if err != nil {
		return err
	}
	vocabulary := data.Chars(text)
	tokens, err := vocabulary.Encode(text)
	if err != nil {
		return err
	}
	start, err := vocabulary.Encode(*prompt)
	if err != nil {
		return err
	}
	cut := len(tokens) * 9 / 10
	train, err := data.Windows(tokens[:cut], *length, 1)
	if err != nil {
		return err
	}
	rest, err := data.Windows(tokens[cut:], *length, *length)
	if err != nil {
		return err
	}

	accel.Seed(1)
	gpt := nn.Sequential(
		nn.Embedding(vocabulary.Size(), *width), nn.PositionEmbedding(*length, *width),
		nn.Repeat(*blocks, func(int) nn.Module {
			return nn.Sequential(
				nn.Residual(nn.LayerNorm(), nn.SelfAttention(4, nn.Causal())),
				nn.Residual(nn.LayerNorm(), nn.Dense(4**width), nn.GELU(), nn.Dense(*width)),
			)
		}),
		nn.LayerNorm(), nn.Dense(vocabulary.Size()),
	)
	result, err := accel.Fit(ctx, gpt, train,
		accel.Steps(*steps), accel.BatchSize(16), accel.Muon(1e-2), accel.WarmupCosine(100), accel.ClipGradNorm(1),
		accel.Validate(rest.First(256)), accel.Quiet())
	fmt.Fprintln(out, result)
	if err != nil {
		return err
	}
	written, err := accel.Generate(ctx, gpt, start, *letters, accel.Temperature(*temperature))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, vocabulary.Decode(written))
	return nil
}
