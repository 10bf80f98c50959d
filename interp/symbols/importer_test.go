package symbols_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/interp/symbols"
)

func TestImportChecksPrograms(t *testing.T) {
	const program = `package p
import ("fmt"; "iter"; "net/http"; "slices"; "strings"; "sync/atomic"; "unsafe"; "context"; "maps"; "cmp"; "errors")
type server struct{ http.Server; count atomic.Pointer[int] }
func words(s string) iter.Seq[string] { return strings.FieldsSeq(s) }
var sorted = slices.Sorted(maps.Keys(map[string]int{"a": 1}))
var request, _ = http.NewRequestWithContext(context.Background(), http.MethodGet, "/", nil)
var size = unsafe.Sizeof(server{})
func larger[T cmp.Ordered](a, b T) T { return max(a, b) }
var _, _ = errors.AsType[*http.MaxBytesError](fmt.Errorf("x"))
var _ fmt.Stringer = (*strings.Builder)(nil)
var _ http.Handler = http.HandlerFunc(nil)
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", program, 0)
	if err != nil {
		t.Fatal(err)
	}
	config := types.Config{Importer: symbols.Importer(fset)}
	if _, err := config.Check("p", fset, []*ast.File{file}, nil); err != nil {
		t.Error(err)
	}
}

// TestImportOrder imports in both orders: types that one package mentions must be identical to the types of
// the other package.
func TestImportOrder(t *testing.T) {
	for _, paths := range [][]string{{"net/http", "context", "crypto/tls", "io"}, {"io", "crypto/tls", "context", "net/http"}} {
		importer := symbols.Importer(token.NewFileSet())
		imported := make(map[string]*types.Package)
		for _, path := range paths {
			p, err := importer.Import(path)
			if err != nil {
				t.Fatal(err)
			}
			if !p.Complete() {
				t.Errorf("%s is not complete", path)
			}
			imported[path] = p
		}
		fn := imported["net/http"].Scope().Lookup("NewRequestWithContext").(*types.Func)
		if got, want := fn.Signature().Params().At(0).Type(), imported["context"].Scope().Lookup("Context").Type(); !types.Identical(got, want) {
			t.Errorf("%v: net/http and context have different types context.Context", paths)
		}
		for path, p := range imported {
			if again, err := importer.Import(path); err != nil || again != p {
				t.Errorf("%s imported again: %p, %v, want %p", path, again, err, p)
			}
		}
	}
}

func TestImportUnknown(t *testing.T) {
	importer := symbols.Importer(token.NewFileSet())
	for path, maybe := range map[string]string{"golang.org/x/nothing": "", "internal/abi": "", "html/http": "net/http", "plugin": "", "": ""} {
		_, err := importer.Import(path)
		var unknown *symbols.UnknownPackageError
		if !errors.As(err, &unknown) {
			t.Errorf("import %q: %v, want an UnknownPackageError", path, err)
			continue
		}
		if len(unknown.Suggestions) > 0 != (maybe != "") || maybe != "" && unknown.Suggestions[0] != maybe {
			t.Errorf("import %q: suggestions %q, want %q", path, unknown.Suggestions, maybe)
		}
	}
}

// TestImportConcurrently is for the race detector.
func TestImportConcurrently(t *testing.T) {
	importer := symbols.Importer(token.NewFileSet())
	paths := []string{"net/http", "net", "crypto/tls", "os", "io", "context", "time", "encoding/json"}
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for j := range paths {
				p, err := importer.Import(paths[(i+j)%len(paths)])
				if err != nil {
					t.Error(err)
					continue
				}
				for _, name := range p.Scope().Names() {
					if o := p.Scope().Lookup(name); o.Exported() {
						types.NewMethodSet(types.NewPointer(o.Type()))
					}
				}
			}
		})
	}
	wait.Wait()
}

func BenchmarkImport(b *testing.B) {
	for _, path := range []string{"fmt", "net/http"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				if _, err := symbols.Importer(token.NewFileSet()).Import(path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			importer := symbols.Importer(token.NewFileSet())
			for _, path := range symbols.Paths() {
				if _, err := importer.Import(path); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// TestUnknownPackageError checks the modules and packages that the error suggests.
func TestUnknownPackageError(t *testing.T) {
	for path, want := range map[string]string{
		"github.com/samber/lo":           "add the line %get github.com/samber/lo, or %autoget on for all imports",
		"github.com/samber/lo/parallel":  "add the line %get github.com/samber/lo, or %autoget on for all imports",
		"github.com/x/go-bar/v2/sub/dir": "add the line %get github.com/x/go-bar/v2, or %autoget on for all imports",
		"github.com/x":                   "of the standard library and of quern",
		"golang.org/x/exp/slices":        `add the line %get golang.org/x/exp, or %autoget on for all imports; did you mean "slices"?`,
		"gopkg.in/yaml.v3":               "add the line %get gopkg.in/yaml.v3, or %autoget on for all imports",
		"go.uber.org/zap":                "add the line %get go.uber.org/zap, or %autoget on for all imports",
		"nosuch/rand":                    `of the standard library and of quern; did you mean "math/rand/v2"?`,
		"./local":                        "of the standard library and of quern",
	} {
		_, err := symbols.Importer(token.NewFileSet()).Import(path)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("import %q: got %v, want …%s", path, err, want)
		}
	}
}
