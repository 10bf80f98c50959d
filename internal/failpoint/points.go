package failpoint

import "strings"

// A Point is an operation that can fail: the name of who does it, and what it does.
type Point string

// The points of package atomicfile, which checkpoints, models, figures of runs and
// notebooks are written with.
const (
	FileCreate     Point = "file/create"
	FileWrite      Point = "file/write"
	FileMode       Point = "file/mode"
	FileSync       Point = "file/sync"
	FileClose      Point = "file/close"
	FileRename     Point = "file/rename"
	FileSyncFolder Point = "file/sync folder"
	FileClean      Point = "file/clean" // removes what a killed process has left
)

var points = []Point{
	FileCreate, FileWrite, FileMode, FileSync, FileClose, FileRename, FileSyncFolder, FileClean,
}

// Of returns the points of an owner, such as "file".
func Of(owner string) (owned []Point) {
	for _, p := range points {
		if strings.HasPrefix(string(p), owner+"/") {
			owned = append(owned, p)
		}
	}
	return owned
}
