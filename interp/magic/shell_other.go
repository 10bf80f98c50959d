//go:build !windows

package magic

var systemShell = []string{"sh", "-c"}
