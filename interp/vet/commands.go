package vet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/stale"
)

// commands replaces the commands of a cell by Go code, as a session does. It runs only %get and %reset.
func (s *Session) commands(ctx context.Context, c Cell) (text string, wrong *Finding) {
	at := func(offset int, msg string) *Finding {
		before := c.Source[:offset]
		return &Finding{Cell: c.Number, Line: 1 + strings.Count(before, "\n"), Column: offset - strings.LastIndexByte(before, '\n'), Message: msg}
	}
	parsed, err := magic.Parse(c.Source, commands{s})
	var e *magic.Error
	switch {
	case errors.As(err, &e):
		return "", at(e.Offset, e.Msg)
	case err != nil:
		return "", at(0, err.Error())
	}
	for _, m := range parsed.Modules {
		compiled, err := m.CompiledIn()
		switch {
		case compiled:
		case m.Directory():
			_, err = s.modules.Add(m.Query)
		default:
			_, err = s.modules.Get(ctx, m.Query)
		}
		if err != nil {
			s.failed.module(m.Path())
			return "", at(m.Offset, fmt.Sprintf("%%get %s: %v", m.Query, err))
		}
	}
	if parsed.Autoget != "" {
		s.autoget = parsed.Autoget == "on"
	}
	if s.autoget {
		var failed *Finding
		_ = magic.Missing(ctx, c.Source, s.checker.Known, s.modules, func(m magic.Module) error {
			if _, err := s.modules.Get(ctx, m.Query); err != nil {
				s.failed.module(m.Path())
				failed = at(m.Offset, fmt.Sprintf("%%autoget %s: %v", m.Query, err))
				return err
			}
			return nil
		})
		if failed != nil {
			return "", failed
		}
	}
	if parsed.Reset {
		s.checker.Reset("ctx", magic.Name, magic.OutputName)
	}
	return parsed.Source, nil
}

// commands is what magic.Parse needs of a session. No command runs, so only the names matter.
type commands struct{ s *Session }

func (commands) Stdout() io.Writer                                       { return io.Discard }
func (commands) Stderr() io.Writer                                       { return io.Discard }
func (commands) Text(any) string                                         { return "" }
func (commands) Word(any) (string, error)                                { return "", nil }
func (commands) Module(magic.Module) string                              { return "" }
func (commands) Program() string                                         { return "" }
func (commands) Stale() []stale.Cell                                     { return nil }
func (commands) Ranks() magic.Ranks                                      { return magic.Alone{} }
func (commands) Format(src string) (string, error)                       { return src, nil }
func (commands) Explain(context.Context, string, string) (string, error) { return "", nil }
func (c commands) Known(name string) bool                                { return c.s.checker.Known(name) }

// TestFunctions returns those whose calls %test checks.
func (c commands) TestFunctions(src string) []check.TestFunction {
	return c.s.checker.TestFunctions(src)
}

func (commands) Test(context.Context, magic.TestRun) error { return nil }

// Variables returns none: only %who needs them, which shows them.
func (commands) Variables() []magic.Variable { return nil }
