package lower

// Long expressions. Each level of an expression copies the text of the level below, so a chain of n calls
// would copy a text of its length n times. The middle of a long text is stored separately, and a mark
// replaces it until the unit is complete.

import (
	"strconv"
	"strings"
)

const (
	longText  = 1024 // texts from this length on are shortened
	textEnds  = 64   // length of the remaining ends, for code that looks at the beginning or the end of an expression
	markBegin = "\x01"
	markEnd   = "\x02"
)

// shorten stores the middle of a long lowered expression separately.
func (e *emitter) shorten(text string) string {
	if len(text) < longText {
		return text
	}
	e.middles = append(e.middles, text[textEnds:len(text)-textEnds])
	return text[:textEnds] + markBegin + strconv.Itoa(len(e.middles)-1) + markEnd + text[len(text)-textEnds:]
}

// isShortened reports whether text contains a mark.
func isShortened(text string) bool { return strings.Contains(text, markBegin) }

// expand replaces the marks in text by the stored middles. It adjusts the offsets into the text, which
// are sorted.
func (e *emitter) expand(text string, offsets ...[]int) string {
	if !isShortened(text) {
		return text
	}
	x := expansion{middles: e.middles}
	next := make([]int, len(offsets))
	at := 0
	for {
		mark := strings.Index(text[at:], markBegin)
		end := len(text)
		if mark >= 0 {
			end = at + mark
		}
		for i, list := range offsets {
			for ; next[i] < len(list) && list[next[i]] <= end; next[i]++ {
				list[next[i]] += x.b.Len() - at
			}
		}
		x.b.WriteString(text[at:end])
		if mark < 0 {
			return x.b.String()
		}
		at = end + x.middle(text[end:])
	}
}

// expansion collects a text with its middles.
type expansion struct {
	middles []string
	b       strings.Builder
}

// middle writes the middle for the mark at the beginning of text, and returns the length of the mark.
// Middles may contain marks themselves, as deep as the expression.
func (x *expansion) middle(text string) int {
	mark, _, _ := strings.Cut(text, markEnd)
	i, err := strconv.Atoi(mark[len(markBegin):])
	if err != nil {
		panic("the mark " + strconv.Quote(mark) + " in lowered code")
	}
	rest := x.middles[i]
	for {
		at := strings.Index(rest, markBegin)
		if at < 0 {
			x.b.WriteString(rest)
			return len(mark) + len(markEnd)
		}
		x.b.WriteString(rest[:at])
		rest = rest[at+x.middle(rest[at:]):]
	}
}
