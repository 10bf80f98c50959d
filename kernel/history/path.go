package history

import (
	"os"
	"path/filepath"

	"github.com/quernlab/quern/kernel/statefile"
)

// Path is where the history of a user is kept: $QUERN_HISTORY if that is set,
// else a file among what programs keep for the user. It is empty, for a history
// in memory only, when QUERN_HISTORY is set to nothing or the user has no home.
func Path() string {
	if path, set := os.LookupEnv("QUERN_HISTORY"); set {
		return path
	}
	dir, err := statefile.Dir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "history.jsonl")
}
