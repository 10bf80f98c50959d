package facts

import "go/types"

// ParameterAt returns the type of the parameter for argument i of a call; spread says that the last argument is a slice for
// the variadic parameter. It is nil if there is no such parameter, as for a builtin, whose signature is nil.
func ParameterAt(sig *types.Signature, i int, spread bool) types.Type {
	if sig == nil {
		return nil
	}
	last := sig.Params().Len() - 1
	switch {
	case sig.Variadic() && !spread && i >= last:
		if s, ok := sig.Params().At(last).Type().(*types.Slice); ok {
			return s.Elem()
		}
	case i <= last:
		return sig.Params().At(i).Type()
	}
	return nil
}
