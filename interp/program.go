package interp

import (
	"fmt"
	"log"
	"reflect"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
)

// Cells that are programs.
//
// Where a session calls main for a cell, the cell ends as a program does: with main, or with os.Exit in any of its
// goroutines, or a panic in one. Its other goroutines end with it, at their next check, and none makes its deferred calls.
// Compiled code that one of them is in goes on until it returns, as after an interrupt.

// outcomeOf is what becomes of a program that has ended, given that of its main.
func outcomeOf(r *goroutine.Run, main outcome) (Result, error) {
	switch status, exits := r.ExitStatus(); {
	case !exits:
		return main.result, main.err
	case status != 0:
		return Result{}, diagnostics.New(diagnostics.Failed, fmt.Sprintf("exit status %d", status), nil)
	}
	return Result{}, nil
}

// programs are the functions of compiled packages that end the process: in a cell that is a program they end that.
func (s *Session) programs() map[string]map[string]reflect.Value {
	exit := reflect.ValueOf(s.goroutines.Exit)
	return map[string]map[string]reflect.Value{
		"os/os":           {"Exit": exit},
		"syscall/syscall": {"Exit": exit},
		"log/log": {
			"Fatal":   reflect.ValueOf(func(v ...any) { s.fatal(log.Default(), s.registry.Sprint(v...)) }),
			"Fatalf":  reflect.ValueOf(func(format string, v ...any) { s.fatal(log.Default(), s.registry.Sprintf(format, v...)) }),
			"Fatalln": reflect.ValueOf(func(v ...any) { s.fatal(log.Default(), s.registry.Sprintln(v...)) }),
		},
		"quern/rt/rt": {
			"LogFatal":   reflect.ValueOf(func(l *log.Logger, v ...any) { s.fatal(l, s.registry.Sprint(v...)) }),
			"LogFatalf":  reflect.ValueOf(func(l *log.Logger, format string, v ...any) { s.fatal(l, s.registry.Sprintf(format, v...)) }),
			"LogFatalln": reflect.ValueOf(func(l *log.Logger, v ...any) { s.fatal(l, s.registry.Sprintln(v...)) }),
		},
	}
}

// fatal is l.Fatal.
func (s *Session) fatal(l *log.Logger, text string) {
	// Package log ignores the error of the writer here, too.
	_ = s.logOutput(l, 1, text)
	s.goroutines.Exit(1)
}
