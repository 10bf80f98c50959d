package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/training/sealed"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/plots"
)

// RunList is the recorded runs of a folder, the oldest first. It displays itself as a figure of
// the losses and a table with the options in which the runs differ.
type RunList struct {
	Folder string       // whose runs these are
	Runs   []TrackedRun // the oldest first
}

// TrackedRun is a run that [Track] recorded. Values that were not measured are NaN.
type TrackedRun struct {
	Folder  string    // the folder of this run
	Name    string    // name of the folder, or of the variant in Compare
	Status  Status    // how the training ended, if it has
	Error   string    // error of the training, or why the run is unreadable; "" for none
	Dataset string    // name of the training set
	Options []string  // as they were given
	Seed    uint64    // as Card.Seed
	Began   time.Time // start of the training

	Steps    int     // so far, if the run has not ended
	Loss     float64 // as Run.Loss
	Accuracy float64 // as Run.Accuracy
	// Metrics are the values of option Metrics by name, as Run.Metrics. nil if there are none.
	Metrics map[string]float64
	Seconds float64 // of training so far

	Training   []Point // the loss of each step
	Validation []Point // the loss of each validation

	outputs []string // the options that only show or save the run
}

// Point is the loss at a step.
type Point struct {
	Step int     // updates so far
	Loss float64 // mean over the examples of the step or the validation
}

// Runs reads the runs that [Track] recorded in a folder, including those that are still running
// or were killed. If a file of a run is damaged, which its checksums show, or not from Track, the run has
// the status [Unreadable], the reason with the file and the line as Error, and the values that were read
// before. Runs fails if the folder does not exist; it ignores folders without a recorded run.
func Runs(folder string) (*RunList, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("accel: Runs: %w", err)
	}
	t := &RunList{Folder: folder}
	for _, e := range entries {
		own := filepath.Join(folder, e.Name())
		if _, err := os.Stat(filepath.Join(own, configFile)); errors.Is(err, fs.ErrNotExist) || !e.IsDir() {
			continue
		}
		r, err := readRun(own)
		if err != nil {
			r.Status, r.Error = Unreadable, err.Error()
		}
		t.Runs = append(t.Runs, *r)
	}
	// Folders of the same second are numbered: -10 comes after -2.
	slices.SortStableFunc(t.Runs, func(a, b TrackedRun) int {
		return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(len(a.Folder), len(b.Folder)), cmp.Compare(a.Folder, b.Folder))
	})
	return t, nil
}

// readRun reads a run; with an error it returns what it could read.
func readRun(folder string) (*TrackedRun, error) {
	r := &TrackedRun{
		Folder: folder, Name: filepath.Base(folder), Status: Unfinished,
		Loss: math.NaN(), Accuracy: math.NaN(), Seconds: math.NaN(),
	}
	var c config
	path := filepath.Join(folder, configFile)
	if err := readJSON(path, &c); err != nil {
		return r, err
	}
	if c.Version != trackVersion {
		return r, fmt.Errorf("%s has version %d, and this version of Quern reads version %d: use the one that recorded the run", path, c.Version, trackVersion)
	}
	r.Dataset, r.Options, r.outputs, r.Seed, r.Began = c.Dataset, c.Options, c.Outputs, c.Seed, c.Began
	r.Name = cmp.Or(c.Label, r.Name)
	if err := eachLine(filepath.Join(folder, historyFile), r.take); err != nil {
		return r, err
	}
	unused := func([]byte) error { return nil }
	if err := eachLine(filepath.Join(folder, systemFile), unused); err != nil {
		return r, err
	}
	var s summary
	switch err := readJSON(filepath.Join(folder, summaryFile), &s); {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case err != nil:
		return r, err
	}
	r.Status, r.Error, r.Steps, r.Seconds = s.Status, s.Error, s.Steps, s.Seconds
	r.Loss, r.Accuracy, r.Metrics = orNaN(s.Loss), orNaN(s.Accuracy), s.Metrics
	return r, nil
}

// readJSON reads a JSON file with a checksum.
func readJSON(path string, into any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, ended := bytes.CutSuffix(b, []byte("\n"))
	if b, err = new(sealed.Sum).Open(text); err == nil && !ended {
		err = sealed.ErrDamaged
	}
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// eachLine calls do with each line of a file, without its checksum. The last line may be incomplete, if the
// process was killed or is writing it.
func eachLine(path string, do func(line []byte) error) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // killed before it was created
	}
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	var sum sealed.Sum
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			if err = sealed.Rest(text); err == nil {
				return nil
			}
		case err == nil:
			text, err = sum.Open(text[:len(text)-1])
		}
		if err == nil {
			err = do(text)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
}

// take adds the losses of a line of a history file.
func (r *TrackedRun) take(text []byte) error {
	var line struct {
		Step       int      `json:"_step"`
		Runtime    float64  `json:"_runtime"`
		Training   *float64 `json:"train/loss"`
		Validation *float64 `json:"validation/loss"`
		Accuracy   *float64 `json:"validation/accuracy"`
	}
	if err := json.Unmarshal(text, &line); err != nil {
		return err
	}
	r.Steps, r.Seconds = line.Step, line.Runtime
	if line.Training != nil {
		r.Training = append(r.Training, Point{line.Step, *line.Training})
	}
	if line.Validation != nil {
		r.Validation = append(r.Validation, Point{line.Step, *line.Validation})
		r.Loss, r.Accuracy, r.Metrics = *line.Validation, orNaN(line.Accuracy), validationMetrics(text)
	}
	return nil
}

// validationMetrics returns the metrics of a line of a history file that has been decoded before.
func validationMetrics(line []byte) (metrics map[string]float64) {
	var all map[string]any
	if json.Unmarshal(line, &all) != nil {
		return nil
	}
	for key, value := range all {
		name, ok := strings.CutPrefix(key, "validation/")
		number, isNumber := value.(float64)
		if !ok || !isNumber || name == "loss" || name == "accuracy" {
			continue
		}
		if metrics == nil {
			metrics = map[string]float64{}
		}
		metrics[name] = number
	}
	return metrics
}

// metrics returns the names of the metrics that any run has, sorted.
func (t *RunList) metrics() []string {
	names := map[string]bool{}
	for _, r := range t.Runs {
		for name := range r.Metrics {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// drawnRuns is the number of runs, the newest ones, that one figure shows.
const drawnRuns = 10

// Figure draws the losses of the runs over the steps: validation losses if all runs have them,
// else training losses.
func (t *RunList) Figure() *plots.Figure {
	drawn := t.Runs[max(0, len(t.Runs)-drawnRuns):]
	of, curve := "Validation loss", func(r TrackedRun) []Point { return r.Validation }
	for _, r := range drawn {
		if len(r.Validation) == 0 && len(r.Training) > 0 {
			of, curve = "Training loss", TrackedRun.smooth
		}
	}
	_, own := t.options()
	own = own[len(own)-len(drawn):]
	var series []plots.Series
	for i, r := range drawn {
		if len(curve(r)) == 0 { // no losses yet, or none that could be read
			continue // nothing was measured yet, or could be read
		}
		s := plots.Series{Name: r.Name}
		if r.Name == filepath.Base(r.Folder) && len(own[i]) > 0 { // the options say more than the time
			s.Name = strings.Join(own[i], ", ")
		}
		for _, p := range curve(r) {
			s.X, s.Y = append(s.X, float64(p.Step)), append(s.Y, p.Loss)
		}
		series = append(series, s)
	}
	f := plots.Lines(of, series...).XLabel("step")
	if len(drawn) < len(t.Runs) {
		f.Subtitle(fmt.Sprintf("the newest %d of %d runs", len(drawn), len(t.Runs)))
	}
	return f
}

// smooth returns the training loss, averaged over neighboring steps.
func (r TrackedRun) smooth() []Point {
	const most = 100 // maximum number of points of a curve
	width := (len(r.Training) + most - 1) / most
	var curve []Point
	for part := range slices.Chunk(r.Training, max(1, width)) {
		sum := 0.0
		for _, p := range part {
			sum += p.Loss
		}
		curve = append(curve, Point{part[len(part)-1].Step, sum / float64(len(part))})
	}
	return curve
}

// options returns the options that all runs share, and for each run the others, without options
// that only show or save a run.
func (t *RunList) options() (shared []string, own [][]string) {
	counts := map[string]int{}
	readable := 0
	for _, r := range t.Runs {
		if r.Status != Unreadable {
			readable++
		}
		for _, o := range r.Options {
			counts[o]++
		}
	}
	own = make([][]string, len(t.Runs))
	for i, r := range t.Runs {
		for _, o := range r.Options {
			switch {
			case slices.Contains(r.outputs, o):
			case counts[o] < readable:
				own[i] = append(own[i], o)
			case !slices.Contains(shared, o):
				shared = append(shared, o)
			}
		}
	}
	return shared, own
}

// Report returns the figure, and a row for each run with the shared options below.
func (t *RunList) Report() *display.Report {
	shared, own := t.options()
	measured := t.metrics()
	out := new(display.Report)
	if len(t.Runs) > 0 {
		out.Figure(t.Figure())
	}
	out.Table(slices.Concat([]string{"run", "status", "steps", "loss", "accuracy"}, measured, []string{"seconds", "options"})...)
	for i, r := range t.Runs {
		row := []any{r.Name, string(r.Status), r.Steps, measuredText("%.4f", r.Loss), measuredText("%.2f %%", 100*r.Accuracy)}
		for _, name := range measured {
			v, ok := r.Metrics[name]
			if !ok {
				v = math.NaN()
			}
			row = append(row, measuredText("%.4g", v))
		}
		out.Row(append(row, measuredText("%.2f", r.Seconds), strings.Join(own[i], ", "))...)
	}
	below := t.Folder + ": " + quantity.Plural(len(t.Runs), "run")
	if len(shared) > 0 && len(t.Runs) > 1 {
		below += ", all with " + strings.Join(shared, ", ")
	}
	for _, r := range t.Runs {
		if r.Status == Unreadable {
			below += "\n" + r.Error
		}
	}
	return out.Text(below)
}

func measuredText(format string, v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf(format, v)
}

// String returns the table as text.
func (t *RunList) String() string { return t.Report().String() }
