package display_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quernlab/quern/display"
)

// drawing is a figure.
type drawing string

func (d drawing) HTML() string { return "<img alt=" + string(d) + ">" }
func (d drawing) MIMEBundle() map[string]any {
	return map[string]any{"text/plain": string(d), "image/png": []byte(d)}
}
func (d drawing) MIMEMetadata() map[string]any { return map[string]any{"image/png": len(d)} }

func ExampleReport() {
	r := new(display.Report)
	r.Text("measured on the test set")
	r.Table("model", "accuracy", "time", "note")
	r.Row("dense", "98.1 ± 0.2 %", "8.06 ms")
	r.Row("pruned, half", "–", "11.1 ms", "diverged\nat once")
	r.Text("mean ± standard deviation of 3 seeds")
	fmt.Println(r)
	// Output:
	// measured on the test set
	//
	// model             accuracy     time  note
	// dense         98.1 ± 0.2 %  8.06 ms
	// pruned, half             –  11.1 ms  diverged at once
	// mean ± standard deviation of 3 seeds
}

func TestReport(t *testing.T) {
	long := strings.Repeat("long ", 100) + "text"
	many := new(display.Report).Table("n", "")
	for n := range 200 {
		many.Row(n, long)
	}
	for _, row := range []struct {
		name       string
		r          *display.Report
		text, page string // page is "" if there is none
	}{
		{"empty", new(display.Report), "", ""},
		{"text", new(display.Report).Text("a\nb\n").Text("").Text("<c>"), "a\nb\n<c>", ""},
		{"text and a figure", new(display.Report).Text("<a>\nb").Figure(drawing("x")), "<a>\nb", "<div>&lt;a&gt;</div><div>b</div><div><img alt=x></div>"},
		{"two figures", new(display.Report).Figure(drawing("x")).Figure(drawing("y")).Alt("both"), "both", "<div><img alt=x></div><div><img alt=y></div>"},
		{"text in place of the figures", new(display.Report).Alt("alone"), "alone", ""},
		{
			"a table without rows, and one with an integer, an empty cell and a cell too much", new(display.Report).Table("a").Table("n", "b").Row(12, "", "more").Row(3, "x"),
			"a\n\n n  b\n12\n 3  x",
			"<!-- 0 rows: a -->\n<div class=\"quern-table tex2jax_ignore mathjax_ignore\"><table>\n<thead><tr><th style=\"text-align:left\">a</th></tr></thead>\n<tbody>\n</tbody>\n</table></div>" +
				"<!-- 2 rows: n, b -->\n<div class=\"quern-table tex2jax_ignore mathjax_ignore\"><table>\n<thead><tr><th style=\"text-align:right\">n</th><th style=\"text-align:left\">b</th></tr></thead>\n<tbody>\n" +
				"<tr><td style=\"text-align:right;white-space:nowrap\">12</td><td style=\"text-align:left\"></td></tr>\n" +
				"<tr><td style=\"text-align:right;white-space:nowrap\">3</td><td style=\"text-align:left\">x</td></tr>\n</tbody>\n</table></div>",
		},
	} {
		data, metadata := display.Render(row.r)
		page, _ := data["text/html"].(string)
		if data["text/plain"] != row.text || row.r.String() != row.text || page != row.page || len(metadata) > 0 {
			t.Errorf("%s: %q, %v", row.name, data, metadata)
		}
	}
	grown := new(display.Report).Table("n").Row(1)
	if before, after := grown.String(), grown.Row("text").String(); before != "n\n1" || after != "n\n1\ntext" {
		t.Errorf("%q and, with another row, %q", before, after)
	}
	if text := many.String(); strings.Count(text, "\n") != 200 || strings.Count(text, strings.TrimSpace(long)) != 200 {
		t.Errorf("rows or cells are missing:\n%s", text)
	}
}

// measured is displayed by its report.
type measured struct{ text string }

func (m measured) Report() *display.Report {
	return new(display.Report).Figure(drawing("x")).Alt(m.text)
}
func (m measured) String() string { return m.text }

// A report that consists of a figure is displayed like the figure.
func TestReporter(t *testing.T) {
	for text, want := range map[string]string{"": "x", "a cat": "a cat"} {
		data, metadata := display.Render(measured{text})
		if data["text/plain"] != want || string(data["image/png"].([]byte)) != "x" || metadata["image/png"] != 1 {
			t.Errorf("%q: %v, %v", text, data, metadata)
		}
	}
	var shown []display.Message
	previous := display.SetSink(display.SinkFunc(func(m display.Message) { shown = append(shown, m) }))
	defer display.SetSink(previous)
	display.Result(measured{"a cat"}, nil)
	display.Result([]measured{{"a cat"}})
	if len(shown) != 2 || shown[0].Data["image/png"] == nil || shown[1].Data["text/html"] != nil {
		t.Errorf("%v", shown)
	}
}
