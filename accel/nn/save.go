package nn

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/atomicfile"
)

// Save writes all tensors of [State] to a safetensors file: the parameters and, for instance,
// running means. Names and layouts are those of PyTorch's layers, so that other frameworks can
// read the file. The metadata of the file has what accel.Fit recorded of the training: the names of
// classes, columns and targets. The file is replaced atomically.
func Save(path string, model any) error {
	tensors := map[string]*Tensor{}
	for _, p := range State(model) {
		tensors[p.Name] = p.Tensor
	}
	if len(tensors) == 0 {
		return fmt.Errorf("nn: save %s: the model has no parameters: run an input through it first, since layers create their parameters then", path)
	}
	return SaveTensors(path, tensors, notesOf(model))
}

// SaveTensors writes tensors to a safetensors file, each in its own element type, with
// notes as metadata. The file is replaced atomically. If that takes longer than a second, it displays a progress bar.
func SaveTensors(path string, tensors map[string]*Tensor, notes map[string]string) error {
	err := withProgress(path, tensors, func(meter *display.Meter) error {
		return atomicfile.Replace(path, func(w io.Writer) error { return WriteTensors(meter.Writer(w), tensors, notes) })
	})
	if err != nil {
		return fmt.Errorf("nn: save %s: %w", path, err)
	}
	return nil
}

// withProgress calls save with a meter for the megabytes of tensors.
func withProgress(path string, tensors map[string]*Tensor, save func(*display.Meter) error) error {
	size := 0.0
	for _, t := range tensors {
		size += float64(t.Numel()) * float64(t.DType().Size()) / 1e6
	}
	meter := display.NewMeter("saving "+filepath.Base(path), size)
	defer meter.End()
	return save(meter)
}

// Load reads the tensors of a model from a safetensors file. The file must have exactly the
// names and shapes of the model; otherwise nothing is loaded. Floats are converted to the
// model's types. Layers that have not seen an input yet create their parameters from the file.
// The file is mapped into memory, and tensors are read one by one. If that takes longer than a
// second, Load displays a progress bar. The error for a file of another format, such as a
// PyTorch checkpoint, is a [*FormatError].
func Load(path string, model any) (err error) {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	shapes := map[string][]int{}
	for name, e := range f.header.tensors {
		if !isBatchCount(name) {
			shapes[name] = e.Shape
		}
	}
	defer f.showProgress()()
	if err := setState(model, shapes, f.Tensor); err != nil {
		return fmt.Errorf("nn: load %s: %w", path, err)
	}
	attachNotes(model, f.header.notes)
	return nil
}

// LoadTensors reads all tensors and the metadata of a safetensors file. Each tensor has the
// element type of the file. To read tensors one by one, use [Open]. If that takes longer than a
// second, LoadTensors displays a progress bar.
func LoadTensors(path string) (tensors map[string]*Tensor, notes map[string]string, err error) {
	f, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	defer f.showProgress()()
	tensors = map[string]*Tensor{}
	for _, name := range f.Names() {
		if isBatchCount(name) {
			continue
		}
		if tensors[name], err = f.Tensor(name); err != nil {
			return nil, nil, err
		}
	}
	return tensors, f.Metadata(), nil
}

// State returns all tensors of a model with their names: parameters, including frozen ones, and
// buffers such as the running means of BatchNorm, like PyTorch's state_dict.
func State(model any) []Parameter {
	var found []Parameter
	walk(model, func(path []string, v any) {
		if t, ok := v.(*Tensor); ok {
			found = append(found, Parameter{strings.Join(path, "."), t})
		}
	})
	return found
}

// SetState sets the tensors of a model to the values of tensors with the same names and shapes,
// like PyTorch's load_state_dict; floats are converted. If a name is missing or unknown, or a
// shape differs, it changes nothing and returns an error. Layers that have not seen an input
// yet create their parameters from these tensors.
func SetState(model any, tensors map[string]*Tensor) error {
	shapes := make(map[string][]int, len(tensors))
	for name, t := range tensors {
		shapes[name] = t.Shape()
	}
	return setState(model, shapes, func(name string) (*Tensor, error) { return tensors[name].Clone(), nil })
}

// setState is SetState for tensors of these shapes, which get returns one by one. The model
// changes only when all of them have been read.
func setState(model any, shapes map[string][]int, get func(name string) (*Tensor, error)) (err error) {
	defer Catch(&err)
	if err := fits(shapes, model); err != nil {
		return err
	}
	tensors := make(map[string]*Tensor, len(shapes))
	for name := range shapes {
		t, err := get(name)
		if err != nil {
			return err
		}
		tensors[name] = t
	}
	needed := map[string]tensor.DType{} // float32 for layers without parameters yet
	for _, p := range State(model) {
		needed[p.Name] = p.DType()
	}
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		d, to := tensors[name].DType(), needed[name]
		if d != to && !(d.IsFloat() && to.IsFloat()) {
			return fmt.Errorf("%s is of type %v, the model needs %v", name, d, to)
		}
	}
	walk(model, func(path []string, v any) {
		if l, ok := v.(lazy); ok && hasNoParameters(l) {
			allocate(l, func(name string) []int { return shapes[join(path, name)] })
		}
	})
	tensor.NoGrad(func() {
		for _, p := range State(model) {
			t := tensors[p.Name]
			if t.DType() != p.DType() {
				t = t.Cast(p.DType())
			}
			p.Assign(t)
			p.SetMetadata(nil) // it is unknown what the new values were trained with
		}
		tensor.Flush()
	})
	return nil
}

// fits returns an error that lists the differences between a file and a model.
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
		if l, ok := v.(lazy); ok && hasNoParameters(l) {
			for _, s := range l.slots() {
				need(join(path, s.name), nil)
			}
			if err := checkShapes(l, func(name string) []int { return shapes[join(path, name)] }); err != nil {
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
