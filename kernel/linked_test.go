package kernel

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/link"
)

func TestLinked(t *testing.T) {
	t.Parallel()
	compile := []string{
		"cell[2]:2:6: \x1b[1mundefined: y\x1b[0m", "    x := y", "         \x1b[1m^\x1b[0m", "    did you mean z?",
		"lib/a.go:7:1: \x1b[1m3 is not used\x1b[0m", "and 2 more errors",
	}
	panics := []string{"cell[3]:1:1", "    f(0)", "cell[1]:2:9 in f, 2 calls", "    return 10 / x", "lib/a.go:4:9 in Div", "in sort.Slice, compiled", "example.com/m@v1.0.0/m.go:1:2 in M", "uncounted[1]:1:1", "    y", "\x1b[1mpanic: 4:5:6\x1b[0m"}
	for _, row := range []struct {
		name, cell string
		in         []string
		want       string
	}{
		{"compile errors in JupyterLab", "0f3c", compile, "cell[2]:2:6: undefined: y\n    x := y\n         ^\n    did you mean z?\n/home/lib/a.go:7:1: 3 is not used\nand 2 more errors"},
		{"panics in JupyterLab", "", panics, "cell[3]:1:1\n    f(0)\ncell[1]:2:9 in f, 2 calls\n    return 10 / x\n/home/lib/a.go:4:9 in Div\nin sort.Slice, compiled\nexample.com/m@v1.0.0/m.go:1:2 in M\nuncounted[1]:1:1\n    y\npanic: 4:5:6"},
		{"compile errors in VS Code", "vscode-notebook-cell:/a.ipynb#W0s", compile, "Cell In[2], line 2\ncompile error: undefined: y\n----> 2 x := y\n             ^\n    did you mean z?\n\nFile /home/lib/a.go:7\ncompile error: 3 is not used\n----> 7 …\n\nand 2 more errors"},
		{"panics in VS Code", "vscode-notebook-cell:/a.ipynb#W0s", panics, "Cell In[3], line 1\n----> 1 f(0)\n\nCell In[1], line 2, in f, 2 calls\n----> 2 return 10 / x\n\nFile /home/lib/a.go:4, in Div\n----> 4 …\n\nin sort.Slice, compiled\nexample.com/m@v1.0.0/m.go:1:2 in M\nuncounted[1]:1:1\n    y\npanic: 4:5:6"},
		{"no position in VS Code", "vscode-notebook-cell:/a.ipynb#W0s", []string{"worker died: killed"}, "worker died: killed"},
	} {
		why := &link.CellError{Name: "compile error", Traceback: row.in, Files: map[string]string{"lib/a.go": "/home/lib/a.go"}}
		if got := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(strings.Join(linked(why, row.cell), "\n")); got != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.name, got, row.want)
		}
	}
}
