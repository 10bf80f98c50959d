package library

import (
	"net"
	"net/http"

	"github.com/quernlab/quern/interp/rt"
)

// servers ends servers of package http together with their run: an interrupt of the cell
// closes them, and so does the end of a program, which also closes its listeners, so that
// their ports are free again.
type servers struct{ goroutines Goroutines }

func (s *servers) functions() Packages {
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
	return Packages{
		"net/net": functionsOf(map[string]any{"Listen": s.listen}),
		"net/http/http": functionsOf(map[string]any{
			"ListenAndServe": func(addr string, h http.Handler) error {
				return listenAndServe(&http.Server{Addr: addr, Handler: h})
			},
			"ListenAndServeTLS": func(addr, cert, key string, h http.Handler) error {
				return listenAndServeTLS(&http.Server{Addr: addr, Handler: h}, cert, key)
			},
			"Serve": func(l net.Listener, h http.Handler) error { return serve(&http.Server{Handler: h}, l) },
			"ServeTLS": func(l net.Listener, h http.Handler, cert, key string) error {
				return serveTLS(&http.Server{Handler: h}, l, cert, key)
			},
		}),
		rt.Methods: functionsOf(map[string]any{
			"(*net/http.Server).ListenAndServe": listenAndServe, "(*net/http.Server).ListenAndServeTLS": listenAndServeTLS, "(*net/http.Server).Serve": serve, "(*net/http.Server).ServeTLS": serveTLS,
		}),
	}
}

// serve calls until, which returns when srv is closed.
func (s *servers) serve(srv *http.Server, until func() error) error {
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
func (s *servers) listen(network, address string) (net.Listener, error) {
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
