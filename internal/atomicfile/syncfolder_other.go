//go:build !unix

package atomicfile

// SyncFolder does nothing: here the system keeps names durable by itself.
func SyncFolder(string) error { return nil }
