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
	"math"
	"os"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/internal/failpoint"
)

// session is the file of a labelling session: a line of JSON for what it is
// about, and one for each call of Label or example made, written and synced
// before it counts. A line that a kill has cut short is dropped when the file is
// read again.
type session struct {
	path string
	file sessionFile
	good int64 // bytes that are whole lines
	bad  error // why no more can be written
}

// sessionFile is what a session needs of a file.
type sessionFile interface {
	io.Writer
	io.Closer
	Sync() error
	Truncate(size int64) error
	Seek(offset int64, whence int) (int64, error)
}

// header says which set a session labels.
type header struct {
	Session  string   `json:"session"` // the format
	Set      string   `json:"set"`
	Examples int      `json:"examples"`
	Shape    []int    `json:"shape"`
	Classes  []string `json:"classes"`
	Sum      string   `json:"sum"` // of some examples
	Initial  int      `json:"initial"`
	Seed     uint64   `json:"seed"`
}

// format is the first words of each session file.
const format = "quern labelling session 1"

// entry is a later line: examples with their labels, or one that was made.
type entry struct {
	Examples []int  `json:"examples,omitempty"`
	Labels   []int  `json:"labels,omitempty"`
	Made     string `json:"made,omitempty"` // float32, little-endian, base64
}

// Resume makes a pool as [NewPool] does and keeps its labels in a file: each
// label is on the disk before Label returns. If there is such a file, the pool
// has its labels, and its seed; initial and seed are then not used. A last line
// that was not written to its end is dropped. The error is a [*SessionError]
// where the file is of another set, or cannot be read or written.
//
// The caller closes the pool ([Pool.Close]) when the file is no longer needed. A
// file is for one pool at a time: once another one has written to it, labels of
// this one are refused.
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

// open reads a session's file, or begins it.
func (p *Pool) open(path string, file *os.File, first []int, initial int) error {
	raw, err := io.ReadAll(file)
	if err != nil {
		return &SessionError{path, err}
	}
	s := &session{path: path, file: file}
	whole := raw[:bytes.LastIndexByte(raw, '\n')+1]
	about := header{
		Session: format, Set: p.set.Name(), Examples: p.own, Shape: p.set.Shape(), Classes: p.set.Classes(),
		Sum: sum(p.set), Initial: initial, Seed: p.seed,
	}
	if len(whole) == 0 {
		if start := []byte(`{"session":"` + format[:5]); !bytes.HasPrefix(raw, start[:min(len(raw), len(start))]) {
			return &SessionError{path, errors.New("the file is something else; choose another name")}
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
	lines := bytes.Split(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	initial, err = p.belongs(about, lines[0])
	if err != nil {
		return &SessionError{path, err}
	}
	for n, line := range lines[1:] {
		if err := p.replay(line); err != nil {
			return &SessionError{path, fmt.Errorf("line %d: %w", n+2, err)}
		}
	}
	if first, err = p.first(initial); err != nil {
		return &SessionError{path, err}
	}
	// The file is ours; now what a kill has cut short may be dropped.
	s.good = int64(len(whole))
	if err := s.rewind(); err != nil {
		return &SessionError{path, err}
	}
	p.session = s
	if len(lines) > 1 {
		return nil
	}
	return p.Label(first) // it was killed before them
}

// belongs tells whether a file's first line is about this set, and takes its
// seed and its number of initial labels.
func (p *Pool) belongs(about header, line []byte) (initial int, err error) {
	var found header
	if err := json.Unmarshal(line, &found); err != nil || found.Session != about.Session {
		return 0, errors.New("the file is something else, or of another version; choose another name")
	}
	switch {
	case found.Examples != about.Examples || !slices.Equal(found.Shape, about.Shape) || found.Sum != about.Sum:
		return 0, fmt.Errorf("the file is of another set: %s, %d examples of shape %v; choose another name", found.Set, found.Examples, found.Shape)
	case !slices.Equal(found.Classes, about.Classes):
		return 0, fmt.Errorf("the file has the classes %q, the set %q", found.Classes, about.Classes)
	}
	p.seed = found.Seed
	return found.Initial, nil
}

// replay takes one line of the file.
func (p *Pool) replay(line []byte) error {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("not a line of a session: %w", err)
	}
	if e.Made != "" {
		raw, err := base64.StdEncoding.DecodeString(e.Made)
		if err != nil || len(raw)%4 != 0 {
			return errors.New("an example that cannot be read")
		}
		example := make([]float32, len(raw)/4)
		for i := range example {
			example[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		_, err = p.add([][]float32{example})
		return err
	}
	if len(e.Examples) == 0 || len(e.Labels) != len(e.Examples) {
		return fmt.Errorf("%d labels for %d examples", len(e.Labels), len(e.Examples))
	}
	return p.Label(e.Examples, e.Labels...)
}

// labelled writes labels.
func (s *session) labelled(pick, labels []int) error {
	return s.write(entry{Examples: pick, Labels: labels})
}

// made writes examples.
func (s *session) made(examples [][]float32) error {
	lines := make([]any, len(examples))
	for k, x := range examples {
		raw := make([]byte, 0, 4*len(x))
		for _, v := range x {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
		lines[k] = entry{Made: base64.StdEncoding.EncodeToString(raw)}
	}
	return s.write(lines...)
}

// write appends lines and waits until they are on the disk. What was written of
// them when it fails is taken back.
func (s *session) write(lines ...any) error {
	if s.bad != nil {
		return &SessionError{s.path, s.bad}
	}
	var raw []byte
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			return &SessionError{s.path, err}
		}
		raw = append(append(raw, text...), '\n')
	}
	// Two pools of one file, in two notebooks for instance, would overwrite each
	// other's labels.
	end, err := s.file.Seek(0, io.SeekEnd)
	if err == nil && end != s.good {
		return &SessionError{s.path, errElsewhere}
	}
	if err == nil {
		err = s.rewind() // or what is written in part could not be taken back
	}
	if err == nil {
		_, err = failpoint.Writer(failpoint.LabelsWrite, s.file).Write(raw)
	}
	if err == nil {
		err = failpoint.Do(failpoint.LabelsSync, s.file.Sync)
	}
	if err != nil {
		if undo := s.rewind(); undo != nil {
			// The file may end in lines that nobody was told of.
			s.bad = fmt.Errorf("what was written in part cannot be taken back: %w", undo)
		}
		return &SessionError{s.path, fmt.Errorf("the labels were not taken: %w", err)}
	}
	s.good += int64(len(raw))
	return nil
}

// errElsewhere says that a file is not as this pool has left it.
var errElsewhere = errors.New("the labels were not taken: another pool, of this program or of another, has written to the file since; go on with that one, or Resume again")

// rewind cuts off what is no whole line.
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

// summed is the number of examples that tell one set from another.
const summed = 64

// sum is a hash of examples at equal distances.
func sum(set *data.Dataset) string {
	hash := sha256.New()
	var raw []byte
	for k := range min(summed, set.Len()) {
		raw = raw[:0]
		for _, v := range set.Example(k * set.Len() / min(summed, set.Len())) {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
		hash.Write(raw) // a hash takes everything
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}
