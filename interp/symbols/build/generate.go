package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/format"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/symbols"
	"github.com/quernlab/quern/interp/symbols/internal/archive"
	"github.com/quernlab/quern/interp/symbols/internal/describe"
)

// generate returns files of package extra with the packages, by name, and the packages that are left out.
func (g gocommand) generate(ctx context.Context, b base, wanted []string) (map[string][]byte, []Omitted, error) {
	found, omitted, err := g.find(ctx, wanted)
	if err != nil {
		return nil, nil, err
	}
	files := map[string][]byte{}
	var entries []archive.Package
	var imports, tables strings.Builder
	for _, path := range slices.Sorted(maps.Keys(found)) {
		pkg, entry, err := describe.Describe(found[path])
		if err != nil {
			return nil, nil, err
		}
		entries = append(entries, entry)
		t := describe.NewTable(pkg, func(string, string) bool { return true })
		if t.Empty() {
			fmt.Fprintf(&imports, "\t_ %q\n", path) // because of its init functions
			continue
		}
		if files["generated_"+describe.Identifier(path)+".go"], err = t.Source("extra", ""); err != nil {
			return nil, nil, err
		}
		fmt.Fprintf(&tables, "\t\t%q: %s,\n", t.Key(), describe.Function(path))
	}
	var z bytes.Buffer
	if err := archive.Write(&z, symbols.Release(), entries); err != nil {
		return nil, nil, err
	}
	index := fmt.Sprintf("%simport (\n\t\"reflect\"\n%s)\n\nfunc init() {\n\tBase, Source, Requests = %q, %q, %#v\n\tArchive = %s\n\tTables = map[string]func() map[string]reflect.Value{\n%s\t}\n}\n",
		describe.Head("extra", ""), imports.String(), b.id, b.source(), wanted, strconv.Quote(z.String()), tables.String())
	files["generated_index.go"], err = format.Source([]byte(index))
	return files, omitted, err
}

// find compiles the wanted packages and those whose types occur in their API. Packages of a module that do not compile
// are omitted if others do.
func (g gocommand) find(ctx context.Context, wanted []string) (map[string]describe.Listed, []Omitted, error) {
	var patterns []string
	for _, w := range wanted {
		path, _, _ := strings.Cut(w, "@")
		patterns = append(patterns, path)
		var answer struct{ Path string }
		if g.json(ctx, &answer, "list", "-m", "-json", path) == nil { // it is a module
			patterns = append(patterns, path+"/...")
		}
	}
	found := map[string]describe.Listed{}
	var problems []error
	var omitted []Omitted
	for len(patterns) > 0 {
		list, err := describe.Build{Dir: g.dir, Environment: g.environment(), Flags: g.flags()}.List(ctx, patterns...)
		if err != nil {
			return nil, nil, err
		}
		patterns = nil
		for _, p := range list {
			if _, ok := found[p.ImportPath]; ok || !describe.Importable(p.ImportPath) || p.Name == "main" || symbols.Has(p.ImportPath) && !isAdded(p.ImportPath) {
				continue
			}
			if problem := p.Problem(); problem != "" {
				err := g.problem(ctx, p, problem)
				problems = append(problems, err)
				onlyTests := strings.Contains(err.Error(), "no non-test Go files") // no code could import it
				if !onlyTests && !slices.ContainsFunc(omitted, func(o Omitted) bool { return o.Path == p.ImportPath }) {
					omitted = append(omitted, Omitted{p.ImportPath, reason(err)})
				}
				continue
			}
			found[p.ImportPath] = p
			pkg, err := describe.Read(p)
			if err != nil {
				return nil, nil, err
			}
			patterns = append(patterns, inAPI(pkg, found)...)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	needC, err := g.needC(ctx, wanted)
	if err != nil {
		return nil, nil, err
	}
	for _, path := range needC {
		o := Omitted{path, "it needs cgo, which is off because CGO_ENABLED is 0 or no C compiler is on PATH"}
		if _, ok := found[path]; ok {
			o.Reason = "it would have code in C, but cgo is off because CGO_ENABLED is 0 or no C compiler is on PATH; it has what its authors wrote for that case"
		} else {
			problems = append(problems, errors.New(o.Path+": "+o.Reason))
		}
		omitted = slices.DeleteFunc(omitted, func(other Omitted) bool { return other.Path == path })
		omitted = append(omitted, o)
	}
	for _, w := range wanted {
		path, _, _ := strings.Cut(w, "@")
		if slices.ContainsFunc(slices.Collect(maps.Keys(found)), func(p string) bool { return p == path || strings.HasPrefix(p, path+"/") }) {
			continue
		}
		if len(problems) == 0 {
			problems = append(problems, errors.New("it has no packages that a cell can import"))
		}
		return nil, nil, fmt.Errorf("%s: %w", w, errors.Join(problems...))
	}
	return found, omitted, nil
}

// needC returns the paths of the wanted packages that have code in C, if cgo is off.
func (g gocommand) needC(ctx context.Context, wanted []string) ([]string, error) {
	if enabled, err := g.run(ctx, "env", "CGO_ENABLED"); err != nil || strings.TrimSpace(string(enabled)) != "0" {
		return nil, err
	}
	arguments := slices.Concat([]string{"list", "-e", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}"}, g.flags())
	for _, w := range wanted {
		path, _, _ := strings.Cut(w, "@")
		arguments = append(arguments, path, path+"/...")
	}
	g.variables = append(g.variables, "CGO_ENABLED=1") // to list files, which needs no C compiler
	out, err := g.run(ctx, arguments...)
	return strings.Fields(string(out)), err
}

// problem returns why a package does not compile, with the output of the compiler.
func (g gocommand) problem(ctx context.Context, p describe.Listed, problem string) error {
	if _, err := g.run(ctx, slices.Concat([]string{"build"}, g.flags(), []string{p.ImportPath})...); err != nil {
		return err
	}
	return fmt.Errorf("package %s: %s", p.ImportPath, strings.TrimSpace(problem))
}

// reason returns the first line of an error that says what is wrong.
func reason(err error) string {
	text := err.Error()
	var failed *CommandError
	if errors.As(err, &failed) {
		text = failed.Output
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return strings.TrimSpace(text)
}

// isAdded reports whether a package is one of those that the user has compiled into the running program.
func isAdded(path string) bool {
	for _, a := range symbols.Added() {
		added, _, _ := strings.Cut(a, "@")
		if path == added || strings.HasPrefix(path, added+"/") {
			return true
		}
	}
	return false
}

// inAPI returns the paths of the packages whose types occur in the API of a package, except those that are compiled in.
func inAPI(pkg *types.Package, found map[string]describe.Listed) []string {
	var paths []string
	for _, p := range pkg.Imports() {
		if _, ok := found[p.Path()]; !ok && describe.Importable(p.Path()) && (!symbols.Has(p.Path()) || isAdded(p.Path())) && strings.Contains(p.Path(), ".") {
			paths = append(paths, p.Path())
		}
	}
	return paths
}
