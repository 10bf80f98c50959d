package nn

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/display"
)

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
	report, err := setState(model, shapes, l.partial, func(name string) (*Tensor, error) { return w.tensor(names[name]) })
	if l.report != nil {
		*l.report = report
	}
	if err != nil {
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
	for _, from := range w.names() {
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
		names[to], shapes[to] = from, w.shape(from)
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
