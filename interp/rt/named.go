package rt

// NamedFunction is a function with the names of its parameters. An unnamed parameter
// has the name "".
type NamedFunction struct {
	function any
	names    []string
}

// Named attaches parameter names to a function; package widgets uses them.
func Named(function any, names ...string) any { return NamedFunction{function, names} }

// Function returns the function.
func (n NamedFunction) Function() any { return n.function }

// ParameterNames returns the names of the parameters in order.
func (n NamedFunction) ParameterNames() []string { return n.names }
