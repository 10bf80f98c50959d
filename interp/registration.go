package interp

import (
	"reflect"
	"runtime"
	"sync"
	"weak"
)

// Names that cells register with compiled packages: flags, patterns of HTTP handlers, drivers of database/sql, variables of
// package expvar. Those packages panic on a name that is taken, as in a program that takes it twice. A cell that runs again
// takes its names again, and as with a definition the later cell counts. Within one run of a cell, and for names that no
// cell has registered, the package decides.

// A registration is what a name is registered with. in is a weak pointer to what holds the name, or nil for the package.
type registration struct {
	kind string
	in   any
	name string
}

// registrations are those of the cells of a session.
type registrations struct {
	mu      sync.Mutex
	entries map[registration]*registered
	holders map[any]bool // the weak pointers in entries
}

// registered says which run has registered a name, and what serves to replace that.
type registered struct {
	run   uint64
	value any
}

// earlier is what an earlier run than that of the caller has registered, which the caller replaces from now on; nil if there
// is none.
func (s *Session) earlier(key registration) any {
	r := s.goroutines.Run()
	s.registrations.mu.Lock()
	defer s.registrations.mu.Unlock()
	e := s.registrations.entries[key]
	if e == nil || r == nil || r.Serial == e.run {
		return nil
	}
	e.run = r.Serial
	return e.value
}

// register notes what the run of the caller has registered.
func (s *Session) register(key registration, value any) {
	r := s.goroutines.Run()
	if r == nil || r.Serial == 0 {
		return
	}
	s.registrations.mu.Lock()
	defer s.registrations.mu.Unlock()
	if s.registrations.entries == nil {
		s.registrations.entries, s.registrations.holders = map[registration]*registered{}, map[any]bool{}
	}
	s.registrations.entries[key] = &registered{r.Serial, value}
}

// within is a key of a name that holder holds. What is registered there is forgotten with holder.
func within[T any](s *Session, kind string, holder *T, name string) registration {
	in := weak.Make(holder)
	s.registrations.mu.Lock()
	defer s.registrations.mu.Unlock()
	if !s.registrations.holders[in] && holder != nil {
		if s.registrations.holders == nil {
			s.registrations.entries, s.registrations.holders = map[registration]*registered{}, map[any]bool{}
		}
		s.registrations.holders[in] = true
		runtime.AddCleanup(holder, s.forgetHolder, any(in))
	}
	return registration{kind, in, name}
}

func (s *Session) forgetHolder(in any) {
	s.registrations.mu.Lock()
	defer s.registrations.mu.Unlock()
	delete(s.registrations.holders, in)
	for key := range s.registrations.entries {
		if key.in == in {
			delete(s.registrations.entries, key)
		}
	}
}

// registering are the functions of compiled packages that register names.
func (s *Session) registering() map[string]map[string]reflect.Value {
	return map[string]map[string]reflect.Value{
		"flag/flag":        s.flagFunctions(),
		"net/http/http":    {"Handle": reflect.ValueOf(s.handleDefault), "HandleFunc": reflect.ValueOf(s.handleFuncDefault)},
		"net/rpc/rpc":      {"HandleHTTP": reflect.ValueOf(s.handleRPC)},
		"expvar/expvar":    s.expvarFunctions(),
		"database/sql/sql": {"Register": reflect.ValueOf(s.registerDriver)},
		"archive/zip/zip":  {"RegisterCompressor": reflect.ValueOf(s.registerCompressor), "RegisterDecompressor": reflect.ValueOf(s.registerDecompressor)},
		"image/image":      {"RegisterFormat": reflect.ValueOf(s.registerFormat)},
		"quern/rt/rt":      s.registeringMethods(),
	}
}
