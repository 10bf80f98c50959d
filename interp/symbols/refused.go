package symbols

// refused has what would silently do something else in a cell than Go says, by import path and name; with a field, the
// name is the field's. What is only missing is not in the tables of [Packages] in the first place.
var refused = map[string]map[string]string{
	"encoding/json/v2": {
		"Marshal": noTypes, "MarshalEncode": noTypes, "MarshalWrite": noTypes,
		"Unmarshal": noTypes, "UnmarshalDecode": noTypes, "UnmarshalRead": noTypes,
	},
	"log/slog": {
		"AddSource": noFrames,
	},
}

const noTypes = "it does not see the names and methods of types of cells; use encoding/json"

const noFrames = "it would give places in the interpreter; runtime.Caller gives those in cells"

// Refused says why a cell cannot use an exported name, or a field, of the package with this import path. It is "" for
// what a cell can use.
func Refused(path, name string) string { return refused[path][name] }
