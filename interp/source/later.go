package source

import (
	"go/types"
	"maps"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/facts"
)

// Functions of downloaded packages are compiled when they are called for the first time. Until then only their names and types
// are needed: code that mentions them reaches nothing through them.
//
// If a package lacks functions that are not written in Go, all that code may need is searched for them first, so that it is
// rejected before anything runs: by names, and if that finds one, by types.

// Later makes the loader leave functions for their first call.
func (l *Loader) Later() { l.later = true }

// needed returns what code reaches that add adds to a reach.
func (l *Loader) needed(add func(*reach)) []*Part {
	r := newReach(l)
	add(r)
	parts := r.run()
	isMissing := func(p *Part) bool { return p.Missing != nil }
	if slices.ContainsFunc(parts, isMissing) || !l.lacksFunctions() || !l.search.lacks(parts) {
		return parts
	}
	whole := newReach(l)
	whole.whole = true
	add(whole)
	all := whole.run()
	if slices.ContainsFunc(all, isMissing) {
		return all
	}
	maps.Copy(l.complete, whole.objects)
	return parts
}

// lacksFunctions reports whether a package lacks functions that are not written in Go.
func (l *Loader) lacksFunctions() bool {
	return slices.ContainsFunc(l.order, func(p *loadedPackage) bool { return len(p.missing) > 0 })
}

// NeededFunction returns what has to run before a function or method is called for the first time, with the function itself.
// There is nothing if it has been compiled.
func (l *Loader) NeededFunction(f *types.Func) []*Part {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := newReach(l)
	r.function(f)
	return r.run()
}

// canBeLater reports whether a function can be compiled at its first call. Instances of generic functions are compiled with
// the code that calls them. A function that recovers must know who calls it. A function of a local package is compiled at once,
// so that its errors are found early, and so is an init function, which is called anyway.
func (r *reach) canBeLater(p *loadedPackage, o types.Object, d declaration) bool {
	f, ok := o.(*types.Func)
	return ok && !r.whole && r.loader.later && d.function != nil && d.function.Body != nil && d.function.Name.Name != "_" && !strings.HasPrefix(d.function.Name.Name, initPrefix) && p.from.Stamp == "" &&
		f.Signature().TypeParams() == nil && f.Signature().RecvTypeParams() == nil && !facts.Recovers(d.function.Body.List)
}

// later adds a function without its body.
func (r *reach) later(part *Part, o types.Object, d declaration) {
	if part.of.declared[o] {
		return
	}
	part.later = append(part.later, o)
	part.Nodes = append(part.Nodes, d.function.Name)
}

// function adds a function with its body.
func (r *reach) function(f *types.Func) {
	o := types.Object(f.Origin())
	p := r.loader.packages[o.Pkg()]
	if p == nil || r.now[o] {
		r.object(o)
		return
	}
	r.now[o] = true
	if part := r.parts[p]; part != nil && r.objects[o] {
		if i := slices.Index(part.later, o); i >= 0 {
			part.later = slices.Delete(part.later, i, i+1)
		} else if !p.declared[o] {
			return // it has been added with its body
		}
		delete(r.objects, o)
	}
	r.object(o)
}

// headroom is the memory in bytes that the collector may leave uncollected while packages are
// compiled, beyond what it leaves otherwise.
const headroom = 192 << 20

// relaxCollector makes the garbage collector run less often while packages are compiled, which
// allocates much and keeps most of it: a first import takes a fifth less CPU time.
func (l *Loader) relaxCollector() {
	if l.restore != nil {
		return
	}
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	live, percent := max(sample[0].Value.Uint64(), 4<<20), sample[1].Value.Uint64()
	if percent > 1000 {
		return // off, or already relaxed
	}
	before := debug.SetGCPercent(int(percent + min(headroom*100/live, 1000)))
	l.restore = func() { debug.SetGCPercent(before) }
}

// End is called when a cell has been compiled.
func (l *Loader) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generation = l.modules.Generation()
	if l.restore != nil {
		l.restore()
		l.restore = nil
	}
}
