package nn

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/internal/training/option"
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
	if _, ok := model.(layer.Shared); ok {
		return fmt.Errorf("nn: save %s: the model is divided among ranks, and this one has only parts of its parameters: call its Save on all ranks", path)
	}
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

// Rename makes [Load] replace the matches of a regular expression in the names of a file, as
// [regexp.Regexp.ReplaceAllString] does. Rules apply in the order in which they are given. A tensor
// whose name becomes empty is left out:
//
//	nn.Load(path, model, nn.Rename(`^module\.`, ""), nn.Rename(`^head\..*`, ""))
func Rename(pattern, replacement string) Option {
	r, err := regexp.Compile(pattern)
	rule := func(name string) string { return r.ReplaceAllString(name, replacement) }
	return Option{option.New(func(o *options) { o.rules = append(o.rules, rule) }, "Rename", pattern, replacement).Check(err)}
}

// Partial makes [Load] read the tensors that the file and the model have in common, by name and shape. All
// others of the model keep their values; layers that have not seen an input yet start at random, as
// without a file. That nothing fits is an error. [Report] returns what was loaded.
func Partial() Option { return Option{option.New(func(o *options) { o.partial = true }, "Partial")} }

// Report makes [Load] store what was loaded and what was not. Without [Partial], what was not is an error, and
// the report is stored with it.
func Report(to *LoadReport) Option {
	return Option{option.New(func(o *options) { o.report = to }, "Report", option.Code("&report"))}
}

// LoadReport compares a file of weights with a model. The names are those of the model, after
// [Rename]; each list is sorted.
type LoadReport struct {
	Loaded     []string // loaded from the file
	Missing    []string // in the model, but not in the file
	Unexpected []string // in the file, but not in the model
	// Different lists tensors of other shapes or types, with the difference, such as
	// "head.weight has shape [10 64], the model needs [3 64]".
	Different []string
}

// Complete reports whether the file and the model have the same tensors.
func (r *LoadReport) Complete() bool {
	return len(r.Missing) == 0 && len(r.Unexpected) == 0 && len(r.Different) == 0
}

// String returns the number of loaded tensors and lists those that were not loaded.
func (r *LoadReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "loaded %d tensors", len(r.Loaded))
	for _, part := range []struct {
		title string
		names []string
	}{{"missing in the file", r.Missing}, {"not in the model", r.Unexpected}, {"different", r.Different}} {
		if n := len(part.names); n > 0 {
			fmt.Fprintf(&b, "\n%d %s: %s", n, part.title, first(part.names, ", "))
		}
	}
	return b.String()
}

// first joins the first few names.
func first(names []string, separator string) string {
	const most = 5
	if n := len(names); n > most {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(names, separator)
}

// Load reads the tensors of a model from a safetensors file, from a model.safetensors.index.json that
// lists several such files, or from a folder with one of these, such as a download from Hugging Face.
// The file must have exactly the names and shapes of the model; otherwise nothing is loaded. Options
// rename tensors ([Rename]) and load only a part ([Partial]). Floats are converted to the model's
// types. Layers that have not seen an input yet create their parameters from the file. Files are
// mapped into memory, and tensors are read one by one. If that takes longer than a second, Load
// displays a progress bar. The notes of a file that has exactly the model's tensors are attached to
// them; see [FileNotes]. The error for a file of another format, such as a PyTorch checkpoint, is a
// [*FormatError], and for a damaged one a [*CorruptFileError]. Damage is found by the checksums of files
// that this package has written; files of other programs have none, so that only a damaged header or
// length is found.
func Load(path string, model any, given ...Option) (err error) {
	var l options
	if err := option.Apply("nn.Load", &l, given, "Rename", "Partial", "Report"); err != nil {
		return err
	}
	if _, ok := model.(layer.Shared); ok {
		return fmt.Errorf("nn: load %s: the model is divided among ranks, and this one has only parts of its parameters: call its Load on all ranks", path)
	}
	w, err := openWeights(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	names, shapes, err := l.rename(w)
	if err != nil {
		return fmt.Errorf("nn: load %s: %w", path, err)
	}
	defer w.showProgress(path)()
	var unreadable error // which names the file
	report, err := setState(model, shapes, l.partial, func(name string) (t *Tensor, err error) {
		if t, err = w.in[names[name]].Tensor(names[name]); err != nil {
			unreadable = err
		}
		return t, err
	})
	if l.report != nil {
		*l.report = report
	}
	switch {
	case unreadable != nil:
		return unreadable
	case err != nil:
		return fmt.Errorf("nn: load %s: %w", path, err)
	}
	if len(w.files) == 1 && report.Complete() { // otherwise the notes may not hold for the model
		for _, f := range w.files {
			attachNotes(model, f.header.notes)
		}
	}
	return nil
}

// rename returns the names in the file by those in the model, and the shapes by the latter.
func (o *options) rename(w *weightFiles) (names map[string]string, shapes map[string][]int, err error) {
	names, shapes = map[string]string{}, map[string][]int{}
	for _, from := range slices.Sorted(maps.Keys(w.in)) {
		to := from
		for _, rule := range o.rules {
			to = rule(to)
		}
		if to == "" || isBatchCount(to) {
			continue
		}
		if other, ok := names[to]; ok {
			return nil, nil, fmt.Errorf("the rules of Rename give %s and %s the same name, %s", other, from, to)
		}
		names[to], shapes[to] = from, w.in[from].Shape(from)
	}
	return names, shapes, nil
}

// showProgress displays a progress bar of the tensors that are read, until end is called.
func (w *weightFiles) showProgress(path string) (end func()) {
	var size int64
	for _, f := range w.files {
		size += f.size()
	}
	meter := display.NewMeter("loading "+filepath.Base(path), float64(size)/1e6)
	var read int64
	for _, f := range w.files {
		f.progress = func(n int64) {
			read += n
			meter.Set(float64(read)/1e6, "MB")
		}
	}
	return meter.End
}

// noted is metadata of tensors that is written to files.
type noted interface{ FileNotes() map[string]string }

func init() {
	layer.Provide(layer.Models{NilModules: nilModules, SharedMetadata: sharedMetadata, RetainsNothing: func(module any) bool {
		m, ok := module.(Module)
		return ok && retainsNothing(m)
	}})
}

// sharedMetadata implements [layer.SharedMetadata].
func sharedMetadata(model any) any {
	var found noted
	for i, p := range State(model) {
		n, _ := tensors.Metadata(p.Tensor).(noted)
		if n == nil || i > 0 && n != found {
			return nil
		}
		found = n
	}
	return found
}

// notesOf returns the notes for the file of a model; nil for none.
func notesOf(model any) map[string]string {
	if n, ok := sharedMetadata(model).(noted); ok {
		return n.FileNotes()
	}
	return nil
}

// attachNotes attaches the notes of a file to the tensors of a model.
func attachNotes(model any, notes map[string]string) {
	if len(notes) == 0 {
		return
	}
	n := &layer.FileNotes{Notes: notes}
	for _, p := range State(model) {
		tensors.SetMetadata(p.Tensor, n)
	}
}
