package failpoint_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/failpoint"
)

// Without the build tag, a program contains nothing of its failpoints.
func TestWithoutTheTag(t *testing.T) {
	t.Parallel()
	for _, tags := range []string{"", "failpoints"} {
		program := filepath.Join(t.TempDir(), "save")
		if out, err := exec.Command("go", "build", "-tags", tags, "-o", program, "./testdata/save").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		for _, trace := range []string{string(failpoint.FileWrite), string(failpoint.FileSync), "QUERN_FAILPOINT"} {
			if got := bytes.Contains(text, []byte(trace)); got != (tags != "") {
				t.Errorf("tags %q: the program has %q: %t", tags, trace, got)
			}
		}
		symbols, err := exec.Command("go", "tool", "nm", program).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(symbols, []byte("internal/failpoint")); got != (tags != "") {
			t.Errorf("tags %q: the program has functions or variables of the package: %t", tags, got)
		}
	}
}

// TestPointsAreListedAndUsed checks that the list of points, which the tests iterate
// over, has all constants, and that each is used in exactly one package.
func TestPointsAreListedAndUsed(t *testing.T) {
	t.Parallel()
	constants := map[string]string{} // values by name
	file, err := parser.ParseFile(token.NewFileSet(), "points.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			text, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			constants[value.Names[0].Name] = text
		}
	}
	used, tested := map[string]map[string]bool{}, map[string]bool{}
	err = filepath.WalkDir("../..", func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && entry.Name() != "..") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || entry.IsDir() || filepath.Base(filepath.Dir(path)) == "failpoint" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for name := range constants {
			if !strings.HasSuffix(path, "_test.go") && bytes.Contains(text, []byte("failpoint."+name)) {
				if used[name] == nil {
					used[name] = map[string]bool{}
				}
				used[name][filepath.Dir(path)] = true
			}
		}
		for _, value := range constants {
			owner, _, _ := strings.Cut(value, "/")
			if bytes.Contains(text, []byte("failpointtest.Run(")) && bytes.Contains(text, []byte(`(t, "`+owner+`"`)) {
				tested[owner] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range constants {
		owner, _, _ := strings.Cut(value, "/")
		listed := false
		for _, p := range failpoint.Of(owner) {
			listed = listed || string(p) == value
		}
		if !listed {
			t.Errorf("%s is not in the list of points", name)
		}
		if len(used[name]) != 1 {
			t.Errorf("%s is used by %d packages: it belongs to one", name, len(used[name]))
		}
		if !tested[owner] {
			t.Errorf("no test triggers the points of %q", owner)
		}
	}
}
