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
// the names of [NamedParameters], with all else that [State] finds. Other
// frameworks read it: the layers here have PyTorch's names and layouts. The
// file is replaced as a whole or not at all.
func Save(path string, model any) error {
	tensors := map[string]*Tensor{}
	for _, p := range State(model) {
		tensors[p.Name] = p.Tensor
	}
	if len(tensors) == 0 {
		return fmt.Errorf("nn: save %s: the model has no parameters; layers get theirs from the first input", path)
	}
	return SaveTensors(path, tensors, nil)
}

// SaveTensors writes tensors of floats to a file in safetensors format, as
// float32, with notes as its metadata. The file is replaced as a whole or not
// at all.
func SaveTensors(path string, tensors map[string]*Tensor, notes map[string]string) (err error) {
	defer Catch(&err)
	numbers := make(map[string]stored, len(tensors))
	for name, t := range tensors {
		numbers[name] = stored{t.Shape(), t.Data()}
	}
	b, err := encodeSafetensors(numbers, notes)
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
	err = errors.Join(err, temporary.Sync(), temporary.Close())
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
func Load(path string, model any) error {
	tensors, _, err := LoadTensors(path)
	if err != nil {
		return err
	}
	if err := SetState(model, tensors); err != nil {
		return fmt.Errorf("nn: load %s: %w", path, err)
	}
	return nil
}

// LoadTensors reads all tensors of a safetensors file, floats of any size, which
// become float32, and the file's metadata.
func LoadTensors(path string) (tensors map[string]*Tensor, notes map[string]string, err error) {
	defer Catch(&err)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("nn: load: %w", err)
	}
	numbers, notes, err := decodeSafetensors(b)
	if err != nil {
		return nil, nil, fmt.Errorf("nn: load %s: %w", path, err)
	}
	tensors = make(map[string]*Tensor, len(numbers))
	for name, t := range numbers {
		tensors[name] = tensor.New(t.data, t.shape...)
	}
	return tensors, notes, nil
}

// State is all tensors of a model under their names: the parameters, frozen
// ones too, and what layers measure, such as the running means of BatchNorm.
func State(model any) []Parameter {
	var found []Parameter
	walk(model, func(path []string, v any) {
		if t, ok := v.(*Tensor); ok {
			found = append(found, Parameter{strings.Join(path, "."), t})
		}
	})
	return found
}

// SetState gives a model's tensors the values of others of the same names and
// shapes. If a name is missing, superfluous or has another shape, nothing
// changes. Layers that have not seen an input yet get their parameters by this.
func SetState(model any, tensors map[string]*Tensor) (err error) {
	defer Catch(&err)
	shapes := make(map[string][]int, len(tensors))
	for name, t := range tensors {
		shapes[name] = t.Shape()
	}
	if err := fits(shapes, model); err != nil {
		return err
	}
	walk(model, func(path []string, v any) {
		if l, ok := v.(lazy); ok && empty(l) {
			begin(l, func(name string) []int { return shapes[join(path, name)] })
		}
	})
	tensor.NoGrad(func() {
		for _, p := range State(model) {
			p.Assign(tensors[p.Name].Clone())
		}
		tensor.Flush()
	})
	return nil
}

// fits compares what a file has with what a model needs.
func fits(shapes map[string][]int, model any) error {
	var wrong []string
	needed := map[string]bool{}
	need := func(name string, shape []int) {
		needed[name] = true
		got, ok := shapes[name]
		switch {
		case !ok:
			wrong = append(wrong, name+" is missing")
		case !slices.Equal(got, shape) && !(shape == nil && len(got) > 0):
			wrong = append(wrong, fmt.Sprintf("%s has shape %v, the model needs %v", name, got, shape))
		}
	}
	for _, p := range State(model) {
		need(p.Name, p.Shape())
	}
	walk(model, func(path []string, v any) {
		if l, ok := v.(lazy); ok && empty(l) {
			for _, s := range l.slots() {
				need(join(path, s.name), nil)
			}
			if err := suits(l, func(name string) []int { return shapes[join(path, name)] }); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: %v", strings.Join(path, "."), err))
			}
		}
	})
	for name := range shapes {
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

func join(path []string, name string) string {
	return strings.Join(append(path[:len(path):len(path)], name), ".")
}
