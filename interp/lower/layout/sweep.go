package layout

import (
	"go/types"

	"golang.org/x/tools/go/types/typeutil"
)

// Sweep forgets the types that were made of those for which keep does not hold.
// They are made again when they are asked for: only a type that keep holds for may
// have values.
func (b *Builder) Sweep(keep func(types.Type) bool) {
	for _, all := range []*typeutil.Map{&b.built, &b.names} {
		var kept typeutil.Map
		all.Iterate(func(t types.Type, made any) {
			if keep(t) {
				kept.Set(t, made)
			}
		})
		*all = kept
	}
}
