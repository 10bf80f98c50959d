package preprocess

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/sealed"
	"github.com/quernlab/quern/internal/atomicfile"
)

// version is that of the file format.
const version = 2

// file is what Save writes.
type file struct {
	Version int `json:"quern.preprocess"`
	Target  *target
	Columns []fileColumn
}

// fileColumn has one of these.
type fileColumn struct {
	Number   *number   `json:",omitempty"`
	Category *category `json:",omitempty"`
	Date     *date     `json:",omitempty"`
}

// Save writes the transform to a file, in JSON with a checksum. An existing file is replaced completely or not at all.
func (t *Transform) Save(path string) error {
	saved := file{Version: version, Target: t.target}
	for _, e := range t.encoders {
		var c fileColumn
		switch e := e.(type) {
		case *number:
			c.Number = e
		case *category:
			c.Category = e
		case *date:
			c.Date = e
		}
		saved.Columns = append(saved.Columns, c)
	}
	text, err := json.MarshalIndent(saved, "", "\t")
	if err == nil {
		text = new(sealed.Sum).Seal(text)
		err = atomicfile.Replace(path, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("preprocess: %w", err)
	}
	return nil
}

// Load reads a file that [Transform.Save] wrote. It fails if the file was damaged, which its checksum shows.
func Load(path string) (*Transform, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("preprocess: %w", err)
	}
	var saved file
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, fmt.Errorf("preprocess: %s is not a file of Transform.Save, or it was damaged: %w", path, err)
	}
	if saved.Version != version {
		return nil, fmt.Errorf("preprocess: %s: want format version %d of Transform.Save, got %d", path, version, saved.Version)
	}
	if _, err := new(sealed.Sum).Open(text); err != nil {
		return nil, fmt.Errorf("preprocess: %s: %w", path, err)
	}
	t, err := saved.transform()
	if err != nil {
		return nil, fmt.Errorf("preprocess: %s: %w", path, err)
	}
	return t, nil
}

func (f *file) transform() (*Transform, error) {
	if f.Target == nil || len(f.Target.Columns) == 0 || len(f.Columns) == 0 {
		return nil, errors.New("the target or the columns are missing: is the file complete?")
	}
	t := &Transform{target: f.Target}
	for i, c := range f.Columns {
		switch {
		case c.Number != nil && c.Number.Scale > 0:
			t.encoders = append(t.encoders, c.Number)
		case c.Category != nil && c.Category.count() > 0 && slices.Contains([]string{"text", "int", "float", "bool", "time"}, c.Category.Type):
			t.encoders = append(t.encoders, c.Category)
		case c.Date != nil:
			t.encoders = append(t.encoders, c.Date)
		default:
			return nil, fmt.Errorf("column %d is not complete", i)
		}
	}
	return t, nil
}
