// Export trains a network that recognizes digits, writes it to an ONNX file, and prints the
// Python code that runs it.
//
//	go run ./examples/export -folder .
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
)

// python runs the exported file. It needs onnxruntime: pip install onnxruntime.
const python = `import numpy, onnxruntime

session = onnxruntime.InferenceSession("digits.onnx")
images = numpy.fromfile("digits.raw", numpy.float32).reshape(-1, 1, 8, 8)
logits, = session.run(None, {"images": images})
print(*logits.argmax(axis=1))
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("export", flag.ContinueOnError)
	folder := flags.String("folder", ".", "`folder` for digits.onnx and digits.raw")
	epochs := flags.Int("epochs", 8, "number of epochs")
	if err := flags.Parse(args); err != nil {
		return err
	}

	train, test, err := data.Digits()
	if err != nil {
		return err
	}
	accel.Seed(1)
	model := nn.Sequential(
		nn.Conv2D(16, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2),
		nn.Flatten(), nn.Dropout(0.3), nn.Dense(10))
	result, err := accel.Fit(ctx, model, train, accel.Epochs(*epochs), accel.AdamW(3e-3), accel.Validate(test), accel.Quiet())
	if err != nil {
		return err
	}
	fmt.Fprintln(out, result.Summary())

	// The first axis of the example input is the batch, which has any size in the file.
	batch, err := test.First(20).Tensors()
	if err != nil {
		return err
	}
	err = onnx.Export(filepath.Join(*folder, "digits.onnx"), model, batch.X,
		onnx.Inputs("images"), onnx.Outputs("logits"), onnx.Note("classes", strings.Join(test.Classes(), ",")))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(*folder, "digits.raw"), batch.X.Raw(), 0o600); err != nil {
		return err
	}

	logits, err := accel.Predict(ctx, model, batch.X)
	if err != nil {
		return err
	}
	answer := strings.Trim(fmt.Sprint(logits.ArgMax(1).Ints()), "[]")
	fmt.Fprintf(out, "the first digits: %s\nThe same in Python, in %s:\n\n%s", answer, *folder, python)
	return nil
}
