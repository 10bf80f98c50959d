package source

import (
	"errors"
	"go/types"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/embedded"
	"github.com/quernlab/quern/interp/module"
)

// Reload loads packages again whose files on this machine have changed since they ran, and those of used whose module has
// another version. It returns the parts that have to run for that, and the errors of packages that could not be loaded:
// of these the previous version stays, unless a cell imports them.
func (l *Loader) Reload(used []string) (parts []*Part, failed []error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reloading = true
	defer func() {
		l.reloading, l.read = false, nil
		clear(l.failed) // a cell that imports such a package gets the error, or tries a rejected one again
	}()
	again := func(p *loadedPackage) {
		_, err := l.importPackage(p.path)
		if err == nil || strings.Contains(err.Error(), errRejected.Error()) {
			return
		}
		// A package that imports a failed one has its error. The type checker keeps only the text.
		if !slices.ContainsFunc(failed, func(e error) bool { return strings.Contains(err.Error(), e.Error()) }) {
			failed = append(failed, err)
		}
	}
	for _, p := range l.order {
		if p.begun && l.loaded[p.path] == p && l.changed(p) {
			again(p)
		}
	}
	var changed []*loadedPackage
	for _, path := range used {
		if p := l.loaded[path]; p != nil {
			again(p)
			if now := l.loaded[path]; now != p && !now.begun {
				changed = append(changed, now)
			}
		}
	}
	return l.needed(func(r *reach) {
		for _, p := range changed {
			r.part(p)
		}
		r.replacements()
	}), failed
}

// Loaded returns an importer that keeps the versions of packages that have been loaded.
func (l *Loader) Loaded() types.Importer { return loadedImporter{l} }

type loadedImporter struct{ *Loader }

func (i loadedImporter) Import(path string) (*types.Package, error) {
	i.mu.Lock()
	p := i.loaded[path]
	i.mu.Unlock()
	if p != nil {
		return p.types, nil
	}
	return i.Loader.Import(path)
}

// errRejected is the error of reload for a version of a package that could not run.
var errRejected = errors.New("this version of the package could not run")

// isRejected reports whether a package is the version that Reject was called for.
func (l *Loader) isRejected(importPath string, pkg module.Package) bool {
	p := l.rejected[importPath]
	return p != nil && p.from == pkg && l.current(p)
}

// Reject is called for a part that could not run. Unless a cell imports it, that version of the package is not tried again,
// because its init functions may have effects. If the part is of a package that was loaded only because its files had
// changed, so that the cell can run without it, Reject forgets the package, and those of the later parts that import it. It
// returns the other later parts; otherwise ok is false.
func (l *Loader) Reject(part *Part, later []*Part) (others []*Part, ok bool) {
	l.mu.Lock()
	if part.of.replaces != nil {
		l.rejected[part.Path] = part.of
	}
	l.mu.Unlock()
	if !part.of.reloaded || part.of.begun && !part.begins {
		return nil, false
	}
	dropped := []*Part{part}
	for _, p := range later {
		if slices.ContainsFunc(dropped, func(d *Part) bool { return slices.Contains(p.of.imports, d.of) }) {
			dropped = append(dropped, p)
		} else {
			others = append(others, p)
		}
	}
	l.Drop(dropped)
	return others, true
}

// changed reports whether the files of a package, or of one that it imports, have changed.
func (l *Loader) changed(p *loadedPackage) bool {
	if l.isFixed(p) {
		return false
	}
	from, ok, err := l.modules.Find(l.ctx, p.path)
	if p.from.Stamp != "" && (err != nil || !ok) {
		return true // it has been deleted
	}
	return err == nil && ok && (from != p.from || !l.current(p))
}

// Reset returns the variables that had values in the version of the package that the part replaces, and that are
// initialized again when it runs.
func (p *Part) Reset() []string {
	if !p.begins || p.of.replaces == nil {
		return nil
	}
	var names []string
	scope := p.of.replaces.types.Scope()
	for _, name := range scope.Names() {
		if v, ok := scope.Lookup(name).(*types.Var); ok {
			if _, waits := p.of.replaces.waiting[v]; !waits {
				names = append(names, name)
			}
		}
	}
	return names
}

// isFixed reports whether a package cannot have changed since the cell before: it is a downloaded one that imports none, and
// the versions of modules are the same.
func (l *Loader) isFixed(p *loadedPackage) bool {
	return p.from.Stamp == "" && len(p.imports) == 0 && l.modules.Generation() == l.generation
}

// current reports whether all that a package imports has been loaded from the files that it would be
// loaded from now.
func (l *Loader) current(p *loadedPackage) bool {
	current, known := l.unchanged[p]
	if !known {
		current = l.compare(p)
		l.unchanged[p] = current
	}
	return current
}

// compare computes the result of current.
func (l *Loader) compare(p *loadedPackage) bool {
	if p.stamp != "" && embedded.Stamp(p.from.Dir, p.patterns) != p.stamp {
		return false
	}
	for _, i := range p.imports {
		if l.isFixed(i) {
			continue
		}
		pkg, ok, err := l.modules.Find(l.ctx, i.path)
		if err != nil || !ok || pkg != i.from || l.loaded[i.path] != i || !l.current(i) {
			return false
		}
	}
	return true
}

// earlier returns a version of a package that another one has replaced in the meantime, if it is the one to load again: the
// version of a module may have changed and changed back. It returns nil if there is none.
func (l *Loader) earlier(importPath string, pkg module.Package) *loadedPackage {
	if l.loaded[importPath] == nil {
		return nil
	}
	for _, p := range slices.Backward(l.order) {
		if p.path != importPath || p.from != pkg || p == l.loaded[importPath] || l.isReplaced(p) {
			continue
		}
		l.loading = append(l.loading, importPath)
		same := !slices.ContainsFunc(p.imports, func(i *loadedPackage) bool {
			now, err := l.importPackage(i.path)
			return err != nil || now != i.types
		})
		l.loading = l.loading[:len(l.loading)-1]
		clear(l.unchanged)
		if same && l.current(p) {
			return p
		}
	}
	return nil
}

// isReplaced reports whether the functions of a package call those of a later version of it, which has run.
func (l *Loader) isReplaced(p *loadedPackage) bool {
	return slices.ContainsFunc(l.order, func(later *loadedPackage) bool {
		for r := later.replaces; later.begun && r != nil; r = r.replaces {
			if r == p {
				return true
			}
		}
		return false
	})
}

// replacements adds the packages that replace others which have run. Earlier cells call the new
// functions in place of the old ones of the same name and type, as when a cell declares a function
// again, so all these are needed.
func (r *reach) replacements() {
	for _, p := range r.loader.order {
		if p.replaces == nil || p.begun || r.loader.loaded[p.path] != p {
			continue
		}
		r.part(p)
		scope := p.replaces.types.Scope()
		for _, name := range scope.Names() {
			old, ok := scope.Lookup(name).(*types.Func)
			if !ok {
				continue
			}
			if _, waits := p.replaces.waiting[old]; waits && !p.replaces.declared[old] {
				continue
			}
			if now, ok := p.types.Scope().Lookup(name).(*types.Func); ok && types.Identical(old.Signature(), now.Signature()) {
				r.object(now)
			}
		}
	}
}

// first returns the package before its files changed for the first time.
func (p *loadedPackage) first() *types.Package {
	for p.replaces != nil {
		p = p.replaces
	}
	return p.types
}
