package source

import (
	"go/types"

	"github.com/quernlab/quern/interp/embedded"
)

// reload loads packages again whose files on this machine have changed since they ran. If one has
// errors, the previous one stays, unless the cell imports it.
func (l *Loader) reload() {
	for _, p := range l.order {
		if p.begun && l.loaded[p.path] == p && l.changed(p) {
			_, _ = l.importPackage(p.path)
		}
	}
	l.read = nil
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
