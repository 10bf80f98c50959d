package structure

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Pages of docs/decisions have one format, numbers without gaps, and a line each in the index.
func TestDecisions(t *testing.T) {
	folder := filepath.Join(root, "docs", "decisions")
	pages, err := filepath.Glob(filepath.Join(folder, "[0-9]*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages in %s, %v", len(pages), folder, err)
	}
	index, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	head := regexp.MustCompile(`^# (\d{3}): (.+)\n\n\d{4}-\d\d-\d\d`)
	for i, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(page)
		m := head.FindStringSubmatch(string(text))
		if m == nil {
			t.Errorf("%s does not begin with \"# NNN: title\", an empty line and a date", name)
			continue
		}
		if want := fmt.Sprintf("%03d", i+1); m[1] != want || !strings.HasPrefix(name, want+"-") {
			t.Errorf("%s has the number %s; its place in the list is %s", name, m[1], want)
		}
		for _, section := range []string{"Decision", "Why", "Rejected", "What would reverse it"} {
			if !strings.Contains(string(text), "**"+section) {
				t.Errorf("%s has no **%s.**", name, section)
			}
		}
		if line := fmt.Sprintf("- [%s](%s): %s\n", m[1], name, m[2]); !strings.Contains(string(index), line) {
			t.Errorf("docs/decisions/README.md lacks the line\n%s", line)
		}
	}
}
