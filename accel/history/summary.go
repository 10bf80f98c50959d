package history

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// Summary describes the run in a few lines.
func (r *Run) Summary() string { return r.String() + "\n" + r.whereTimeWent() }

// whereTimeWent describes throughput, shares of time, and notes.
func (r *Run) whereTimeWent() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s examples/s; waiting for data %s, computing %s, validating %s",
		quantity.Rate(r.ExamplesPerSecond()), r.share(r.Time.Waiting), r.share(r.Time.Computing), r.share(r.Time.Validating))
	switch {
	case r.state.NCCL != "":
		fmt.Fprintf(&b, "\n%d ranks; waiting for other ranks %s, without the time in which %s adds the gradients on the GPUs; prof.Run measures that",
			r.Ranks, r.share(r.Time.CommunicationWait), r.state.NCCL)
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
		if r.state.Average {
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
