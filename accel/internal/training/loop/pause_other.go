//go:build !js

package loop

// pause does nothing on systems with threads.
type pause struct{}

func (*pause) letOthersRun() {}
