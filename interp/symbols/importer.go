package symbols

import (
	"bytes"
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/tools/go/gcexportdata"
)

// Importer returns an importer of the packages of [Paths]. It reads the types of a package on first use and
// always returns the same *types.Package; two importers share nothing. The types have no positions, so no
// files are added to fset. For a path that cannot be imported the error is an [*UnknownPackageError].
func Importer(fset *token.FileSet) types.Importer {
	return &importer{fset: fset, packages: map[string]*types.Package{"unsafe": types.Unsafe}}
}

type importer struct {
	fset *token.FileSet

	mu       sync.Mutex
	packages map[string]*types.Package // guarded by mu; includes incomplete packages that other packages mention
}

// experiments are the packages that the standard library has only with an experiment, and its name.
var experiments = map[string]string{
	"arena": "arenas", "encoding/json/v2": "jsonv2", "encoding/json/jsontext": "jsonv2", "runtime/secret": "runtimesecret",
	"simd": "simd", "simd/archsimd": "simd",
}

// UnknownPackageError is the error for an import path that is not compiled in.
type UnknownPackageError struct {
	Path        string
	Suggestions []string // importable packages with the same name, best first
}

func (e *UnknownPackageError) Error() string {
	if e.Path == "C" {
		return "cgo is not supported in cells"
	}
	if name := experiments[e.Path]; name != "" {
		return fmt.Sprintf("package %q needs GOEXPERIMENT=%s: it is an experiment of Go, and this program was built without it", e.Path, name)
	}
	text := fmt.Sprintf("package %q cannot be imported: cells can import packages of the standard library and of quern", e.Path)
	if m := e.Module(); m != "" {
		text += fmt.Sprintf(", and packages of modules: add the line %%get %s, or %%autoget on for all imports", m)
	}
	// A path of a module is probably not a misspelled path of one of our packages.
	if len(e.Suggestions) > 0 && (e.Module() == "" || !strings.Contains(e.Suggestions[0], ".")) {
		text += fmt.Sprintf("; did you mean %q?", e.Suggestions[0])
	}
	return text
}

// Module returns the path of the module that probably contains the package; "" if the path cannot belong to
// a module. Known hosts have one module per repository.
func (e *UnknownPackageError) Module() string {
	elements := strings.Split(e.Path, "/")
	if !strings.Contains(elements[0], ".") || strings.HasPrefix(elements[0], ".") {
		return ""
	}
	var n int
	switch elements[0] {
	case "github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "golang.org":
		n = 3
	case "gopkg.in":
		n = 2
		if len(elements) > 2 && !strings.Contains(elements[1], ".v") {
			n = 3
		}
	default:
		return e.Path
	}
	if len(elements) < n {
		return ""
	}
	if len(elements) > n && majorVersion.MatchString(elements[n]) {
		n++
	}
	return strings.Join(elements[:n], "/")
}

// majorVersion matches a path element such as v2.
var majorVersion = regexp.MustCompile(`^v[1-9]\d*$`)

func (i *importer) Import(path string) (*types.Package, error) {
	a, err := open()
	if err != nil {
		return nil, fmt.Errorf("symbols: %w", err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if p := i.packages[path]; p != nil && p.Complete() {
		return p, nil
	}
	if a.names[path] == "" {
		return nil, &UnknownPackageError{Path: path, Suggestions: Guess(lastElement(path))}
	}
	data, err := a.types(path)
	if err != nil {
		return nil, fmt.Errorf("symbols: %w", err)
	}
	p, err := gcexportdata.Read(bytes.NewReader(data), i.fset, i.packages, path)
	if err != nil {
		return nil, fmt.Errorf("symbols: types of %q: %w", path, err)
	}
	return p, nil
}
