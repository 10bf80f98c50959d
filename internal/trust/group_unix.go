//go:build unix

package trust

import (
	"os"
	"strconv"
	"strings"
)

// private reports whether a group has no members except a user and root. Many systems
// give each user such a group. Groups that are not in the files of this machine, for
// example in a directory service, are not private.
func private(gid uint32, user int) bool {
	groups, err := os.ReadFile("/etc/group")
	if err != nil {
		return false
	}
	users, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return false
	}
	return alone(string(groups), string(users), gid, user)
}

// alone implements private for the texts of /etc/group and /etc/passwd.
func alone(groups, users string, gid uint32, user int) bool {
	number := strconv.FormatUint(uint64(gid), 10)
	known, names := false, map[string]bool{"": true}
	for line := range strings.Lines(users) { // name:password:uid:gid:…
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 {
			continue
		}
		if mine := f[2] == strconv.Itoa(user) || f[2] == "0"; mine {
			names[f[0]] = true
		} else if f[3] == number {
			return false
		}
	}
	for line := range strings.Lines(groups) { // name:password:gid:members
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 || f[2] != number {
			continue
		}
		known = true
		for member := range strings.SplitSeq(f[3], ",") {
			if !names[member] {
				return false
			}
		}
	}
	return known
}
