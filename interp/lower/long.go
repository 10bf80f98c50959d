package lower

// Long expressions. Each level of an expression writes the text of the level below into its own, so a chain of n calls would copy
// a text of its length n times. The middle of a long text is kept aside, and a mark stands for it until the unit is complete.

import (
	"strconv"
	"strings"
)

const (
	longText  = 1024 // a text from this length on is shortened
	textEnds  = 64   // what is left at each end, for those who look at how an expression begins or ends
	markBegin = "\x01"
	markEnd   = "\x02"
)

// shorten keeps the middle of a long lowered expression aside.
func (e *emitter) shorten(text string) string {
	if len(text) < longText {
		return text
	}
	e.middles = append(e.middles, text[textEnds:len(text)-textEnds])
	return text[:textEnds] + markBegin + strconv.Itoa(len(e.middles)-1) + markEnd + text[len(text)-textEnds:]
}

// isShortened reports whether there is a middle of text that is kept aside.
func isShortened(text string) bool { return strings.Contains(text, markBegin) }

// expand returns a text with the middles that were kept aside, and moves offsets in the text, which are in order.
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

// expansion writes texts with their middles.
type expansion struct {
	middles []string
	b       strings.Builder
}

// middle writes the middle whose mark text begins with, and gives the length of the mark. The middles may have marks
// themselves, as deep as the expression.
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
