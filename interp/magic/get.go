package magic

import (
	"errors"
)

var get = command{
	name: "%get", usage: "%get module@version", doc: "is refused: cells import what is compiled in, not modules from source",
	prepare: func(string) (action, error) {
		return nil, errors.New("%get: a module cannot be added to a session: its packages would have to be interpreted from source, " +
			"and that is not supported; what can be imported is the standard library, Quern's own packages, gonum, gonum/plot and uuid")
	},
}
