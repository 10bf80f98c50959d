package history

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// Card describes a run in JSON, so that it can be repeated: the data set, the options, the
// seeds, the machine, the versions, and the results. Values that were not measured are left
// out.
type Card struct {
	Dataset string   `json:"dataset"` // name of the training set
	Options []string `json:"options"` // as they were given
	// Seeds are strings in JSON, since many programs read JSON numbers as float64, which would
	// change them.
	Seed      uint64    `json:"seed,string"`       // of the random numbers, see Seed
	OrderSeed uint64    `json:"order_seed,string"` // of the order of the examples
	Began     time.Time `json:"began"`             // start of the training

	Steps    int      `json:"steps"`                   // updates of the model
	Skipped  int      `json:"skipped_steps,omitempty"` // as Step.Skipped
	Epochs   int      `json:"epochs"`                  // completed
	Examples int      `json:"examples"`                // as Run.Examples
	Loss     *float64 `json:"loss,omitempty"`          // as Run.Loss
	Accuracy *float64 `json:"accuracy,omitempty"`      // as Run.Accuracy
	BestStep *int     `json:"best_step,omitempty"`     // of the best validation
	// Metrics are the values of option Metrics by name.
	Metrics map[string]float64 `json:"metrics,omitempty"`

	Seconds           float64  `json:"seconds"`                       // of the whole training
	ExamplesPerSecond *float64 `json:"examples_per_second,omitempty"` // while training, without validation
	WaitingSeconds    float64  `json:"waiting_seconds"`               // for batches
	ComputingSeconds  float64  `json:"computing_seconds"`             // forward, backward and update
	ValidatingSeconds float64  `json:"validating_seconds"`            // for validations
	PeakBytes         int      `json:"peak_bytes"`                    // peak memory of tensors during the run
	Joules            *float64 `json:"joules,omitempty"`              // of all epochs, if measured

	Device   string   `json:"device"`             // as Device returns it
	Threads  int      `json:"threads"`            // GOMAXPROCS
	System   string   `json:"system"`             // operating system and architecture
	Go       string   `json:"go"`                 // version of Go
	Module   string   `json:"module,omitempty"`   // version of this module, if known
	Revision string   `json:"revision,omitempty"` // commit of this module, if known
	Notes    []string `json:"notes,omitempty"`    // as Run.Notes
}

// Card returns a description of the run.
func (r *Run) Card() Card {
	loss, accuracy := r.outcome()
	c := Card{
		Dataset: r.Dataset, Options: append([]string{}, r.Options...), Seed: r.state.StreamSeed, OrderSeed: r.Seed, Began: r.state.Began.UTC().Truncate(time.Second),
		Steps: len(r.Steps), Epochs: len(r.Epochs), Examples: r.Examples,
		Loss: measured(loss), Accuracy: measured(accuracy),
		Seconds: r.Time.Total.Seconds(), ExamplesPerSecond: measured(r.ExamplesPerSecond()),
		WaitingSeconds: r.Time.Waiting.Seconds(), ComputingSeconds: r.Time.Computing.Seconds(), ValidatingSeconds: r.Time.Validating.Seconds(),
		PeakBytes: r.state.PeakBytes,
		Device:    r.state.Device, Threads: runtime.GOMAXPROCS(0), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		Notes: append([]string{}, r.Notes...),
	}
	for _, v := range r.Metrics() {
		if measured(v.Value) != nil {
			if c.Metrics == nil {
				c.Metrics = map[string]float64{}
			}
			c.Metrics[v.Name] = v.Value
		}
	}
	joules, _ := r.energy()
	c.Joules = measured(joules)
	for _, s := range r.Steps {
		if s.Skipped {
			c.Skipped++
		}
	}
	if r.Best >= 0 && r.Best < len(r.Validations) {
		step := r.Validations[r.Best].Step
		c.BestStep = &step
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		c.Module, c.Revision = versions(build)
	}
	return c
}

// versions returns the version of this module in a program, and the revision from which the
// program was built.
func versions(build *debug.BuildInfo) (module, revision string) {
	const path = "github.com/quernlab/quern"
	for _, m := range append([]*debug.Module{&build.Main}, build.Deps...) {
		if m.Path == path {
			module = m.Version
		}
	}
	for _, s := range build.Settings {
		if s.Key == "vcs.revision" && build.Main.Path == path {
			revision = s.Value
		}
	}
	return module, revision
}

// measured returns a pointer to v, or nil if it is not finite.
func measured(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// String returns the card as JSON.
func (c Card) String() string {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Sprintf("accel: encode the card: %v", err)
	}
	return string(b)
}

// MIMEBundle returns the card as HTML and text. It has no application/json, since JupyterLab
// would prefer that and show a tree instead of the page.
func (c Card) MIMEBundle() map[string]any {
	return map[string]any{"text/html": c.html(), "text/plain": c.String()}
}

// Save writes the card to a file.
func (c Card) Save(path string) error {
	if err := os.WriteFile(filepath.Clean(path), []byte(c.String()+"\n"), 0o644); err != nil {
		return fmt.Errorf("accel: save the card: %w", err)
	}
	return nil
}

// html returns the card as an HTML page: the training, its settings and its results.
func (c Card) html() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<div style="display:inline-block;border:1px solid #8888;border-radius:6px;padding:8px 14px;max-width:100%%"><b>%s</b><table>`, html.EscapeString("Training on "+c.Dataset))
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, `<tr><th style="text-align:left">%s</th><td style="text-align:left">%s</td></tr>`, name, html.EscapeString(text))
		}
	}
	known := func(v *float64, write func(float64) string) string {
		if v == nil {
			return ""
		}
		return write(*v)
	}
	row("loss", known(c.Loss, quantity.Number))
	row("accuracy", known(c.Accuracy, quantity.Percent))
	for _, name := range slices.Sorted(maps.Keys(c.Metrics)) {
		row(name, quantity.Number(c.Metrics[name]))
	}
	if c.BestStep != nil {
		row("best at step", display.Integer(*c.BestStep))
	}
	row("trained", fmt.Sprintf("%s, %s steps, %s examples", quantity.Plural(c.Epochs, "epoch"), display.Integer(c.Steps), display.Integer(c.Examples)))
	row("options", strings.Join(c.Options, ", "))
	row("seeds", fmt.Sprintf("%d, order %d", c.Seed, c.OrderSeed))
	row("time", fmt.Sprintf("%s, began %s", quantity.Elapsed(time.Duration(c.Seconds*float64(time.Second))), c.Began.Format("2006-01-02 15:04:05 MST")))
	row("examples/s", known(c.ExamplesPerSecond, quantity.Rate))
	row("peak memory", quantity.Bytes(c.PeakBytes))
	row("energy", known(c.Joules, func(v float64) string { return quantity.Rate(v) + " J" }))
	row("machine", fmt.Sprintf("%s, %s, %s", c.Device, c.System, quantity.Plural(c.Threads, "thread")))
	row("versions", strings.TrimSpace(strings.Join([]string{c.Go, c.Module, c.Revision}, " ")))
	row("notes", strings.Join(c.Notes, "; "))
	b.WriteString("</table></div>")
	return b.String()
}
