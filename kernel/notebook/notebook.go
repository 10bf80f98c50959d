// Package notebook reads and writes Jupyter notebooks in format 4.
//
// Data that the package does not know is preserved: a notebook that is read and written
// again differs only in what was changed.
//
// The format is documented at https://nbformat.readthedocs.io, format_description.
package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/uuid"

	"github.com/quernlab/quern/internal/atomicfile"
	"github.com/quernlab/quern/internal/failpoint"
)

// Notebook is a notebook.
type Notebook struct {
	Cells    []*Cell
	Metadata map[string]any
	rest     map[string]json.RawMessage
}

// Cell is one cell.
type Cell struct {
	Type     string // code, markdown, raw
	Source   string
	Metadata map[string]any
	// Outputs and Count belong to code cells. Count is 0 if the cell has not run.
	Outputs []Output
	Count   int
	rest    map[string]json.RawMessage
}

// Output is an output of a cell in the notebook format, with texts as single strings.
type Output map[string]any

// FormatError reports a file that is not a notebook or has an unsupported format.
type FormatError struct{ Err error }

func (e *FormatError) Error() string { return "not a notebook of format 4: " + e.Err.Error() }

// Unwrap returns the underlying error.
func (e *FormatError) Unwrap() error { return e.Err }

// text is a string, which the format allows to be split into a list of lines.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var whole string
	if json.Unmarshal(b, &whole) == nil {
		*t = text(whole)
		return nil
	}
	var lines []string
	if err := json.Unmarshal(b, &lines); err != nil {
		return errors.New("a text is neither a string nor a list of strings")
	}
	*t = text(strings.Join(lines, ""))
	return nil
}

// Parse reads a notebook. The error is a *FormatError.
func Parse(b []byte) (*Notebook, error) {
	n := &Notebook{}
	b = bytes.TrimPrefix(b, []byte("\ufeff")) // added by editors on Windows
	if err := json.Unmarshal(b, &n.rest); err != nil {
		return nil, &FormatError{err}
	}
	var known struct {
		Format   int               `json:"nbformat"`
		Metadata map[string]any    `json:"metadata"`
		Cells    []json.RawMessage `json:"cells"`
	}
	if err := decode(b, &known); err != nil {
		return nil, &FormatError{err}
	}
	switch {
	case known.Format == 0:
		return nil, &FormatError{errors.New("nbformat is missing")}
	case known.Format < 4:
		return nil, &FormatError{fmt.Errorf("nbformat is %d: convert it with jupyter nbconvert --to notebook", known.Format)}
	case known.Format > 4:
		return nil, &FormatError{fmt.Errorf("nbformat is %d, which is newer than this version of quern supports", known.Format)}
	}
	n.Metadata = known.Metadata
	for i, raw := range known.Cells {
		c, err := parseCell(raw)
		if err != nil {
			return nil, &FormatError{fmt.Errorf("cell %d: %w", i+1, err)}
		}
		n.Cells = append(n.Cells, c)
	}
	return n, nil
}

// decode keeps numbers as they are written.
func decode(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(into)
}

func parseCell(raw json.RawMessage) (*Cell, error) {
	c := &Cell{}
	if err := json.Unmarshal(raw, &c.rest); err != nil {
		return nil, err
	}
	var known struct {
		Type     string         `json:"cell_type"`
		Source   text           `json:"source"`
		Metadata map[string]any `json:"metadata"`
		Outputs  []Output       `json:"outputs"`
		Count    *int           `json:"execution_count"`
	}
	if err := decode(raw, &known); err != nil {
		return nil, err
	}
	c.Type, c.Source, c.Metadata, c.Outputs = known.Type, string(known.Source), known.Metadata, known.Outputs
	if known.Count != nil {
		c.Count = *known.Count
	}
	return c, nil
}

// NewCode returns a code cell with a tag.
func NewCode(source, tag string) *Cell {
	id, _ := json.Marshal(uuid.NewString()[:8]) // cannot fail for a string
	return &Cell{Type: "code", Source: source, Metadata: map[string]any{"tags": []any{tag}}, rest: map[string]json.RawMessage{"id": id}}
}

// ID returns the id of a cell, which notebooks have since format 4.5; empty if it has none.
func (c *Cell) ID() (id string) {
	_ = json.Unmarshal(c.rest["id"], &id) // it is empty if it is missing or no string
	return id
}

// HasTag reports whether a cell has a tag.
func (c *Cell) HasTag(tag string) bool {
	tags, _ := c.Metadata["tags"].([]any)
	for _, t := range tags {
		if t == tag {
			return true
		}
	}
	return false
}

// Numbers returns the number of each cell: that which front ends show in brackets after all cells have run in order, as
// in [3]. Only code counts, and only if it is not empty; other cells have 0.
func (n *Notebook) Numbers() []int {
	numbers, last := make([]int, len(n.Cells)), 0
	for i, c := range n.Cells {
		if c.Type == "code" && strings.TrimSpace(c.Source) != "" {
			last++
			numbers[i] = last
		}
	}
	return numbers
}

// Language returns the language of the notebook, or "" if it is not set.
func (n *Notebook) Language() string {
	for _, place := range [][2]string{{"kernelspec", "language"}, {"language_info", "name"}} {
		m, _ := n.Metadata[place[0]].(map[string]any)
		if language, ok := m[place[1]].(string); ok && language != "" {
			return language
		}
	}
	return ""
}

// Read reads a file. The error names the path; it wraps a *FormatError if the file is not
// a notebook.
func Read(path string) (*Notebook, error) {
	n, _, err := ReadText(path)
	return n, err
}

// ReadText reads a file, as Read does, and also returns its text for Edit.
func ReadText(path string) (*Notebook, []byte, error) {
	info, err := os.Stat(path) // to open a pipe would wait for a writer, and to read a device may never end
	switch {
	case err != nil: // Open reports it
	case info.IsDir():
		return nil, nil, fmt.Errorf("%s is a folder, not a notebook", path)
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s is a device or pipe: write the notebook into a file first", path)
	case info.Size() > maxFile:
		return nil, nil, fmt.Errorf("%s: larger than %d bytes", path, maxFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1)) // it may grow meanwhile
	if err != nil {
		return nil, nil, err
	}
	if len(b) > maxFile {
		return nil, nil, fmt.Errorf("%s: larger than %d bytes", path, maxFile)
	}
	n, err := Parse(b)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return n, b, nil
}

// maxFile is larger than any notebook that front ends can open, in bytes.
const maxFile = 1 << 30

// Write writes a file atomically. Symbolic links are followed. Pipes and devices such as
// /dev/stdout are written directly.
func (n *Notebook) Write(path string) error {
	var b []byte
	err := failpoint.Do(failpoint.NotebookEncode, func() (err error) {
		b, err = n.Encode()
		return err
	})
	if err != nil {
		return fmt.Errorf("notebook: %w", err)
	}
	return WriteText(path, b)
}

// WriteText writes the text of a notebook to a file, as Write does.
func WriteText(path string, b []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return os.WriteFile(path, b, 0)
	}
	err := atomicfile.Replace(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return fmt.Errorf("notebook: %w", err)
	}
	return nil
}
