package symbols

import (
	"cmp"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// module is the path of our packages, with a slash.
const module = "github.com/quernlab/quern/"

// preferred lists packages with the same name in the order of preference. Otherwise our packages come
// before the standard library's, and short paths before long ones.
//
// rand is math/rand/v2, the current package. It lacks rand.Seed, rand.Intn and rand.Read, so code that adds
// an import should take the first package of the list that has all names in use.
var preferred = map[string][]string{
	"pprof":    {"runtime/pprof", "net/http/pprof"},
	"rand":     {"math/rand/v2", "math/rand", "crypto/rand"},
	"scanner":  {"text/scanner", "go/scanner"},
	"template": {"text/template", "html/template"},
}

// offered reports whether a package is for users. Packages that only the interpreter's own sources import
// are not.
func offered(path string) bool { return !strings.HasPrefix(path, module+"interp/") }

// Paths returns the sorted import paths of all packages that a cell can import. It is empty if [Check]
// fails.
func Paths() []string {
	a, err := open()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a.names)), func(path string) bool { return !offered(path) })
}

// Has reports whether a path is compiled in: it is the path of such a package, of our module, or of a
// folder of the standard library.
func Has(path string) bool {
	a, err := open()
	if err != nil {
		return false
	}
	if a.names[path] != "" || path+"/" == module {
		return true
	}
	return !strings.Contains(path, ".") && len(below(a, path)) > 0
}

// Below returns the compiled packages of a module, sorted.
func Below(path string) []string {
	a, err := open()
	if err != nil {
		return nil
	}
	return below(a, path)
}

func below(a *archives, path string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a.names)), func(p string) bool { return p != path && !strings.HasPrefix(p, path+"/") })
}

// Offering returns the modules of the compiled packages, with their versions.
func Offering() map[string]string {
	versions := Versions()
	maps.DeleteFunc(versions, func(path, _ string) bool { return len(Below(path)) == 0 })
	return versions
}

// Versions returns the versions of all modules in this binary, by path.
func Versions() map[string]string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	versions := map[string]string{}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Version != "" && m.Version != "(devel)" {
			versions[m.Path] = m.Version
		}
	}
	return versions
}

// Guess returns the import paths of the packages with this name, most likely first.
func Guess(name string) []string {
	return slices.Clone(byName()[name])
}

// Names returns the package names that Guess knows.
func Names() []string { return slices.Sorted(maps.Keys(byName())) }

var byName = sync.OnceValue(func() map[string][]string {
	a, err := open()
	if err != nil {
		return nil
	}
	names := make(map[string][]string)
	for path, name := range a.names {
		if offered(path) {
			names[name] = append(names[name], path)
		}
	}
	for name, paths := range names {
		rank := func(path string) int {
			if i := slices.Index(preferred[name], path); i >= 0 {
				return i
			}
			return len(preferred[name])
		}
		foreign := func(path string) int {
			if strings.HasPrefix(path, module) {
				return 0
			}
			return 1
		}
		slices.SortFunc(paths, func(a, b string) int {
			return cmp.Or(
				cmp.Compare(rank(a), rank(b)),
				cmp.Compare(foreign(a), foreign(b)),
				cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")),
				cmp.Compare(a, b),
			)
		})
	}
	return names
})

func lastElement(path string) string { return path[strings.LastIndex(path, "/")+1:] }
