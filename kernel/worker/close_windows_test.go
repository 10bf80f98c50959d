package worker

import "os"

// closeAll closes what a cell can reach of the process.
func closeAll() {
	os.Stdout.Close()
	os.Stderr.Close()
	os.Exit(1)
}
