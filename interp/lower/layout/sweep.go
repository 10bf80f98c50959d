package layout

import (
	"go/types"
	"maps"

	"golang.org/x/tools/go/types/typeutil"
)

// Sweep removes the types that were created for types for which keep returns false. They are created again on demand. So types for
// which keep returns false must not have values any more.
func (b *Builder) Sweep(keep func(types.Type) bool) {
	for _, all := range []*typeutil.Map{&b.built, &b.names, &b.literals} {
		var kept typeutil.Map
		all.Iterate(func(t types.Type, made any) {
			if keep(t) {
				kept.Set(t, made)
			}
		})
		*all = kept
	}
	clear(b.structs)
	maps.DeleteFunc(b.recursive, func(t *types.Named, _ bool) bool { return !keep(t) })
}

// Forget removes the types made for the named types and for all that mention them, so that they are made again on demand.
func (b *Builder) Forget(all ...*types.Named) {
	b.Sweep(func(t types.Type) bool {
		for _, n := range all {
			if types.Identical(t, n) || b.reaches(t, n, &typeutil.Map{}) {
				return false
			}
		}
		return true
	})
}
