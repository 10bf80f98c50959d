// Package atomicfile replaces files so that a reader, or the next process after a
// crash, finds the old content or the new content and never a mixture.
package atomicfile
