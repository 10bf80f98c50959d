package data

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/frame"
)

// ReadCSV reads a table in CSV format (RFC 4180) whose first line has the column names. The
// column label has the class of each line as a word. The classes are those that occur, sorted
// alphabetically, or by value if all are numbers: 1, 2 and 10 are three classes. All other columns
// must be numbers.
//
// The file is read as by [frame.ReadCSV], which also has the words for a missing value, such as NA,
// unless they are quoted; ? and - are others. Any other content is a [*FormatError] with line and
// column, and so is a missing value. NaN would spread during training; fill in or remove such lines
// first, or read the file with package frame and prepare it with package preprocess.
func ReadCSV(r io.Reader, label string) (*Dataset, error) {
	t, err := readTable(r, frame.Required(frame.Text, label), label)
	if err != nil {
		return nil, err
	}
	column := t.Column(label)
	classes := column.Distinct()
	for i, name := range classes {
		classes[i] = strings.Clone(name) // not with the whole file
	}
	slices.Sort(classes)
	sortNumbers(classes)
	index := indices(classes)
	labels := make([]int, t.Len())
	for i := range labels {
		labels[i] = index[column.Format(i)]
	}
	set := features(t.Drop(label))
	set.classes, set.source.(*floats).labels = classes, labels
	return set, nil
}

// ReadCSVTargets is [ReadCSV] for regression: the columns named by targets are the values to
// predict.
func ReadCSVTargets(r io.Reader, targets ...string) (*Dataset, error) {
	if len(targets) == 0 {
		return nil, errors.New("data: ReadCSVTargets: name at least one column of targets")
	}
	t, err := readTable(r, frame.Required(frame.Float, targets...), targets...)
	if err != nil {
		return nil, err
	}
	set := features(t.Drop(targets...))
	values := set.source.(*floats)
	values.outputs, values.wanted = len(targets), matrix(t.Select(targets...))
	set.targetNames = slices.Clone(targets)
	return set, nil
}

// CSV is [ReadCSV] for a file.
func CSV(path, label string) (*Dataset, error) {
	return fromFile(path, func(r io.Reader) (*Dataset, error) { return ReadCSV(r, label) })
}

// CSVTargets is [ReadCSVTargets] for a file.
func CSVTargets(path string, targets ...string) (*Dataset, error) {
	return fromFile(path, func(r io.Reader) (*Dataset, error) { return ReadCSVTargets(r, targets...) })
}

// fromFile reads a data set from a file and names it after the file.
func fromFile(path string, read func(io.Reader) (*Dataset, error)) (*Dataset, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	defer f.Close()
	size := int64(0) // unknown
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	r, meter := withProgress(f, "reading "+filepath.Base(path), size)
	defer meter.End()
	set, err := read(r)
	if err != nil {
		return nil, inFile(err, path)
	}
	return set.Named(path), nil
}

// missingWords are read as missing values beside those of package frame.
var missingWords = []string{"?", "-", "na", "NAN", "Nan", "Null", "none", "NONE", "nil", "Nil", "NIL", "N/a"}

// readTable reads a table whose columns are numbers, except for those of the option, which have these names.
func readTable(r io.Reader, chosen frame.Option, names ...string) (*frame.Frame, error) {
	r, meter := withProgress(r, "reading CSV data", 0)
	defer meter.End()
	t, err := frame.ReadCSV(r, chosen, frame.Required(frame.Float), frame.Missing(missingWords...))
	var invalid *frame.FileError
	var column *frame.ColumnError
	switch {
	case errors.As(err, &invalid):
		return nil, &FormatError{Format: "CSV", Line: invalid.Line, Column: invalid.Column, Want: invalid.Want, Got: invalid.Got}
	case errors.As(err, &column):
		return nil, &FormatError{Format: "CSV", Want: fmt.Sprintf("a column %q", column.Name), Got: fmt.Sprintf("%.200q", strings.Join(column.Columns, ", "))}
	case err != nil:
		return nil, fmt.Errorf("data: %w", err)
	case t.Len() == 0:
		return nil, &FormatError{Format: "CSV", Want: "lines with examples below the names of the columns", Got: "none"}
	case len(names) == len(t.Columns()):
		return nil, &FormatError{Format: "CSV", Want: "a column of features", Got: fmt.Sprintf("only %q", names)}
	}
	return t, nil
}

// features returns a data set of the columns without classes or targets.
func features(t *frame.Frame) *Dataset {
	names := t.Columns()
	return &Dataset{name: "examples", shape: []int{len(names)}, columns: names, source: &floats{width: len(names), data: matrix(t)}}
}

// matrix returns the numbers of a table, row by row.
func matrix(t *frame.Frame) []float32 {
	names := t.Columns()
	values := make([]float32, t.Len()*len(names))
	for c, name := range names {
		for i, v := range t.Column(name).Floats() {
			values[i*len(names)+c] = float32(v)
		}
	}
	return values
}

// sortNumbers sorts names by value if all are numbers.
func sortNumbers(names []string) {
	values := make(map[string]float64, len(names))
	for _, name := range names {
		v, err := strconv.ParseFloat(name, 64)
		if err != nil {
			return
		}
		values[name] = v
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(values[a], values[b]) })
}
