package check

import (
	"fmt"
	"go/types"
)

// Refuse sets the function that says why a cell cannot use an exported name, or
// field, of a package: because what it would do there is not what Go says. It
// returns "" for all others.
func Refuse(reason func(path, name string) string) Option {
	return func(c *Checker) { c.refuse = reason }
}

// refusals are the errors of a cell that uses what it cannot have.
func (a *attempt) refusals() ErrorList {
	var errs ErrorList
	for id, o := range a.info.Uses {
		if o.Pkg() == nil || o.Pkg() == a.pkg || !o.Exported() {
			continue
		}
		reason := a.refuse(o.Pkg().Path(), o.Name())
		if reason == "" || hasReceiver(o) {
			continue
		}
		errs = append(errs, &Error{
			Pos: a.fset.Position(id.Pos()),
			Msg: fmt.Sprintf("%s.%s is not supported: %s", o.Pkg().Name(), o.Name(), reason),
			pos: id.Pos(),
		})
	}
	return errs
}

func hasReceiver(o types.Object) bool {
	f, ok := o.(*types.Func)
	return ok && f.Signature().Recv() != nil
}
