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

	FolderCreate     Point = "folder/create"
	FolderSync       Point = "folder/sync"
	FolderRename     Point = "folder/rename"
	FolderSyncParent Point = "folder/sync parent"
)

// The points of the file of a kernel's history.
const (
	HistoryFolder     Point = "history/folder"
	HistoryLock       Point = "history/lock"
	HistoryOpen       Point = "history/open"
	HistoryAppend     Point = "history/append"
	HistoryShorten    Point = "history/shorten" // begins the shorter file
	HistoryCopy       Point = "history/copy"
	HistorySync       Point = "history/sync"
	HistoryRename     Point = "history/rename"
	HistorySyncFolder Point = "history/sync folder"
)

// HistoryTruncate takes back what a failed append has written.
const HistoryTruncate Point = "history tail/truncate"

// The points of the signatures of messages that a kernel has seen.
const (
	SeenOpen     Point = "seen/open"
	SeenTruncate Point = "seen/truncate" // removes what a killed process has written in part
	SeenAppend   Point = "seen/append"
)

// The points of the kernelspec that is installed.
const (
	InstallFolder Point = "install/folder"
	InstallCreate Point = "install/create" // of the content of a new kernelspec
	InstallWrite  Point = "install/write"
	InstallRemove Point = "install/remove" // of files that the kernelspec before had
)

// The points of the event files of accel.TensorBoard.
const (
	EventsFolder Point = "events/folder"
	EventsCreate Point = "events/create"
	EventsWrite  Point = "events/write"
	EventsClose  Point = "events/close"
)

// The points of the cache of modules.
const (
	ModuleFolder   Point = "module/folder"
	ModuleDownload Point = "module/download"
	ModuleUnzip    Point = "module/unzip"
)

// The points of accel.Track.
const (
	TrackFolder Point = "track/folder"
	TrackCreate Point = "track/create"
	TrackWrite  Point = "track/write"
	TrackClose  Point = "track/close"
)

// The points of a labelling session of active.Resume.
const (
	LabelsOpen     Point = "labels/open"
	LabelsTruncate Point = "labels/truncate"
	LabelsWrite    Point = "labels/write"
	LabelsSync     Point = "labels/sync"
	LabelsClose    Point = "labels/close"
)

// The points of a search of tune.Resume.
const (
	TrialsOpen  Point = "trials/open"
	TrialsWrite Point = "trials/write"
	TrialsSync  Point = "trials/sync"
	TrialsClose Point = "trials/close"
)

// CheckpointTensors is where the tensors of a checkpoint of accel.Resume are collected.
const CheckpointTensors Point = "checkpoint/tensors"

// NotebookEncode is where the text of an executed notebook is made.
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
