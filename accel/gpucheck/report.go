package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"

	"github.com/quernlab/quern/accel/internal/benchfile"
)

// report is the result of a command, or of one part.
type report struct {
	Command string       `json:"command,omitempty"`
	Date    string       `json:"date,omitempty"`
	Device  string       `json:"device,omitempty"`
	Name    string       `json:"name,omitempty"`    // of the GPU
	Missing string       `json:"missing,omitempty"` // why there is no GPU
	Quick   bool         `json:"quick,omitempty"`
	Limit   float64      `json:"limit,omitempty"`   // seconds
	Seconds float64      `json:"seconds,omitempty"` // of all parts
	Parts   []partResult `json:"parts,omitempty"`

	Machine    *machine            `json:"machine,omitempty"`
	FirstUse   float64             `json:"first_use,omitempty"` // seconds until the first result
	Loaded     []loaded            `json:"loaded,omitempty"`    // all kernels
	Smoke      []smoked            `json:"smoke,omitempty"`
	Profiles   []benchfile.Profile `json:"profiles,omitempty"`
	Candidates []selection         `json:"candidates,omitempty"`
	Ops        []checked           `json:"ops,omitempty"`
	Ranks      []trained           `json:"ranks,omitempty"`
	Kernels    []tested            `json:"kernels,omitempty"`

	// Of compare: what accel/bench stored.
	Models    json.RawMessage     `json:"models,omitempty"`
	Cubins    *cubins             `json:"cubins,omitempty"`
	Variants  []benchfile.Variant `json:"variants,omitempty"`
	NCU       []measured          `json:"ncu,omitempty"`
	Sanitizer []string            `json:"sanitizer,omitempty"` // summary for each model

	progress
}

// progress is of the process of a part.
type progress struct {
	Part    *partResult `json:"part,omitempty"`    // how it ended
	Next    int         `json:"next,omitempty"`    // index of the next piece
	Running string      `json:"running,omitempty"` // the piece that was running
}

// take merges the report of a part: lists become longer, and what the part has set replaces what was there.
func (r *report) take(own report) {
	own.progress = progress{}
	to, from := reflect.ValueOf(r).Elem(), reflect.ValueOf(own)
	for i := range to.NumField() {
		switch field := from.Field(i); {
		case field.IsZero():
		case field.Kind() == reflect.Slice:
			to.Field(i).Set(reflect.AppendSlice(to.Field(i), field))
		default:
			to.Field(i).Set(field)
		}
	}
}

// failure returns why the part of the report failed, or nil.
func (r *report) failure() error {
	if r.Part == nil || r.Part.Why == "" {
		return nil
	}
	return errors.New(r.Part.Why)
}

// exit returns the exit status.
func (r *report) exit() int {
	status := 0
	for _, p := range r.Parts {
		switch p.Status {
		case complete:
		case wrong:
			return exitWrong
		default:
			status = exitIncomplete
		}
	}
	return status
}

// checked is the comparison of one op.
type checked struct {
	Op         string  `json:"op"`
	Device     string  `json:"device,omitempty"` // if it is not the device of the report
	Autocast   bool    `json:"autocast,omitempty"`
	Difference float64 `json:"difference"` // largest difference, relative to the tensor's largest value
	Tolerance  float64 `json:"tolerance"`
	Error      string  `json:"error,omitempty"`
}

// add records a comparison, and prints it if it is wrong.
func (r *report) add(c checked, out io.Writer) {
	if c.Error != "" || !(c.Difference <= c.Tolerance) {
		how := ""
		if c.Autocast {
			how = " with autocast"
		}
		if c.Error == "" {
			c.Error = fmt.Sprintf("the difference is %.2g of the largest value, %.2g is allowed", c.Difference, c.Tolerance)
		}
		r.wrong()
		fmt.Fprintf(out, "WRONG %s%s: %s\n", c.Op, how, c.Error)
	}
	if math.IsNaN(c.Difference) || math.IsInf(c.Difference, 0) {
		c.Difference = -1 // JSON has neither NaN nor infinity
	}
	r.Ops = append(r.Ops, c)
}

// wrong records that the running part found a wrong result.
func (r *report) wrong() {
	if r.Part != nil {
		r.Part.worse(wrong, "")
	}
}

var plainName = regexp.MustCompile(`[^a-z0-9]+`)

// save writes the report to a folder and returns its path.
func (r *report) save(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(folder, r.fileName())
	return path, r.write(path)
}

// fileName returns DATE-DEVICE-COMMAND.json.
func (r *report) fileName() string {
	return r.Date[:10] + "-" + strings.Trim(plainName.ReplaceAllString(strings.ToLower(r.Name), "-"), "-") + "-" + r.Command + ".json"
}

// write writes the report to a file. A process that is killed meanwhile leaves the file of before.
func (r *report) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if path == os.DevNull {
		return nil
	}
	written := path + ".new"
	if err := os.WriteFile(written, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(written, path)
}

// goVersion is the release of Go with which the program was built.
var goVersion = runtime.Version()
