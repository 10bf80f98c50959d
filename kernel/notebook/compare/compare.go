// Package compare compares the outputs of a cell with those of an earlier run.
//
// Texts are compared: those of streams, of errors, and the representations text/plain, text/markdown and text/latex of
// results and displays. Numbers in them may differ within a [Tolerance]. Of images, HTML and other data only the MIME
// type counts, because text/plain describes the same value.
package compare

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/kernel/notebook"
)

// Tolerance is how much texts may differ. Numbers may differ by Absolute + Relative·|wanted number|. If both are 0, texts
// have to be the same; otherwise the number of spaces between words does not matter, because columns get wider.
// Before that, what matches a pattern is replaced in both texts.
type Tolerance struct {
	Relative, Absolute float64
	Normalize          []Replacement
}

// Replacement replaces what matches a pattern, such as a time, by a text, in which $1 is the first group of the pattern.
type Replacement struct {
	Pattern *regexp.Regexp
	Text    string
}

// ParseReplacement parses pattern=text. An equals sign of either is written as \=.
func ParseReplacement(s string) (Replacement, error) {
	var parts []string
	rest := s
	for part := ""; ; {
		before, after, found := strings.Cut(rest, "=")
		part += before
		backslashes := len(part) - len(strings.TrimRight(part, `\`))
		if rest = after; found && backslashes%2 == 1 {
			part += "="
			continue
		}
		parts, part = append(parts, part), ""
		if !found {
			break
		}
	}
	switch {
	case len(parts) < 2:
		return Replacement{}, fmt.Errorf("%q has no equals sign: want pattern=text", s)
	case len(parts) > 2:
		return Replacement{}, fmt.Errorf("%q has several equals signs: write those of the pattern and of the text as \\=", s)
	}
	pattern, err := regexp.Compile(parts[0])
	if err != nil {
		return Replacement{}, fmt.Errorf("%q: %w", s, err)
	}
	if pattern.MatchString("") {
		return Replacement{}, fmt.Errorf("%q matches the empty text, so it would be replaced everywhere", s)
	}
	return Replacement{pattern, strings.ReplaceAll(parts[1], `\=`, "=")}, nil
}

// IsZero reports whether texts have to be the same.
func (t Tolerance) IsZero() bool { return t.exact() && len(t.Normalize) == 0 }

// exact reports whether numbers have to be the same.
func (t Tolerance) exact() bool { return t.Relative == 0 && t.Absolute == 0 }

// normalized returns a text with all replacements.
func (t Tolerance) normalized(text string) string {
	for _, r := range t.Normalize {
		text = r.Pattern.ReplaceAllString(text, r.Text)
	}
	return text
}

// texts are the MIME types of the representations that are compared.
var texts = []string{"text/plain", "text/markdown", "text/latex"}

// Outputs returns a description of the first difference between outputs, or "" if there is none. A description has
// several lines: where, the wanted line after "- " and the line that there is after "+ ". The order of stdout and stderr
// does not matter.
func Outputs(want, got []notebook.Output, t Tolerance) string {
	want, got = notebook.Joined(want), notebook.Joined(got)
	for _, name := range []string{"stdout", "stderr"} {
		if d := t.texts(name, stream(want, name), stream(got, name)); d != "" {
			return d
		}
	}
	want, got = values(want), values(got)
	for i := range min(len(want), len(got)) {
		if d := t.output(fmt.Sprintf("output %d", i+1), want[i], got[i]); d != "" {
			return d
		}
	}
	if len(want) != len(got) {
		return fmt.Sprintf("number of results and displays\n- %d\n+ %d", len(want), len(got))
	}
	return ""
}

// Same reports whether got is as good as want: texts may differ within the tolerance, and everything else has to be equal,
// apart from the ids of widgets, which each run chooses again.
func Same(want, got []notebook.Output, t Tolerance) bool {
	want, got = withoutWidgets(want), withoutWidgets(got)
	if notebook.Equal(want, got) {
		return true
	}
	if t.IsZero() || Outputs(want, got, t) != "" {
		return false
	}
	return notebook.Equal(withoutText(want), withoutText(got))
}

// withoutWidgets returns outputs without the ids of their widgets.
func withoutWidgets(outputs []notebook.Output) []notebook.Output {
	const view = "application/vnd.jupyter.widget-view+json"
	outputs = notebook.Joined(outputs)
	for _, o := range outputs {
		if data, ok := o["data"].(map[string]any); ok && data[view] != nil {
			data[view] = "a widget"
		}
	}
	return outputs
}

// withoutText returns what Outputs ignores: the data of outputs that are not text.
func withoutText(outputs []notebook.Output) (rest []notebook.Output) {
	for _, o := range notebook.Joined(outputs) {
		if data, ok := o["data"].(map[string]any); ok {
			for _, mime := range texts {
				delete(data, mime)
			}
			rest = append(rest, o)
		}
	}
	return rest
}

// stream returns the text of a stream.
func stream(outputs []notebook.Output, name string) string {
	var b strings.Builder
	for _, o := range outputs {
		if o["output_type"] == "stream" && o["name"] == name {
			b.WriteString(str(o["text"]))
		}
	}
	return b.String()
}

// values returns the outputs that are not text of a stream.
func values(outputs []notebook.Output) []notebook.Output {
	return slices.DeleteFunc(slices.Clone(outputs), func(o notebook.Output) bool { return o["output_type"] == "stream" })
}

func (t Tolerance) output(where string, want, got notebook.Output) string {
	if a, b := str(want["output_type"]), str(got["output_type"]); a != b {
		return fmt.Sprintf("%s\n- %s\n+ %s", where, a, b)
	}
	if want["output_type"] == "error" {
		return t.texts(where, str(want["ename"])+": "+str(want["evalue"]), str(got["ename"])+": "+str(got["evalue"]))
	}
	a, _ := want["data"].(map[string]any)
	b, _ := got["data"].(map[string]any)
	if d := (Tolerance{}).texts(where+", MIME types", types(a), types(b)); d != "" {
		return d
	}
	for _, mime := range texts {
		if d := t.texts(where+", "+mime, str(a[mime]), str(b[mime])); d != "" {
			return d
		}
	}
	return ""
}

func types(data map[string]any) string { return strings.Join(slices.Sorted(maps.Keys(data)), " ") }

// str returns a text as a notebook file has it, with U+FFFD for each byte that is not UTF-8.
func str(v any) string {
	s, _ := v.(string)
	return string([]rune(s))
}

// texts returns the first difference between two texts.
func (t Tolerance) texts(where, want, got string) string {
	if want, got = t.normalized(want), t.normalized(got); want == got {
		return ""
	}
	a, b := split(want), split(got)
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return fmt.Sprintf("%s, line %d\n+ %s", where, i+1, b[i])
		case i >= len(b):
			return fmt.Sprintf("%s, line %d\n- %s", where, i+1, a[i])
		case !t.lines(a[i], b[i]):
			return fmt.Sprintf("%s, line %d\n- %s\n+ %s", where, i+1, a[i], b[i])
		}
	}
	return ""
}

// split returns the lines of a text; an empty text has none.
func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

var number = regexp.MustCompile(`[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?`)

// lines reports whether two lines differ only in numbers, and in these within the tolerance.
func (t Tolerance) lines(want, got string) bool {
	if want == got {
		return true
	}
	if t.exact() {
		return false
	}
	words := func(s string) []string { return strings.Fields(number.ReplaceAllString(s, "#")) }
	if !slices.Equal(words(want), words(got)) {
		return false
	}
	return slices.EqualFunc(number.FindAllString(want, -1), number.FindAllString(got, -1), t.numbers)
}

func (t Tolerance) numbers(want, got string) bool {
	a, errA := strconv.ParseFloat(want, 64)
	b, errB := strconv.ParseFloat(got, 64)
	if errA != nil || errB != nil { // beyond the range of float64
		return want == got
	}
	return math.Abs(a-b) <= t.Absolute+t.Relative*math.Abs(a)
}
