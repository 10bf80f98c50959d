// Package failpoint makes operations on files fail in tests.
//
// Code that must survive a crash or a full disk names its operations:
//
//	_, err := failpoint.Writer(failpoint.FileWrite, f).Write(b)
//	if err == nil {
//		err = failpoint.Do(failpoint.FileSync, f.Sync)
//	}
//
// Without the build tag failpoints, Do calls the operation, Writer returns its
// writer, and nothing of this package is in the program. With the tag, one point can
// be set to fail as a disk fails, or to kill the process: see [Set].
//
// The points are listed in points.go. Package failpointtest triggers each of them in
// a process of its own, and fails for a point that was not reached.
package failpoint
