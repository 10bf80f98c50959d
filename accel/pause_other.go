//go:build !js

package accel

// pause does nothing on systems with threads.
type pause struct{}

func (*pause) letOthersRun() {}
