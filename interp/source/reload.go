package source

import (
	"errors"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/embedded"
	"github.com/quernlab/quern/interp/module"
)

// reload loads packages again whose files on this machine have changed since they ran. If one has
// errors, the previous one stays, unless the cell imports it.
func (l *Loader) reload() {
	l.reloading = true
	defer func() { l.reloading, l.read = false, nil }()
	for _, p := range l.order {
		if p.begun && l.loaded[p.path] == p && l.changed(p) {
			_, _ = l.importPackage(p.path)
		}
	}
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
	if p.from.Stamp == "" && len(p.imports) == 0 {
		return false
	}
	from, ok, err := l.modules.Find(l.ctx, p.path)
	return err == nil && ok && (from != p.from || !l.current(p))
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
		if i.from.Stamp == "" && len(i.imports) == 0 {
			continue // it never changes
		}
		pkg, ok, err := l.modules.Find(l.ctx, i.path)
		if err != nil || !ok || pkg != i.from || l.loaded[i.path] != i || !l.current(i) {
			return false
		}
	}
	return true
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
			if _, waits := p.replaces.waiting[old]; waits {
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
