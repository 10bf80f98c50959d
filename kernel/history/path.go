package history

import (
	"os"
	"path/filepath"
	"runtime"
)

// Path is where the history of a user is kept: $QUERN_HISTORY if that is set,
// else a file among what programs keep for the user. It is empty, for a history
// in memory only, when QUERN_HISTORY is set to nothing or the user has no home.
func Path() string {
	if path, set := os.LookupEnv("QUERN_HISTORY"); set {
		return path
	}
	dir, err := stateDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "quern", "history.jsonl")
}

// stateDir is the XDG state directory where there is such a thing
// (https://specifications.freedesktop.org/basedir-spec/latest/).
func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return os.UserConfigDir()
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state"), nil
}
