package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/internal/training/sealed"
	"github.com/quernlab/quern/internal/failpoint"
)

// Resume stores the trials in a file, one line of JSON each, written before the next trial
// begins, and continues after those that the file contains. A search that was interrupted or whose
// process was killed makes the same trials in the end as an uninterrupted one.
//
// Run fails if the file has another seed or method, or if it was damaged: each line has a checksum.
func Resume(path string) Option {
	return Option{option.New(func(o *options) { o.file = path }, "Resume", path).Require(path != "", "the path is empty")}
}

// file is the file with the trials.
type file struct {
	path string
	sum  sealed.Sum // of the lines so far
}

// header is the first line of the file.
type header struct {
	Version  int    `json:"version"`
	Method   string `json:"method"`
	Seed     uint64 `json:"seed"`
	Maximize bool   `json:"maximize,omitempty"`
}

// record is the line of a trial.
type record struct {
	Number   int             `json:"number"`
	State    State           `json:"state"`
	Value    *float64        `json:"value,omitempty"` // missing if the trial diverged
	Settings []storedSetting `json:"settings"`
	Reports  []*float64      `json:"reports,omitempty"` // null if not finite
	Seconds  float64         `json:"seconds"`
	Wheels   []gridPosition  `json:"grid,omitempty"`
}

// storedSetting distinguishes integers from other numbers, which JSON does not. It has the range, from which searches
// select the next settings before the trial requests them.
type storedSetting struct {
	Name  string   `json:"name"`
	Int   *int     `json:"int,omitempty"`
	Float *float64 `json:"float,omitempty"`
	Word  *string  `json:"word,omitempty"`
	Log   bool     `json:"log,omitempty"`
	Low   float64  `json:"low"`
	High  float64  `json:"high"`
	Words []string `json:"words,omitempty"`
}

// dimension returns the range.
func (k *storedSetting) dimension() dimension {
	d := dimension{kind: number, low: k.Low, high: k.High, words: k.Words}
	switch {
	case k.Int != nil:
		d.kind = whole
	case k.Word != nil:
		d.kind = choice
	case k.Log:
		d.kind = logNumber
	}
	return d
}

// value returns the value, or nil if there is none.
func (k *storedSetting) value() any {
	switch {
	case k.Int != nil:
		return *k.Int
	case k.Float != nil:
		return *k.Float
	case k.Word != nil:
		return *k.Word
	}
	return nil
}

// fileVersion is the version of the file.
const fileVersion = 2

// resume reads the trials from a file, or creates it.
func (s *Search) resume(path string) error {
	if path == "" {
		return nil
	}
	s.file = &file{path: path}
	own := header{Version: fileVersion, Method: s.Method, Seed: s.seed, Maximize: s.Maximized}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(b) == 0 {
		return s.file.append(own)
	}
	if err != nil {
		return fmt.Errorf("tune: Resume: %w", err)
	}
	head, _, whole := bytes.Cut(b, []byte("\n"))
	if first, err := json.Marshal(own); err == nil && !whole && bytes.HasPrefix(new(sealed.Sum).Seal(first), b) { // killed while it wrote the first line
		if err := os.Truncate(path, 0); err != nil {
			return fmt.Errorf("tune: Resume: %w", err)
		}
		return s.file.append(own)
	}
	var found header
	if err := json.Unmarshal(head, &found); err != nil || !whole || found.Version != fileVersion {
		return fmt.Errorf("tune: Resume: %s is not a search file of this version, or it was damaged; use another path", path)
	}
	lines, size, err := s.file.sum.Lines(b)
	if err != nil {
		return fmt.Errorf("tune: Resume: %s: %w", path, err)
	}
	if found != own {
		return fmt.Errorf("tune: Resume: %s has a search by %s with seed %d, but this search uses %s with seed %d; use another path or the same options",
			path, found.Method, found.Seed, own.Method, own.Seed)
	}
	for i, line := range lines[1:] {
		t, err := decode(line)
		if err == nil && t.Number != i+1 {
			err = fmt.Errorf("its number is %d", t.Number)
		}
		if err != nil {
			return fmt.Errorf("tune: Resume: %s:%d is not trial %d: %w", path, i+2, i+1, err)
		}
		s.keep(t)
	}
	if size < len(b) { // killed while it wrote a line
		if err := os.Truncate(path, int64(size)); err != nil {
			return fmt.Errorf("tune: Resume: %w", err)
		}
	}
	return nil
}

func decode(line []byte) (*Trial, error) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, err
	}
	t := &Trial{Number: r.Number, State: r.State, Value: orNaN(r.Value), Seconds: r.Seconds, gridPositions: r.Wheels, ranges: map[string]dimension{}}
	for _, k := range r.Settings {
		s := Setting{Name: k.Name, Value: k.value()}
		if s.Value == nil {
			return nil, fmt.Errorf("setting %q has no value", k.Name)
		}
		t.Settings = append(t.Settings, s)
		t.ranges[k.Name] = k.dimension()
	}
	for i, v := range r.Reports {
		t.Reports = append(t.Reports, Report{Unit: i + 1, Value: orNaN(v)})
	}
	return t, nil
}

// write stores a trial. It does nothing without a file.
func (f *file) write(t *Trial) error {
	if f == nil {
		return nil
	}
	return f.append(t.record())
}

// record returns what the file contains about the trial.
func (t *Trial) record() record {
	r := record{Number: t.Number, State: t.State, Value: orNil(t.Value), Settings: []storedSetting{}, Seconds: t.Seconds, Wheels: t.gridPositions}
	for _, s := range t.Settings {
		d := t.ranges[s.Name]
		k := storedSetting{Name: s.Name, Log: d.kind == logNumber, Low: d.low, High: d.high, Words: d.words}
		switch v := s.Value.(type) {
		case int:
			k.Int = &v
		case float64:
			k.Float = &v
		case string:
			k.Word = &v
		}
		r.Settings = append(r.Settings, k)
	}
	for _, report := range t.Reports {
		r.Reports = append(r.Reports, orNil(report.Value))
	}
	return r
}

// append writes a line and syncs it to disk.
func (f *file) append(value any) (err error) {
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("tune: Resume: %w", err)
	}
	b = f.sum.Seal(b)
	var out *os.File
	err = failpoint.Do(failpoint.TrialsOpen, func() (err error) {
		out, err = os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		return err
	})
	if err != nil {
		return fmt.Errorf("tune: Resume: %w", err)
	}
	_, err = failpoint.Writer(failpoint.TrialsWrite, out).Write(append(b, '\n'))
	if err = errors.Join(err, failpoint.Do(failpoint.TrialsSync, out.Sync), failpoint.Do(failpoint.TrialsClose, out.Close)); err != nil {
		return fmt.Errorf("tune: Resume: %w", err)
	}
	return nil
}

func orNil(v float64) *float64 {
	if !finite(v) {
		return nil
	}
	return &v
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
