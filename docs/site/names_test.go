package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The names of Quern in docs/names.md exist in the package of their table.
func TestNames(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "names.md"))
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`^## Package \[\w+\]\(\.\./(\S+)\)$`)
	name := regexp.MustCompile("`([^`]+)`")
	folder, known, found := "", map[string]bool{}, map[string]int{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "## ") {
			m := heading.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("the heading %q names no package", line)
			}
			folder = m[1]
			p, err := readPackage(root, folder)
			if err != nil || p == nil {
				t.Fatalf("%s: %v", folder, err)
			}
			known = p.names()
		}
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		if len(cells) < 3 {
			t.Errorf("not three cells: %s", line)
			continue
		}
		names := name.FindAllStringSubmatch(cells[1], -1)
		if len(names) == 0 {
			t.Errorf("no name of Quern: %s", line)
		}
		for _, m := range names {
			if found[folder]++; !strings.Contains(m[1], ".") || !known[strings.TrimPrefix(m[1], path.Base(folder)+".")] {
				t.Errorf("%s has no %s", folder, m[1])
			}
		}
	}
	for folder, least := range map[string]int{"accel/tensor": 100, "accel/nn": 60, "accel/optim": 20, "accel/metrics": 20, "accel/data": 15, "accel": 15, "accel/calibrate": 4, "accel/diffusion": 7, "accel/active": 4} {
		if found[folder] < least {
			t.Errorf("%d names of package %s", found[folder], folder)
		}
	}
}
