package interp

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"runtime"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/symbols"
)

// host is what commands see of a session.
type host struct{ *Session }

func (h host) Stdout() io.Writer      { return h.output.Stdout() }
func (h host) Stderr() io.Writer      { return h.output.Stderr() }
func (h host) Ranks() magic.Ranks     { return h.config.ranks }
func (h host) Known(name string) bool { return h.checker.Known(name) }

func (h host) Variables() []magic.Variable {
	var list []magic.Variable
	for _, v := range h.checker.Variables() {
		if v.Name() != "ctx" {
			list = append(list, magic.Variable{Name: v.Name(), Type: types.TypeString(v.Type(), func(p *types.Package) string {
				if p == h.checker.Package() {
					return ""
				}
				return p.Name()
			})})
		}
	}
	return list
}

// Module is the module with a path that the session has, with its version.
func (h host) Module(path string) string {
	if symbols.Has(path) {
		return path + ", which is compiled in"
	}
	return path + " " + h.modules.Version(path)
}

func (h host) Text(value any) string {
	if text, ok := h.plainText(value); ok {
		return text
	}
	text, _ := h.renderValue(value).Data["text/plain"].(string)
	return text
}

// commands finds the commands of a cell, gets the modules that it asks for, and
// forgets everything where one says so.
func (s *Session) commands(ctx context.Context, cell int, src string) (*magic.Cell, error) {
	commands, err := magic.Parse(src, host{s})
	var wrong *magic.Error
	if err == nil {
		wrong = s.getModules(ctx, commands.Modules)
	} else if !errors.As(err, &wrong) {
		return nil, err
	}
	if wrong != nil {
		return nil, check.ErrorList{{Msg: wrong.Msg, Pos: token.Position{
			Filename: diagnostics.Filename(cell),
			Line:     1 + strings.Count(src[:wrong.Offset], "\n"),
			Column:   wrong.Offset - strings.LastIndexByte(src[:wrong.Offset], '\n'),
		}}}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if commands.Reset {
		s.reset()
	}
	return commands, nil
}

// runCommand is what a command of a cell calls.
func (s *Session) runCommand(number int, values ...any) {
	r := s.goroutines.Run()
	if r == nil || r.Commands == nil {
		panic(diagnostics.NewCommandError(fmt.Errorf("the name %s is reserved", magic.Name)))
	}
	ctx := r.Context()
	err := r.Commands.Call(ctx, number, values)
	switch {
	case ctx.Err() != nil:
		runtime.Goexit()
	case err != nil:
		panic(diagnostics.NewCommandError(err))
	}
}

// reset forgets what cells defined, and frees what their variables hold.
// Goroutines that live on find them zero.
func (s *Session) reset() {
	for _, v := range s.checker.Variables() {
		if v.Name() == "ctx" {
			continue
		}
		if value, err := s.engine.Eval("&" + s.program.Name(v)); err == nil {
			value.Elem().SetZero()
		}
	}
	s.checker.Reset("ctx", magic.Name)
}
