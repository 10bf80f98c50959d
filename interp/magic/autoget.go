package magic

import (
	"context"
	"fmt"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/symbols"
)

var autoget = command{
	name: "%autoget", usage: "%autoget on | off", doc: "with on, an import downloads its module as %get does, from then on",
	// The session has done this before it checked the cell.
	prepare: func(text string) (action, error) {
		_, err := switched(text)
		return func(context.Context, *Run, []any) error { return nil }, err
	},
}

// switched parses the argument of %autoget.
func switched(text string) (on bool, err error) {
	if text != "on" && text != "off" {
		return false, fmt.Errorf("%%autoget needs on or off, but has %q", text)
	}
	return text == "on", nil
}

// Missing returns what %autoget has to get for a cell: its imports that no module of the set and no compiled package satisfies.
// It calls get for each, which adds the module, so that another package of it is not missing.
func Missing(ctx context.Context, src string, known func(name string) bool, modules *module.Set, get func(Module) error) error {
	for _, i := range check.Imports(Blank(src, known)) {
		host, _, _ := strings.Cut(i.Path, "/")
		if !strings.Contains(host, ".") || strings.HasPrefix(host, ".") || symbols.Has(i.Path) || modules.Local(i.Path) {
			continue
		}
		if _, ok, err := modules.Find(ctx, i.Path); ok && err == nil {
			continue
		}
		if err := get(Module{Offset: i.Offset, End: i.Offset, Query: i.Path}); err != nil {
			return err
		}
	}
	return nil
}
