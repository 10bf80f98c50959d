package library

import (
	"fmt"
	"log"

	"github.com/quernlab/quern/interp/rt"
)

// exits implements the functions that end the process. In a cell that is a program, they end
// the program.
type exits struct {
	goroutines Goroutines
	loggers    *loggers
}

func (e *exits) functions() Packages {
	exit := map[string]any{"Exit": e.goroutines.Exit}
	return Packages{
		"os/os":           functionsOf(exit),
		"syscall/syscall": functionsOf(exit),
		"log/log": functionsOf(map[string]any{
			"Fatal":   func(v ...any) { e.fatal(log.Default(), fmt.Sprint(v...)) },
			"Fatalf":  func(format string, v ...any) { e.fatal(log.Default(), fmt.Sprintf(format, v...)) },
			"Fatalln": func(v ...any) { e.fatal(log.Default(), fmt.Sprintln(v...)) },
		}),
		rt.Methods: functionsOf(map[string]any{
			"(*log.Logger).Fatal":   func(l *log.Logger, v ...any) { e.fatal(l, fmt.Sprint(v...)) },
			"(*log.Logger).Fatalf":  func(l *log.Logger, format string, v ...any) { e.fatal(l, fmt.Sprintf(format, v...)) },
			"(*log.Logger).Fatalln": func(l *log.Logger, v ...any) { e.fatal(l, fmt.Sprintln(v...)) },
		}),
	}
}

// fatal is l.Fatal.
func (e *exits) fatal(l *log.Logger, text string) {
	// Package log ignores the error of the writer here too.
	_ = e.loggers.write(l, 1, text)
	e.goroutines.Exit(1)
}
