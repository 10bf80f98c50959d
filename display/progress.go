package display

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"
)

// Progress is how far something has come. It shows itself as a bar with the count, the
// time that has passed and the time that is left. All that takes long shows its progress
// like this.
type Progress struct {
	Label  string  // before the bar; may be empty
	Done   float64 // steps; a part of the next one counts
	Total  float64 // 0 is an unknown number
	Passed time.Duration
	Note   string // behind the numbers; may be empty
	Ended  bool
}

// Left is how much longer it will take if it goes on like this; ok is false where nobody
// knows.
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

// Share is the part that is done, from 0 to 1; 0 of an unknown number.
func (p Progress) Share() float64 {
	if !(p.Total > 0) || !(p.Done > 0) {
		return 0
	}
	return min(p.Done/p.Total, 1)
}

// Numbers is what stands beside the bar: "331/2345  00:45, 04:33 left".
func (p Progress) Numbers() string {
	text := fmt.Sprint(int(p.Done))
	if p.Total > 0 {
		text = fmt.Sprintf("%d/%d", int(p.Done), int(p.Total))
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

// barWidth is that of a bar made of characters.
const barWidth = 30

// String is the progress in one line of text.
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

// MIMEBundle shows the bar.
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

// clock is a time as a clock shows it.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}
