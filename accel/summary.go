package accel

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Summary says in a few lines how the run went.
func (r *Run) Summary() string { return r.String() + "\n" + r.whereTimeWent() }

// whereTimeWent returns the speed, the shares of the time, and the notes.
func (r *Run) whereTimeWent() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s examples/s; waiting for data %s, computing %s, validating %s",
		quantity(r.ExamplesPerSecond()), r.share(r.Time.Waiting), r.share(r.Time.Computing), r.share(r.Time.Validating))
	switch {
	case r.nccl != "":
		fmt.Fprintf(&b, "\n%d ranks; waiting for what they agree on %s; what share of a step %s adds up gradients on the GPUs, prof.Run tells",
			r.Ranks, r.share(r.Time.CommunicationWait), r.nccl)
	case r.Ranks > 1:
		fmt.Fprintf(&b, "\n%d ranks; waiting for the gradients of others %s", r.Ranks, r.share(r.Time.CommunicationWait))
		if r.Time.Communication > 0 {
			hidden := max(0, 1-r.Time.CommunicationWait.Seconds()/r.Time.Communication.Seconds())
			fmt.Fprintf(&b, ", %.0f %% of their exchange behind the computation", 100*hidden)
		}
	}
	if total, estimated := r.energy(); isNumber(total) {
		about := ""
		if estimated {
			about = "about "
		}
		fmt.Fprintf(&b, "\n%s%s J in all, %s J an epoch", about, quantity(total), quantity(total/float64(len(r.Epochs))))
	}
	for _, note := range r.Notes {
		b.WriteString("\n" + note)
	}
	return b.String()
}

// maxEpochRows is the number of epochs that a table has room for; of more, it
// shows some at equal distances.
const maxEpochRows = 10

// epochTable has a row for each epoch, or of many epochs for some: the last,
// and the one whose validation was best.
func (r *Run) epochTable() table {
	t := table{headings: []string{"epoch", "loss"}, below: r.String() + "\n" + r.whereTimeWent()}
	if r.classes {
		t.headings = append(t.headings, "accuracy")
	}
	if len(r.Validations) > 0 {
		t.headings = append(t.headings, "validation loss")
		if r.classes {
			t.headings = append(t.headings, "validation accuracy")
		}
	}
	t.headings = append(t.headings, "seconds")
	joules, _ := r.Energy()
	energy := slices.ContainsFunc(joules, isNumber)
	if energy {
		t.headings = append(t.headings, "joules")
	}
	checks := map[int]Validation{} // the last of each epoch
	for _, c := range r.Validations {
		checks[c.Epoch] = c
	}
	best := 0
	if r.Best >= 0 {
		best = r.Validations[r.Best].Epoch
	}
	every := quotient(max(len(r.Epochs), 1), maxEpochRows)
	for i, e := range r.Epochs {
		n := i + 1
		if n%every > 0 && n != best && n != len(r.Epochs) {
			continue
		}
		name := fmt.Sprint(n)
		if n == best {
			name += ", best"
		}
		row := []string{name, number(e.Loss)}
		if r.classes {
			row = append(row, known(e.Accuracy))
		}
		if len(r.Validations) > 0 {
			c, ok := checks[n]
			row = append(row, only(ok, number(c.Loss)))
			if r.classes {
				row = append(row, only(ok, known(c.Accuracy)))
			}
		}
		row = append(row, fmt.Sprintf("%.2f", e.Seconds))
		if energy {
			row = append(row, only(isNumber(joules[i]), quantity(joules[i])))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// only returns a text where there is something to say.
func only(ok bool, text string) string {
	if ok {
		return text
	}
	return ""
}

func isNumber(v float64) bool { return !math.IsNaN(v) }

// known returns a share in percent, or nothing where it was not measured.
func known(share float64) string { return only(!math.IsNaN(share), percent(share)) }
