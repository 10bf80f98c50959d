//go:build !unix

package atomicfile

import "os"

// syncFlag is how a file is opened to sync it.
const syncFlag = os.O_RDWR

// SyncFolder does nothing: here the system keeps names durable by itself.
func SyncFolder(string) error { return nil }
