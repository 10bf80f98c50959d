package structure

import (
	"encoding/json"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// texts returns the documents: pages, and the Markdown and code of the tutorials.
// CHANGELOG.md is excluded, since it also mentions what was removed.
func texts(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	walk(t, ".md", func(name string) {
		if name != "CHANGELOG.md" {
			all[name] = read(t, name)
		}
	})
	walk(t, ".ipynb", func(name string) {
		var notebook struct {
			Cells []struct{ Source []string }
		}
		if err := json.Unmarshal([]byte(read(t, name)), &notebook); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var b strings.Builder
		for _, cell := range notebook.Cells {
			b.WriteString(strings.Join(cell.Source, "") + "\n\n")
		}
		all[name] = b.String()
	})
	return all
}

// TestNamesExist checks that names such as accel.Fit in documents exist in their
// packages.
func TestNamesExist(t *testing.T) {
	t.Parallel()
	exported := map[string]map[string]bool{} // by package name
	for _, f := range files(t, 0) {
		name := f.syntax.Name.Name
		public := within(f.folder, "accel") || within(f.folder, "plots") || within(f.folder, "display") || within(f.folder, "widgets") || f.folder == "gpu"
		if !public || name == "main" || strings.Contains(f.folder, "internal") {
			continue
		}
		if exported[name] == nil {
			exported[name] = map[string]bool{}
		}
		for _, declaration := range f.syntax.Decls {
			for _, n := range declared(declaration) {
				exported[name][n] = true
			}
		}
	}
	qualified := regexp.MustCompile(`\b([a-z]+)\.([A-Z][A-Za-z0-9]*)\b`)
	seen := 0
	for where, text := range texts(t) {
		for _, m := range qualified.FindAllStringSubmatch(text, -1) {
			if names := exported[m[1]]; names != nil {
				seen++
				if !names[m[2]] && !local(text, m[1]) {
					t.Errorf("%s: there is no %s", where, m[0])
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d names were looked for", seen)
	}
}

// local reports whether a text declares a variable with the name, as in "tensor, err :=".
func local(text, name string) bool {
	return regexp.MustCompile(`\b` + name + `(, \w+)* :=`).MatchString(text)
}

func declared(declaration ast.Decl) (names []string) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

// TestLinksLead checks that links to files of the module in pages and tutorials exist.
func TestLinksLead(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)
	code := regexp.MustCompile("(?s)```.*?```|`[^`]*`")
	followed := 0
	for where, text := range texts(t) {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			followed++
			if _, err := os.Stat(filepath.Join(root, path.Dir(where), m[1])); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", where, m[1])
			}
		}
	}
	if followed < 10 {
		t.Errorf("only %d links were followed", followed)
	}
}

// TestTargetsExist checks that each "make target" in a document exists in the Makefile.
func TestTargetsExist(t *testing.T) {
	t.Parallel()
	makefile := read(t, "Makefile")
	target := regexp.MustCompile("(?m)(?:^    |`)make ([a-z-]+)")
	seen := 0
	for where, text := range texts(t) {
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			seen++
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: the Makefile has no target %s", where, m[1])
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d targets were looked for", seen)
	}
}

// TestVariablesAreDocumented compares docs/environment.md with the variables that
// programs and scripts read, except those that only one of our processes sets for
// another.
func TestVariablesAreDocumented(t *testing.T) {
	t.Parallel()
	variable := regexp.MustCompile(`\bQUERN_[A-Z_]*[A-Z]\b`)
	page := variable.FindAllString(read(t, "docs/environment.md"), -1)
	inCode := map[string]bool{}
	for _, ending := range []string{".go", ".py"} {
		walk(t, ending, func(name string) {
			if !within(name, "interp/symbols") && !within(name, "internal/structure") {
				for _, v := range variable.FindAllString(read(t, name), -1) {
					inCode[v] = true
				}
			}
		})
	}
	for v := range inCode {
		between := strings.HasPrefix(v, "QUERN_WORKER_") || strings.HasPrefix(v, "QUERN_TEST_") || v == "QUERN_GOTEST_REPORT" || v == "QUERN_PARALLEL_LAUNCHER"
		if !between && !slices.Contains(page, v) {
			t.Errorf("docs/environment.md does not have %s", v)
		}
	}
	for _, v := range page {
		if !inCode[v] {
			t.Errorf("docs/environment.md has %s, which nothing reads", v)
		}
	}
}

// TestDependenciesHaveReasons compares docs/dependencies.md with the required modules.
func TestDependenciesHaveReasons(t *testing.T) {
	t.Parallel()
	required, err := modfile.Parse("go.mod", []byte(read(t, "go.mod")), nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range required.Require {
		if !r.Indirect {
			want = append(want, r.Mod.Path)
		}
	}
	for _, line := range strings.Split(read(t, ".ci/requirements.in"), "\n") {
		if name, _, _ := strings.Cut(line, " "); name != "" && name != "#" {
			want = append(want, name)
		}
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\| (\S+) \| .+ \| .+ \|$`).FindAllStringSubmatch(read(t, "docs/dependencies.md"), -1) {
		if m[1] != "Module" && m[1] != "Package" {
			got = append(got, m[1])
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("docs/dependencies.md gives no reason for %s", name)
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("docs/dependencies.md has %s, which nothing requires", name)
		}
	}
}

// TestFoldersExist checks that the folders in README.md exist.
func TestFoldersExist(t *testing.T) {
	t.Parallel()
	_, table, found := strings.Cut(read(t, "README.md"), "## Where things are\n")
	if !found {
		t.Fatal("README.md does not say where things are")
	}
	for _, m := range regexp.MustCompile(`(?m)^    ([a-z/]+)  +\S`).FindAllStringSubmatch(table, -1) {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Error("README.md: ", strconv.Quote(m[1]), " is not there")
		}
	}
}
