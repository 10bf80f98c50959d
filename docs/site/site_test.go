package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/notebook"
)

func TestStrict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"list after text", "Why:\n- a\n- b\n", "Why:\n\n- a\n- b\n"},
		{"list after an empty line", "Why:\n\n- a\n- b", "Why:\n\n- a\n- b"},
		{"item of two lines", "1. a\n   b\n\nc", "1. a\n    b\n\nc"},
		{"nested list", "- a\n  - b\n- c", "- a\n    - b\n- c"},
		{"nested block of code stays", "text\n\n    code\n", "text\n\n    code\n"},
		{"fenced block stays", "```\ntext\n- a\n```", "```\ntext\n- a\n```"},
	} {
		if got := strict(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "docs", "data"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "action.yml"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	s := &site{root: root, pages: map[string]*page{}}
	s.add("docs/decisions/README.md", &page{to: "decisions/index.md"})
	s.add("docs/ci.md", &page{to: "ci.md"})
	for _, c := range []struct{ from, to, text, want string }{
		{"docs/ci.md", "ci.md", "[a](decisions)", "[a](decisions/index.md)"},
		{"docs/decisions/README.md", "decisions/index.md", "[a](../ci.md#gitlab)", "[a](../ci.md#gitlab)"},
		{"docs/site/pages/x.md", "x.md", "[a](../../ci.md)", "[a](ci.md)"},
		{"docs/ci.md", "ci.md", "[a](../action.yml)", "[a](" + repository + "/blob/main/action.yml)"},
		{"docs/ci.md", "ci.md", "[a](data)", "[a](" + repository + "/tree/main/docs/data)"},
		{"docs/ci.md", "ci.md", "[a](https://go.dev)", "[a](https://go.dev)"},
		{"docs/ci.md", "ci.md", "```\n[a](missing.md)\n```", "```\n[a](missing.md)\n```"},
	} {
		got, err := s.link(c.from, c.to, c.text)
		if err != nil || got != c.want {
			t.Errorf("%s: %s becomes %q, %v; want %q", c.from, c.text, got, err, c.want)
		}
	}
	if _, err := s.link("docs/ci.md", "ci.md", "[a](missing.md)"); err == nil || !strings.Contains(err.Error(), "docs/ci.md: link to missing.md") {
		t.Errorf("a link that leads nowhere: got %v", err)
	}
}

// The page of package frame has an example with its output, and links to names that exist.
func TestReference(t *testing.T) {
	t.Parallel()
	s := &site{root: filepath.Join("..", ".."), pages: map[string]*page{}}
	if err := s.addReference(); err != nil {
		t.Fatal(err)
	}
	text := string(s.pages["accel/frame"].text)
	for _, want := range []string{
		"# Package frame", "import \"github.com/quernlab/quern/accel/frame\"",
		"{#Frame.Join}", "<summary>Example</summary>", "```text\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page of package frame lacks %q", want)
		}
	}
	if strings.Contains(text, "// Output:") {
		t.Error("the output of an example is shown twice")
	}
	for _, none := range []string{"accel/internal/cpu", "accel/gpucheck"} {
		if s.pages[none] != nil {
			t.Errorf("%s has a page", none)
		}
	}
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		output notebook.Output
		want   string
	}{
		{"stream without colors", notebook.Output{"output_type": "stream", "text": "\x1b[31ma < b\x1b[0m\n"}, "<div class=\"output\"><pre>a &lt; b</pre></div>\n\n"},
		{"HTML without empty lines", result("text/html", "<p>a</p>\n\n<p>b</p>"), "<div class=\"output\"><p>a</p>\n<p>b</p></div>\n\n"},
		{"text", result("text/plain", "3"), "<div class=\"output\"><pre>3</pre></div>\n\n"},
		{"a figure", result("image/svg+xml", "<svg/>"), "<div class=\"output\"><img class=\"quern-figure\" loading=\"lazy\" alt=\"\" src=\"figures/lesson-1.svg\"></div>\n\n"},
	} {
		s := &site{pages: map[string]*page{}}
		got, err := (&tutorial{site: s, base: "lesson"}).output(c.output)
		if err != nil || got != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	if _, err := (&tutorial{}).output(result("image/png", "no base64!")); err == nil {
		t.Error("a damaged image is not an error")
	}
}

// Solutions and the code of checks open with a click, and Python-Markdown reads what is in them.
func TestCollapsedCells(t *testing.T) {
	t.Parallel()
	n := &notebook.Notebook{Cells: []*notebook.Cell{
		{Type: "markdown", Source: "<details><summary>Answer</summary>\n\n**e**\n\n</details>"},
		{Type: "code", Source: "f(2)"},
		{Type: "code", Source: "check.True(f(2))", Metadata: map[string]any{"tags": []any{"check"}}},
		{Type: "code", Source: "f(3)", Metadata: map[string]any{"tags": []any{"solution"}}},
	}}
	got, err := (&tutorial{site: &site{pages: map[string]*page{}}, base: "lesson"}).text(n, true)
	const begin = `<details class="solution" markdown="1"><summary>`
	want := begin + "Answer</summary>\n\n**e**\n\n</details>\n\n```go\nf(2)\n```\n\n" +
		begin + "Check</summary>\n\n```go\ncheck.True(f(2))\n```\n\n</details>\n\n" +
		begin + "Solution</summary>\n\n```go\nf(3)\n```\n\n</details>\n\n"
	if err != nil || !strings.HasPrefix(string(got), want) {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func result(mime, data string) notebook.Output {
	return notebook.Output{"output_type": "execute_result", "data": map[string]any{mime: data}}
}
