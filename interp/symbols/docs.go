package symbols

import (
	"sync"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
)

// Doc returns the documentation of an exported name of a package as text without markup: "Builder", a method or field
// as "Builder.Len", the package itself as "". It is "" where there is none. Of other modules than this one it has only
// the first paragraph, as one line.
func Doc(path, name string) string {
	a, err := open()
	if err != nil {
		return ""
	}
	if docs, ok := unpacked.Load(path); ok {
		return docs.(archive.Docs)[name]
	}
	docs, err := a.docs(path)
	if err != nil {
		return ""
	}
	unpacked.Store(path, docs)
	return docs[name]
}

// unpacked caches the documentation of packages that were asked for: import path to archive.Docs.
var unpacked sync.Map
