package data

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ReadCSV reads a table in CSV format (RFC 4180) whose first line has the column names. The
// column label has the class of each line as a word. The classes are those that occur, sorted
// alphabetically, or by value if all are numbers: 1, 2 and 10 are three classes. All other columns
// must be numbers.
//
// Any other content is a [*FormatError] with line and column, and so is a missing value: an
// empty field, NA, NaN or ?. NaN would spread during training; fill in or remove such lines
// first.
func ReadCSV(r io.Reader, label string) (*Dataset, error) {
	t, err := readTable(r, []string{label})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(t.chosen))
	for i, row := range t.chosen {
		if names[i] = row[0]; missing(row[0]) {
			return nil, missingField(t.lines[i], label, row[0])
		}
	}
	classes := slices.Clone(names)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	sortNumbers(classes)
	index := map[string]int{}
	for i, c := range classes {
		index[c] = i
	}
	labels := make([]int, len(names))
	for i, name := range names {
		labels[i] = index[name]
	}
	set, err := FromSlices(t.numbers, labels)
	if err != nil {
		return nil, err
	}
	set.classes, set.columns = classes, t.names
	return set, nil
}

// ReadCSVTargets is [ReadCSV] for regression: the columns named by targets are the values to
// predict.
func ReadCSVTargets(r io.Reader, targets ...string) (*Dataset, error) {
	if len(targets) == 0 {
		return nil, errors.New("data: ReadCSVTargets: name at least one column of targets")
	}
	t, err := readTable(r, targets)
	if err != nil {
		return nil, err
	}
	wanted := make([][]float32, len(t.chosen))
	for i, row := range t.chosen {
		for k, field := range row {
			v, err := parseField(t.lines[i], targets[k], field)
			if err != nil {
				return nil, err
			}
			wanted[i] = append(wanted[i], v)
		}
	}
	set, err := FromTargets(t.numbers, wanted)
	if err != nil {
		return nil, err
	}
	set.columns, set.targetNames = t.names, slices.Clone(targets)
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
	var format *FormatError
	if errors.As(err, &format) {
		format.Path = path
	}
	if err != nil {
		return nil, err
	}
	return set.Named(path), nil
}

// columns is a table: numbers, and the fields of the selected columns.
type columns struct {
	names   []string // column names of the numbers
	numbers [][]float32
	chosen  [][]string
	lines   []int // line numbers in the file
}

// missing reports whether a field means that a value is missing.
func missing(field string) bool {
	switch strings.ToLower(strings.TrimSpace(field)) {
	case "", "na", "n/a", "nan", "null", "none", "nil", "?", "-":
		return true
	}
	return false
}

func missingField(line int, column, field string) error {
	return &FormatError{Format: "CSV", Want: fmt.Sprintf("a value in line %d, column %q; fill it in, or leave out the line", line, column), Got: fmt.Sprintf("none (%q)", field)}
}

// parseField parses a finite number.
func parseField(line int, column, field string) (float32, error) {
	if missing(field) {
		return 0, missingField(line, column, field)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(field), 32)
	if err != nil || math.IsInf(v, 0) {
		return 0, &FormatError{Format: "CSV", Want: fmt.Sprintf("a number in line %d, column %q", line, column), Got: fmt.Sprintf("%q", field)}
	}
	return float32(v), nil
}

func readTable(r io.Reader, chosen []string) (*columns, error) {
	r, meter := withProgress(r, "reading CSV data", 0)
	defer meter.End()
	lines := csv.NewReader(r)
	lines.TrimLeadingSpace = true
	header, err := lines.Read()
	if errors.Is(err, io.EOF) {
		return nil, &FormatError{Format: "CSV", Want: "a first line with the names of the columns", Got: "nothing"}
	}
	if err != nil {
		return nil, csvError(err)
	}
	position := make([]int, len(header)) // index in the selected columns, or -1
	for i, name := range header {
		position[i] = slices.Index(chosen, strings.TrimPrefix(name, "\ufeff"))
	}
	for k, name := range chosen {
		if !slices.Contains(position, k) {
			return nil, &FormatError{Format: "CSV", Want: fmt.Sprintf("a column %q", name), Got: described(header)}
		}
	}
	t := &columns{}
	for i, name := range header {
		if position[i] < 0 {
			t.names = append(t.names, strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))
		}
	}
	for {
		row, err := lines.Read()
		if errors.Is(err, io.EOF) && len(t.lines) == 0 {
			return nil, &FormatError{Format: "CSV", Want: "lines with examples below the names of the columns", Got: "none"}
		}
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, csvError(err)
		}
		numbers, words := make([]float32, 0, len(row)), make([]string, len(chosen))
		for i, field := range row {
			if position[i] >= 0 {
				words[position[i]] = field
				continue
			}
			at, _ := lines.FieldPos(i)
			v, err := parseField(at, header[i], field)
			if err != nil {
				return nil, err
			}
			numbers = append(numbers, v)
		}
		at, _ := lines.FieldPos(0)
		t.numbers, t.chosen, t.lines = append(t.numbers, numbers), append(t.chosen, words), append(t.lines, at)
	}
}

// described returns the names of columns, or what the file is if it is not a text in UTF-8.
func described(header []string) string {
	text := strings.Join(header, ", ")
	switch {
	case strings.HasPrefix(text, "\x1f\x8b"):
		return "data compressed with gzip: uncompress the file, or read it with package frame"
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"):
		return "text in UTF-16: save it as UTF-8"
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return fmt.Sprintf("%.60q, which is not text in UTF-8", text)
	}
	return text
}

func csvError(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return &FormatError{Format: "CSV", Want: "lines of equally many fields, as in RFC 4180", Got: parse.Error()}
	}
	return fmt.Errorf("data: reading CSV: %w", err)
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
