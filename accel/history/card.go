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
		Dataset: r.Dataset, Options: append([]string{}, r.Options...), Seed: r.streamSeed, OrderSeed: r.Seed, Began: r.began.UTC().Truncate(time.Second),
		Steps: len(r.Steps), Epochs: len(r.Epochs), Examples: r.Examples,
		Loss: measured(loss), Accuracy: measured(accuracy),
		Seconds: r.Time.Total.Seconds(), ExamplesPerSecond: measured(r.ExamplesPerSecond()),
		WaitingSeconds: r.Time.Waiting.Seconds(), ComputingSeconds: r.Time.Computing.Seconds(), ValidatingSeconds: r.Time.Validating.Seconds(),
		PeakBytes: r.peakBytes,
		Device:    r.device, Threads: runtime.GOMAXPROCS(0), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
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

// Summary describes the run in a few lines.
func (r *Run) Summary() string { return r.String() + "\n" + r.whereTimeWent() }

// whereTimeWent describes throughput, shares of time, and notes.
func (r *Run) whereTimeWent() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s examples/s; waiting for data %s, computing %s, validating %s",
		quantity.Rate(r.ExamplesPerSecond()), r.share(r.Time.Waiting), r.share(r.Time.Computing), r.share(r.Time.Validating))
	switch {
	case r.nccl != "":
		fmt.Fprintf(&b, "\n%d ranks; waiting for other ranks %s, without the time in which %s adds the gradients on the GPUs; prof.Run measures that",
			r.Ranks, r.share(r.Time.CommunicationWait), r.nccl)
	case r.Ranks > 1:
		fmt.Fprintf(&b, "\n%d ranks; waiting for the gradients of other ranks %s", r.Ranks, r.share(r.Time.CommunicationWait))
		if r.Time.Communication > 0 {
			hidden := max(0, 1-r.Time.CommunicationWait.Seconds()/r.Time.Communication.Seconds())
			fmt.Fprintf(&b, ", %.0f %% of the communication overlapped with computation", 100*hidden)
		}
	}
	switch e := r.EnergyUse(); e.Source {
	case EnergyCounter, EnergySamples:
		about := ""
		if e.Source == EnergySamples {
			about = "about "
		}
		fmt.Fprintf(&b, "\n%s%s J in total, %s J per epoch, %s per example", about, quantity.Rate(e.Joules), quantity.Rate(e.Joules/float64(len(r.Epochs))), joulesText(e.PerExample))
	case AssumedEnergy:
		b.WriteString("\n" + e.String())
	}
	for _, note := range r.Notes {
		b.WriteString("\n" + note)
	}
	return b.String()
}

// maxEpochRows is the maximum number of rows for epochs; of more epochs the table shows some at
// equal distances.
const maxEpochRows = 10

// epochTable returns a table with a row for each epoch. Of many epochs it shows some, among
// them the last and the best.
func (r *Run) epochTable() *display.Report {
	accuracy := r.hasAccuracy()
	columns := []string{"epoch", "loss"}
	if accuracy {
		columns = append(columns, "accuracy")
	}
	if len(r.Validations) > 0 {
		validationLoss := "validation loss"
		if r.averaged {
			validationLoss += " (EMA)"
		}
		columns = append(columns, validationLoss)
		if accuracy {
			columns = append(columns, "validation accuracy")
		}
		for _, v := range r.Metrics() {
			columns = append(columns, v.Name)
		}
	}
	columns = append(columns, "seconds")
	joules, _ := r.Energy()
	energy := slices.ContainsFunc(joules, isNumber)
	if energy {
		columns = append(columns, "joules")
	}
	t := new(display.Report).Table(columns...)
	checks := map[int]Validation{} // the last validation of each epoch
	for _, c := range r.Validations {
		checks[c.Epoch] = c
	}
	best := 0
	if r.Best >= 0 {
		best = r.Validations[r.Best].Epoch
	}
	every := (len(r.Epochs) + maxEpochRows - 1) / maxEpochRows
	for i, e := range r.Epochs {
		n := i + 1
		if n%every > 0 && n != best && n != len(r.Epochs) {
			continue
		}
		name := fmt.Sprint(n)
		if n == best {
			name += ", best"
		}
		row := []any{name, quantity.Number(e.Loss)}
		if accuracy {
			row = append(row, known(e.Accuracy))
		}
		if len(r.Validations) > 0 {
			c, ok := checks[n]
			row = append(row, only(ok, quantity.Number(c.Loss)))
			if accuracy {
				row = append(row, only(ok, known(c.Accuracy)))
			}
			for _, v := range r.Metrics() {
				v.Value = valueOf(c.Metrics, v.Name)
				row = append(row, only(ok, v.text()))
			}
		}
		row = append(row, fmt.Sprintf("%.2f", e.Seconds))
		if energy {
			row = append(row, only(isNumber(joules[i]), quantity.Rate(joules[i])))
		}
		t.Row(row...)
	}
	return t.Text(r.String() + "\n" + r.whereTimeWent())
}

// only returns text if ok, else "".
func only(ok bool, text string) string {
	if ok {
		return text
	}
	return ""
}

// known formats a share in percent, or "" if it was not measured.
func known(share float64) string { return only(!math.IsNaN(share), quantity.Percent(share)) }
