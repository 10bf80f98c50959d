package progress

import (
	"fmt"
	"html"
	"strings"
	"sync"
	"time"

	"github.com/quernlab/quern/display"
)

// between is the least time between two pictures of a bar: front ends cut off
// what changes too often.
const between = 100 * time.Millisecond

// Bar is one bar. Its methods may be called from any goroutine.
type Bar struct {
	total int
	now   func() time.Time
	begun time.Time

	mu     sync.Mutex
	done   int
	label  string
	handle *display.Handle
	shown  time.Time // when it was shown last
	ended  bool
}

// NewBar shows a bar for a number of steps; 0 is an unknown number.
func NewBar(total int, label string) *Bar { return newBar(total, label, time.Now) }

func newBar(total int, label string, now func() time.Time) *Bar {
	b := &Bar{total: max(total, 0), now: now, begun: now(), label: label}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.show()
	return b
}

// Add tells that n more steps are done.
func (b *Bar) Add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += n
	if !b.ended && b.now().Sub(b.shown) >= between {
		b.show()
	}
}

// SetLabel changes the text before the bar.
func (b *Bar) SetLabel(label string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.label = label
	if b.now().Sub(b.shown) >= between {
		b.show()
	}
}

// End shows the last state. Ending a bar twice is fine.
func (b *Bar) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.ended = true
		b.show()
	}
}

// show shows the bar as it is. The lock is held.
func (b *Bar) show() {
	b.shown = b.now()
	if b.handle == nil {
		b.handle = display.Show(picture(b))
	} else {
		b.handle.Update(picture(b))
	}
}

// picture makes the forms of a bar whose lock is held.
func picture(b *Bar) display.Displayer {
	passed := b.shown.Sub(b.begun)
	text := fmt.Sprint(b.done)
	if b.total > 0 {
		text = fmt.Sprintf("%d/%d", b.done, b.total)
	}
	text += "  " + clock(passed)
	if b.done > 0 && b.done < b.total && !b.ended {
		left := time.Duration(float64(passed) / float64(b.done) * float64(b.total-b.done))
		text += ", " + clock(left) + " left"
	}
	if seconds := passed.Seconds(); seconds > 0 && b.done > 0 {
		text += fmt.Sprintf(", %.3g/s", float64(b.done)/seconds)
	}
	return bundle{"text/plain": b.plain(text), "text/html": b.html(text)}
}

// width is that of a bar made of characters.
const width = 30

func (b *Bar) plain(text string) string {
	if b.total > 0 {
		filled := width * min(b.done, b.total) / b.total
		text = "[" + strings.Repeat("#", filled) + strings.Repeat(".", width-filled) + "] " + text
	}
	if b.label != "" {
		text = b.label + " " + text
	}
	return text
}

func (b *Bar) html(text string) string {
	value := ""
	if b.total > 0 {
		value = fmt.Sprintf(` value="%d" max="%d"`, min(b.done, b.total), b.total)
	} else if b.ended {
		value = ` value="1" max="1"`
	}
	return fmt.Sprintf(`<div style="font-family: var(--jp-code-font-family, monospace)">%s <progress%s style="width: 20em; vertical-align: middle"></progress> %s</div>`,
		html.EscapeString(b.label), value, text)
}

// clock is a time as a clock shows it.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

type bundle map[string]any

func (b bundle) MIMEBundle() map[string]any { return b }
