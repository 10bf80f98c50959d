package nn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/tensor"
)

// Save writes the parameters of a model to a file in safetensors format, under
// the names of [NamedParameters], frozen ones too. Other frameworks read it:
// the layers here have PyTorch's names and layouts. The file is replaced as a
// whole or not at all.
func Save(path string, model any) (err error) {
	defer Catch(&err)
	tensors := map[string]stored{}
	for _, p := range namedTensors(model) {
		tensors[p.Name] = stored{p.Shape(), p.Data()}
	}
	if len(tensors) == 0 {
		return fmt.Errorf("nn: save %s: the model has no parameters; layers get theirs from the first input", path)
	}
	b, err := encodeSafetensors(tensors)
	if err != nil {
		return fmt.Errorf("nn: save %s: %w", path, err)
	}
	if err := replaceFile(path, b); err != nil {
		return fmt.Errorf("nn: save %s: %w", path, err)
	}
	return nil
}

// replaceFile writes a file that is old or new, whenever it is looked at.
func replaceFile(path string, b []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".save-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(b)
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Chmod(temporary.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		os.Remove(temporary.Name())
	}
	return err
}

// Load reads the parameters of a model from a safetensors file. Names and
// shapes must be those of the model, all of them; otherwise nothing is loaded.
// Layers that have not seen an input yet get their parameters from the file.
func Load(path string, model any) (err error) {
	defer Catch(&err)
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("nn: load: %w", err)
	}
	tensors, err := decodeSafetensors(b)
	if err != nil {
		return fmt.Errorf("nn: load %s: %w", path, err)
	}
	if err := fits(tensors, model); err != nil {
		return fmt.Errorf("nn: load %s: %w", path, err)
	}
	walk(model, func(path []string, v any) {
		if l, ok := v.(lazy); ok && l.empty() {
			l.begin(func(name string) []int { return tensors[join(path, name)].shape })
		}
	})
	tensor.NoGrad(func() {
		for _, p := range namedTensors(model) {
			t := tensors[p.Name]
			p.Assign(tensor.New(t.data, t.shape...))
		}
	})
	return nil
}

// fits compares what a file has with what a model needs.
func fits(tensors map[string]stored, model any) error {
	var wrong []string
	needed := map[string]bool{}
	need := func(name string, shape []int) {
		needed[name] = true
		t, ok := tensors[name]
		switch {
		case !ok:
			wrong = append(wrong, name+" is missing")
		case !slices.Equal(t.shape, shape) && !(shape == nil && len(t.shape) > 0):
			wrong = append(wrong, fmt.Sprintf("%s has shape %v, the model needs %v", name, t.shape, shape))
		}
	}
	for _, p := range namedTensors(model) {
		need(p.Name, p.Shape())
	}
	walk(model, func(path []string, v any) {
		if l, ok := v.(lazy); ok && l.empty() {
			for _, name := range l.names() {
				need(join(path, name), nil)
			}
			if err := l.fits(func(name string) []int { return tensors[join(path, name)].shape }); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: %v", strings.Join(path, "."), err))
			}
		}
	})
	for name := range tensors {
		if !needed[name] {
			wrong = append(wrong, name+" is not in the model")
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	const most = 5
	if n := len(wrong); n > most {
		wrong = append(wrong[:most], fmt.Sprintf("and %d more", n-most))
	}
	return errors.New(strings.Join(wrong, "; "))
}

// lazy is a layer whose parameters may not be there yet.
type lazy interface {
	empty() bool
	names() []string
	// fits tells whether parameters of these shapes can be the layer's; shape
	// gives nil for a name that the file does not have.
	fits(shape func(name string) []int) error
	// begin makes parameters of these shapes.
	begin(shape func(name string) []int)
}

// namedTensors are all tensors of a model, trained or not.
func namedTensors(model any) []Parameter {
	var found []Parameter
	walk(model, func(path []string, v any) {
		if t, ok := v.(*Tensor); ok {
			found = append(found, Parameter{strings.Join(path, "."), t})
		}
	})
	return found
}

func join(path []string, name string) string {
	return strings.Join(append(path[:len(path):len(path)], name), ".")
}

func (l *Linear) empty() bool { return l.Weight == nil }

func (l *Linear) names() []string {
	if l.noBias {
		return []string{"weight"}
	}
	return []string{"weight", "bias"}
}

func (l *Linear) fits(shape func(name string) []int) error {
	weight, bias := shape("weight"), shape("bias")
	if weight != nil && (len(weight) != 2 || weight[0] != l.out) {
		return fmt.Errorf("%v cannot have weights of shape %v", l, weight)
	}
	if bias != nil && !l.noBias && !slices.Equal(bias, []int{l.out}) {
		return fmt.Errorf("%v cannot have a bias of shape %v", l, bias)
	}
	return nil
}

func (l *Linear) begin(shape func(name string) []int) {
	l.Weight = tensor.Zeros(shape("weight")...)
	l.Weight.SetRequiresGrad(!l.frozen)
	if !l.noBias {
		l.Bias = tensor.Zeros(l.out)
		l.Bias.SetRequiresGrad(!l.frozen)
	}
}

func (n *layerNorm) empty() bool     { return n.weight == nil }
func (n *layerNorm) names() []string { return []string{"weight", "bias"} }

func (n *layerNorm) fits(shape func(name string) []int) error {
	weight, bias := shape("weight"), shape("bias")
	if weight != nil && bias != nil && (len(weight) != 1 || !slices.Equal(weight, bias)) {
		return fmt.Errorf("%v cannot have weights of shape %v with a bias of shape %v", n, weight, bias)
	}
	return nil
}

func (n *layerNorm) begin(shape func(name string) []int) {
	n.weight, n.bias = tensor.Ones(shape("weight")...), tensor.Zeros(shape("bias")...)
	n.weight.SetRequiresGrad(!n.frozen)
	n.bias.SetRequiresGrad(!n.frozen)
}
