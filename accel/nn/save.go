package nn

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/atomicfile"
)

// Save writes all tensors of [State] to a safetensors file: the parameters and, for instance,
// running means. Names and layouts are those of PyTorch's layers, so that other frameworks can
// read the file. The metadata of the file has what accel.Fit recorded of the training: the names of
// classes, columns and targets, and checksums, by which [Load] finds a damaged file. The file is replaced
// atomically.
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

// LoadTensors reads all tensors and the metadata of a safetensors file. Each tensor has the
// element type of the file. To read tensors one by one, use [Open]. If that takes longer than a
// second, LoadTensors displays a progress bar.
func LoadTensors(path string) (tensors map[string]*Tensor, notes map[string]string, err error) {
	f, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	w := &weightFiles{files: map[string]*File{path: f}}
	defer func() { err = errors.Join(err, w.close()) }()
	defer w.showProgress(path)()
	tensors = map[string]*Tensor{}
	for _, name := range f.Names() {
		if isBatchCount(name) && f.header.sums == nil {
			continue
		}
		t, err := f.Tensor(name)
		if err != nil {
			return nil, nil, err
		}
		if !isBatchCount(name) {
			tensors[name] = t
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
func SetState(model any, values map[string]*Tensor) error {
	shapes := make(map[string][]int, len(values))
	for name, t := range values {
		shapes[name] = t.Shape()
	}
	_, err := setState(model, shapes, false, func(name string) (*Tensor, error) { return values[name].Clone(), nil })
	return err
}

// setState is SetState for tensors of these shapes, which get returns one by one, or for those that
// fit. The model changes only when all of them have been read.
func setState(model any, shapes map[string][]int, partial bool, get func(name string) (*Tensor, error)) (r LoadReport, err error) {
	defer Catch(&err)
	created := map[lazy]bool{}
	r = compareState(model, shapes, created)
	if !partial {
		if err := r.err(); err != nil {
			return r, err
		}
	} else if len(r.Loaded) == 0 {
		return r, fmt.Errorf("no tensor fits the model, which needs %s; there are %s", first(append(slices.Clone(r.Missing), r.Different...), ", "), first(slices.Sorted(maps.Keys(shapes)), ", "))
	}
	needed := map[string]tensor.DType{} // float32 for layers without parameters yet
	for _, p := range State(model) {
		needed[p.Name] = p.DType()
	}
	values := make(map[string]*Tensor, len(shapes))
	for _, name := range r.Loaded {
		t, err := get(name)
		if err != nil {
			return r, err
		}
		if d, to := t.DType(), needed[name]; d != to && !(d.IsFloat() && to.IsFloat()) {
			return r, fmt.Errorf("%s is of type %v, the model needs %v", name, d, to)
		}
		values[name] = t
	}
	walk(model, func(path []string, v any) {
		if l, ok := v.(lazy); ok && created[l] {
			allocate(l, func(name string) []int { return shapes[join(path, name)] })
		}
	})
	tensor.NoGrad(func() {
		for _, p := range State(model) {
			t, ok := values[p.Name]
			if !ok {
				continue
			}
			if t.DType() != p.DType() {
				t = t.Cast(p.DType())
			}
			p.Assign(t)
			tensors.SetMetadata(p.Tensor, nil) // it is unknown what the new values were trained with
		}
		tensor.Flush()
	})
	return r, nil
}

// compareState compares a model with tensors of these shapes. It adds the layers without parameters
// that can create theirs from these tensors to created.
func compareState(model any, shapes map[string][]int, created map[lazy]bool) (r LoadReport) {
	needed := map[string]bool{}
	for _, p := range State(model) {
		needed[p.Name] = true
		switch got, ok := shapes[p.Name]; {
		case !ok:
			r.Missing = append(r.Missing, p.Name)
		case !slices.Equal(got, p.Shape()):
			r.Different = append(r.Different, fmt.Sprintf("%s has shape %v, the model needs %v", p.Name, got, p.Shape()))
		default:
			r.Loaded = append(r.Loaded, p.Name)
		}
	}
	walk(model, func(path []string, v any) {
		l, ok := v.(lazy)
		if !ok || !hasNoParameters(l) {
			return
		}
		var all, missing []string
		for _, s := range l.slots() {
			name := join(path, s.name)
			needed[name] = true
			all = append(all, name)
			if _, ok := shapes[name]; !ok {
				missing = append(missing, name)
			}
		}
		err := checkShapes(l, func(name string) []int { return shapes[join(path, name)] })
		switch {
		case err != nil:
			r.Different = append(r.Different, fmt.Sprintf("%s: %v", strings.Join(path, "."), err))
		case missing != nil:
			r.Missing = append(r.Missing, missing...)
		default:
			r.Loaded = append(r.Loaded, all...)
			created[l] = true
		}
	})
	for name := range shapes {
		if !needed[name] {
			r.Unexpected = append(r.Unexpected, name)
		}
	}
	for _, names := range [][]string{r.Loaded, r.Missing, r.Unexpected, r.Different} {
		slices.Sort(names)
	}
	return r
}

// err returns an error that lists what does not fit, nil if all does.
func (r *LoadReport) err() error {
	if r.Complete() {
		return nil
	}
	wrong := slices.Clone(r.Different)
	for _, name := range r.Missing {
		wrong = append(wrong, name+" is missing")
	}
	for _, name := range r.Unexpected {
		wrong = append(wrong, name+" is not in the model")
	}
	slices.Sort(wrong)
	return errors.New(first(wrong, "; "))
}

func join(path []string, name string) string {
	return strings.Join(append(path[:len(path):len(path)], name), ".")
}
