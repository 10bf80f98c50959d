//go:build !linux

package early

import "os"

func arguments() []string { return os.Args }
