//go:build unix

package trust

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// File returns nil if the file or directory exists, its path is absolute, and only this
// user and root can change it or what it refers to: the file, its directory, the
// directories above, and links on the path. A directory such as /tmp, in which all users
// may create files but only the owner of a file may rename it, is allowed above the
// directory of the file. The error is an [*Error] or that of the file system.
func File(path string) error { return check(path, os.Geteuid(), 0, private) }

// Dir is [File] for a directory that only this user can write to: it belongs to the user,
// and neither its group nor others can write to it.
func Dir(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &Error{Path: path, Reason: "is not a directory"}
	}
	if err := check(filepath.Join(path, "."), os.Geteuid(), 0, private); err != nil {
		return err
	}
	stat := info.Sys().(*syscall.Stat_t)
	switch {
	case int(stat.Uid) != os.Geteuid():
		return foreign(path, stat.Uid)
	case info.Mode().Perm()&0o022 != 0:
		return &Error{path, fmt.Sprintf("can be written by others (mode %#o)", info.Mode().Perm()), "chmod go-w " + path}
	}
	return nil
}

func foreign(path string, uid uint32) error {
	return &Error{Path: path, Reason: fmt.Sprintf("belongs to another user (%d)", uid)}
}

// maxLinks is how many symbolic links a path may contain, as in Linux.
const maxLinks = 40

// check follows a path from the root. Files may belong to the user or to root, and may be
// writable by a group for which alone returns true.
func check(path string, user, root int, alone func(gid uint32, user int) bool) error {
	if !filepath.IsAbs(path) {
		return &Error{Path: path, Reason: "is not an absolute path"}
	}
	rest := strings.Split(filepath.Clean(path), "/")[1:]
	at, links := "/", 0
	for {
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if err := owned(at, info, user, root); err != nil {
				return err
			}
			if links++; links > maxLinks {
				return &Error{Path: path, Reason: "goes through too many links"}
			}
			target, err := os.Readlink(at)
			if err != nil {
				return err
			}
			if filepath.IsAbs(target) {
				at = "/"
			} else {
				at = filepath.Dir(at)
			}
			rest = append(strings.Split(target, "/"), rest...)
			// The link has been followed; its target is checked below.
		} else if err := closed(at, info, len(rest) > 1, user, root, alone); err != nil {
			return err
		}
		for len(rest) > 0 && (rest[0] == "" || rest[0] == ".") {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return nil
		}
		at, rest = filepath.Join(at, rest[0]), rest[1:]
	}
}

// owned checks the owner of a file.
func owned(path string, info fs.FileInfo, user, root int) error {
	if uid := info.Sys().(*syscall.Stat_t).Uid; int(uid) != user && int(uid) != root {
		return foreign(path, uid)
	}
	return nil
}

// closed checks the permissions of a file or directory that is not a link. above is set
// for a directory that does not contain the file itself.
func closed(path string, info fs.FileInfo, above bool, user, root int, alone func(uint32, int) bool) error {
	if err := owned(path, info, user, root); err != nil {
		return err
	}
	if above && info.IsDir() && info.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	if info.Mode().Perm()&0o002 != 0 {
		return &Error{path, fmt.Sprintf("can be written by everybody (mode %#o)", info.Mode().Perm()), "chmod o-w " + path}
	}
	if gid := info.Sys().(*syscall.Stat_t).Gid; info.Mode().Perm()&0o020 != 0 && !alone(gid, user) {
		return &Error{path, fmt.Sprintf("can be written by the group %d (mode %#o), which may have other members", gid, info.Mode().Perm()), "chmod g-w " + path}
	}
	return nil
}
