// Package statefile opens the files that the kernel stores for the user between its runs.
// It opens only regular files: others may block the kernel or never end.
package statefile
