package rt

// NamedFunction is a function together with the names of its parameters, "" for one
// without a name.
type NamedFunction struct {
	function any
	names    []string
}

// Named returns a function the names of its parameters, which package widgets asks for.
func Named(function any, names ...string) any { return NamedFunction{function, names} }

// Function returns the function.
func (n NamedFunction) Function() any { return n.function }

// ParameterNames returns the names of its parameters, in their order.
func (n NamedFunction) ParameterNames() []string { return n.names }
