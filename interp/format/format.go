package format

import (
	"fmt"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/magic"
)

// A Formatter formats the cells of a notebook in order. The zero value is ready for use.
type Formatter struct {
	// Known reports whether a name is defined outside of the cells; nil if none is.
	Known func(name string) bool

	defined map[string]bool // by earlier cells
}

// An Error is a syntax error, because of which a cell cannot be formatted.
type Error struct {
	Line, Column int // from 1, columns in bytes
	Msg          string
}

func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Msg) }

// Cell formats a cell. A cell without Go code stays as it is. The error is an *Error.
func (f *Formatter) Cell(src string) (string, error) {
	known := func(name string) bool { return f.defined[name] || f.Known != nil && f.Known(name) }
	code := magic.Blank(src, known)
	spans, unmatched := check.Spans(code)
	if unmatched >= 0 {
		return "", errorAt(src, unmatched, fmt.Sprintf("unexpected %q: no bracket is open here", src[unmatched]))
	}
	var out strings.Builder
	end := 0 // of the part before, in src
	put := func(start, after int, text string) {
		if out.Len() > 0 {
			out.WriteByte('\n')
			if strings.Count(src[end:start], "\n") > 1 {
				out.WriteByte('\n')
			}
		}
		out.WriteString(text)
		end = after
	}
	var names []string
	format := func(from, to int) error {
		var own []check.Span
		for _, s := range spans {
			if from <= s.Start && s.Start < to {
				own = append(own, s)
			}
		}
		for _, run := range runsOf(own, from, to) {
			text := code[run.start:run.end]
			lead := len(text) - len(strings.TrimLeft(text, space))
			run.start, text = run.start+lead, strings.Trim(text, space)
			if text == "" {
				continue
			}
			formatted, defines, err := run.format(code, text)
			if err != nil {
				return err
			}
			names = append(names, defines...)
			put(run.start, run.start+len(text), formatted)
		}
		return nil
	}
	at := 0
	for _, k := range kept(src, spans, known) {
		if k[0] < at {
			continue // in the statement of %time
		}
		if err := format(at, k[0]); err != nil {
			return "", err
		}
		put(k[0], k[1], src[k[0]:k[1]])
		at = k[1]
	}
	if err := format(at, len(src)); err != nil {
		return "", err
	}
	if f.defined == nil {
		f.defined = map[string]bool{}
	}
	for _, name := range names {
		f.defined[name] = true
	}
	if out.Len() == 0 {
		return src, nil // nothing but blank lines
	}
	return out.String(), nil
}

// space is what separates the parts of a cell. The semicolon may follow a statement.
const space = " \t\r\n;"

// kept returns the start and end of the parts of a cell that stay as they are: the lines of commands. The
// statement of %time belongs to its line.
func kept(src string, spans []check.Span, known func(string) bool) [][2]int {
	var list [][2]int
	for _, r := range magic.Ranges(src, known) {
		start, end := strings.LastIndexByte(src[:r[0]], '\n')+1, endOfLine(src, r[1])
		for _, s := range spans {
			if r[1] <= s.Start && s.Start < end {
				end = max(end, endOfLine(src, s.End))
			}
		}
		list = append(list, [2]int{start, end})
	}
	return list
}

func endOfLine(src string, offset int) int {
	if i := strings.IndexByte(src[offset:], '\n'); i >= 0 {
		return offset + i
	}
	return len(src)
}

func errorAt(src string, offset int, msg string) *Error {
	offset = min(offset, len(src))
	before := src[:offset]
	return &Error{1 + strings.Count(before, "\n"), offset - strings.LastIndexByte(before, '\n'), msg}
}
