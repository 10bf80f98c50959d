package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// configure writes the settings of Zensical, which reads those of MkDocs, with the lists of generated pages.
func (s *site) configure(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	lists := map[string]func(to string) bool{
		"TUTORIALS": func(to string) bool { return strings.HasPrefix(to, "tutorials/") },
		"PACKAGES":  func(to string) bool { return strings.HasPrefix(to, "reference/") && isPackage(to) },
		"DECISIONS": func(to string) bool { return strings.HasPrefix(to, "decisions/") },
	}
	result := regexp.MustCompile(`(?m)^( *)- ([A-Z]+)$`).ReplaceAllStringFunc(string(text), func(line string) string {
		indent, name, _ := strings.Cut(line, "- ")
		var entries []string
		for _, to := range s.ordered() {
			if lists[name] != nil && lists[name](to) && !strings.HasSuffix(to, "/index.md") {
				entries = append(entries, indent+"- "+s.entry(to))
			}
		}
		return strings.Join(entries, "\n")
	})
	for _, to := range s.ordered() {
		if !regexp.MustCompile(`(?m)[ :-] ` + regexp.QuoteMeta(to) + `$`).MatchString(result) {
			return fmt.Errorf("%s: nav lacks the page %s", from, to)
		}
	}
	return os.WriteFile(to, []byte(result), 0o666)
}

// isPackage reports whether a page describes a package, not commands.
func isPackage(to string) bool {
	return to != "reference/commands.md" && to != "reference/magics.md"
}

// entry returns a page with a short name for packages; the title of a page names others.
func (s *site) entry(to string) string {
	if folder, found := strings.CutPrefix(to, "reference/"); found {
		return fmt.Sprintf("%s: %s", strings.TrimSuffix(folder, ".md"), to)
	}
	return to
}

// ordered returns the paths of all pages. Tutorials are in the order of a reader, others by name.
func (s *site) ordered() []string {
	var all []string
	for _, p := range s.pages {
		if p.markdown {
			all = append(all, p.to)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		if strings.HasPrefix(a, "tutorials/") && strings.HasPrefix(b, "tutorials/") {
			return strings.Compare(rank(a), rank(b))
		}
		return strings.Compare(a, b)
	})
	return all
}
