package accel

import (
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/quernlab/quern/display"
)

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
	row("loss", known(c.Loss, number))
	row("accuracy", known(c.Accuracy, percent))
	if c.BestStep != nil {
		row("best at step", display.Integer(*c.BestStep))
	}
	row("trained", fmt.Sprintf("%s, %s steps, %s examples", plural(c.Epochs, "epoch"), display.Integer(c.Steps), display.Integer(c.Examples)))
	row("options", strings.Join(c.Options, ", "))
	row("seeds", fmt.Sprintf("%d, order %d", c.Seed, c.OrderSeed))
	row("time", fmt.Sprintf("%s, began %s", seconds(time.Duration(c.Seconds*float64(time.Second))), c.Began.Format("2006-01-02 15:04:05 MST")))
	row("examples/s", known(c.ExamplesPerSecond, rateText))
	row("peak memory", size(c.PeakBytes))
	row("energy", known(c.Joules, func(v float64) string { return rateText(v) + " J" }))
	row("machine", fmt.Sprintf("%s, %s, %s", c.Device, c.System, plural(c.Threads, "thread")))
	row("versions", strings.TrimSpace(strings.Join([]string{c.Go, c.Module, c.Revision}, " ")))
	row("notes", strings.Join(c.Notes, "; "))
	b.WriteString("</table></div>")
	return b.String()
}
