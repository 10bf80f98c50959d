package interp

import (
	"net"
	"net/http"
	"reflect"
)

// Servers of package http end with the run that serves: an interrupt of the cell closes them, and so does the end of a
// program, which closes its listeners as well. Their port is free then.

// serving are the functions and, for lowered code, the methods that listen.
func (s *Session) serving() map[string]map[string]reflect.Value {
	listenAndServe := func(srv *http.Server) error { return s.serve(srv, srv.ListenAndServe) }
	listenAndServeTLS := func(srv *http.Server, cert, key string) error {
		return s.serve(srv, func() error { return srv.ListenAndServeTLS(cert, key) })
	}
	serve := func(srv *http.Server, l net.Listener) error {
		return s.serve(srv, func() error { return srv.Serve(l) })
	}
	serveTLS := func(srv *http.Server, l net.Listener, cert, key string) error {
		return s.serve(srv, func() error { return srv.ServeTLS(l, cert, key) })
	}
	return map[string]map[string]reflect.Value{
		"net/net": {"Listen": reflect.ValueOf(s.listen)},
		"net/http/http": {
			"ListenAndServe": reflect.ValueOf(func(addr string, h http.Handler) error {
				return listenAndServe(&http.Server{Addr: addr, Handler: h})
			}),
			"ListenAndServeTLS": reflect.ValueOf(func(addr, cert, key string, h http.Handler) error {
				return listenAndServeTLS(&http.Server{Addr: addr, Handler: h}, cert, key)
			}),
			"Serve": reflect.ValueOf(func(l net.Listener, h http.Handler) error { return serve(&http.Server{Handler: h}, l) }),
			"ServeTLS": reflect.ValueOf(func(l net.Listener, h http.Handler, cert, key string) error {
				return serveTLS(&http.Server{Handler: h}, l, cert, key)
			}),
		},
		"quern/rt/rt": {
			"ListenAndServe": reflect.ValueOf(listenAndServe), "ListenAndServeTLS": reflect.ValueOf(listenAndServeTLS),
			"Serve": reflect.ValueOf(serve), "ServeTLS": reflect.ValueOf(serveTLS),
		},
	}
}

// serve calls a function that serves until srv is closed.
func (s *Session) serve(srv *http.Server, until func() error) error {
	m := s.goroutines.Member()
	if m == nil || srv == nil {
		return until()
	}
	forget := m.OnStop(func() { go srv.Close() })
	defer forget()
	err := until()
	if m.IsStopped() {
		s.goroutines.EndIfStopped(m)
	}
	return err
}

// listen is net.Listen.
func (s *Session) listen(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	if m := s.goroutines.Member(); err == nil && m != nil && m.Program {
		m.OnStop(func() {
			if m.HasEnded() {
				l.Close()
			}
		})
	}
	return l, err
}
