package build

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/symbols"
)

// A Request is what to build.
type Request struct {
	// Packages are paths of modules, of which all packages are compiled in, or of packages, each with @version or
	// without for the latest version. Those of the running program are added.
	Packages []string
	Source   string // directory of the source of Quern; empty to find it
	Version  string // of Quern, for quern version
	Report   func(step string)
}

// A Program is a program of Quern with additional packages.
type Program struct {
	Path     string
	Packages []string // path@version
	Cached   bool     // it had been built before
	Go       string   // the Go release that built it
	Omitted  []Omitted
}

// Omitted is a package of a module that does not compile, so that the program does not have it, or that has no code in C
// because cgo is off.
type Omitted struct {
	Path, Reason string
}

func (o Omitted) String() string {
	return o.Path + " is left out or lacks code: " + o.Reason
}

// Build builds a program, or finds it in the cache. If the context ends, or a step fails, nothing is in the cache.
func Build(ctx context.Context, r Request) (Program, error) {
	report := func(step string) {
		if r.Report != nil {
			r.Report(step)
		}
	}
	b, err := findBase(cmp.Or(r.Source, os.Getenv("QUERN_SOURCE")))
	if err != nil {
		return Program{}, err
	}
	cache, err := cacheDir()
	if err != nil {
		return Program{}, err
	}
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return Program{}, fmt.Errorf("keep the program: %w; on Linux, XDG_CACHE_HOME names another directory for caches", err)
	}
	if err := clean(cache); err != nil {
		return Program{}, fmt.Errorf("remove old programs: %w", err)
	}
	dir, err := os.MkdirTemp(cache, building)
	if err != nil {
		return Program{}, fmt.Errorf("build in %s: %w", cache, err)
	}
	defer os.RemoveAll(dir)
	g := gocommand{dir: dir, tags: module.BuildTags()}
	report("resolving versions")
	wanted, err := g.resolve(ctx, slices.Concat(symbols.Added(), r.Packages))
	if err != nil {
		return Program{}, err
	}
	platform, err := g.run(ctx, "env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "CGO_ENABLED", "GOEXPERIMENT")
	if err != nil {
		return Program{}, err
	}
	release, _, _ := strings.Cut(string(platform), "\n")
	p := Program{Packages: wanted, Go: release}
	id := key(b.id, b.source(), r.Version, string(platform), strings.Join(wanted, " "), strings.Join(g.tags, ","))
	if p.Path = cached(cache, id); p.Path != "" {
		p.Cached = true
		p.Omitted, err = readOmitted(filepath.Dir(p.Path))
		return p, err
	}
	source, err := b.directory(ctx, g, dir)
	if err != nil {
		return Program{}, err
	}
	if err := g.writeModule(ctx, source, wanted); err != nil {
		return Program{}, err
	}
	report("compiling packages")
	files, omitted, err := g.generate(ctx, b, wanted)
	if err != nil {
		return Program{}, err
	}
	overlay, err := writeOverlay(dir, source, files)
	if err != nil {
		return Program{}, err
	}
	report("building the program")
	made := filepath.Join(dir, "made")
	arguments := append([]string{"build", "-buildvcs=false", "-overlay", overlay, "-o", filepath.Join(made, programFile()),
		"-ldflags", "-s -w -X main.version=" + r.Version}, g.flags()...)
	if _, err := g.run(ctx, append(arguments, quern+"/cmd/quern")...); err != nil {
		return Program{}, err
	}
	if err := writeOmitted(made, omitted); err != nil {
		return Program{}, err
	}
	p.Omitted = omitted
	p.Path, err = store(cache, id, made)
	return p, err
}

// flags returns the flags for compiling packages.
func (g gocommand) flags() []string {
	if len(g.tags) == 0 {
		return nil
	}
	return []string{"-tags", strings.Join(g.tags, ",")}
}

// resolve returns path@version for queries, sorted. Of several queries for a path the last one counts.
func (g gocommand) resolve(ctx context.Context, queries []string) ([]string, error) {
	versions := map[string]string{}
	for _, q := range queries {
		name, version, _ := strings.Cut(q, "@")
		if name == "" || strings.ContainsAny(q, " \t") || strings.HasPrefix(name, ".") || path.IsAbs(name) || filepath.IsAbs(name) {
			return nil, fmt.Errorf("%q is not a module with a version, such as github.com/dustin/go-humanize@v1.0.1", q)
		}
		versions[name] = cmp.Or(version, "latest")
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		m, version, err := g.moduleOf(ctx, name, versions[name])
		if err != nil {
			return nil, err
		}
		if m == quern {
			return nil, fmt.Errorf("%s is part of every program", name)
		}
		list = append(list, name+"@"+version)
	}
	return list, nil
}

// moduleOf returns the module that has a package, and its version.
func (g gocommand) moduleOf(ctx context.Context, name, query string) (modulePath, version string, err error) {
	var first error
	for m := name; m != "." && m != "/"; m = path.Dir(m) {
		var answer struct{ Path, Version string }
		err := g.json(ctx, &answer, "list", "-m", "-json", m+"@"+query)
		if err == nil {
			return answer.Path, answer.Version, nil
		}
		if ctx.Err() != nil {
			return "", "", ctx.Err()
		}
		if first == nil {
			first = err
		}
		if !strings.Contains(path.Dir(m), ".") {
			break
		}
	}
	hint := ""
	if query == "latest" && strings.Contains(first.Error(), "GOPROXY=off") {
		hint = fmt.Sprintf("; without a network, name a version that is in the module cache, such as %s@v1.2.3", name)
	}
	return "", "", fmt.Errorf("%s@%s: %w%s", name, query, first, hint)
}

// writeModule writes the go.mod and go.sum of the module in which the program is built.
func (g gocommand) writeModule(ctx context.Context, source string, wanted []string) error {
	text, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return err
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	if err := newEnough(mod, wanted); err != nil {
		return err
	}
	if err := mod.AddModuleStmt("quern.program"); err != nil {
		return err
	}
	if err := mod.AddRequire(quern, "v0.0.0"); err != nil {
		return err
	}
	if err := mod.AddReplace(quern, "", source, ""); err != nil {
		return err
	}
	if text, err = mod.Format(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(g.dir, "go.mod"), text, 0o666); err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(source, "go.sum"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(g.dir, "go.sum"), sum, 0o666); err != nil {
		return err
	}
	// The go command also selects the version of a module that quern needs.
	_, err = g.run(ctx, append([]string{"get"}, wanted...)...)
	return err
}

// newEnough returns an error if a wanted module, path@version, is older than the version that Quern requires.
func newEnough(mod *modfile.File, wanted []string) error {
	for _, w := range wanted {
		name, version, _ := strings.Cut(w, "@")
		for _, r := range mod.Require {
			if r.Mod.Path == name && semver.Compare(version, r.Mod.Version) < 0 {
				return fmt.Errorf("%s is too old: quern itself needs %s, so use that version or a newer one", w, r.Mod)
			}
		}
	}
	return nil
}

// writeOverlay writes the file that adds files to package extra.
func writeOverlay(dir, source string, files map[string][]byte) (string, error) {
	replaced := map[string]string{}
	for name, text := range files {
		path := filepath.Join(dir, name+".txt")
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return "", err
		}
		replaced[filepath.Join(source, "interp", "symbols", "internal", "extra", name)] = path
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o666)
}
