package count_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/golden"
)

// document is the page with the table of all plans.
const document = "../../../../docs/plans.md"

// TestDocument compares the table of the page with the golden files of the plans.
func TestDocument(t *testing.T) {
	page, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "| model |", "\n\n"
	start := bytes.Index(page, []byte(begin))
	if start < 0 {
		t.Fatalf("%s has no table that begins with %q", document, begin)
	}
	length := bytes.Index(page[start:], []byte(end))
	if length < 0 {
		t.Fatalf("no empty line after the table of %s", document)
	}
	got, want := table(t), string(page[start:start+length+1])
	switch {
	case got == want:
	case golden.Update():
		if err := os.WriteFile(document, []byte(strings.Replace(string(page), want, got, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table of %s differs from the golden files (go test -update writes it)\ngot\n%s\nwant\n%s", document, want, got)
	}
}

// table returns the plans of all models in Markdown.
func table(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| model | kernels | | calls of the driver | GB beside the products | | temporaries, GB | |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|\n")
	b.WriteString("| | bfloat16 | float32 | | bfloat16 | float32 | bfloat16 | float32 |\n")
	for _, m := range all {
		half, single := plan(t, m.name+"-bfloat16.txt"), plan(t, m.name+"-float32.txt")
		fmt.Fprintf(&b, "| %s, %s | %s | %s | %s | %s | %s | %s | %s |\n", m.name, m.size, half.number("nodes"), single.number("nodes"), half.number("calls of the driver"),
			half.gigabytes("beside the products"), single.gigabytes("beside the products"), half.gigabytes("temporaries"), single.gigabytes("temporaries"))
	}
	return b.String()
}

// goldenPlan is the text of a golden file.
type goldenPlan struct {
	t    *testing.T
	text []byte
}

func plan(t *testing.T, name string) goldenPlan {
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return goldenPlan{t, text}
}

// number returns the value of a row.
func (p goldenPlan) number(row string) string {
	m := regexp.MustCompile(`(?m)^` + row + ` +([\d.]+)`).FindSubmatch(p.text)
	if m == nil {
		p.t.Fatalf("no row %q in\n%s", row, p.text)
	}
	return string(m[1])
}

// gigabytes returns the value of a row in megabytes with three digits.
func (p goldenPlan) gigabytes(row string) string {
	var megabytes float64
	if _, err := fmt.Sscan(p.number(row), &megabytes); err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprintf("%.3g", megabytes/1e3)
}
