package source

import "go/types"

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
