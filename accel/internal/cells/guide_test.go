package cells

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// notCode are parts of the guide that are no complete code: with an ellipsis, names, methods of a figure,
// commands, and an import of any module.
var notCode = regexp.MustCompile(`…|^[\w.]+$|^\.|^%|^f\?$|^import "module"$`)

// The guide for users of Python has code that runs: each piece in its tables for Quern, and its listing, is
// in the cells of testdata/from-python.cells, which this test executes.
func TestGuideFromPython(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	guide, cells := read("../../../docs/site/pages/from-python.md"), read("testdata/from-python.cells")
	var code []string
	for line := range strings.Lines(guide) {
		if _, right, ok := strings.Cut(line, " | "); ok && strings.HasPrefix(line, "| ") {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(right, -1) {
				code = append(code, m[1])
			}
		}
	}
	for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(guide, -1) {
		code = append(code, m[1])
	}
	if len(code) < 100 {
		t.Fatalf("found %d pieces of code in the guide", len(code))
	}
	for _, piece := range code {
		if !notCode.MatchString(piece) && !strings.Contains(cells, piece) {
			t.Errorf("testdata/from-python.cells does not run %s", piece)
		}
	}
	t.Chdir(t.TempDir())
	n := newNotebook(t)
	for cell := range strings.SplitSeq(cells, "---\n") {
		n.want(cell, "")
	}
}
