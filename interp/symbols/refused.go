package symbols

// refused lists functions and fields that would silently behave differently in a cell than Go defines, with
// the reasons, by import path and name. Symbols that are only missing are not in the tables of [Packages].
var refused = map[string]map[string]string{
	"encoding/json/v2": {
		"Marshal": noTypes, "MarshalEncode": noTypes, "MarshalWrite": noTypes,
		"Unmarshal": noTypes, "UnmarshalDecode": noTypes, "UnmarshalRead": noTypes,
	},
	"log/slog": {
		"AddSource": noFrames,
	},
}

const noTypes = "it does not see the field names and methods of types of cells; use encoding/json"

const noFrames = "it would report positions in the interpreter; runtime.Caller reports positions in cells"

// Refused returns the reason why a cell cannot use an exported name, or a field, of a package; "" if it
// can.
func Refused(path, name string) string { return refused[path][name] }
