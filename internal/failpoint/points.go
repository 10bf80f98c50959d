package failpoint

import "strings"

// A Point is an operation that can fail: its owner and what it does.
type Point string

// Points of package atomicfile, which writes checkpoints, models, run figures and
// notebooks.
const (
	FileCreate     Point = "file/create"
	FileWrite      Point = "file/write"
	FileMode       Point = "file/mode"
	FileSync       Point = "file/sync"
	FileClose      Point = "file/close"
	FileRename     Point = "file/rename"
	FileSyncFolder Point = "file/sync folder"
	FileClean      Point = "file/clean" // removes what a killed process has left

	FolderCreate     Point = "folder/create"
	FolderSync       Point = "folder/sync"
	FolderRename     Point = "folder/rename"
	FolderSyncParent Point = "folder/sync parent"
)

// Points of the history file of a kernel.
const (
	HistoryFolder     Point = "history/folder"
	HistoryLock       Point = "history/lock"
	HistoryOpen       Point = "history/open"
	HistoryAppend     Point = "history/append"
	HistoryShorten    Point = "history/shorten" // creates the shorter file
	HistoryCopy       Point = "history/copy"
	HistorySync       Point = "history/sync"
	HistoryRename     Point = "history/rename"
	HistorySyncFolder Point = "history/sync folder"
)

// HistoryTruncate removes what a failed append has written.
const HistoryTruncate Point = "history tail/truncate"

// Points of the files with signatures of messages.
const (
	SeenOpen     Point = "seen/open"
	SeenTruncate Point = "seen/truncate" // removes what a killed process has written partly
	SeenAppend   Point = "seen/append"
)

// Points of the installation of a kernelspec.
const (
	InstallFolder Point = "install/folder"
	InstallCreate Point = "install/create" // creates the content of a new kernelspec
	InstallWrite  Point = "install/write"
	InstallRemove Point = "install/remove" // removes files of the previous kernelspec
)

// Points of the event files of accel.TensorBoard.
const (
	EventsFolder Point = "events/folder"
	EventsCreate Point = "events/create"
	EventsWrite  Point = "events/write"
	EventsClose  Point = "events/close"
)

// Points of the module cache.
const (
	ModuleFolder   Point = "module/folder"
	ModuleDownload Point = "module/download"
	ModuleUnzip    Point = "module/unzip"
)

// Points of accel.Track.
const (
	TrackFolder Point = "track/folder"
	TrackCreate Point = "track/create"
	TrackWrite  Point = "track/write"
	TrackClose  Point = "track/close"
)

// Points of a labeling session of active.Resume.
const (
	LabelsOpen     Point = "labels/open"
	LabelsTruncate Point = "labels/truncate"
	LabelsWrite    Point = "labels/write"
	LabelsSync     Point = "labels/sync"
	LabelsClose    Point = "labels/close"
)

// Points of a search of tune.Resume.
const (
	TrialsOpen  Point = "trials/open"
	TrialsWrite Point = "trials/write"
	TrialsSync  Point = "trials/sync"
	TrialsClose Point = "trials/close"
)

// CheckpointTensors collects the tensors of a checkpoint of accel.Resume.
const CheckpointTensors Point = "checkpoint/tensors"

// NotebookEncode encodes an executed notebook.
const NotebookEncode Point = "notebook/encode"

var points = []Point{
	FileCreate, FileWrite, FileMode, FileSync, FileClose, FileRename, FileSyncFolder, FileClean,
	FolderCreate, FolderSync, FolderRename, FolderSyncParent,
	HistoryFolder, HistoryLock, HistoryOpen, HistoryAppend, HistoryShorten, HistoryCopy, HistorySync, HistoryRename, HistorySyncFolder,
	HistoryTruncate,
	SeenOpen, SeenTruncate, SeenAppend,
	InstallFolder, InstallCreate, InstallWrite, InstallRemove,
	EventsFolder, EventsCreate, EventsWrite, EventsClose,
	ModuleFolder, ModuleDownload, ModuleUnzip,
	TrackFolder, TrackCreate, TrackWrite, TrackClose,
	LabelsOpen, LabelsTruncate, LabelsWrite, LabelsSync, LabelsClose,
	TrialsOpen, TrialsWrite, TrialsSync, TrialsClose,
	CheckpointTensors,
	NotebookEncode,
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
