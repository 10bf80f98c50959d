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
	flush := false
	withScope(func(s *scope) {
		if s.path != "" {
			path = s.path + "." + path
		}
		s.path, s.kind, flush = path, kind, s.flush
	}, func() {
		if f(); flush {
			Flush()
		}
	})
}

// FlushScopes runs f, and computes the ops of each [NameScope] at its end, so that a panic that only
// the values of tensors cause, such as an [*IndexError], occurs in the scope of its op.
func FlushScopes(f func()) {
	scopeNameUsers.Add(1)
	defer scopeNameUsers.Add(-1)
	withScope(func(s *scope) { s.flush = true }, f)
}
