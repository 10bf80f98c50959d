package active

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/sealed"
	"github.com/quernlab/quern/internal/failpoint"
)

// session is the file of a labeling session: one JSON line that describes the data set, and
// one for each call of Label or each example made, written and synced before it takes effect. A
// line that was truncated by a kill is dropped when the file is read.
type session struct {
	path string
	file sessionFile
	good int64      // bytes of complete lines
	bad  error      // why the file can no longer be written
	sum  sealed.Sum // of the lines so far
}

// sessionFile is the part of os.File that a session uses.
type sessionFile interface {
	io.Writer
	io.Closer
	Sync() error
	Truncate(size int64) error
	Seek(offset int64, whence int) (int64, error)
}

// header identifies the data set of a session.
type header struct {
	Session  string   `json:"session"` // the file format
	Set      string   `json:"set"`
	Examples int      `json:"examples"`
	Shape    []int    `json:"shape"`
	Classes  []string `json:"classes"`
	Sum      string   `json:"sum"` // hash of some examples
	Initial  int      `json:"initial"`
	Seed     uint64   `json:"seed"`
}

// format identifies session files.
const format = "quern labeling session 2"

// entry is a later line: examples with their labels, an example that was made, or one whose label was
// removed.
type entry struct {
	Examples []int       `json:"examples,omitempty"`
	Labels   []int       `json:"labels,omitempty"`
	Files    []string    `json:"files,omitempty"`   // of the examples, if they are files
	Targets  [][]float32 `json:"targets,omitempty"` // instead of labels, for regression
	Made     string      `json:"made,omitempty"`    // float32, little-endian, base64
	Removed  []int       `json:"removed,omitempty"` // one example, the last one that was labeled before
}

// Resume returns a pool like [NewPool] and stores its labels in a file: each label is on disk
// before Label returns. If the file exists, the pool gets its labels and its seed, and initial
// and seed are ignored. An incomplete last line is dropped. Resume returns a [*SessionError] if
// the file is of another data set or cannot be read or written, or if it was damaged: each line has a
// checksum.
//
// Close the pool ([Pool.Close]) when the file is no longer needed. A file is for one pool at a
// time: after another pool has written to it, this one rejects labels.
func Resume(path string, set *data.Dataset, initial int, seed uint64) (*Pool, error) {
	p, err := newPool(set, seed)
	if err != nil {
		return nil, err
	}
	first, err := p.first(initial)
	if err != nil {
		return nil, err
	}
	var file *os.File
	err = failpoint.Do(failpoint.LabelsOpen, func() (err error) {
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		return err
	})
	if err != nil {
		return nil, &SessionError{path, err}
	}
	if err := p.open(path, file, first, initial); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return p, nil
}

// open reads the file of a session, or creates it.
func (p *Pool) open(path string, file *os.File, first []int, initial int) error {
	raw, err := io.ReadAll(file)
	if err != nil {
		return &SessionError{path, err}
	}
	s := &session{path: path, file: file}
	head, _, whole := bytes.Cut(raw, []byte("\n"))
	about := header{
		Session: format, Set: p.set.Name(), Examples: p.own, Shape: p.set.Shape(), Classes: p.set.Classes(),
		Sum: hashExamples(p.set), Initial: initial, Seed: p.seed,
	}
	if !whole {
		if start := []byte(`{"session":"` + format[:5]); !bytes.HasPrefix(raw, start[:min(len(raw), len(start))]) {
			return &SessionError{path, errors.New("the file is not a labeling session; use another path")}
		}
		if err := sealed.Rest(raw); err != nil {
			return &SessionError{path, err}
		}
		if err := s.rewind(); err != nil {
			return &SessionError{path, err}
		}
		if err := s.write(about); err != nil {
			return err
		}
		p.session = s
		return p.Label(first)
	}
	var found header
	if err := json.Unmarshal(head, &found); err != nil || found.Session != format {
		return &SessionError{path, errors.New("the file is not a labeling session of this version, or it was damaged; use another path")}
	}
	lines, size, err := s.sum.Lines(raw)
	if err != nil {
		return &SessionError{path, err}
	}
	if err := p.checkHeader(about, found); err != nil {
		return &SessionError{path, err}
	}
	for n, line := range lines[1:] {
		if err := p.replay(line); err != nil {
			return &SessionError{path, fmt.Errorf("line %d: %w", n+2, err)}
		}
	}
	if first, err = p.first(found.Initial); err != nil {
		return &SessionError{path, err}
	}
	// The file belongs to this data set: now drop an incomplete last line.
	s.good = int64(size)
	if err := s.rewind(); err != nil {
		return &SessionError{path, err}
	}
	p.session = s
	if len(lines) > 1 {
		return nil
	}
	return p.Label(first) // it was killed before writing them
}

// checkHeader checks that a file's first line describes this data set, and takes its seed.
func (p *Pool) checkHeader(about, found header) error {
	switch {
	case found.Examples != about.Examples || !slices.Equal(found.Shape, about.Shape) || found.Sum != about.Sum:
		return fmt.Errorf("the file is of another data set: %s, %d examples of shape %v; use another path", found.Set, found.Examples, found.Shape)
	case !slices.Equal(found.Classes, about.Classes):
		return fmt.Errorf("the file has the classes %q, but the data set has %q", found.Classes, about.Classes)
	}
	p.seed = found.Seed
	return nil
}

// replay applies one line of the file.
func (p *Pool) replay(line []byte) error {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("invalid line: %w", err)
	}
	if e.Made != "" {
		raw, err := base64.StdEncoding.DecodeString(e.Made)
		if err != nil || len(raw)%4 != 0 {
			return errors.New("the example is not valid base64 of its size")
		}
		example := make([]float32, len(raw)/4)
		_, _ = binary.Decode(raw, binary.LittleEndian, example) // raw has its size
		_, err = p.add([][]float32{example})
		return err
	}
	if len(e.Removed) > 0 {
		if n := len(p.order); len(e.Removed) > 1 || n == 0 || p.order[n-1] != e.Removed[0] {
			return fmt.Errorf("the label of example %d is removed, which is not the last one", e.Removed[0])
		}
		return p.unlabel(e.Removed[0])
	}
	if n := len(e.Labels) + len(e.Targets); len(e.Examples) == 0 || n != len(e.Examples) {
		return fmt.Errorf("%d labels for %d examples", n, len(e.Examples))
	}
	for k, i := range e.Examples {
		if len(e.Files) == len(e.Examples) && i >= 0 && i < p.own && filepath.Base(p.set.Path(i)) != filepath.Base(e.Files[k]) {
			return fmt.Errorf("example %d was the file %s when it was labeled, but is %s now: files were added or renamed", i, e.Files[k], p.set.Path(i))
		}
	}
	if len(e.Targets) > 0 {
		return p.LabelTargets(e.Examples, e.Targets...)
	}
	return p.Label(e.Examples, e.Labels...)
}

// labeled writes labels or targets, with the files of the examples if there are any.
func (s *session) labeled(set *data.Dataset, pick, labels []int, targets [][]float32) error {
	e := entry{Examples: pick, Targets: targets}
	if targets == nil {
		e.Labels = labels
	}
	for _, i := range pick {
		if path := set.Path(i); path != "" {
			e.Files = append(e.Files, path)
		}
	}
	if len(e.Files) < len(pick) {
		e.Files = nil
	}
	return s.write(e)
}

// made writes examples that were made.
func (s *session) made(examples [][]float32) error {
	lines := make([]any, len(examples))
	for k, x := range examples {
		raw, _ := binary.Append(nil, binary.LittleEndian, x) // floats have a size, so there is no error
		lines[k] = entry{Made: base64.StdEncoding.EncodeToString(raw)}
	}
	return s.write(lines...)
}

// write appends lines and syncs them to disk. If that fails, it truncates what was written.
func (s *session) write(lines ...any) error {
	if s.bad != nil {
		return &SessionError{s.path, s.bad}
	}
	var raw []byte
	sum := s.sum
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			return &SessionError{s.path, err}
		}
		raw = append(append(raw, sum.Seal(text)...), '\n')
	}
	// Two pools with one file, for instance in two notebooks, would overwrite each other's
	// labels.
	end, err := s.file.Seek(0, io.SeekEnd)
	if err == nil && end != s.good {
		return &SessionError{s.path, errElsewhere}
	}
	if err == nil {
		err = s.rewind() // so that a partial write can be undone
	}
	if err == nil {
		_, err = failpoint.Writer(failpoint.LabelsWrite, s.file).Write(raw)
	}
	if err == nil {
		err = failpoint.Do(failpoint.LabelsSync, s.file.Sync)
	}
	if err != nil {
		if undo := s.rewind(); undo != nil {
			// The file may end with lines that the pool does not have.
			s.bad = fmt.Errorf("a partial write cannot be undone: %w", undo)
		}
		return &SessionError{s.path, fmt.Errorf("the labels were not stored: %w", err)}
	}
	s.good, s.sum = s.good+int64(len(raw)), sum
	return nil
}

// errElsewhere is returned if another pool has changed the file.
var errElsewhere = errors.New("the labels were not stored: another pool has written to the file; use that one, or call Resume again")

// rewind truncates the file after its last complete line.
func (s *session) rewind() error {
	if err := failpoint.Do(failpoint.LabelsTruncate, func() error { return s.file.Truncate(s.good) }); err != nil {
		return err
	}
	_, err := s.file.Seek(s.good, io.SeekStart)
	return err
}

func (s *session) close() error {
	if err := failpoint.Do(failpoint.LabelsClose, s.file.Close); err != nil {
		return &SessionError{s.path, err}
	}
	return nil
}

// hashedExamples is the number of examples that identify a data set.
const hashedExamples = 64

// hashExamples returns a hash of evenly spaced examples.
func hashExamples(set *data.Dataset) string {
	hash := sha256.New()
	for k := range min(hashedExamples, set.Len()) {
		_ = binary.Write(hash, binary.LittleEndian, set.Example(k*set.Len()/min(hashedExamples, set.Len()))) // never fails
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}
