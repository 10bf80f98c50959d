package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/quernlab/quern/kernel/notebook"
)

// addGallery adds a page for each notebook of the folder notebooks, with the outputs of its
// executed copy in the folder gallery, and an overview.
func (s *site) addGallery(gallery string) error {
	names, err := filepath.Glob(filepath.Join(s.root, "notebooks", "*.ipynb"))
	if err != nil {
		return err
	}
	// The quickstart first, then the lessons by their numbers, then the others.
	slices.SortStableFunc(names, func(a, b string) int {
		return strings.Compare(rank(a), rank(b))
	})
	var index strings.Builder
	fmt.Fprintf(&index, "# Tutorials\n\nThese notebooks are in the folder [notebooks](%s/tree/main/notebooks) of the repository. What you see was executed by Quern.\n\n<div class=\"gallery\" markdown=\"1\">\n\n", repository)
	for _, name := range names {
		base := strings.TrimSuffix(filepath.Base(name), ".ipynb")
		n, executed, err := readExecuted(name, filepath.Join(gallery, filepath.Base(name)))
		if err != nil {
			return err
		}
		t := &tutorial{site: s, base: base}
		text, err := t.text(n, executed)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.add("notebooks/"+base+".ipynb", &page{to: "tutorials/" + base + ".md", text: text, markdown: true})
		index.WriteString(t.card())
	}
	index.WriteString("</div>\n")
	s.add("notebooks", &page{to: "tutorials/index.md", text: []byte(index.String()), markdown: true})
	return nil
}

func rank(name string) string {
	switch base := filepath.Base(name); {
	case strings.HasPrefix(base, "quickstart."):
		return "0" + base
	case base[0] >= '0' && base[0] <= '9':
		return "1" + base
	default:
		return "2" + base
	}
}

// readExecuted reads the executed copy of a notebook, or the notebook if there is none.
func readExecuted(name, copied string) (*notebook.Notebook, bool, error) {
	text, err := os.ReadFile(copied)
	executed := err == nil
	if errors.Is(err, fs.ErrNotExist) {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, false, err
	}
	n, err := notebook.Parse(text)
	return n, executed, err
}

// A tutorial is the page of a notebook while it is written.
type tutorial struct {
	site        *site
	base        string
	title, lead string
	figure      string // the file of its first figure
	figures     int
}

func (t *tutorial) text(n *notebook.Notebook, executed bool) ([]byte, error) {
	var b strings.Builder
	for _, c := range n.Cells {
		switch {
		case c.Type == "markdown":
			t.describe(c.Source)
			b.WriteString(strings.ReplaceAll(c.Source, "<details><summary>", opening) + "\n\n")
			if t.title != "" && !executed && !strings.Contains(b.String(), "!!! note") {
				b.WriteString("!!! note\n    This copy was built without outputs; `make gallery` executes the notebooks.\n\n")
			}
		case c.Type == "code":
			collapsed := summaryOf(c)
			if collapsed != "" {
				b.WriteString(opening + collapsed + "</summary>\n\n")
			}
			fmt.Fprintf(&b, "```go\n%s\n```\n\n", strings.TrimRight(c.Source, "\n"))
			for _, o := range c.Outputs {
				text, err := t.output(o)
				if err != nil {
					return nil, err
				}
				b.WriteString(text)
			}
			if collapsed != "" {
				b.WriteString("</details>\n\n")
			}
		}
	}
	fmt.Fprintf(&b, "[Open this notebook in the repository](%s/blob/main/notebooks/%s.ipynb){ .source }\n", repository, t.base)
	return []byte(b.String()), nil
}

// opening begins what a click opens; Python-Markdown must be told that there is Markdown in it.
const opening = `<details class="solution" markdown="1"><summary>`

// summaryOf returns the line that a click opens a cell with; "" for a cell that is open.
func summaryOf(c *notebook.Cell) string {
	switch {
	case c.HasTag("solution"):
		return "Solution"
	case c.HasTag("check"):
		return "Check"
	}
	return ""
}

// describe takes the title and the first paragraph for the overview.
func (t *tutorial) describe(source string) {
	for paragraph := range strings.SplitSeq(source, "\n\n") {
		paragraph = strings.TrimSpace(paragraph)
		switch {
		case strings.HasPrefix(paragraph, "# ") && t.title == "":
			t.title = strings.TrimPrefix(paragraph, "# ")
		case t.title != "" && t.lead == "" && paragraph != "" && strings.IndexAny(paragraph, "←#-[") != 0:
			t.lead = withoutLinks.ReplaceAllString(strings.ReplaceAll(paragraph, "\n", " "), "$1")
		}
	}
}

func (t *tutorial) card() string {
	image := ""
	if t.figure != "" {
		image = fmt.Sprintf("<img class=\"quern-figure\" loading=\"lazy\" alt=\"\" src=\"%s\">", t.figure)
	}
	return fmt.Sprintf("<div class=\"card\" markdown=\"1\">\n\n### [%s](notebooks/%s.ipynb)\n\n%s\n\n%s\n\n</div>\n\n", t.title, t.base, t.lead, image)
}

var (
	escapes  = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	ofOutput = regexp.MustCompile(`\n\s*\n`)
	// The overview is in another folder, and its cards are links themselves.
	withoutLinks = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// output returns an output: a figure as a file, other HTML as it is, or the text.
func (t *tutorial) output(o notebook.Output) (string, error) {
	if o["output_type"] == "stream" {
		return preformatted(joined(o["text"])), nil
	}
	if o["output_type"] == "error" {
		var lines []string
		for _, line := range asList(o["traceback"]) {
			lines = append(lines, fmt.Sprint(line))
		}
		return preformatted(strings.Join(lines, "\n")), nil
	}
	bundle, _ := o["data"].(map[string]any)
	description := joined(bundle["text/plain"])
	switch {
	case bundle["image/svg+xml"] != nil:
		return t.image([]byte(joined(bundle["image/svg+xml"])), ".svg", description), nil
	case bundle["text/html"] != nil:
		// Markdown would end the block at an empty line.
		return "<div class=\"output\">" + ofOutput.ReplaceAllString(joined(bundle["text/html"]), "\n") + "</div>\n\n", nil
	case bundle["image/png"] != nil:
		image, err := base64.StdEncoding.DecodeString(strings.Map(dropSpace, joined(bundle["image/png"])))
		if err != nil {
			return "", fmt.Errorf("an image: %w", err)
		}
		return t.image(image, ".png", description), nil
	case bundle["text/markdown"] != nil:
		return joined(bundle["text/markdown"]) + "\n\n", nil
	}
	return preformatted(description), nil
}

func dropSpace(r rune) rune {
	if r == '\n' || r == ' ' {
		return -1
	}
	return r
}

func (t *tutorial) image(content []byte, ending, description string) string {
	t.figures++
	name := fmt.Sprintf("%s-%d%s", t.base, t.figures, ending)
	to := path.Join("tutorials", "figures", name)
	t.site.add(to, &page{to: to, text: content})
	if t.figure == "" {
		t.figure = "figures/" + name
	}
	return fmt.Sprintf("<div class=\"output\"><img class=\"quern-figure\" loading=\"lazy\" alt=\"%s\" src=\"figures/%s\"></div>\n\n", html.EscapeString(strings.ReplaceAll(description, "\n", " ")), name)
}

// preformatted returns text in a block, without the colors of a terminal.
func preformatted(text string) string {
	text = strings.TrimRight(escapes.ReplaceAllString(text, ""), "\n")
	if text == "" {
		return ""
	}
	return "<div class=\"output\"><pre>" + strings.ReplaceAll(html.EscapeString(text), "\n\n", "\n&#8203;\n") + "</pre></div>\n\n"
}

// joined returns a text that a notebook may store as a list of lines.
func joined(value any) string {
	text, _ := notebook.JoinedText(value).(string)
	return text
}

func asList(value any) []any {
	list, _ := value.([]any)
	return list
}
