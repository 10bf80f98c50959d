package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// repository is where links to files lead that are no pages of the site.
const repository = "https://github.com/quernlab/quern"

// A site is the pages and other files by their path in the repository. Generated pages have
// the path of the file or folder that they describe.
type site struct {
	root  string
	pages map[string]*page
}

// A page is a file of the site.
type page struct {
	to       string // its path in the site
	text     []byte
	markdown bool
}

// patterns are the files that are taken as they are, and the folders of the site for them.
var patterns = []struct{ files, to string }{
	{"docs/*.md", ""},
	{"docs/*.gif", ""},
	{"docs/decisions/*.md", "decisions"},
	{"docs/site/pages/*", ""},
	{"CHANGELOG.md", ""},
	{"CONTRIBUTING.md", ""},
	{"CODE_OF_CONDUCT.md", ""},
	{"SECURITY.md", ""},
	{"install/logo/*.svg", "logo"},
}

func (s *site) addPages() error {
	for _, p := range patterns {
		names, err := filepath.Glob(filepath.Join(s.root, filepath.FromSlash(p.files)))
		if err != nil {
			return err
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			from := path.Join(path.Dir(p.files), filepath.Base(name))
			base := path.Base(from)
			if base == "README.md" {
				base = "index.md"
			}
			s.add(from, &page{to: path.Join(p.to, strings.ToLower(base)), text: text, markdown: path.Ext(base) == ".md"})
		}
	}
	return nil
}

func (s *site) add(from string, p *page) { s.pages[from] = p }

// write writes all pages, with links that lead to other pages, or to the repository.
func (s *site) write(folder string) error {
	written := map[string]string{}
	for from, p := range s.pages {
		if other, found := written[p.to]; found {
			return fmt.Errorf("%s and %s are both written to %s", from, other, p.to)
		}
		written[p.to] = from
		text := p.text
		if p.markdown {
			linked, err := s.link(from, p.to, strict(string(text)))
			if err != nil {
				return err
			}
			text = []byte(linked)
		}
		name := filepath.Join(folder, filepath.FromSlash(p.to))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

var links = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)

// link replaces the links of a page by those of the site.
func (s *site) link(from, to, text string) (string, error) {
	var missing error
	result := outside(text, func(line string) string {
		return links.ReplaceAllStringFunc(line, func(match string) string {
			m := links.FindStringSubmatch(match)
			if strings.Contains(m[1], ":") {
				return match
			}
			target, err := s.target(path.Join(path.Dir(from), m[1]), to)
			if err != nil && missing == nil {
				missing = fmt.Errorf("%s: link to %s: %w", from, m[1], err)
			}
			return "](" + target + m[2] + ")"
		})
	})
	return result, missing
}

// target returns the link from the page of the site at to, to a file of the repository.
func (s *site) target(file, to string) (string, error) {
	for _, name := range []string{file, path.Join(file, "README.md")} {
		if p := s.pages[name]; p != nil {
			relative, err := filepath.Rel(filepath.FromSlash(path.Dir(to)), filepath.FromSlash(p.to))
			return filepath.ToSlash(relative), err
		}
	}
	info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(file)))
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return repository + "/tree/main/" + file, nil
	}
	return repository + "/blob/main/" + file, nil
}

// outside calls change for each line that is not in a fenced block of code.
func outside(text string, change func(line string) string) string {
	lines := strings.Split(text, "\n")
	fence := ""
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"):
			fence = "```"
		default:
			lines[i] = change(line)
		}
	}
	return strings.Join(lines, "\n")
}

var item = regexp.MustCompile(`^( *)([-*]|\d+\.) `)

// strict changes lists that CommonMark and GitHub accept to what Python-Markdown expects: an
// empty line before a list, and four spaces for what belongs to an item.
func strict(text string) string {
	inList, afterText := false, false
	return outside(text, func(line string) string {
		content := strings.TrimLeft(line, " ")
		indent := len(line) - len(content)
		isItem := item.MatchString(line)
		before := ""
		switch {
		case content == "":
			afterText = false
			return line
		case isItem && indent == 0:
			if !inList && afterText {
				before = "\n"
			}
			inList = true
		case indent == 0 && !afterText:
			inList = false
		case inList && indent > 0:
			level := (indent + 2) / 4 // 2 to 5 spaces are one level
			if level > 0 && indent < 6 {
				line = strings.Repeat(" ", 4*level) + content
			}
		}
		afterText = true
		return before + line
	})
}
