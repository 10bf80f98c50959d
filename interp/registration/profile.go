package registration

import (
	"reflect"
	"runtime/pprof"
	"sync"
)

// profiles registers profiles of package pprof.
type profiles struct{ names *names }

// newProfile is pprof.NewProfile. It returns the profile of an earlier cell without its
// entries, because package pprof cannot forget it.
func (p *profiles) newProfile(name string) *pprof.Profile {
	k := key{kind: "pprof", name: name}
	if earlier, ok := p.names.earlier(k).(*pprof.Profile); ok {
		v := reflect.ValueOf(earlier).Elem()
		mu := accessible(v, "mu").Addr().Interface().(*sync.Mutex)
		mu.Lock()
		defer mu.Unlock()
		accessible(v, "m").Clear()
		return earlier
	}
	profile := pprof.NewProfile(name)
	p.names.add(k, profile)
	return profile
}
