package symbols

// refused has what would silently do something else in a cell than Go says, by import path and name; with a field, the
// name is the field's. What is only missing is not in the tables of [Packages] in the first place.
var refused = map[string]map[string]string{
	"runtime": {
		"Caller":        noFrames,
		"Callers":       noFrames,
		"CallersFrames": noFrames,
		"FuncForPC":     "functions of cells have no entry in the table of the program, so it would name the interpreter's",
	},
	"log": {
		"Llongfile":  noFrames,
		"Lshortfile": noFrames,
	},
	"log/slog": {
		"AddSource": noFrames,
	},
}

const noFrames = "calls of functions of cells have no frames on the stack, so it would give places in the interpreter"

// Refused says why a cell cannot use an exported name, or a field, of the package with this import path. It is "" for
// what a cell can use.
func Refused(path, name string) string { return refused[path][name] }
