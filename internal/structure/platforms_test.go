package structure

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// platforms are the systems for which quern must build, as GOOS/GOARCH; linux/amd64 is the one without cgo.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64", "js/wasm"}

// The packages of quern type-check on every platform without cgo, and each function without a body has assembly there.
// That takes a fraction of the time of `make cross`, which compiles and links. For js/wasm, which lacks most, the tests and
// the packages that quern does not import type-check too.
func TestPlatforms(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the source of all dependencies for each system")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	modules := &loader{root: root, files: token.NewFileSet(), parsed: map[string]parsed{}}
	for _, platform := range platforms {
		t.Run(platform, func(t *testing.T) {
			system, architecture, _ := strings.Cut(platform, "/")
			for _, problem := range modules.problems(t, system, architecture) {
				t.Error(problem)
			}
		})
	}
}

// loader loads the source of the module at root and of its dependencies. Most files are those of all platforms, and
// are parsed once.
type loader struct {
	root  string
	files *token.FileSet

	mu     sync.Mutex
	parsed map[string]parsed // by the name of the file
}

type parsed struct {
	file *ast.File
	err  error
}

// parse parses a file of the module, or the declarations of another one: other modules only need these.
func (l *loader) parse(_ *token.FileSet, name string, text []byte) (*ast.File, error) {
	l.mu.Lock()
	p, ok := l.parsed[name]
	l.mu.Unlock()
	if ok {
		return p.file, p.err
	}
	mode := parser.SkipObjectResolution
	own := strings.HasPrefix(name, l.root+string(filepath.Separator))
	if own {
		mode |= parser.ParseComments
	}
	p.file, p.err = parser.ParseFile(l.files, name, text, mode)
	if p.file != nil && !own {
		for _, d := range p.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				f.Body = nil
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parsed[name] = p
	return p.file, p.err
}

// problems returns the errors in the packages of the module.
func (l *loader) problems(t *testing.T, system, architecture string) (list []string) {
	t.Helper()
	config := &packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes | packages.NeedModule,
		Dir:  l.root,
		Env:  append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0"),
		Fset: l.files, ParseFile: l.parse, Tests: system == "js",
	}
	pattern := "./cmd/quern"
	if config.Tests {
		pattern = "./..."
		config.BuildFlags = []string{"-tags=quern_simd"} // as in the kernel for browsers
	}
	loaded, err := packages.Load(config, pattern)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	packages.Visit(loaded, nil, func(p *packages.Package) {
		if p.Module == nil || !p.Module.Main || strings.HasSuffix(p.ID, ".test") {
			return
		}
		count++
		for _, e := range p.Errors {
			list = append(list, e.Error())
		}
		assembly := false
		for _, name := range p.OtherFiles {
			assembly = assembly || strings.HasSuffix(name, ".s")
		}
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Body == nil && !assembly && !linked(file, f) {
					list = append(list, fmt.Sprintf("%s: %s has no body and its package has no assembly", config.Fset.Position(f.Pos()), f.Name.Name))
				}
			}
		}
	})
	if count < 50 {
		t.Errorf("only %d packages of this module were loaded", count)
	}
	return list
}

// linked reports whether a //go:linkname line gives f its body, or it is a function of another WebAssembly module.
func linked(file *ast.File, f *ast.FuncDecl) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname "+f.Name.Name+" ") || group == f.Doc && strings.HasPrefix(c.Text, "//go:wasmimport ") {
				return true
			}
		}
	}
	return false
}
