package onnx

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/atomicfile"
)

// Model is a model in ONNX form; see [Build]. It is immutable, so several goroutines may use
// it.
type Model struct {
	name     string
	nodes    []operator
	weights  []weight
	inputs   []port
	outputs  []port
	notes    [][2]string
	external bool
}

// dataAlign is the alignment of weights in the data file, so that they can be memory-mapped;
// small weights stay in the model file.
const (
	dataAlign    = 4096
	dataSmallest = 1024
	largest      = math.MaxInt32 - 1<<20 // maximum bytes of weights in one file, with a margin for the rest
)

// Save writes the model to a file, which is replaced completely or not at all. With
// [ExternalData] the weights are first written to path+".data".
func (m *Model) Save(path string) (err error) {
	if m.external {
		err = m.saveOutside(path)
	} else {
		err = atomicfile.Replace(path, func(w io.Writer) error {
			_, err := m.WriteTo(w)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("onnx: save %s: %w", path, err)
	}
	return nil
}

// WriteTo writes the model as one file. It returns [ErrTooLarge] if the weights have more than
// 2 GiB.
func (m *Model) WriteTo(w io.Writer) (int64, error) {
	if n := m.bytes(); n > largest {
		return 0, &Error{Err: fmt.Errorf("%w: the weights have %d bytes; use ExternalData() to put them into a separate file", ErrTooLarge, n)}
	}
	text := m.appendModel(nil, "", nil)
	meter := display.NewMeter("writing "+m.name, float64(len(text))/1e6)
	defer meter.End()
	n, err := meter.Writer(w).Write(text)
	return int64(n), err
}

// saveOutside writes the weights to a separate file, and then the model.
func (m *Model) saveOutside(path string) error {
	data := path + ".data"
	placed, end := map[string]external{}, 0
	for _, w := range m.weights {
		if len(w.raw) >= dataSmallest {
			end = (end + dataAlign - 1) / dataAlign * dataAlign
			placed[w.name] = external{end, len(w.raw)}
			end += len(w.raw)
		}
	}
	meter := display.NewMeter("writing "+filepath.Base(data), float64(end)/1e6)
	defer meter.End()
	err := atomicfile.Replace(data, func(w io.Writer) error {
		w = meter.Writer(w)
		at := 0
		for _, x := range m.weights {
			p, ok := placed[x.name]
			if !ok {
				continue
			}
			if _, err := w.Write(make([]byte, p.offset-at)); err != nil {
				return err
			}
			if _, err := w.Write(x.raw); err != nil {
				return err
			}
			at = p.offset + p.length
		}
		return nil
	})
	if err != nil {
		return err
	}
	return atomicfile.Replace(path, func(w io.Writer) error {
		_, err := w.Write(m.appendModel(nil, filepath.Base(data), placed))
		return err
	})
}

// bytes returns the size of all weights.
func (m *Model) bytes() int {
	n := 0
	for _, w := range m.weights {
		n += len(w.raw)
	}
	return n
}

// String returns a listing of the model: inputs, outputs, weights, and each node.
func (m *Model) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: opset %d, %d nodes, %d weights of %d bytes\n", m.name, opsetVersion, len(m.nodes), len(m.weights), m.bytes())
	for _, p := range m.inputs {
		fmt.Fprintf(&b, "input  %s %s%s\n", p.name, p.element, shapeText(p.shape))
	}
	for _, p := range m.outputs {
		fmt.Fprintf(&b, "output %s %s%s\n", p.name, p.element, shapeText(p.shape))
	}
	for _, w := range m.weights {
		if !strings.HasPrefix(w.name, "/") {
			fmt.Fprintf(&b, "weight %s %s%v\n", w.name, w.element, w.shape)
		}
	}
	for _, n := range m.nodes {
		fmt.Fprintf(&b, "%s = %s(%s)", n.out, n.op, strings.Join(n.in, ", "))
		for _, a := range n.attributes {
			fmt.Fprintf(&b, " %s=%v", a.name, a.value)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func shapeText(shape []dimension) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		switch {
		case d.name != "":
			parts[i] = d.name
		case d.known:
			parts[i] = fmt.Sprint(d.size)
		default:
			parts[i] = "?"
		}
	}
	return "[" + strings.Join(parts, " ") + "]"
}
