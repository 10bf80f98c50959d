package history

import (
	"os"
	"path/filepath"

	"github.com/quernlab/quern/kernel/statefile"
)

// Path returns the path of the user's history file: $QUERN_HISTORY if it is set,
// otherwise a file in the user's state directory. It returns "", for a history in memory
// only, if QUERN_HISTORY is empty or the user has no home directory.
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
