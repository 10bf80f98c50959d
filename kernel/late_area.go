package kernel

import (
	"encoding/base64"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/quernlab/quern/kernel/link"
)

// maxLate bounds the late output of all cells, in bytes.
const maxLate = 64 << 20

// lateArea is the late output of a cell, in order.
type lateArea struct {
	pieces  []piece
	size    int  // bytes
	total   *int // size of all areas
	full    bool // some output was dropped because of maxLate
	shown   bool // the client has been sent the display
	changed bool // changed since it was sent
}

// piece is printed text or a display.
type piece struct {
	text    []byte
	display *link.Display
}

func (a *lateArea) print(text []byte) {
	if !a.reserve(len(text)) {
		return
	}
	if n := len(a.pieces); n == 0 || a.pieces[n-1].display != nil {
		a.pieces = append(a.pieces, piece{})
	}
	last := &a.pieces[len(a.pieces)-1]
	last.text = append(last.text, text...)
}

func (a *lateArea) show(d link.Display) {
	if a.reserve(sizeOf(d)) {
		a.pieces = append(a.pieces, piece{display: &d})
	}
}

// update replaces a display in the area. It returns false if the area does not contain
// it.
func (a *lateArea) update(d link.Display) bool {
	found := false
	for i, p := range a.pieces {
		if p.display == nil || p.display.ID != d.ID {
			continue
		}
		found = true
		a.free(sizeOf(*p.display))
		if a.reserve(sizeOf(d)) {
			a.pieces[i].display = &d
		}
	}
	return found
}

func (a *lateArea) clear() {
	a.free(a.size)
	*a = lateArea{total: a.total, shown: a.shown, changed: true}
}

// reserve reserves n bytes and marks the area as changed. It returns false if the limit
// is reached.
func (a *lateArea) reserve(n int) bool {
	a.changed = true
	if *a.total+n > maxLate {
		a.full = true
		return false
	}
	a.size += n
	*a.total += n
	return true
}

func (a *lateArea) free(n int) {
	a.size -= n
	*a.total -= n
}

func sizeOf(d link.Display) int {
	n := 0
	for _, v := range d.Data {
		if s, ok := v.(string); ok {
			n += len(s)
		}
	}
	return n
}

// bundle returns one MIME bundle for the whole area.
func (a *lateArea) bundle() (data, metadata map[string]any) {
	if len(a.pieces) == 1 && !a.full && a.pieces[0].display != nil {
		return a.pieces[0].display.Data, a.pieces[0].display.Metadata
	}
	var plain, page strings.Builder
	displays := false
	write := func(text string) {
		plain.WriteString(text)
		fmt.Fprintf(&page, "<pre>%s</pre>\n", html.EscapeString(colors.ReplaceAllString(text, "")))
	}
	for _, p := range a.pieces {
		if p.display == nil {
			write(string(p.text))
			continue
		}
		displays = true
		text, _ := p.display.Data["text/plain"].(string)
		if plain.Len() > 0 && !strings.HasSuffix(plain.String(), "\n") {
			plain.WriteString("\n")
		}
		plain.WriteString(text + "\n")
		if markup := markup(p.display.Data); markup != "" {
			fmt.Fprintf(&page, "<div>%s</div>\n", markup)
		} else {
			fmt.Fprintf(&page, "<pre>%s</pre>\n", html.EscapeString(text))
		}
	}
	if a.full {
		write(fmt.Sprintf("\nquern: cells have produced more than %d MB of output after their end: the rest of this cell's output is left out\n", maxLate>>20))
	}
	data = map[string]any{}
	if plain.Len() > 0 {
		data["text/plain"] = plain.String()
	}
	if displays {
		data["text/html"] = page.String()
	}
	return data, nil
}

// markup returns the HTML of a display, or "" if it has none.
func markup(data map[string]any) string {
	for _, kind := range []string{"text/html", "image/svg+xml"} {
		if s, ok := data[kind].(string); ok {
			return s
		}
	}
	for _, kind := range []string{"image/png", "image/jpeg"} {
		if s, ok := data[kind].(string); ok {
			if _, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(s, "\n", "")); err == nil {
				return fmt.Sprintf(`<img src="data:%s;base64,%s">`, kind, s)
			}
		}
	}
	return ""
}

// colors matches ANSI color sequences, which tracebacks may contain.
var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")
