package module

import (
	"crypto/sha256"
	"fmt"
	"os"
)

// digests are texts that change with the content of files, by path. A file that is saved without a change has the same one,
// so that its package keeps its variables.
type digests map[string]digest

type digest struct{ stamp, sum string }

// of returns the digest of a regular file; "" if there is none. It reads a file only if its time or size has changed.
func (d digests) of(path string) string {
	stamp := stampOf(path)
	if stamp == "" {
		return ""
	}
	if known := d[path]; known.stamp == stamp {
		return known.sum
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return stamp // whoever reads the package reports the error
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	d[path] = digest{stamp, sum}
	return sum
}
