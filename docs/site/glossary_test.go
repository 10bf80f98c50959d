package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/notebook"
)

const glossary = "docs/site/pages/glossary.md"

var entry = regexp.MustCompile(`^- \*\*([^*]+)\*\*: (.+)$`)

// The terms of the glossary are in alphabetical order, each below its letter, and link to files that use them.
func TestGlossary(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	last, letter := "", ""
	for line := range strings.Lines(readText(t, filepath.Join(root, glossary))) {
		line = strings.TrimSpace(line)
		if heading, found := strings.CutPrefix(line, "## "); found {
			letter = heading
		}
		if !strings.HasPrefix(line, "- ") {
			continue
		}
		m := entry.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("not a term, a colon and a text: %s", line)
			continue
		}
		term := strings.ToLower(m[1])
		if term <= last || !strings.EqualFold(term[:1], letter) {
			t.Errorf("%s comes after %s, below %s", m[1], last, letter)
		}
		last = term
		term, _, _ = strings.Cut(term, " (") // such as channel (Go)
		targets := links.FindAllStringSubmatch(m[2], -1)
		if len(targets) == 0 {
			t.Errorf("%s has no link", m[1])
		}
		for _, target := range targets {
			text := readText(t, filepath.Join(root, filepath.FromSlash(path.Join(path.Dir(glossary), target[1]))))
			if !strings.Contains(strings.ToLower(text), strings.TrimSuffix(term, "ing")) {
				t.Errorf("%s links to %s, which does not have that word", m[1], target[1])
			}
		}
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// noTerms are what notebooks set in italics besides terms: names of menus and books, and words with emphasis.
var noTerms = []string{
	"Answer", "Interrupt", "Run", "Run All Cells", "Solution", "Moby-Dick", "Emma",
	"all", "checking", "first", "last", "you",
}

// Notebooks set a term in italics where they define it. The glossary has these terms.
func TestGlossaryHasTermsOfNotebooks(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	terms := map[string]bool{}
	for line := range strings.Lines(readText(t, filepath.Join(root, glossary))) {
		if m := entry.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			term, _, _ := strings.Cut(strings.ToLower(m[1]), " (")
			terms[term], terms[term+"s"] = true, true
		}
	}
	terms["fine-tunes"], terms["overfits"] = terms["fine-tuning"], terms["overfitting"]

	code := regexp.MustCompile("(?s)```.*?```|`[^`]*`|\\*\\*[^*]+\\*\\*")
	italics := regexp.MustCompile(`\*([^*\n]+)\*`)
	names, err := filepath.Glob(filepath.Join(root, "notebooks", "*.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range names {
		n, err := notebook.Parse([]byte(readText(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range n.Cells {
			if c.Type != "markdown" {
				continue
			}
			for _, m := range italics.FindAllStringSubmatch(code.ReplaceAllString(c.Source, ""), -1) {
				switch {
				case terms[strings.ToLower(m[1])]:
					found++
				case !slices.Contains(noTerms, m[1]):
					t.Errorf("%s sets %q in italics: add it to the glossary, or to noTerms if it is no term", filepath.Base(name), m[1])
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("%d terms in the notebooks", found)
	}
}
