package rt

import (
	"io"
	"io/fs"
)

// A wrapped file of a cell has the optional methods that packages io/fs and net/http look for
// exactly if its type has them. A wrapped file system has all of them; if its type lacks one,
// the method does what package io/fs does without it.

func wrapFile(b Box) any {
	set := b.T.set.Load()
	directory := set.hasSignature("ReadDir", "func(int) ([]fs.DirEntry, error)")
	seeks := set.hasSignature("Seek", "func(int64, int) (int64, error)")
	switch {
	case directory && seeks:
		return seekingDirectory{directoryFile{file{b}}}
	case directory:
		return directoryFile{file{b}}
	case seeks:
		return seekingFile{file{b}}
	}
	return file{b}
}

type file struct{ Box }

func (f file) Stat() (fs.FileInfo, error)     { return call0x2[fs.FileInfo, error](f.Box, "Stat") }
func (f file) Read(p []byte) (n int, e error) { return f.read(p) }
func (f file) Close() error                   { return f.closeStream() }

type directoryFile struct{ file }

func (f directoryFile) ReadDir(n int) ([]fs.DirEntry, error) {
	return call1x2[[]fs.DirEntry, error](f.Box, "ReadDir", n)
}

type seekingFile struct{ file }

func (f seekingFile) Seek(offset int64, whence int) (int64, error) { return f.seek(offset, whence) }

type seekingDirectory struct{ directoryFile }

func (f seekingDirectory) Seek(offset int64, whence int) (int64, error) {
	return f.seek(offset, whence)
}

var _ = []io.Seeker{seekingFile{}, seekingDirectory{}}

func wrapFileSystem(b Box) any {
	if b.T.set.Load().hasSignature("Sub", "func(string) (fs.FS, error)") {
		return dividedSystem{fileSystem{b}}
	}
	return fileSystem{b}
}

type fileSystem struct{ Box }

func (s fileSystem) Open(name string) (fs.File, error) {
	return call1x2[fs.File, error](s.Box, "Open", name)
}

// has reports whether the type has a method with a file name as its only parameter.
func (s fileSystem) has(method, results string) bool {
	return s.T.set.Load().hasSignature(method, "func(string) "+results)
}

// plain returns the file system without any optional method.
func (s fileSystem) plain() fs.FS { return struct{ fs.FS }{s} }

func (s fileSystem) ReadFile(name string) ([]byte, error) {
	if s.has("ReadFile", "([]uint8, error)") {
		return call1x2[[]byte, error](s.Box, "ReadFile", name)
	}
	return fs.ReadFile(s.plain(), name)
}

func (s fileSystem) ReadDir(name string) ([]fs.DirEntry, error) {
	if s.has("ReadDir", "([]fs.DirEntry, error)") {
		return call1x2[[]fs.DirEntry, error](s.Box, "ReadDir", name)
	}
	return fs.ReadDir(s.plain(), name)
}

func (s fileSystem) Stat(name string) (fs.FileInfo, error) {
	if s.has("Stat", "(fs.FileInfo, error)") {
		return call1x2[fs.FileInfo, error](s.Box, "Stat", name)
	}
	return fs.Stat(s.plain(), name)
}

// Glob calls the method of the type, or finds files by the type's ReadDir and Stat.
func (s fileSystem) Glob(pattern string) ([]string, error) {
	if s.has("Glob", "([]string, error)") {
		return call1x2[[]string, error](s.Box, "Glob", pattern)
	}
	return fs.Glob(struct {
		fs.ReadDirFS
		statFS
	}{s, s}, pattern)
}

// statFS has the second method that fs.Glob looks for.
type statFS interface {
	Stat(name string) (fs.FileInfo, error)
}

type dividedSystem struct{ fileSystem }

func (s dividedSystem) Sub(dir string) (fs.FS, error) {
	return call1x2[fs.FS, error](s.Box, "Sub", dir)
}
