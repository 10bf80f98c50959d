package accel

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/tfrecord"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
)

// tracked trains a small model on some digits and reads its recorded run.
func tracked(t *testing.T, ctx context.Context, folder string, options ...Option) (*Run, history.TrackedRun, error) {
	t.Helper()
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	options = append([]Option{Epochs(2), Validate(test.First(20)), Track(folder), Quiet()}, options...)
	run, failure := Fit(ctx, nn.Sequential(nn.Flatten(), nn.Dense(10)), train.First(128), options...)
	all, err := Runs(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Runs) == 0 {
		t.Fatalf("%s has no runs", folder)
	}
	return run, all.Runs[len(all.Runs)-1], failure
}

// readLines reads a file of JSON objects.
func readLines(t *testing.T, path string) (out []map[string]float64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		m := map[string]float64{}
		for name, value := range fields {
			if number, ok := value.(float64); ok {
				m[name] = number
			}
		}
		out = append(out, m)
	}
	return out
}

func TestTrack(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "runs")
	run, got, err := tracked(t, t.Context(), folder, SGD(0.1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != history.Finished || got.Steps != len(run.Steps) || got.Loss != run.Loss() || got.Accuracy != run.Accuracy() || got.Dataset != run.Dataset {
		t.Errorf("kept %+v of %v", got, run)
	}
	if len(got.Training) != 4 || got.Training[3] != (history.Point{Step: 4, Loss: run.Steps[3].Loss}) || len(got.Validation) != 2 || got.Validation[1] != (history.Point{Step: 4, Loss: run.Validations[1].Loss}) {
		t.Errorf("history %v, validation %v", got.Training, got.Validation)
	}
	history := readLines(t, filepath.Join(got.Folder, "history.jsonl"))
	if len(history) != 6 || history[0]["_step"] != 1 || history[0]["train/learning_rate"] != 0.1 || history[2]["validation/loss"] != run.Validations[0].Loss {
		t.Errorf("history.jsonl: %v", history)
	}
	if at := history[0]["_timestamp"]; math.Abs(at-float64(time.Now().Unix())) > 3600 {
		t.Errorf("the first line is of %.0f", at)
	}
	system := readLines(t, filepath.Join(got.Folder, "system.jsonl"))
	if len(system) == 0 || system[len(system)-1]["_runtime"] < 0 {
		t.Errorf("system.jsonl: %v", system)
	}
	figure, err := os.ReadFile(filepath.Join(got.Folder, "figure.svg"))
	if err != nil || !strings.Contains(string(figure), "<svg") {
		t.Errorf("figure.svg: %.40q, %v", figure, err)
	}
}

// TestTrackEnds covers the ways in which a run can end.
func TestTrackEnds(t *testing.T) {
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	stop := stopAfter(2, cancel)
	if _, got, err := tracked(t, ctx, folder, stop); !errors.Is(err, context.Canceled) || got.Status != history.Interrupted || got.Steps != 2 || got.Error == "" {
		t.Errorf("interrupted: %+v, %v", got, err)
	}
	var diverged *DivergedError
	if _, got, err := tracked(t, t.Context(), folder, SGD(3e38, 0)); !errors.As(err, &diverged) || got.Status != history.Diverged || len(got.Training) >= got.Steps+1 {
		t.Errorf("diverged: %+v, %v", got, err)
	}

	_, killed, err := tracked(t, t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(killed.Folder, "summary.json")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(killed.Folder, "history.jsonl")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b[:len(b)-9], 0o644); err != nil { // in the middle of a line
		t.Fatal(err)
	}
	all, err := Runs(folder)
	if err != nil {
		t.Fatal(err)
	}
	if got := all.Runs[2]; got.Status != history.Unfinished || got.Steps != 4 || len(got.Training) != 4 || len(got.Validation) != 1 {
		t.Errorf("killed: %+v", got)
	}
	if text := all.String(); !strings.Contains(text, "SGD(3e+38, 0)") || !strings.Contains(text, "3 runs, all with Epochs(2)") {
		t.Errorf("the table:\n%s", text)
	}
	if page := all.Report().MIMEBundle()["text/html"].(string); !strings.Contains(page, "quern-figure") || !strings.Contains(page, "interrupted") {
		t.Errorf("the page: %.300s", page)
	}
}

// stopAfter cancels a training after a number of steps.
func stopAfter(steps int, cancel context.CancelFunc) Option {
	return plain("", func(c *loop.Settings) {
		c.Stop = func(r *Run) bool {
			if len(r.Steps) == steps {
				cancel()
			}
			return false
		}
	})
}

// TestUnreadableRuns damages one file of a run: the other runs are listed.
func TestUnreadableRuns(t *testing.T) {
	folder := t.TempDir()
	var files []string
	for range 4 {
		_, r, err := tracked(t, t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, r.Folder)
	}
	for i, name := range []string{"config.json", "history.jsonl", "summary.json"} {
		path := filepath.Join(files[i], name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(b[:len(b)/2], "\n{\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	all, err := Runs(folder)
	if err != nil || len(all.Runs) != 4 {
		t.Fatalf("%v, %v", all, err)
	}
	broken, text := 0, all.String()
	for _, r := range all.Runs {
		if r.Status == history.Unreadable {
			broken++
			if !strings.Contains(r.Error, r.Folder) || !strings.Contains(text, r.Error) {
				t.Errorf("%s: %q does not tell which file", r.Folder, r.Error)
			}
		} else if r.Status != history.Finished || len(r.Validation) != 2 {
			t.Errorf("%+v", r)
		}
	}
	if page := all.Report().MIMEBundle()["text/html"].(string); broken != 3 || !strings.Contains(page, "quern-figure") || !strings.Contains(text, "4 runs, all with Epochs(2)") {
		t.Errorf("%d are broken\n%s", broken, text)
	}
}

// TestDamagedRuns flips bits in the files of a run: Runs names the file, and shows no value that was not measured.
func TestDamagedRuns(t *testing.T) {
	folder := t.TempDir()
	_, want, err := tracked(t, t.Context(), folder, Metrics(metrics.F1()))
	if err != nil {
		t.Fatal(err)
	}
	read := func() history.TrackedRun {
		t.Helper()
		all, err := Runs(folder)
		if err != nil || len(all.Runs) != 1 {
			t.Fatal(all, err)
		}
		return all.Runs[0]
	}
	files := map[string][]byte{}
	for _, name := range []string{"config.json", "history.jsonl", "system.jsonl", "summary.json"} {
		if files[name], err = os.ReadFile(filepath.Join(want.Folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(want.Folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, whole := range files {
		bits, step := []int{0}, 3 // of the others a third of the bytes, since each takes a millisecond
		if name == "config.json" {
			bits, step = []int{0, 5, 1}, 1 // bit 5 is the case of a letter, and bit 1 changes the version
		}
		for at := 0; at < len(whole); at += step {
			for _, bit := range bits {
				if bit == 0 {
					bit = at % 8
				}
				damaged := bytes.Clone(whole)
				damaged[at] ^= 1 << bit
				write(name, damaged)
				if got := read(); got.Status != history.Unreadable || !strings.Contains(got.Error, filepath.Join(want.Folder, name)) {
					t.Errorf("%s, bit %d of byte %d: %v %s", name, bit, at, got.Status, got.Error)
				} else if !isBeginning(got, want) {
					t.Errorf("%s, bit %d of byte %d: %+v", name, bit, at, got)
				}
			}
		}
		write(name, whole)
	}
	lines := bytes.SplitAfter(files["history.jsonl"], []byte("\n"))
	for i := range lines[:len(lines)-2] { // a missing line is damage, too
		write("history.jsonl", bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil))
		if got := read(); got.Status != history.Unreadable || !isBeginning(got, want) {
			t.Errorf("without line %d: %+v", i+1, got)
		}
	}
	write("history.jsonl", files["history.jsonl"])

	sums := regexp.MustCompile(`,"crc32c":"[0-9a-f]{8}"`)
	for name, whole := range files {
		write(name, sums.ReplaceAll(whole, nil))
		if got := read(); got.Status != history.Unreadable || !strings.Contains(got.Error, name) {
			t.Errorf("%s without a checksum: %+v", name, got)
		}
		write(name, whole)
	}

	// A run that goes on, or was killed, has a beginning of the lines.
	if err := os.Remove(filepath.Join(want.Folder, "summary.json")); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(files["history.jsonl"]); n += 2 {
		write("history.jsonl", files["history.jsonl"][:n])
		if got := read(); got.Status != history.Unfinished || !isBeginning(got, want) || len(got.Training)+len(got.Validation) != bytes.Count(files["history.jsonl"][:n], []byte("\n")) {
			t.Errorf("the first %d bytes of the history: %+v", n, got)
		}
	}
}

// isBeginning reports whether the values of a run that could not be read completely are those of the whole one.
func isBeginning(got, want history.TrackedRun) bool {
	loss := math.IsNaN(got.Loss) || got.Loss == want.Loss
	for _, v := range got.Validation {
		loss = loss || got.Loss == v.Loss
	}
	return loss && len(got.Training) <= len(want.Training) && len(got.Validation) <= len(want.Validation) && (got.Seed == 0 || got.Seed == want.Seed) &&
		slices.Equal(got.Training, want.Training[:len(got.Training)]) && slices.Equal(got.Validation, want.Validation[:len(got.Validation)])
}

func TestTrackRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"", file} {
		if _, err := Fit(t.Context(), nn.Sequential(nn.Flatten(), nn.Dense(10)), train, Track(folder), TensorBoard(t.TempDir())); err == nil {
			t.Errorf("Track(%q) returns no error", folder)
		}
	}
	if _, err := Runs(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	empty, err := Runs(t.TempDir())
	if err != nil || len(empty.Runs) != 0 || empty.Report().MIMEBundle()["text/plain"] == "" {
		t.Errorf("an empty folder: %v, %v", empty, err)
	}
	if _, err := Compare(t.Context(), func() nn.Module { return nn.Sequential(nn.Flatten(), nn.Dense(10)) }, train.First(64),
		NewVariant("slow", Steps(1), Track(file+"s")), NewVariant("fast", Steps(1), SGD(1, 0), Track(file+"s"))); err != nil {
		t.Fatal(err)
	}
	named, err := Runs(file + "s")
	if err != nil || len(named.Runs) != 6 || named.Runs[0].Name != "slow" || named.Runs[5].Name != "fast" {
		t.Errorf("compared: %v, %v", named, err)
	}
}

// record returns an event as a TFRecord.
func record(event []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(event)))
	b = binary.LittleEndian.AppendUint32(b, tfrecord.MaskedCRC(b))
	b = append(b, event...)
	return binary.LittleEndian.AppendUint32(b, tfrecord.MaskedCRC(event))
}

func TestTensorBoard(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "logs", "a")
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	run, err := Fit(t.Context(), nn.Sequential(nn.Flatten(), nn.Dense(10)), train.First(128), Epochs(2), Validate(test.First(20)), TensorBoard(folder), Quiet())
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "events.out.tfevents.*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	for len(b) >= 16 {
		n := int(b[0]) | int(b[1])<<8
		if n+16 > len(b) {
			t.Fatal("the last record is cut")
		}
		if whole := record(b[12 : 12+n]); string(whole) != string(b[:16+n]) {
			t.Fatalf("record %d has other checksums", records)
		}
		b = b[16+n:]
		records++
	}
	if want := 1 + len(run.Steps) + len(run.Validations); records != want || len(b) > 0 {
		t.Errorf("want %d records, got %d and %d bytes more", want, records, len(b))
	}
	if _, err := Fit(t.Context(), nn.Dense(10), train, TensorBoard(files[0]), Quiet()); err == nil {
		t.Error("a file is taken for a folder")
	}
	if _, err := Fit(t.Context(), nn.Dense(10), train, TensorBoard("")); err == nil {
		t.Error("no folder is taken")
	}
}
