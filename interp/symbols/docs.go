package symbols

import (
	"sync"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
)

// Doc returns the documentation of an exported name of a package as text without markup. The name of a method or field
// is "Builder.Len", the name of the package itself "". For packages of other modules it is only the first paragraph,
// on one line. Doc returns "" if there is no documentation.
func Doc(path, name string) string {
	a, err := open()
	if err != nil {
		return ""
	}
	if docs, ok := docCache.Load(path); ok {
		return docs.(archive.Docs)[name]
	}
	docs, err := a.docs(path)
	if err != nil {
		return ""
	}
	docCache.Store(path, docs)
	return docs[name]
}

// docCache caches the documentation of packages: import path to archive.Docs.
var docCache sync.Map
