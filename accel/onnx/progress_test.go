package onnx_test

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// slow is a model that continues after something was displayed.
type slow struct {
	nn.Module
	shown <-chan string
	bar   string
}

func (s *slow) Forward(x *tensor.Tensor) *tensor.Tensor {
	if s.bar == "" {
		s.bar = <-s.shown
	}
	return s.Module.Forward(x)
}

// stuck is a file whose second write waits until something is displayed.
type stuck struct {
	bytes.Buffer
	writes int
	shown  <-chan string
	bar    string
}

func (s *stuck) Write(p []byte) (int, error) {
	if s.writes++; s.writes == 2 {
		s.bar = <-s.shown
	}
	return s.Buffer.Write(p)
}

var _ io.Writer = (*stuck)(nil)

// An export that takes longer than a second displays a bar while it computes and while it writes.
func TestExportHasABar(t *testing.T) {
	shown := make(chan string, 100)
	previous := display.SetSink(display.SinkFunc(func(m display.Message) {
		text, _ := m.Data["text/plain"].(string)
		shown <- text
	}))
	t.Cleanup(func() { display.SetSink(previous) })

	model := &slow{Module: nn.Dense(700), shown: shown}
	example := randn(1, 1, 700) // makes weights of two megabytes
	if err := onnx.Export(filepath.Join(t.TempDir(), "model.onnx"), model, example); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(model.bar, "exporting quern [....") || !strings.Contains(model.bar, "] 0/2  00:") || !strings.Contains(model.bar, "computing the example") {
		t.Errorf("%q", model.bar)
	}
	built, err := onnx.Build(model, example)
	if err != nil {
		t.Fatal(err)
	}
	for len(shown) > 0 {
		<-shown // the end of the first bar
	}
	file := &stuck{shown: shown}
	n, err := built.WriteTo(file)
	if err != nil || int(n) != file.Len() || n < 700*700*4 {
		t.Errorf("%d bytes of %d, %v", n, file.Len(), err)
	}
	if !strings.HasPrefix(file.bar, "writing quern [####") || !strings.Contains(file.bar, "MB") {
		t.Errorf("%q", file.bar)
	}
}
