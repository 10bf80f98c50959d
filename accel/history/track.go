package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/quernlab/quern/accel/internal/training/sealed"
	"github.com/quernlab/quern/gpu"
	"github.com/quernlab/quern/internal/atomicfile"
	"github.com/quernlab/quern/internal/failpoint"
)

// The files of a run.
const (
	configFile  = "config.json"
	historyFile = "history.jsonl"
	systemFile  = "system.jsonl"
	summaryFile = "summary.json"
	figureFile  = "figure.svg"
)

// trackVersion is the version of the files.
const trackVersion = 2

// config is what is known of a run at its beginning.
type config struct {
	Version   int       `json:"version"`
	Label     string    `json:"label,omitempty"`
	Dataset   string    `json:"dataset"`
	Options   []string  `json:"options"`
	Outputs   []string  `json:"output_options,omitempty"` // the options that only show or save the run
	Seed      uint64    `json:"seed"`
	OrderSeed uint64    `json:"order_seed"`
	Began     time.Time `json:"began"`
	Planned   int       `json:"planned_steps"`
	Device    string    `json:"device"`
	Threads   int       `json:"threads"`
	System    string    `json:"system"`
	Go        string    `json:"go"`
	Module    string    `json:"module,omitempty"`
	Revision  string    `json:"revision,omitempty"`
}

// summary is what is known of a run at its end.
type summary struct {
	Status Status `json:"status"`
	Error  string `json:"error,omitempty"`
	Card
}

const (
	trackEvery  = 500 * time.Millisecond // interval of writes to disk
	systemEvery = time.Second            // interval of samples of the machine
)

// tracker records a run in its folder.
type tracker struct {
	folder             string
	history, system    *lines
	steps, validations int // number of steps and validations that have been recorded
	begin              time.Time
	due                time.Time // time of the next write to disk
	watch              *watch
	sampled            []time.Time // time of the last recorded sample of each device
}

// Track records a run that begins now in a new folder below the given one, as option accel.Track describes it. The label
// names the run in [Runs]; "" for the name of the folder.
func Track(folder, label string, r *Run) (Output, error) {
	t, err := newTracker(folder, label, r, time.Now())
	if err != nil {
		return nil, err
	}
	return t, nil
}

// newTracker creates the folder of a run.
func newTracker(folder, label string, r *Run, now time.Time) (t *tracker, err error) {
	t = &tracker{begin: now}
	if t.folder, err = newFolder(folder, now); err != nil {
		return nil, fmt.Errorf("accel: Track: %w", err)
	}
	c := r.Card()
	if err := t.store(configFile, config{
		Version: trackVersion, Label: label, Dataset: c.Dataset, Options: c.Options, Outputs: r.state.Outputs, Seed: c.Seed, OrderSeed: c.OrderSeed,
		Began: now.UTC().Truncate(time.Second), Planned: r.Planned,
		Device: c.Device, Threads: c.Threads, System: c.System, Go: c.Go, Module: c.Module, Revision: c.Revision,
	}); err != nil {
		return nil, err
	}
	if t.history, err = newLines(filepath.Join(t.folder, historyFile)); err != nil {
		return nil, err
	}
	if t.system, err = newLines(filepath.Join(t.folder, systemFile)); err != nil {
		return nil, errors.Join(err, t.history.close())
	}
	t.watch = startWatch(context.Background(), systemEvery) // close stops it
	t.sampled = make([]time.Time, len(t.watch.samplers))
	return t, nil
}

// newFolder creates a folder in parent. Its name is the time, with a number if that folder exists.
func newFolder(parent string, now time.Time) (string, error) {
	if err := failpoint.Do(failpoint.TrackFolder, func() error { return os.MkdirAll(parent, 0o755) }); err != nil {
		return "", err
	}
	base := filepath.Join(parent, now.Format("2006-01-02T15-04-05"))
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		if err := os.Mkdir(name, 0o755); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

// Update adds what is new in the run, and writes it to disk if that is due.
func (t *tracker) Update(r *Run) error {
	for ; t.steps < len(r.Steps); t.steps++ {
		s := r.Steps[t.steps]
		t.history.begin(t.steps+1, t.begin, s.Seconds)
		t.history.number("train/epoch", float64(s.Epoch))
		t.history.number("train/loss", s.Loss)
		t.history.number("train/accuracy", s.Accuracy)
		t.history.number("train/learning_rate", s.LearningRate)
		if s.LossScale != 0 {
			t.history.number("train/loss_scale", s.LossScale)
		}
		if s.GradNorm != 0 {
			t.history.number("train/grad_norm", s.GradNorm)
		}
		t.history.end()
	}
	for ; t.validations < len(r.Validations); t.validations++ {
		c := r.Validations[t.validations]
		t.history.begin(c.Step, t.begin, time.Since(t.begin).Seconds())
		t.history.number("validation/loss", c.Loss)
		t.history.number("validation/accuracy", c.Accuracy)
		for _, v := range c.Metrics {
			t.history.number("validation/"+v.Name, v.Value)
		}
		t.history.end()
	}
	if now := time.Now(); now.After(t.due) {
		t.due = now.Add(trackEvery)
		return t.flush()
	}
	return nil
}

// flush writes all new lines to disk.
func (t *tracker) flush() error {
	for device, h := range t.watch.histories() {
		for _, s := range h.Samples {
			if s.At.After(t.sampled[device]) {
				t.sampled[device] = s.At
				t.system.begin(-1, t.begin, s.At.Sub(t.begin).Seconds())
				t.sample(device, h.Host, s)
				t.system.end()
			}
		}
	}
	return errors.Join(t.history.flush(), t.system.flush())
}

// sample adds the utilization of a device, with the names of Weights & Biases.
func (t *tracker) sample(device int, host bool, s gpu.Sample) {
	if host {
		t.system.number("system.cpu", s.Busy)
		t.system.number("system.memory_percent", 100*s.MemUsed/s.MemTotal)
		t.system.number("system.cpu.powerWatts", s.Watts)
		t.system.number("system.cpu.energyJoules", s.Joules)
		return
	}
	for _, m := range []struct {
		name  string
		value float64
	}{
		{"gpu", s.Busy}, {"memoryAllocatedBytes", s.MemUsed}, {"powerWatts", s.Watts}, {"temp", s.Celsius}, {"smClock", s.ClockMHz},
		{"smActive", s.SMs}, {"smOccupancy", s.Occupancy}, {"pipeTensorActive", s.TensorCores}, {"dramActive", s.MemoryBus}, {"energyJoules", s.Joules},
	} {
		t.system.number(fmt.Sprintf("system.gpu.%d.%s", device, m.name), m.value)
	}
	if s.Slowed != "" {
		t.system.words(fmt.Sprintf("system.gpu.%d.slowed", device), s.Slowed)
	}
}

// Close writes the rest, the summary and the figure.
func (t *tracker) Close(r *Run, failure error) error {
	t.watch.stop()
	if len(r.Utilization.Samples) == 0 { // Live has not recorded it
		r.recordUtilization(t.watch)
	}
	t.due = time.Time{}
	err := errors.Join(t.Update(r), t.history.close(), t.system.close())
	s := summary{Status: statusOf(failure), Card: r.Card()}
	if failure != nil {
		s.Error = failure.Error()
	}
	if len(r.Steps) > 0 {
		if e := r.Figure().Save(filepath.Join(t.folder, figureFile)); e != nil {
			err = errors.Join(err, fmt.Errorf("accel: Track: %w", e))
		}
	}
	return errors.Join(err, t.store(summaryFile, s))
}

// store writes a value as a JSON file with a checksum.
func (t *tracker) store(name string, value any) error {
	b, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		b = new(sealed.Sum).Seal(b)
		err = atomicfile.Replace(filepath.Join(t.folder, name), func(w io.Writer) error {
			_, err := w.Write(append(b, '\n'))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("accel: Track: %w", err)
	}
	return nil
}

// lines is a file of JSON objects, one per line.
type lines struct {
	file    lineFile
	size    int64      // of the file
	line    []byte     // the current line
	sum     sealed.Sum // of the complete lines
	pending []byte     // those that have not been written yet
	err     error      // the first error; nothing is written after it
}

type lineFile interface {
	io.WriteCloser
	Truncate(size int64) error
}

// maxPendingBytes is the maximum size of the lines that wait to be written.
const maxPendingBytes = 1 << 16

func newLines(path string) (*lines, error) {
	var file *os.File
	err := failpoint.Do(failpoint.TrackCreate, func() (err error) {
		file, err = os.Create(path)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("accel: Track: %w", err)
	}
	return &lines{file: file}, nil
}

// begin starts a line for a measurement the given number of seconds after begin. A negative
// step is left out.
func (l *lines) begin(step int, begin time.Time, seconds float64) {
	l.line = append(l.line[:0], '{')
	if step >= 0 {
		l.number("_step", float64(step))
	}
	l.number("_runtime", math.Round(seconds*1e6)/1e6)
	l.number("_timestamp", math.Round(wall(begin)*1e3+seconds*1e3)/1e3)
}

// number adds a name and its value to the line, unless the value is NaN or infinite, which JSON
// cannot represent.
func (l *lines) number(name string, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	l.name(name)
	l.line = strconv.AppendFloat(l.line, v, 'f', -1, 64)
}

// words adds a name and its text to the line.
func (l *lines) words(name, text string) {
	l.name(name)
	l.line = strconv.AppendQuote(l.line, text)
}

// name adds a name to the line, for the value that comes next.
func (l *lines) name(name string) {
	if len(l.line) > 1 {
		l.line = append(l.line, ',')
	}
	l.line = strconv.AppendQuote(l.line, name)
	l.line = append(l.line, ':')
}

// end completes the line. flush reports errors.
func (l *lines) end() {
	if l.pending = append(append(l.pending, l.sum.Seal(append(l.line, '}'))...), '\n'); len(l.pending) > maxPendingBytes {
		_ = l.flush()
	}
}

// flush writes the complete lines. If a full disk takes only a part of them, it removes the
// partial line, since other programs cannot read one.
func (l *lines) flush() error {
	if l.err == nil && len(l.pending) > 0 {
		n, err := failpoint.Writer(failpoint.TrackWrite, l.file).Write(l.pending)
		complete := n
		if err != nil {
			complete = bytes.LastIndexByte(l.pending[:n], '\n') + 1
		}
		l.size += int64(complete)
		if complete < n {
			err = errors.Join(err, l.file.Truncate(l.size))
		}
		l.err = err
	}
	l.pending = l.pending[:0]
	if l.err != nil {
		return fmt.Errorf("accel: Track: %w", l.err)
	}
	return nil
}

func (l *lines) close() error {
	return errors.Join(l.flush(), failpoint.Do(failpoint.TrackClose, l.file.Close))
}
