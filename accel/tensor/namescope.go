package tensor

import "sync/atomic"

// scopeNameUsers counts the running functions that need the names of NameScope.
var scopeNameUsers atomic.Int32

// NameScope runs f, a part of a model such as a layer, and names its ops for [FindNonFinite] and
// [Trace]: path is the part's name, which is appended to that of the enclosing scope, and kind what
// it is. name is called only while a name is needed.
func NameScope(name func() (path, kind string), f func()) {
	if scopeNameUsers.Load() == 0 {
		f()
		return
	}
	path, kind := name()
	withScope(func(s *scope) {
		if s.path != "" {
			path = s.path + "." + path
		}
		s.path, s.kind = path, kind
	}, f)
}
