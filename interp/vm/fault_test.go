package vm

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// TestFault makes the compiler panic on one function.
func TestFault(t *testing.T) {
	p := compile(t, "func bad() int { return 1 }\nfunc good() int { return 2 }\nfunc calls() int { return bad() }")
	begin := func() (*Unit, []Declaration) {
		source := *p.unit.source
		source.Cell = 7
		source.HooksBefore = func(s ast.Stmt) []Hook {
			if r, ok := s.(*ast.ReturnStmt); ok {
				if x, ok := r.Results[0].(*ast.BasicLit); ok && x.Value == "1" {
					panic("broken")
				}
			}
			return nil
		}
		return p.vm.Begin(&source), p.unit.order
	}
	var cells []int
	var texts []string
	p.vm.config.Fault = func(cell int, _ token.Pos, err error) {
		cells, texts = append(cells, cell), append(texts, err.Error())
	}
	unit, list := begin()
	unit.Compile(list)
	if len(texts) != 1 || cells[0] != 7 || !strings.Contains(texts[0], "function bad: broken") {
		t.Errorf("reported %v of cells %v", texts, cells)
	}
	for _, d := range list {
		if got, want := unit.Compiled(d.Key), d.Name == "good"; got != want {
			t.Errorf("%s: compiled %t, want %t", d.Name, got, want)
		}
	}
	defer func() {
		if r := recover(); r != "broken" {
			t.Errorf("without Fault it panics with %v", r)
		}
	}()
	p.vm.config.Fault = nil
	unit, list = begin()
	unit.Compile(list)
}
