// Package statefile opens the files that the kernel keeps for the user between its
// runs, none of which may block it or have no end: only regular files are opened.
package statefile
