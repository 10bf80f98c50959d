// Command animation trains a model on Fashion-MNIST and writes what a notebook shows during
// that time, the cell and the figure below it, as a GIF, for the README: go run ./docs/animation
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"sync"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/display"
)

func main() {
	out := flag.String("o", "docs/training.gif", "the file to write")
	epochs := flag.Int("epochs", 12, "how long to train")
	flag.Parse()
	if err := run(*out, *epochs); err != nil {
		fmt.Fprintf(os.Stderr, "animation: %v\n", err)
		os.Exit(1)
	}
}

func run(out string, epochs int) error {
	// Live figures have PNG only at the end, unless it is the only format.
	if err := os.Setenv("QUERN_PLOTS", "png"); err != nil {
		return err
	}
	frames := &recorder{}
	display.SetSink(frames)
	if err := train(context.Background(), epochs); err != nil {
		return err
	}
	images, err := frames.images()
	if err != nil {
		return err
	}
	code, err := cell()
	if err != nil {
		return err
	}
	width := 0
	for _, m := range images {
		width = max(width, m.Bounds().Dx())
	}
	head, err := drawCell(code, width)
	if err != nil {
		return err
	}
	animation, err := animate(head, images)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d frames, %d bytes\n", out, len(images), len(animation))
	return os.WriteFile(out, animation, 0o666)
}

// train trains a convolutional network, which takes long enough for some frames.
func train(ctx context.Context, epochs int) error {
	accel.Seed(1)
	train, test, err := data.FashionMNIST()
	if err != nil {
		return err
	}
	// The cell:
	model := nn.Sequential(
		nn.Conv2D(8, 3), nn.ReLU(), nn.MaxPool2D(2),
		nn.Conv2D(16, 3), nn.ReLU(), nn.MaxPool2D(2),
		nn.Flatten(), nn.Dense(10),
	)
	run, err := accel.Fit(ctx, model, train,
		accel.Epochs(epochs), accel.BatchSize(128),
		accel.AdamW(3e-3), accel.WarmupCosine(100),
		accel.Validate(test),
		accel.Live(accel.Loss, accel.Accuracy, accel.GPUUtil),
	)
	// The end of the cell.
	if err != nil {
		return err
	}
	fmt.Println(run)
	return nil
}

// A recorder is a front end that keeps the frames of the live figure.
type recorder struct {
	mu     sync.Mutex
	figure string // the output with the figure
	frames [][]byte
}

// Display keeps a frame.
func (r *recorder) Display(m display.Message) {
	frame, ok := m.Data["image/png"].([]byte)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.figure == "" {
		r.figure = m.ID
	}
	if m.ID == r.figure {
		r.frames = append(r.frames, frame)
	}
}

func (r *recorder) images() ([]image.Image, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []image.Image
	for i, frame := range r.frames {
		m, err := png.Decode(bytes.NewReader(frame))
		if err != nil {
			return nil, fmt.Errorf("frame %d: %w", i+1, err)
		}
		all = append(all, m)
	}
	if len(all) < 2 {
		return nil, fmt.Errorf("the training showed only %d frames: train longer with -epochs", len(all))
	}
	return all, nil
}
