package data

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ReadCSV makes a set of a table in CSV format (RFC 4180) whose first line names
// the columns. The column label holds the class of each line, in any words;
// the classes are in the order of the alphabet, or of their numbers where all
// are whole numbers from 0. All other columns are numbers.
//
// A table that is not like that is a [*FormatError] with line and column.
func ReadCSV(r io.Reader, label string) (*Set, error) {
	t, err := readTable(r, []string{label})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(t.chosen))
	for i, row := range t.chosen {
		names[i] = row[0]
	}
	classes := slices.Clone(names)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	if highest, ok := indices(classes); ok {
		classes = numbered(highest + 1)
	}
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
	set.classes = classes
	return set, nil
}

// ReadCSVTargets is [ReadCSV] for regression: the columns targets are the
// numbers to be predicted.
func ReadCSVTargets(r io.Reader, targets ...string) (*Set, error) {
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
			v, err := strconv.ParseFloat(strings.TrimSpace(field), 32)
			if err != nil {
				return nil, &FormatError{Format: "CSV", Want: "a number in column " + targets[k], Got: fmt.Sprintf("%q in example %d", field, i)}
			}
			wanted[i] = append(wanted[i], float32(v))
		}
	}
	return FromTargets(t.numbers, wanted)
}

// CSV is [ReadCSV] of a file.
func CSV(path, label string) (*Set, error) {
	return fromFile(path, func(r io.Reader) (*Set, error) { return ReadCSV(r, label) })
}

// CSVTargets is [ReadCSVTargets] of a file.
func CSVTargets(path string, targets ...string) (*Set, error) {
	return fromFile(path, func(r io.Reader) (*Set, error) { return ReadCSVTargets(r, targets...) })
}

// fromFile reads a set from a file and names it after that.
func fromFile(path string, read func(io.Reader) (*Set, error)) (*Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	defer f.Close()
	set, err := read(f)
	var format *FormatError
	if errors.As(err, &format) {
		format.Path = path
	}
	if err != nil {
		return nil, err
	}
	return set.Named(path), nil
}

// columns is a table: numbers, and the fields of the chosen columns.
type columns struct {
	numbers [][]float32
	chosen  [][]string
}

func readTable(r io.Reader, chosen []string) (*columns, error) {
	lines := csv.NewReader(r)
	lines.TrimLeadingSpace = true
	header, err := lines.Read()
	if errors.Is(err, io.EOF) {
		return nil, &FormatError{Format: "CSV", Want: "a first line with the names of the columns", Got: "nothing"}
	}
	if err != nil {
		return nil, csvError(err)
	}
	place := make([]int, len(header)) // in chosen, or -1
	for i, name := range header {
		place[i] = slices.Index(chosen, strings.TrimPrefix(name, "\ufeff"))
	}
	for k, name := range chosen {
		if !slices.Contains(place, k) {
			return nil, &FormatError{Format: "CSV", Want: fmt.Sprintf("a column %q", name), Got: strings.Join(header, ", ")}
		}
	}
	t := &columns{}
	for {
		row, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, csvError(err)
		}
		numbers, words := make([]float32, 0, len(row)), make([]string, len(chosen))
		for i, field := range row {
			if place[i] >= 0 {
				words[place[i]] = field
				continue
			}
			v, err := strconv.ParseFloat(strings.TrimSpace(field), 32)
			if err != nil {
				line, _ := lines.FieldPos(i)
				return nil, &FormatError{Format: "CSV", Want: fmt.Sprintf("a number in line %d, column %q", line, header[i]), Got: fmt.Sprintf("%q", field)}
			}
			numbers = append(numbers, float32(v))
		}
		t.numbers, t.chosen = append(t.numbers, numbers), append(t.chosen, words)
	}
}

func csvError(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return &FormatError{Format: "CSV", Want: "lines of equally many fields, as in RFC 4180", Got: parse.Error()}
	}
	return fmt.Errorf("data: reading CSV: %w", err)
}

// indices tells whether all names are whole numbers from 0, written plainly,
// and the highest.
func indices(names []string) (highest int, ok bool) {
	for _, name := range names {
		v, err := strconv.Atoi(name)
		if err != nil || v < 0 || v >= maxClasses || strconv.Itoa(v) != name {
			return 0, false
		}
		highest = max(highest, v)
	}
	return highest, len(names) > 0
}
