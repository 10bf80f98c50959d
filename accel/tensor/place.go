package tensor

import "sync/atomic"

// watched counts those who want to know where ops are recorded.
var watched atomic.Int32

// NameScope runs f, a part of a model such as a layer, and lets [FindNonFinite] call its
// ops by where they are: path is the part's name, which is appended to that of
// the part around it, and kind what it is. name is asked only where somebody
// wants to know.
func NameScope(name func() (path, kind string), f func()) {
	if watched.Load() == 0 {
		f()
		return
	}
	path, kind := name()
	within(func(s *scope) {
		if s.path != "" {
			path = s.path + "." + path
		}
		s.path, s.kind = path, kind
	}, f)
}
