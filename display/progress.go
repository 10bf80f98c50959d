package display

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"
)

// Progress is the progress of an operation. It is displayed as a bar with the step count, the
// elapsed time and the remaining time. All long operations of Quern display their progress this
// way.
type Progress struct {
	Label  string        // text before the bar; may be empty
	Done   float64       // steps, including a fraction of the current one
	Total  float64       // 0 if unknown
	Passed time.Duration // since the beginning
	Note   string        // text after the numbers; may be empty
	Ended  bool          // no more steps follow
}

// Left estimates the remaining time at the speed so far; ok is false if it is unknown.
func (p Progress) Left() (left time.Duration, ok bool) {
	if p.Ended || !(p.Done > 0) || !(p.Done < p.Total) {
		return 0, false
	}
	seconds := p.Passed.Seconds() / p.Done * (p.Total - p.Done)
	if math.IsNaN(seconds) || seconds > math.MaxInt64/1e9 {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// Share returns the fraction that is done, from 0 to 1, or 0 if the total is unknown.
func (p Progress) Share() float64 {
	if !(p.Total > 0) || !(p.Done > 0) {
		return 0
	}
	return min(p.Done/p.Total, 1)
}

// Numbers returns the text beside the bar: "331/2345  00:45, 04:33 left".
func (p Progress) Numbers() string {
	text := Integer(int(p.Done))
	if p.Total > 0 {
		text += "/" + Integer(int(p.Total))
	}
	text += "  " + clock(p.Passed)
	if left, ok := p.Left(); ok {
		text += ", " + clock(left) + " left"
	}
	if p.Note != "" {
		text += ", " + p.Note
	}
	return text
}

// barWidth is the width of the bar in text, in characters.
const barWidth = 30

// String returns the progress as one line of text.
func (p Progress) String() string {
	text := p.Numbers()
	if p.Total > 0 {
		filled := int(barWidth * p.Share())
		text = "[" + strings.Repeat("#", filled) + strings.Repeat(".", barWidth-filled) + "] " + text
	}
	if p.Label != "" {
		text = p.Label + " " + text
	}
	return text
}

// Interim reports that a bar is the state of a running operation, and not a result.
func (p Progress) Interim() bool { return true }

// MIMEBundle returns the bar as HTML and as text.
func (p Progress) MIMEBundle() map[string]any {
	value := ""
	switch {
	case p.Total > 0:
		value = fmt.Sprintf(` value="%.6g" max="1"`, p.Share())
	case p.Ended:
		value = ` value="1" max="1"`
	}
	label := html.EscapeString(p.Label)
	name := label
	if name == "" {
		name = "progress"
	}
	page := fmt.Sprintf(`<div style="font-family: var(--jp-code-font-family, monospace)">%s <progress%s aria-label="%s" style="width: 20em; max-width: 100%%; vertical-align: middle"></progress> %s</div>`,
		label, value, name, html.EscapeString(p.Numbers()))
	return map[string]any{"text/plain": p.String(), "text/html": page}
}

// clock formats a duration as minutes and seconds.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}
