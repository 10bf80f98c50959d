//go:build !unix

package descendants

import (
	"errors"

	"github.com/shirou/gopsutil/v4/process"
)

func interrupt(*process.Process) error { return errors.ErrUnsupported }
