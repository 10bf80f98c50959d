package library

import "fmt"

// Version is a library's version.
type Version struct{ Major, Minor, Patch int }

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// number returns a version in the format of NVIDIA's libraries.
func (v Version) number() int { return 10000*v.Major + 100*v.Minor + v.Patch }

// numbered parses the version that a library returns.
func numbered(n int) Version { return Version{n / 10000, n / 100 % 100, n % 100} }

// check returns a [*VersionError] for a version that is not supported.
func (l *Library) check(path string, number int) (Version, error) {
	v := numbered(number)
	if v.number() < l.Oldest.number() || v.number() >= l.Before.number() {
		return v, &VersionError{Library: l, Path: path, Found: v}
	}
	return v, nil
}
